//! Tests of a difference of means.

use serde::Serialize;

use crate::interval::{around, clustered_mean, unless_overflowed};
use crate::{Interval, Moments, Undefined, student_t_quantile, student_t_sf};

/// A spread this small beside the values themselves is rounding, not variation.
const NO_VARIATION: f64 = 1e-13;

/// A difference of two means, tested against zero.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct MeanComparison {
    /// Second mean minus first.
    pub difference: f64,
    /// Standard error of the difference.
    pub standard_error: f64,
    /// The difference in standard errors: the t statistic.
    pub statistic: f64,
    /// Degrees of freedom of the t distribution it is compared with.
    pub degrees_of_freedom: f64,
    /// Two-sided p-value of no difference.
    pub p_value: f64,
    /// Two-sided confidence interval of the difference.
    pub interval: Interval,
}

impl MeanComparison {
    /// The test that a difference with this standard error gives, for any design whose standard error has `degrees_of_freedom`.
    /// Undefined without variation, and for a confidence that is not between 0 and 1.
    pub fn from_standard_error(
        difference: f64,
        standard_error: f64,
        degrees_of_freedom: f64,
        confidence: f64,
    ) -> Result<Self, Undefined> {
        let interval = around(difference, standard_error, degrees_of_freedom, confidence)?;
        let statistic = difference / standard_error;
        let p_value = (2.0 * student_t_sf(statistic.abs(), degrees_of_freedom)).min(1.0);
        Ok(Self { difference, standard_error, statistic, degrees_of_freedom, p_value, interval })
    }

    /// One-sided lower confidence bound of the difference; undefined unless the confidence is between 0 and 1.
    pub fn lower_bound(&self, confidence: f64) -> Result<f64, Undefined> {
        let quantile = student_t_quantile(confidence, self.degrees_of_freedom)?;
        Ok(self.difference - quantile * self.standard_error)
    }

    /// One-sided upper confidence bound of the difference; undefined unless the confidence is between 0 and 1.
    pub fn upper_bound(&self, confidence: f64) -> Result<f64, Undefined> {
        let quantile = student_t_quantile(confidence, self.degrees_of_freedom)?;
        Ok(self.difference + quantile * self.standard_error)
    }
}

/// Welch's t test of two independent samples (Welch 1947): variances may differ; observations independent, and either many
/// or roughly normal. Undefined for fewer than two values on a side, and when neither side varies.
pub fn welch_t(
    control: &[f64],
    treatment: &[f64],
    confidence: f64,
) -> Result<MeanComparison, Undefined> {
    let (first, second) = samples(control, treatment)?;
    let first_part = first.variance()? / first.count() as f64;
    let second_part = second.variance()? / second.count() as f64;
    let variance = first_part + second_part;
    unless_rounding(first.variance()?.max(second.variance()?), &[control, treatment], "values")?;
    // Shares of the variance, so that nothing is squared that could over- or underflow.
    let (first_share, second_share) = (first_part / variance, second_part / variance);
    let degrees_of_freedom = 1.0
        / (first_share * first_share / (first.count() - 1) as f64
            + second_share * second_share / (second.count() - 1) as f64);
    MeanComparison::from_standard_error(
        second.mean()? - first.mean()?,
        variance.sqrt(),
        degrees_of_freedom,
        confidence,
    )
}

/// Student's t test of two independent samples (Student 1908): variances equal, observations independent, and either many
/// or roughly normal. [`welch_t`] is the safer choice. Undefined for fewer than two values on a side, and when neither side
/// varies.
pub fn student_t(
    control: &[f64],
    treatment: &[f64],
    confidence: f64,
) -> Result<MeanComparison, Undefined> {
    let (first, second) = samples(control, treatment)?;
    let (n, m) = (first.count() as f64, second.count() as f64);
    let degrees_of_freedom = n + m - 2.0;
    let pooled =
        ((n - 1.0) * first.variance()? + (m - 1.0) * second.variance()?) / degrees_of_freedom;
    unless_rounding(pooled, &[control, treatment], "values")?;
    MeanComparison::from_standard_error(
        second.mean()? - first.mean()?,
        (pooled * (1.0 / n + 1.0 / m)).sqrt(),
        degrees_of_freedom,
        confidence,
    )
}

