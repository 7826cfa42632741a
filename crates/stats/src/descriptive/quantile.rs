//! Quantiles of values that repeat a lot, in bounded memory.

use std::collections::BTreeMap;

use crate::Undefined;

/// Distinct values kept before neighbours are merged.
const EXACT_UP_TO: usize = 65_536;

/// How often each value occurred: quantiles are exact up to 65,536 distinct values; beyond that values are
/// rounded to 12 significant bits, a relative error of at most 0.025%, and [`ValueCounts::is_exact`] says so.
#[derive(Debug, Clone, Default)]
pub struct ValueCounts {
    counts: BTreeMap<u64, u64>,
    total: u64,
    rounded: bool,
}

impl ValueCounts {
    /// Takes one more value; NaN is ignored.
    pub fn add(&mut self, value: f64) {
        self.add_many(value, 1);
    }

    /// Takes the same value many times; NaN is ignored.
    pub fn add_many(&mut self, value: f64, count: u64) {
        if value.is_nan() {
            return;
        }
        let value = if self.rounded { rounded(value) } else { value };
        *self.counts.entry(ordered(value)).or_default() += count;
        self.total += count;
        if !self.rounded && self.counts.len() > EXACT_UP_TO {
            self.merge_neighbours();
        }
    }

    /// How many values.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.total
    }

    /// No value was rounded.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        !self.rounded
    }

    /// Distinct values with their counts, smallest first.
    pub fn iter(&self) -> impl Iterator<Item = (f64, u64)> + '_ {
        self.counts.iter().map(|(&key, &count)| (unordered(key), count))
    }

    /// The quantile by linear interpolation between order statistics (type 7 of Hyndman and Fan 1996, the
    /// default of numpy and R). Undefined for no values, and outside 0 ≤ p ≤ 1.
    pub fn quantile(&self, p: f64) -> Result<f64, Undefined> {
        Undefined::unless_enough("values", self.total as usize, 1)?;
        if !(0.0..=1.0).contains(&p) {
            return Err(Undefined::OutOfRange {
                what: "probability",
                value: p,
                allowed: "from 0 to 1",
            });
        }
        let position = p * (self.total - 1) as f64;
        let below = self.nth(position.floor() as u64);
        let above = self.nth(position.ceil() as u64);
        Ok(below + (above - below) * position.fract())
    }

    /// The largest value.
    #[must_use]
    pub fn max(&self) -> Option<f64> {
        self.counts.last_key_value().map(|(&key, _)| unordered(key))
    }

    /// The value with this many before it; the largest beyond the end.
    fn nth(&self, index: u64) -> f64 {
        let mut passed = 0;
        for (value, count) in self.iter() {
            passed += count;
            if index < passed {
                return value;
            }
        }
        self.max().unwrap_or(0.0)
    }

    fn merge_neighbours(&mut self) {
        self.rounded = true;
        for (key, count) in std::mem::take(&mut self.counts) {
            *self.counts.entry(ordered(rounded(unordered(key)))).or_default() += count;
        }
    }
}

/// Bits whose order as integers is the order of the numbers.
fn ordered(value: f64) -> u64 {
    let bits = (value + 0.0).to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

fn unordered(key: u64) -> f64 {
    f64::from_bits(if key >> 63 == 1 { key & !(1 << 63) } else { !key })
}

/// The nearest number with 12 significant bits.
fn rounded(value: f64) -> f64 {
    let dropped = 52 - 11;
    let half = 1u64 << (dropped - 1);
    f64::from_bits((value.to_bits() + half) >> dropped << dropped)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(values: &[f64]) -> ValueCounts {
        let mut counts = ValueCounts::default();
        values.iter().for_each(|&value| counts.add(value));
        counts
    }

    /// `numpy.quantile([3, 1, 2, -4], [0, .25, .5, .95, 1])`, numpy 2.
    #[test]
    fn quantiles_equal_numpy() {
        let counts = counts(&[3.0, 1.0, 2.0, -4.0]);
        for (p, expected) in [(0.0, -4.0), (0.25, -0.25), (0.5, 1.5), (0.95, 2.85), (1.0, 3.0)] {
            let quantile = counts.quantile(p).unwrap_or(f64::NAN);
            assert!((quantile - expected).abs() < 1e-12, "{p}: {quantile}");
        }
        assert!(ValueCounts::default().quantile(0.5).is_err());
    }

    #[test]
    fn many_distinct_values_stay_within_the_stated_error() {
        let values: Vec<f64> = (0..200_000).map(|i| 1.0 + f64::from(i) * 0.37).collect();
        let counts = counts(&values);
        assert!(!counts.is_exact());
        assert!(counts.iter().count() < EXACT_UP_TO);
        for p in [0.01, 0.5, 0.95] {
            let exact = 1.0 + p * 199_999.0 * 0.37;
            let quantile = counts.quantile(p).unwrap_or(f64::NAN);
            assert!((quantile / exact - 1.0).abs() < 2.5e-4, "{p}: {quantile} for {exact}");
        }
    }
}
