//! The likelihood of strengths: Bradley and Terry (1952), with ties as half a win each or after Davidson (1970).

use super::Ties;
use super::cells::{Cells, HIGH_WINS, LOW_WINS, TIE, Tally};
use crate::Undefined;

/// Exponentials of numbers up to this are far from overflow and underflow.
const SAFE_EXPONENT: f64 = 300.0;

/// What is maximised. Parameters are the log-strengths, then the effects of circumstances, then the logarithm of Davidson's
/// tie parameter.
#[derive(Debug, Clone, Copy)]
pub(super) struct Likelihood<'a> {
    pub(super) cells: &'a Cells,
    pub(super) ties: Ties,
    /// The penalty: this times the sum of squared log-strengths.
    pub(super) ridge: f64,
    /// The same for the other parameters.
    pub(super) effect_ridge: f64,
}

/// Derivatives of one meeting's log-likelihood, by the log-odds `η` of the lower and by the tie parameter.
pub(super) struct Local {
    pub(super) slope: f64,
    pub(super) tie_slope: f64,
    /// Second derivatives with their signs turned.
    pub(super) curvature: f64,
    pub(super) cross: f64,
    pub(super) tie_curvature: f64,
}

impl<'a> Likelihood<'a> {
    /// How many parameters.
    pub(super) fn dimension(&self) -> usize {
        self.cells.players + self.cells.columns + usize::from(self.ties == Ties::Davidson)
    }

    /// The circumstances of a meeting.
    pub(super) fn circumstances(&self, meeting: usize) -> &'a [f64] {
        &self.cells.covariates[meeting * self.cells.columns..(meeting + 1) * self.cells.columns]
    }

    /// The logarithm of the lower player's odds in a meeting.
    pub(super) fn log_odds(&self, meeting: usize, parameters: &[f64]) -> f64 {
        let pair = self.cells.meetings[meeting];
        let mut log_odds = parameters[pair.low as usize] - parameters[pair.high as usize];
        let effects = &parameters[self.cells.players..];
        for (value, effect) in self.circumstances(meeting).iter().zip(effects) {
            log_odds += value * effect;
        }
        log_odds
    }

    /// The derivatives of one meeting's log-likelihood.
    pub(super) fn local(&self, log_odds: f64, parameters: &[f64], tally: &Tally) -> Local {
        match (self.ties, parameters.last()) {
            (Ties::Davidson, Some(&log_tie)) => davidson(log_odds, log_tie, tally),
            _ => half_wins(log_odds, tally),
        }
    }

    /// The penalised log-likelihood.
    pub(super) fn value(&self, tallies: &[Tally], parameters: &[f64]) -> f64 {
        let mut value = 0.0;
        for (meeting, tally) in tallies.iter().enumerate() {
            let log_odds = self.log_odds(meeting, parameters);
            value += match (self.ties, parameters.last()) {
                (Ties::Davidson, Some(&log_tie)) => davidson_value(log_odds, log_tie, tally),
                _ => half_wins_value(log_odds, tally),
            };
        }
        for (index, parameter) in parameters.iter().enumerate() {
            value -= self.ridge_of(index) * parameter * parameter;
        }
        value
    }

    /// The gradient and the negative Hessian (lower triangle, column by column) of the penalised log-likelihood.
    pub(super) fn derivatives(
        &self,
        tallies: &[Tally],
        parameters: &[f64],
        gradient: &mut [f64],
        information: &mut [f64],
    ) {
        gradient.fill(0.0);
        information.fill(0.0);
        let largest = parameters.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
        if self.dimension() == self.cells.players && largest < SAFE_EXPONENT {
            self.add_pairs(tallies, parameters, gradient, information);
        } else {
            self.add_meetings(tallies, parameters, gradient, information);
        }
        let dimension = self.dimension();
        for (index, parameter) in parameters.iter().enumerate() {
            let ridge = self.ridge_of(index);
            gradient[index] -= 2.0 * ridge * parameter;
            information[index * dimension + index] += 2.0 * ridge;
        }
    }

    /// Strengths alone: one exponential for each player is enough.
    fn add_pairs(
        &self,
        tallies: &[Tally],
        parameters: &[f64],
        gradient: &mut [f64],
        information: &mut [f64],
    ) {
        let strengths: Vec<f64> = parameters.iter().map(|parameter| parameter.exp()).collect();
        for (pair, tally) in self.cells.meetings.iter().zip(tallies) {
            let (low, high) = (pair.low as usize, pair.high as usize);
            let total = tally[LOW_WINS] + tally[HIGH_WINS] + tally[TIE];
            let scale = 1.0 / (strengths[low] + strengths[high]);
            let (chance, other) = (strengths[low] * scale, strengths[high] * scale);
            let slope = tally[LOW_WINS] + 0.5 * tally[TIE] - total * chance;
            let curvature = total * chance * other;
            gradient[low] += slope;
            gradient[high] -= slope;
            information[low * strengths.len() + low] += curvature;
            information[high * strengths.len() + high] += curvature;
            information[low * strengths.len() + high] -= curvature;
        }
    }

    fn add_meetings(
        &self,
        tallies: &[Tally],
        parameters: &[f64],
        gradient: &mut [f64],
        information: &mut [f64],
    ) {
        let (players, dimension) = (self.cells.players, self.dimension());
        let tie = dimension - 1;
        for (meeting, tally) in tallies.iter().enumerate() {
            let local = self.local(self.log_odds(meeting, parameters), parameters, tally);
            let pair = self.cells.meetings[meeting];
            let (low, high) = (pair.low as usize, pair.high as usize);
            gradient[low] += local.slope;
            gradient[high] -= local.slope;
            information[low * dimension + low] += local.curvature;
            information[high * dimension + high] += local.curvature;
            information[low * dimension + high] -= local.curvature;
            for (column, &x) in self.circumstances(meeting).iter().enumerate() {
                let row = players + column;
                gradient[row] += x * local.slope;
                information[low * dimension + row] += x * local.curvature;
                information[high * dimension + row] -= x * local.curvature;
                for (other, &y) in self.circumstances(meeting)[..=column].iter().enumerate() {
                    information[(players + other) * dimension + row] += x * y * local.curvature;
                }
                if self.ties == Ties::Davidson {
                    information[row * dimension + tie] += x * local.cross;
                }
            }
            if self.ties == Ties::Davidson {
                gradient[tie] += local.tie_slope;
                information[low * dimension + tie] += local.cross;
                information[high * dimension + tie] -= local.cross;
                information[tie * dimension + tie] += local.tie_curvature;
            }
        }
    }

    fn ridge_of(&self, parameter: usize) -> f64 {
        if parameter < self.cells.players { self.ridge } else { self.effect_ridge }
    }

    /// Davidson's tie parameter is finite only if there are both ties and wins.
    pub(super) fn check_ties(&self, tallies: &[Tally]) -> Result<(), Undefined> {
        if self.ties == Ties::Half {
            return Ok(());
        }
        let ties = tallies.iter().filter(|tally| tally[TIE] > 0.0).count();
        Undefined::unless_enough("ties", ties, 1)?;
        let won = tallies.iter().filter(|tally| tally[LOW_WINS] + tally[HIGH_WINS] > 0.0).count();
        Undefined::unless_enough("battles with a winner", won, 1)
    }
}

