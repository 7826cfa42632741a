//! Weighted quantiles in bounded memory.

use std::collections::BTreeMap;

use super::{Target, WeightedSums};
use crate::descriptive::{self, EXACT_UP_TO, ordered, rounded, unordered};
use crate::{Interval, Undefined};

/// Sums of the same weights in another order differ by less than this.
const ROUNDING: f64 = 1e-12;

/// Values of judged outputs with their weights: a mergeable sketch of quantiles. Exact up to 65,536 distinct values; beyond,
/// values are rounded to 12 significant bits, a relative error of at most 0.025%, as in [`crate::ValueCounts`].
#[derive(Debug, Clone, Default)]
pub struct WeightedValues {
    /// For each value, the sums of as many ones as there are outputs with it.
    cells: BTreeMap<u64, WeightedSums>,
    judged: u64,
    rounded: bool,
}

impl WeightedValues {
    /// Takes one output, judged with this probability and independent of the others; undefined unless the value is finite and
    /// the probability is above 0 and at most 1.
    pub fn add(&mut self, value: f64, probability: f64) -> Result<(), Undefined> {
        if !value.is_finite() {
            return Err(Undefined::NotFinite { what: "value", index: self.judged as usize });
        }
        let mut one = WeightedSums::default();
        one.add(1.0, probability)?;
        self.take(value, &one);
        Ok(())
    }

    /// Takes the outputs of another part.
    pub fn merge(&mut self, other: &Self) {
        if other.rounded && !self.rounded {
            self.merge_neighbours();
        }
        for (&key, sums) in &other.cells {
            self.take(unordered(key), sums);
        }
    }

    /// How many outputs were judged.
    #[must_use]
    pub fn judged(&self) -> u64 {
        self.judged
    }

    /// No value was rounded.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        !self.rounded
    }

    /// The smallest value that outputs with a share of at least `p` of the weights do not exceed. Undefined for no values, and
    /// outside 0 ≤ p ≤ 1.
    pub fn quantile(&self, p: f64) -> Result<f64, Undefined> {
        descriptive::unless_probability(p)?;
        Undefined::unless_enough("judged outputs", self.judged as usize, 1)?;
        let all: f64 = self.cells.values().map(WeightedSums::population).sum();
        let mut passed = 0.0;
        let mut value = 0.0;
        for (&key, sums) in &self.cells {
            passed += sums.population();
            value = unordered(key);
            if passed >= p * all * (1.0 - ROUNDING) {
                break;
            }
        }
        Ok(value)
    }

    /// Interval of a quantile: the values at which "the share of outputs up to here is p" is not refuted, by
    /// [`WeightedSums::score_interval`] of that share (Woodruff 1952, inverted value by value as by Francisco and Fuller 1991, so that
    /// values that many outputs have are no exception). Ends never lie beyond the values judged. Undefined for fewer than two
    /// judged outputs, and outside 0 < p < 1.
    pub fn quantile_interval(
        &self,
        p: f64,
        target: Target,
        confidence: f64,
    ) -> Result<Interval, Undefined> {
        Undefined::unless_share("probability", p)?;
        let mut whole = WeightedSums::default();
        let mut shares = Vec::with_capacity(self.cells.len());
        for (&key, sums) in &self.cells {
            whole.merge(sums);
            shares.push((unordered(key), whole));
        }
        let share = |up_to: &WeightedSums| {
            WeightedSums::share_of(up_to, &whole).score_interval(target, confidence)
        };
        share(&whole)?;
        let first = |reaches: fn(&Interval, f64) -> bool| {
            let below = |(_, up_to): &(f64, WeightedSums)| {
                share(up_to).is_ok_and(|interval| !reaches(&interval, p))
            };
            let index = shares.partition_point(below).min(shares.len().saturating_sub(1));
            shares.get(index).map_or(f64::NAN, |(value, _)| *value)
        };
        Ok(Interval {
            low: first(|interval, p| interval.high >= p * (1.0 - ROUNDING)),
            high: first(|interval, p| interval.low >= p * (1.0 - ROUNDING)),
        })
    }

    fn take(&mut self, value: f64, sums: &WeightedSums) {
        let value = if self.rounded { rounded(value) } else { value };
        self.cells.entry(ordered(value)).or_default().merge(sums);
        self.judged += sums.judged();
        if !self.rounded && self.cells.len() > EXACT_UP_TO {
            self.merge_neighbours();
        }
    }

    fn merge_neighbours(&mut self) {
        self.rounded = true;
        for (key, sums) in std::mem::take(&mut self.cells) {
            self.cells.entry(ordered(rounded(unordered(key)))).or_default().merge(&sums);
        }
    }
}
