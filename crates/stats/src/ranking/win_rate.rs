//! Win rates.

use serde::Serialize;

use super::{Battles, Outcome};
use crate::{Interval, Undefined, normal_quantile};

/// How often a player won.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct WinRate {
    /// How many duels it fought.
    pub battles: u64,
    /// How many it won.
    pub wins: u64,
    /// How many it lost.
    pub losses: u64,
    /// How many were ties.
    pub ties: u64,
    /// Wins and half the ties, as a share of all, by weight.
    pub rate: f64,
    /// Wilson's interval of the rate.
    pub interval: Interval,
}

/// The share of duels each player won, ties being half a win; none for a player without duels of positive weight.
///
/// The interval is Wilson's (1927) for independent duels, with wins and half the ties in place of the successes: ties
/// vary less than wins and losses, so that it is rather too wide than too narrow. With weights the number of duels is
/// Kish's (1965) effective one, `(Σw)² / Σw²`. A win rate depends on the opponents: a player who met only weak ones has a
/// high rate. Undefined unless 0 < confidence < 1, and for duels that are none.
pub fn win_rates(battles: &Battles, confidence: f64) -> Result<Vec<Option<WinRate>>, Undefined> {
    battles.check()?;
    Undefined::unless_share("confidence", confidence)?;
    let z = normal_quantile(f64::midpoint(1.0, confidence))?;
    let mut counts = vec![Counts::default(); battles.players];
    for (battle, outcome) in battles.outcomes.iter().enumerate() {
        let weight = battles.weight(battle);
        let (first, second) = (battles.first[battle] as usize, battles.second[battle] as usize);
        let (wins, losses) = match outcome {
            Outcome::FirstWins => (1, 0),
            Outcome::SecondWins => (0, 1),
            Outcome::Tie => (0, 0),
        };
        counts[first].add(wins, losses, weight);
        counts[second].add(losses, wins, weight);
    }
    Ok(counts.iter().map(|counts| counts.rate(z)).collect())
}

#[derive(Clone, Default)]
struct Counts {
    battles: u64,
    wins: u64,
    losses: u64,
    won: f64,
    weight: f64,
    squared_weight: f64,
}

impl Counts {
    fn add(&mut self, wins: u64, losses: u64, weight: f64) {
        self.battles += 1;
        self.wins += wins;
        self.losses += losses;
        self.won += weight * (0.5 + 0.5 * (wins as f64 - losses as f64));
        self.weight += weight;
        self.squared_weight += weight * weight;
    }

    fn rate(&self, z: f64) -> Option<WinRate> {
        if self.squared_weight <= 0.0 {
            return None;
        }
        let rate = self.won / self.weight;
        let count = self.weight * self.weight / self.squared_weight;
        let scale = 1.0 + z * z / count;
        let center = (rate + z * z / (2.0 * count)) / scale;
        let square = rate * (1.0 - rate) / count + z * z / (4.0 * count * count);
        let half_width = z * square.max(0.0).sqrt() / scale;
        let interval = Interval {
            low: if rate <= 0.0 { 0.0 } else { (center - half_width).max(0.0) },
            high: if rate >= 1.0 { 1.0 } else { (center + half_width).min(1.0) },
        };
        Some(WinRate {
            battles: self.battles,
            wins: self.wins,
            losses: self.losses,
            ties: self.battles - self.wins - self.losses,
            rate,
            interval,
        })
    }
}