/// The t test of paired differences (Student 1908): pairs independent of each other, differences many or roughly normal.
/// Undefined for fewer than two pairs, and when all differences are equal.
pub fn paired_t(
    before: &[f64],
    after: &[f64],
    confidence: f64,
) -> Result<MeanComparison, Undefined> {
    let differences = differences(before, after)?;
    let moments: Moments = differences.iter().copied().collect();
    unless_rounding(moments.variance()?, &[before, after], "differences")?;
    MeanComparison::from_standard_error(
        moments.mean()?,
        moments.standard_error()?,
        (moments.count() - 1) as f64,
        confidence,
    )
}

/// The t test of paired differences that come in clusters (several questions on one text, several repetitions of one case),
/// with the cluster-robust standard error (Liang and Zeger 1986; for evaluations, Miller 2024), corrected by C/(C−1), and
/// C − 1 degrees of freedom for C clusters. Clusters are independent of each other; pairs within one need not be. Clusters
/// should be many (some 30) or alike in size, else the error rate is above its nominal value. Undefined for fewer than two
/// clusters, and when the clusters do not vary.
pub fn clustered_paired_t(
    before: &[f64],
    after: &[f64],
    clusters: &[u32],
    confidence: f64,
) -> Result<MeanComparison, Undefined> {
    let differences = differences(before, after)?;
    let moments: Moments = differences.iter().copied().collect();
    let mean = clustered_mean(&differences, clusters)?;
    unless_rounding(moments.variance()?, &[before, after], "differences")?;
    unless_rounding(
        mean.standard_error * mean.standard_error * mean.clusters as f64,
        &[before, after],
        "cluster means",
    )?;
    MeanComparison::from_standard_error(
        mean.mean,
        mean.standard_error,
        (mean.clusters - 1) as f64,
        confidence,
    )
}

/// Second minus first of each pair; undefined for slices of different lengths, fewer than two pairs, and values not finite.
pub(crate) fn differences(before: &[f64], after: &[f64]) -> Result<Vec<f64>, Undefined> {
    Undefined::unless_paired("values of the two sides", before.len(), after.len())?;
    Undefined::unless_enough("pairs", before.len(), 2)?;
    Undefined::unless_finite("value before", before)?;
    Undefined::unless_finite("value after", after)?;
    let differences: Vec<f64> =
        before.iter().zip(after).map(|(first, second)| second - first).collect();
    Undefined::unless_finite("difference", &differences)?;
    Ok(differences)
}

/// The moments of both samples, counted from the first value of the control: values far from 0 beside their spread keep the digits
/// in which they differ. Undefined for fewer than two values on a side, and values not finite.
pub(crate) fn samples(control: &[f64], treatment: &[f64]) -> Result<(Moments, Moments), Undefined> {
    for values in [control, treatment] {
        Undefined::unless_enough("values on a side", values.len(), 2)?;
        Undefined::unless_finite("value", values)?;
    }
    let origin = control.first().copied().unwrap_or_default();
    let moments = |values: &[f64]| values.iter().map(|value| value - origin).collect();
    Ok((moments(control), moments(treatment)))
}

/// Refuses a variance that is nothing but rounding beside the size of the values it comes from, or not finite.
pub(crate) fn unless_rounding(
    variance: f64,
    sides: &[&[f64]],
    what: &'static str,
) -> Result<(), Undefined> {
    let largest =
        sides.iter().flat_map(|side| side.iter()).fold(0.0, |most: f64, v| most.max(v.abs()));
    unless_overflowed("variance", variance)?;
    if variance.sqrt() <= NO_VARIATION * largest {
        return Err(Undefined::NoVariation { what });
    }
    Ok(())
}
