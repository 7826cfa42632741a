//! Confidence intervals of a mean and of a proportion.

use serde::Serialize;

use crate::{Moments, normal_quantile, student_t_quantile};

/// A standard error this small is rounding, not variation.
const NO_VARIATION: f64 = 1e-12;

/// A confidence interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// Interval of a proportion after Wilson (1927): independent yes/no observations. None of no observations.
#[must_use]
pub fn wilson_interval(successes: u64, count: u64, confidence: f64) -> Option<Interval> {
    if count == 0 || successes > count {
        return None;
    }
    let z = normal_quantile(f64::midpoint(1.0, confidence))?;
    let n = count as f64;
    let share = successes as f64 / n;
    let scale = 1.0 + z * z / n;
    let center = (share + z * z / (2.0 * n)) / scale;
    let half_width = z * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt() / scale;
    let low = if successes == 0 { 0.0 } else { (center - half_width).max(0.0) };
    let high = if successes == count { 1.0 } else { (center + half_width).min(1.0) };
    Some(Interval { low, high })
}

/// Student's t interval of a mean: independent observations, roughly normal or many. None of fewer than two
/// values, and none when all are equal: no variation says nothing about how far the mean may be off.
#[must_use]
pub fn mean_interval(moments: &Moments, confidence: f64) -> Option<Interval> {
    let n = moments.count() as f64;
    let standard_error = (moments.variance()? / n).sqrt();
    around(moments.mean()?, standard_error, n - 1.0, confidence)
}

/// Sums over clusters (the repetitions of one case) from which a clustered interval is made.
///
/// The variance is `C/(C−1) · Σ_c (Σ_i (x_ci − mean))² / N²`: the cluster-robust standard error of a mean
/// (Liang and Zeger 1986; for evaluations, Miller 2024), with `C − 1` degrees of freedom.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ClusterSums {
    clusters: u64,
    /// Values are taken as their distance from the first cluster's mean, so that equal values cancel exactly.
    shift: f64,
    count: f64,
    total: f64,
    squared_totals: f64,
    totals_by_count: f64,
    squared_counts: f64,
}

impl ClusterSums {
    /// Takes one cluster, given the sum and the number of its values; an empty cluster changes nothing.
    pub fn add(&mut self, sum: f64, count: u64) {
        if count == 0 {
            return;
        }
        let size = count as f64;
        if self.clusters == 0 {
            self.shift = sum / size;
        }
        let sum = sum - self.shift * size;
        self.clusters += 1;
        self.count += size;
        self.total += sum;
        self.squared_totals += sum * sum;
        self.totals_by_count += sum * size;
        self.squared_counts += size * size;
    }

    /// Standard error of the mean; none of fewer than two clusters.
    #[must_use]
    pub fn standard_error(&self) -> Option<f64> {
        if self.clusters < 2 {
            return None;
        }
        let clusters = self.clusters as f64;
        let mean = self.total / self.count;
        let residuals = self.squared_totals - 2.0 * mean * self.totals_by_count
            + mean * mean * self.squared_counts;
        Some((residuals.max(0.0) * clusters / (clusters - 1.0)).sqrt() / self.count)
    }

    /// How many clusters.
    #[must_use]
    pub fn clusters(&self) -> u64 {
        self.clusters
    }

    /// t interval of the mean with one degree of freedom less than there are clusters; none without variation
    /// between them.
    #[must_use]
    pub fn interval(&self, confidence: f64) -> Option<Interval> {
        let standard_error = self.standard_error()?;
        around(
            self.shift + self.total / self.count,
            standard_error,
            self.clusters as f64 - 1.0,
            confidence,
        )
    }
}

fn around(mean: f64, standard_error: f64, degrees: f64, confidence: f64) -> Option<Interval> {
    if standard_error <= NO_VARIATION {
        return None;
    }
    let half_width = student_t_quantile(f64::midpoint(1.0, confidence), degrees)? * standard_error;
    Some(Interval { low: mean - half_width, high: mean + half_width })
}
