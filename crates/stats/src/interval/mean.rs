//! Confidence intervals of a mean.

use super::Interval;
use crate::{Moments, Undefined, student_t_quantile};

/// A standard error this small beside the mean is rounding, not variation.
const NO_VARIATION: f64 = 1e-13;

/// Student's t interval of a mean (Student 1908): independent observations, roughly normal or many. Undefined for fewer
/// than two values, and when all are equal: no variation says nothing about how far the mean may be off.
pub fn mean_interval(moments: &Moments, confidence: f64) -> Result<Interval, Undefined> {
    let n = moments.count() as f64;
    let standard_error = moments.standard_error()?;
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

    /// Standard error of the mean; undefined for fewer than two clusters.
    pub fn standard_error(&self) -> Result<f64, Undefined> {
        Undefined::unless_enough("clusters", self.clusters as usize, 2)?;
        let clusters = self.clusters as f64;
        let mean = self.total / self.count;
        let residuals = self.squared_totals - 2.0 * mean * self.totals_by_count
            + mean * mean * self.squared_counts;
        Ok((residuals.max(0.0) * clusters / (clusters - 1.0)).sqrt() / self.count)
    }

    /// How many clusters.
    #[must_use]
    pub fn clusters(&self) -> u64 {
        self.clusters
    }

    /// t interval of the mean with one degree of freedom less than there are clusters; undefined without variation
    /// between them.
    pub fn interval(&self, confidence: f64) -> Result<Interval, Undefined> {
        let standard_error = self.standard_error()?;
        around(
            self.shift + self.total / self.count,
            standard_error,
            self.clusters as f64 - 1.0,
            confidence,
        )
    }
}

/// `estimate ± t · standard_error`; undefined without variation, and where values were so large that their squares are not
/// finite.
pub(crate) fn around(
    estimate: f64,
    standard_error: f64,
    degrees_of_freedom: f64,
    confidence: f64,
) -> Result<Interval, Undefined> {
    Undefined::unless_share("confidence", confidence)?;
    unless_overflowed("estimate", estimate)?;
    unless_overflowed("standard error", standard_error)?;
    if standard_error <= NO_VARIATION * estimate.abs() {
        return Err(Undefined::NoVariation { what: "values" });
    }
    let t = student_t_quantile(f64::midpoint(1.0, confidence), degrees_of_freedom)?;
    let half_width = t * standard_error;
    Ok(Interval { low: estimate - half_width, high: estimate + half_width })
}

/// Refuses a result that is not finite although the values were.
pub(crate) fn unless_overflowed(what: &'static str, value: f64) -> Result<(), Undefined> {
    if value.is_finite() {
        return Ok(());
    }
    Err(Undefined::OutOfRange { what, value, allowed: "finite" })
}
