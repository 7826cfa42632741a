//! What strengths allow to say: ratings, differences and ranks with their intervals.

use serde::Serialize;

use super::BradleyTerry;
use crate::{Interval, Undefined, normal_cdf, normal_quantile, student_t_quantile, student_t_sf};

/// Standard errors below this share of the largest are rounding.
const ROUNDING: f64 = 1e-9;

/// An estimate with its uncertainty.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    /// The estimate.
    pub value: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// Its confidence interval: the estimate, more or less a quantile of the normal or t distribution times the error.
    pub interval: Interval,
}

/// How far two players are apart.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Difference {
    /// The first player.
    pub first: usize,
    /// The second.
    pub second: usize,
    /// The log-strength of the first less that of the second.
    pub difference: Estimate,
    /// Two-sided p-value of no difference.
    pub p_value: f64,
    /// Probability that the first wins against the second; a tie is half a win.
    pub win_probability: f64,
    /// Interval of that probability.
    pub win_interval: Interval,
}

/// What a circumstance adds to the first player's log-odds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Effect {
    /// The effect for one unit of the circumstance.
    pub effect: Estimate,
    /// Two-sided p-value of no effect.
    pub p_value: f64,
}

/// Whether ranks account for how many pairs are compared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RankAdjustment {
    /// Each pair stands alone, as leaderboards have it: of many ranges, some will be wrong.
    None,
    /// Holm (1979) over all pairs: all ranges hold at once with the stated confidence.
    #[default]
    Holm,
}

/// The ranks a player may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct RankRange {
    /// The rank by estimated strength: one more than there are stronger players.
    pub rank: usize,
    /// The best rank: one more than there are players significantly stronger.
    pub best: usize,
    /// The worst rank: as many as there are players, less those significantly weaker.
    pub worst: usize,
}

impl BradleyTerry {
    /// How many players.
    #[must_use]
    pub fn players(&self) -> usize {
        self.strengths.len()
    }

    /// A player's log-strength against the mean of all. Undefined for a player that does not exist, and without variation.
    pub fn rating(&self, player: usize, confidence: f64) -> Result<Estimate, Undefined> {
        self.check(player)?;
        let variance = self.covariance[player * self.players() + player];
        self.estimate(self.strengths[player], variance, confidence)
    }

    /// How far two players are apart. Undefined for players that do not exist, for one player twice, and without variation.
    pub fn difference(
        &self,
        first: usize,
        second: usize,
        confidence: f64,
    ) -> Result<Difference, Undefined> {
        self.check(first)?;
        self.check(second)?;
        let lead = self.strengths[first] - self.strengths[second];
        let variance = self.variance_of_difference(&self.covariance, first, second);
        let difference = self.estimate(lead, variance, confidence)?;
        let chance = |log_odds: f64| self.win_probability(log_odds);
        Ok(Difference {
            first,
            second,
            difference,
            p_value: self.p_value(lead / difference.standard_error),
            win_probability: chance(lead),
            win_interval: Interval {
                low: chance(difference.interval.low),
                high: chance(difference.interval.high),
            },
        })
    }

    /// What a circumstance adds to the first player's log-odds: 0 is being first, where that was asked for. Undefined for
    /// one that does not exist, and without variation.
    pub fn effect(&self, circumstance: usize, confidence: f64) -> Result<Effect, Undefined> {
        let (Some(value), Some(error)) =
            (self.effects.get(circumstance), self.effect_errors.get(circumstance))
        else {
            return Err(Undefined::TooFew {
                what: "circumstances",
                given: self.effects.len(),
                needed: circumstance + 1,
            });
        };
        let effect = self.estimate(*value, error * error, confidence)?;
        Ok(Effect { effect, p_value: self.p_value(value / error) })
    }

    /// The pairs that are told apart, the stronger first: those whose difference is significant at `1 − confidence`, each alone
    /// or all together. A pair whose difference does not vary is not told apart. Undefined unless 0 < confidence < 1.
    pub fn told_apart(
        &self,
        confidence: f64,
        adjustment: RankAdjustment,
    ) -> Result<Vec<(usize, usize)>, Undefined> {
        Undefined::unless_share("confidence", confidence)?;
        let players = self.players();
        let mut pairs: Vec<(f64, usize, usize)> = Vec::new();
        for first in 0..players {
            for second in 0..players {
                if self.strengths[first] > self.strengths[second] {
                    pairs.push((self.p_value_between(first, second), first, second));
                }
            }
        }
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
        let comparisons = players * (players - 1) / 2;
        let significant = |(position, pair): &(usize, &(f64, usize, usize))| {
            let comparisons = match adjustment {
                RankAdjustment::None => 1,
                RankAdjustment::Holm => comparisons - position,
            };
            pair.0 * comparisons as f64 <= 1.0 - confidence
        };
        let count = pairs.iter().enumerate().take_while(significant).count();
        Ok(pairs.into_iter().take(count).map(|(_, stronger, weaker)| (stronger, weaker)).collect())
    }

    /// The ranks each player may have, from the pairs that are told apart (Klein, Wright and Wieczorek 2020; Al Mohamad, Goeman
    /// and van Zwet 2022). Undefined unless 0 < confidence < 1.
    pub fn ranks(
        &self,
        confidence: f64,
        adjustment: RankAdjustment,
    ) -> Result<Vec<RankRange>, Undefined> {
        let players = self.players();
        let range = |own: &f64| {
            let stronger = self.strengths.iter().filter(|other| *other > own).count();
            RankRange { rank: 1 + stronger, best: 1, worst: players }
        };
        let mut ranges: Vec<RankRange> = self.strengths.iter().map(range).collect();
        for (stronger, weaker) in self.told_apart(confidence, adjustment)? {
            ranges[weaker].best += 1;
            ranges[stronger].worst -= 1;
        }
        Ok(ranges)
    }

