//! Judged outputs that belong together.

use super::unless_probability;
use crate::Undefined;

/// The judged outputs of one cluster (a group of cases, the repetitions of one), which need not be independent of each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WeightedCluster {
    pub(super) judged: u64,
    pub(super) low: f64,
    pub(super) high: f64,
    /// Σ 1/π.
    pub(super) weights: f64,
    /// Σ y/π.
    pub(super) weighted: f64,
    /// Σ (1−π)/π² times 1, y and y².
    pub(super) drawn: [f64; 3],
}

impl Default for WeightedCluster {
    fn default() -> Self {
        Self {
            judged: 0,
            low: f64::INFINITY,
            high: f64::NEG_INFINITY,
            weights: 0.0,
            weighted: 0.0,
            drawn: [0.0; 3],
        }
    }
}

impl WeightedCluster {
    /// A cluster of one output, judged with this probability; undefined unless the value is finite and the probability is
    /// above 0 and at most 1.
    pub fn of_one(value: f64, probability: f64) -> Result<Self, Undefined> {
        let mut cluster = Self::default();
        cluster.add(value, probability)?;
        Ok(cluster)
    }

    /// Takes one judged output; undefined as [`WeightedCluster::of_one`], and then nothing is taken.
    pub fn add(&mut self, value: f64, probability: f64) -> Result<(), Undefined> {
        unless_probability(probability)?;
        if !value.is_finite() {
            return Err(Undefined::NotFinite { what: "value", index: self.judged as usize });
        }
        let weight = 1.0 / probability;
        let drawn = weight * (weight - 1.0);
        let own = [drawn, drawn * value, drawn * value * value];
        self.take(&Self {
            judged: 1,
            low: value,
            high: value,
            weights: weight,
            weighted: weight * value,
            drawn: own,
        });
        Ok(())
    }

    /// How many outputs were judged.
    #[must_use]
    pub fn judged(&self) -> u64 {
        self.judged
    }

    /// Takes the outputs of another part.
    pub(super) fn take(&mut self, other: &Self) {
        self.judged += other.judged;
        self.low = self.low.min(other.low);
        self.high = self.high.max(other.high);
        self.weights += other.weights;
        self.weighted += other.weighted;
        for (own, others) in self.drawn.iter_mut().zip(other.drawn) {
            *own += others;
        }
    }
}
