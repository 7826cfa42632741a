//! Judgements taken from similar outputs, in numbers: how many, what they saved, and what asking all the same would have said.

use fullbench_stats::Moments;
use fullbench_types::{NanoDollars, SimilarPath};
use serde::{Deserialize, Serialize};

use super::{Estimated, add_money, dollars};

/// A value that differs by no more than this is the same.
const SAME: f64 = 1e-9;

/// What the semantic cache did.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SimilarSummary {
    /// Outputs that say the same as one judged before; all but the audited took its score.
    pub hits: u64,
    /// What their judgements had cost that were not made again, in dollars.
    pub saved_usd: Option<f64>,
    /// Hits that the judge was asked about all the same.
    pub audited: u64,
    /// Of these, how many it scored otherwise.
    pub disagreements: u64,
    /// What it said minus what was taken, on average.
    pub difference: Option<Estimated>,
    /// The mean size of the difference.
    pub mean_distance: Option<f64>,
}

/// Sums over hits.
#[derive(Default)]
pub(super) struct SimilarSums {
    hits: u64,
    saved: Option<NanoDollars>,
    audited: u64,
    disagreements: u64,
    difference: Moments,
    distance: Moments,
}

impl SimilarSums {
    pub(super) fn add(&mut self, value: Option<f64>, path: &SimilarPath) {
        self.hits += 1;
        add_money(&mut self.saved, path.saved);
        if path.taken {
            return;
        }
        self.audited += 1;
        let (Some(taken), Some(said)) = (path.value, value) else {
            self.disagreements += 1;
            return;
        };
        let distance = (said - taken).abs();
        self.disagreements += u64::from(distance > SAME);
        self.difference.add_many(said - taken, 1);
        self.distance.add_many(distance, 1);
    }

    pub(super) fn summary(&self) -> SimilarSummary {
        SimilarSummary {
            hits: self.hits,
            saved_usd: dollars(self.saved),
            audited: self.audited,
            disagreements: self.disagreements,
            difference: Estimated::of(&self.difference),
            mean_distance: self.distance.mean().ok(),
        }
    }
}
