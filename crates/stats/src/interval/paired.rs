//! The difference of two proportions of the same cases.

use super::Interval;
use crate::{Undefined, normal_cdf, normal_quantile};

/// Halvings of the range in which an end of the interval lies; 60 exhaust a double.
const HALVINGS: usize = 60;

/// Yes/no outcomes of the same cases before and after.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PairedProportions {
    fixed: u64,
    broken: u64,
    pairs: u64,
}

impl PairedProportions {
    /// Counts of pairs: no before and yes after, yes before and no after, and all. Undefined without pairs, and when more
    /// changed than there are.
    pub fn new(fixed: u64, broken: u64, pairs: u64) -> Result<Self, Undefined> {
        Undefined::unless_enough("pairs", pairs as usize, 1)?;
        if fixed + broken > pairs {
            return Err(Undefined::OutOfRange {
                what: "the number of changed pairs",
                value: (fixed + broken) as f64,
                allowed: "at most the number of pairs",
            });
        }
        Ok(Self { fixed, broken, pairs })
    }

    /// The share of yes after minus the share before.
    #[must_use]
    pub fn difference(&self) -> f64 {
        (self.fixed as f64 - self.broken as f64) / self.pairs as f64
    }

    /// Score interval of the difference (Tango 1998): pairs independent of each other. Unlike the textbook interval it has a
    /// width when nothing changed, stays within −1 and 1, and keeps close to its nominal coverage for few pairs. Undefined
    /// unless the confidence is between 0 and 1.
    pub fn interval(&self, confidence: f64) -> Result<Interval, Undefined> {
        Undefined::unless_share("confidence", confidence)?;
        let z = normal_quantile(f64::midpoint(1.0, confidence))?;
        let estimate = self.difference();
        // The statistic falls from the lower end of the range to the upper.
        let low = self.where_statistic_is(z, -1.0, estimate);
        let high = self.where_statistic_is(-z, estimate, 1.0);
        Ok(Interval { low, high })
    }

    /// One-sided p-value of "the difference is at or below `bound`": small is evidence that it is above.
    #[must_use]
    pub fn p_at_or_below(&self, bound: f64) -> f64 {
        normal_cdf(-self.statistic(bound))
    }

    /// One-sided p-value of "the difference is at or above `bound`": small is evidence that it is below.
    #[must_use]
    pub fn p_at_or_above(&self, bound: f64) -> f64 {
        normal_cdf(self.statistic(bound))
    }

    fn where_statistic_is(&self, wanted: f64, mut from: f64, mut to: f64) -> f64 {
        for _ in 0..HALVINGS {
            let middle = f64::midpoint(from, to);
            if self.statistic(middle) > wanted {
                from = middle;
            } else {
                to = middle;
            }
        }
        f64::midpoint(from, to)
    }