    /// The middle `confidence` of each player's ranks over the resamples: a quick look, which covers too little where players
    /// are nearly equal (Hall and Miller 2009). None without resamples.
    pub fn resampled_ranks(&self, confidence: f64) -> Result<Option<Vec<RankRange>>, Undefined> {
        Undefined::unless_share("confidence", confidence)?;
        let Some(resamples) = &self.resamples else { return Ok(None) };
        let players = self.players();
        let mut ranks: Vec<Vec<usize>> = vec![Vec::with_capacity(resamples.rounds); players];
        let mut order: Vec<usize> = Vec::new();
        for round in resamples.strengths.chunks_exact(players) {
            order.clear();
            order.extend(0..players);
            order.sort_by(|a, b| round[*b].total_cmp(&round[*a]));
            for (position, player) in order.iter().enumerate() {
                ranks[*player].push(position + 1);
            }
        }
        let tail = (1.0 - confidence) / 2.0 * resamples.rounds as f64;
        let own = self.ranks(confidence, RankAdjustment::None)?;
        let range = |(ranks, own): (&mut Vec<usize>, RankRange)| {
            ranks.sort_unstable();
            let outside = (tail.floor() as usize).min((ranks.len() - 1) / 2);
            RankRange { best: ranks[outside], worst: ranks[ranks.len() - 1 - outside], ..own }
        };
        Ok(Some(ranks.iter_mut().zip(own).map(range).collect()))
    }

    /// A player's percentile interval of the log-strength over the resamples (Efron 1979). None without resamples.
    pub fn resampled_rating(
        &self,
        player: usize,
        confidence: f64,
    ) -> Result<Option<Interval>, Undefined> {
        self.check(player)?;
        Undefined::unless_share("confidence", confidence)?;
        let Some(resamples) = &self.resamples else { return Ok(None) };
        let rounds = resamples.strengths.chunks_exact(self.players());
        let mut values: Vec<f64> = rounds.map(|round| round[player]).collect();
        values.sort_by(f64::total_cmp);
        let at = |p: f64| {
            let position = p * (values.len() - 1) as f64;
            let (below, above) = (values[position as usize], values[position.ceil() as usize]);
            below + (above - below) * position.fract()
        };
        let tail = (1.0 - confidence) / 2.0;
        Ok(Some(Interval { low: at(tail), high: at(1.0 - tail) }))
    }

    /// Two-sided p-value of no difference between two players; 1 where the difference does not vary.
    pub(super) fn p_value_between(&self, first: usize, second: usize) -> f64 {
        let lead = self.strengths[first] - self.strengths[second];
        let variance = self.variance_of_difference(&self.covariance, first, second);
        match self.standard_error(variance) {
            Ok(error) => self.p_value(lead / error),
            Err(_) => 1.0,
        }
    }

    pub(super) fn variance_of_difference(
        &self,
        matrix: &[f64],
        first: usize,
        second: usize,
    ) -> f64 {
        let players = self.players();
        matrix[first * players + first] + matrix[second * players + second]
            - matrix[first * players + second]
            - matrix[second * players + first]
    }

    /// The probability of a win, a tie being half of one.
    pub(super) fn win_probability(&self, log_odds: f64) -> f64 {
        match self.tie_parameter {
            None => 1.0 / (1.0 + (-log_odds).exp()),
            Some(tie) => {
                let (win, lose) = ((0.5 * log_odds).exp(), (-0.5 * log_odds).exp());
                if win.is_infinite() || lose.is_infinite() {
                    return if log_odds > 0.0 { 1.0 } else { 0.0 };
                }
                (win + 0.5 * tie) / (win + lose + tie)
            }
        }
    }

    fn estimate(&self, value: f64, variance: f64, confidence: f64) -> Result<Estimate, Undefined> {
        Undefined::unless_share("confidence", confidence)?;
        let standard_error = self.standard_error(variance)?;
        let tail = f64::midpoint(1.0, confidence);
        let quantile = match self.degrees_of_freedom {
            None => normal_quantile(tail)?,
            Some(degrees) => student_t_quantile(tail, degrees)?,
        };
        let half_width = quantile * standard_error;
        let interval = Interval { low: value - half_width, high: value + half_width };
        Ok(Estimate { value, standard_error, interval })
    }

    /// The root of a variance. What is only rounding beside the variances of the others is no variation.
    fn standard_error(&self, variance: f64) -> Result<f64, Undefined> {
        let diagonal = self.inverse_information.iter().step_by(self.players() + 1);
        let largest = diagonal.fold(0.0_f64, |largest, value| largest.max(*value));
        let error = variance.max(0.0).sqrt();
        if error <= ROUNDING * largest.sqrt() || !error.is_finite() {
            return Err(Undefined::NoVariation { what: "results of the battles" });
        }
        Ok(error)
    }

    fn p_value(&self, ratio: f64) -> f64 {
        let tail = match self.degrees_of_freedom {
            None => normal_cdf(-ratio.abs()),
            Some(degrees) => student_t_sf(ratio.abs(), degrees),
        };
        (2.0 * tail).min(1.0)
    }

    fn check(&self, player: usize) -> Result<(), Undefined> {
        if player < self.players() {
            return Ok(());
        }
        Err(Undefined::OutOfRange {
            what: "the number of a player",
            value: player as f64,
            allowed: "below the number of players",
        })
    }
}
