//! Quantiles: of a slice, and of any number of values in bounded memory.

use std::collections::BTreeMap;

use crate::Undefined;

/// Distinct values kept before neighbours are merged.
pub(crate) const EXACT_UP_TO: usize = 65_536;

/// How often each value occurred: a mergeable sketch of quantiles. They are exact up to 65,536 distinct values; beyond that
/// values are rounded to 12 significant bits, and [`ValueCounts::is_exact`] says so.
///
/// Rounding keeps the order of values, so that every order statistic has a relative error of at most 2⁻¹², that is 0.025%
/// (the guarantee of DDSketch, Masson et al. 2019, with buckets that are linear within a power of two), down to the smallest
/// normal number, about 2e-308. Which values are kept depends on the set of values alone: parts that were counted apart and
/// merged in any order give exactly the counts of one pass.
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
        if value.is_nan() || count == 0 {
            return;
        }
        let value = if self.rounded { rounded(value) } else { value };
        *self.counts.entry(ordered(value)).or_default() += count;
        self.total += count;
        if !self.rounded && self.counts.len() > EXACT_UP_TO {
            self.merge_neighbours();
        }
    }

    /// Takes all values of another sample.
    pub fn merge(&mut self, other: &Self) {
        if other.rounded && !self.rounded {
            self.merge_neighbours();
        }
        for (value, count) in other.iter() {
            self.add_many(value, count);
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
        unless_probability(p)?;
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

/// The quantile of a slice by linear interpolation between order statistics (type 7 of Hyndman and Fan 1996, the default of
/// numpy and R). Undefined for no values, values not finite, and outside 0 ≤ p ≤ 1.
pub fn quantile(values: &[f64], p: f64) -> Result<f64, Undefined> {
    Undefined::unless_finite("value", values)?;
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    quantile_of_sorted(&sorted, p)
}

/// The same of values that are in ascending order.
pub(crate) fn quantile_of_sorted(sorted: &[f64], p: f64) -> Result<f64, Undefined> {
    unless_probability(p)?;
    let position = p * sorted.len().saturating_sub(1) as f64;
    let at = |position: f64| sorted.get(position as usize).copied();
    let (Some(below), Some(above)) = (at(position.floor()), at(position.ceil())) else {
        return Err(Undefined::TooFew { what: "values", given: 0, needed: 1 });
    };
    Ok(below + (above - below) * position.fract())
}

pub(crate) fn unless_probability(p: f64) -> Result<(), Undefined> {
    if (0.0..=1.0).contains(&p) {
        return Ok(());
    }
    Err(Undefined::OutOfRange { what: "probability", value: p, allowed: "from 0 to 1" })
}

/// Bits whose order as integers is the order of the numbers.
pub(crate) fn ordered(value: f64) -> u64 {
    let bits = (value + 0.0).to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

pub(crate) fn unordered(key: u64) -> f64 {
    f64::from_bits(if key >> 63 == 1 { key & !(1 << 63) } else { !key })
}

/// The nearest number with 12 significant bits; the largest of them where that would be infinite.
pub(crate) fn rounded(value: f64) -> f64 {
    let dropped = 52 - 11;
    let half = 1u64 << (dropped - 1);
    let nearest = f64::from_bits((value.to_bits() + half) >> dropped << dropped);
    if nearest.is_finite() {
        nearest
    } else {
        f64::from_bits(value.to_bits() >> dropped << dropped)
    }
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

    #[test]
    fn merging_in_any_order_equals_one_pass() {
        let values: Vec<f64> = (0..150_000_u32)
            .map(|i| f64::from(i.wrapping_mul(2_654_435_761)) / 1e5 - 2e4)
            .collect();
        let whole = counts(&values);
        let parts: Vec<ValueCounts> = values.chunks(40_000).map(counts).collect();
        for order in [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1]] {
            let mut merged = ValueCounts::default();
            order.iter().for_each(|&part| merged.merge(&parts[part]));
            assert!(merged.iter().eq(whole.iter()));
            assert_eq!((merged.count(), merged.is_exact()), (150_000, false));
        }
    }

    #[test]
    fn the_error_bound_holds_over_many_magnitudes_and_both_signs() {
        let values: Vec<f64> = (0..100_000)
            .map(|i| f64::from(i - 50_000).signum() * (f64::from(i % 997) - 500.0).exp2())
            .chain([f64::MAX, f64::MIN, 0.0])
            .chain((0..100_000).map(|i| 1.0 + f64::from(i) * 1e-7))
            .collect();
        let counts = counts(&values);
        assert!(!counts.is_exact());
        let mut sorted = values;
        sorted.sort_by(f64::total_cmp);
        let last = (sorted.len() - 1) as f64;
        for index in (0..sorted.len()).step_by(101) {
            let found = counts.nth(index as u64);
            assert!((found - sorted[index]).abs() <= sorted[index].abs() / 4096.0, "{index}");
        }
        assert_eq!(quantile(&sorted[1..10], 4.0 / 8.0), Ok(sorted[5]));
        assert!(counts.quantile(1.0).unwrap_or(f64::NAN).is_finite() && last > 0.0);
    }
}