    /// How many standard errors the observed difference lies above `difference`, with the variance that the most likely
    /// probabilities of that difference give. At 0 its square is McNemar's statistic.
    fn statistic(&self, difference: f64) -> f64 {
        let (fixed, broken, n) = (self.fixed as f64, self.broken as f64, self.pairs as f64);
        let square = 2.0 * n;
        let linear = (2.0 * n - fixed + broken) * difference - fixed - broken;
        let constant = -broken * difference * (1.0 - difference);
        let root = (linear * linear - 4.0 * square * constant).max(0.0).sqrt();
        // Of the two ways to write the root of the quadratic, the one in which nothing cancels.
        let share_broken = if linear > 0.0 {
            -2.0 * constant / (root + linear)
        } else {
            (root - linear) / (2.0 * square)
        };
        let distance = fixed - broken - n * difference;
        let variance = n * (2.0 * share_broken + difference * (1.0 - difference));
        if variance > 0.0 {
            distance / variance.sqrt()
        } else if distance == 0.0 {
            0.0
        } else {
            distance.signum() * f64::INFINITY
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(fixed: u64, broken: u64, pairs: u64) -> (f64, f64) {
        let interval =
            PairedProportions::new(fixed, broken, pairs).and_then(|pairs| pairs.interval(0.95));
        interval.map_or((f64::NAN, f64::NAN), |interval| (interval.low, interval.high))
    }

    #[test]
    fn nothing_changed_still_has_a_width() {
        // In closed form: z² / (n + z²).
        let bound = 3.841_458_820_694_124 / (30.0 + 3.841_458_820_694_124);
        let (low, high) = interval(0, 0, 30);
        assert!((low + bound).abs() < 1e-12 && (high - bound).abs() < 1e-12, "{low} {high}");
    }

    #[test]
    fn swapping_the_sides_mirrors_the_interval() {
        for (fixed, broken, pairs) in [(3, 9, 40), (0, 5, 24), (1, 0, 1), (7, 0, 7), (50, 45, 2000)]
        {
            let (low, high) = interval(fixed, broken, pairs);
            let (mirrored_low, mirrored_high) = interval(broken, fixed, pairs);
            assert!((low + mirrored_high).abs() < 1e-12 && (high + mirrored_low).abs() < 1e-12);
            assert!((-1.0..=1.0).contains(&low) && low <= high && high <= 1.0);
        }
    }

    #[test]
    fn the_ends_are_where_the_constrained_likelihood_puts_them() {
        // Computed with scipy: the likelihood under each difference maximized numerically, the ends found by Brent's method.
        for (counts, low, high) in [
            ((0, 1, 44), -0.118_077_097, 0.059_393_231),
            ((0, 5, 24), -0.404_704_533, -0.041_612_089),
            ((3, 9, 40), -0.320_865_329, 0.021_988_046),
            ((12, 2, 100), 0.031_000_519, 0.181_881_669),
            ((50, 45, 2000), -0.007_181_863, 0.012_264_668),
        ] {
            let (fixed, broken, pairs) = counts;
            let found = interval(fixed, broken, pairs);
            assert!((found.0 - low).abs() < 1e-7 && (found.1 - high).abs() < 1e-7, "{found:?}");
        }
        let one_sided = PairedProportions::new(12, 2, 100).map(|pairs| pairs.p_at_or_below(-0.02));
        assert!(one_sided.is_ok_and(|p| (p - 0.001_074_056_6).abs() < 1e-8));
    }

    /// Chance of `fixed` and `broken` among 30 pairs.
    fn chance(fixed: u64, broken: u64, p_fixed: f64, p_broken: f64) -> f64 {
        let same = 30 - fixed - broken;
        let logarithm = |n: u64| (1..=n).map(|k| (k as f64).ln()).sum::<f64>();
        let ways = logarithm(30) - logarithm(fixed) - logarithm(broken) - logarithm(same);
        (ways
            + fixed as f64 * p_fixed.ln()
            + broken as f64 * p_broken.ln()
            + same as f64 * (1.0 - p_fixed - p_broken).ln())
        .exp()
    }

    #[test]
    fn thirty_pairs_are_covered_as_often_as_promised() {
        // Every possible outcome, weighed by its chance: no simulation.
        let mut shares = Vec::new();
        for (p_fixed, p_broken) in
            [(0.02, 0.02), (0.05, 0.05), (0.05, 0.15), (0.1, 0.02), (0.2, 0.2), (0.3, 0.05)]
        {
            let mut covered = 0.0;
            for fixed in 0..=30 {
                for broken in 0..=30 - fixed {
                    let (low, high) = interval(fixed, broken, 30);
                    if (low..=high).contains(&(p_fixed - p_broken)) {
                        covered += chance(fixed, broken, p_fixed, p_broken);
                    }
                }
            }
            shares.push(covered);
        }
        assert!(shares.iter().all(|share| (0.93..0.999).contains(share)), "{shares:?}");
    }

    #[test]
    fn impossible_counts_are_refused() {
        assert!(PairedProportions::new(0, 0, 0).is_err());
        assert!(PairedProportions::new(3, 3, 5).is_err());
    }
}