/// A tie is half a win for each.
fn half_wins(log_odds: f64, tally: &Tally) -> Local {
    let total = tally[LOW_WINS] + tally[HIGH_WINS] + tally[TIE];
    let small = (-log_odds.abs()).exp();
    let scale = 1.0 / (1.0 + small);
    let chance = if log_odds >= 0.0 { scale } else { small * scale };
    Local {
        slope: tally[LOW_WINS] + 0.5 * tally[TIE] - total * chance,
        tie_slope: 0.0,
        curvature: total * small * scale * scale,
        cross: 0.0,
        tie_curvature: 0.0,
    }
}

fn half_wins_value(log_odds: f64, tally: &Tally) -> f64 {
    let total = tally[LOW_WINS] + tally[HIGH_WINS] + tally[TIE];
    let won = tally[LOW_WINS] + 0.5 * tally[TIE];
    won * log_odds - total * (log_odds.max(0.0) + (-log_odds.abs()).exp().ln_1p())
}

/// A tie has the weight `ν · √(π_low π_high)` beside the strengths.
fn davidson(log_odds: f64, log_tie: f64, tally: &Tally) -> Local {
    let total = tally[LOW_WINS] + tally[HIGH_WINS] + tally[TIE];
    let half = 0.5 * log_odds;
    let top = half.abs().max(log_tie);
    let (low, high, tie) = ((half - top).exp(), (-half - top).exp(), (log_tie - top).exp());
    let sum = low + high + tie;
    let (low, high, tie) = (low / sum, high / sum, tie / sum);
    let lead = 0.5 * (low - high);
    Local {
        slope: 0.5 * (tally[LOW_WINS] - tally[HIGH_WINS]) - total * lead,
        tie_slope: tally[TIE] - total * tie,
        curvature: total * (0.25 * (low + high) - lead * lead),
        cross: -total * tie * lead,
        tie_curvature: total * tie * (1.0 - tie),
    }
}

fn davidson_value(log_odds: f64, log_tie: f64, tally: &Tally) -> f64 {
    let total = tally[LOW_WINS] + tally[HIGH_WINS] + tally[TIE];
    let half = 0.5 * log_odds;
    let top = half.abs().max(log_tie);
    let sum = (half - top).exp() + (-half - top).exp() + (log_tie - top).exp();
    let score = 0.5 * (tally[LOW_WINS] - tally[HIGH_WINS]);
    score * log_odds + tally[TIE] * log_tie - total * (top + sum.ln())
}
