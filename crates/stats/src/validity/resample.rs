//! The bootstrap of this family: seeded rounds, and percentiles of what they gave.

use rayon::prelude::*;
use serde::Serialize;

use crate::{Interval, Undefined, random_stream};

/// Fewer rounds that gave a number than this share, and their percentiles mean nothing.
const NEEDED_SHARE: f64 = 0.5;

/// How a bootstrap is done: the same seed gives the same numbers on any number of threads.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Resampling {
    /// How many rounds.
    pub rounds: usize,
    /// Where chance starts.
    pub seed: u64,
    /// Confidence of the interval, between 0 and 1.
    pub confidence: f64,
}

impl Default for Resampling {
    fn default() -> Self {
        Self { rounds: 2000, seed: 1, confidence: 0.95 }
    }
}

impl Resampling {
    /// Refuses fewer than 100 rounds, and a confidence that is none.
    pub(super) fn check(&self) -> Result<(), Undefined> {
        Undefined::unless_share("confidence", self.confidence)?;
        Undefined::unless_enough("bootstrap rounds", self.rounds, 100)
    }

    /// One result for each round, in their order.
    pub(super) fn rounds<T: Send>(
        &self,
        round: impl Fn(&mut rand_pcg::Pcg64) -> T + Sync,
    ) -> Vec<T> {
        (0..self.rounds as u64)
            .into_par_iter()
            .map(|stream| round(&mut random_stream(self.seed, stream)))
            .collect()
    }

    /// The percentile interval (Efron 1979) of the rounds that gave a number; undefined when fewer than half did, or when
    /// all gave the same.
    pub(super) fn percentiles(&self, mut draws: Vec<f64>) -> Result<Interval, Undefined> {
        let needed = (self.rounds as f64 * NEEDED_SHARE).ceil() as usize;
        Undefined::unless_enough("bootstrap rounds with a defined value", draws.len(), needed)?;
        draws.sort_by(f64::total_cmp);
        let at = |share: f64| {
            let place = share * (draws.len() - 1) as f64;
            let (below, above) = (draws[place.floor() as usize], draws[place.ceil() as usize]);
            below + (above - below) * place.fract()
        };
        let tail = (1.0 - self.confidence) / 2.0;
        let interval = Interval { low: at(tail), high: at(1.0 - tail) };
        if interval.low < interval.high {
            Ok(interval)
        } else {
            Err(Undefined::NoVariation { what: "bootstrap rounds" })
        }
    }
}
