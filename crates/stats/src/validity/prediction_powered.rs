//! Prediction-powered inference: many judge scores, corrected by a few human ones (Angelopoulos et al. 2023).

use std::collections::BTreeMap;

use serde::Serialize;

use super::{check_pairs, value_or_reason};
use crate::{Interval, Moments, Undefined, mean_interval, normal_quantile, student_t_quantile};

/// A standard error this small beside the estimate is rounding, not variation.
const NO_VARIATION: f64 = 1e-13;

/// A mean estimated from judge scores and human labels.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PredictionPowered {
    /// Items with a human label.
    pub labelled: usize,
    /// Items with a judge score only.
    pub unlabelled: usize,
    /// The estimate of PPI++.
    pub estimate: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// Its normal interval.
    pub interval: Interval,
    /// The same for few labels: by Student's t with a degree of freedom less than there are labels, and the variance divided
    /// by as many. With lambda 0 it is the t interval of the human labels.
    pub student_interval: Interval,
    /// How much the judge is relied on: 0 is not at all, 1 is in full.
    pub lambda: f64,
    /// Mean of the human labels alone.
    pub human_only: f64,
    /// t interval of the human labels alone.
    #[serde(serialize_with = "value_or_reason")]
    pub human_only_interval: Result<Interval, Undefined>,
    /// Mean of the judge on all items: biased by as much as the judge is.
    pub judge_only: f64,
    /// Variance beside that of the human labels alone; below 1, the judge helps.
    pub variance_ratio: f64,
    /// How many human labels alone would be as precise.
    pub effective_labels: f64,
}

/// The mean human score of all items, from human labels of some and judge scores of all: PPI++ with power tuning
/// (Angelopoulos, Duchi and Zrnic 2023), as `ppi_mean_pointestimate` and `ppi_mean_ci` of `ppi-python` compute it.
///
/// `human` and `judge` belong to the labelled items, `judge_unlabelled` to the others. It assumes that the labelled items were
/// chosen at random and that items are independent; about the judge it assumes nothing. A poor judge only brings lambda
/// near 0, where the estimate is the mean of the human labels. The normal interval is for many labels; below about 100 it covers
/// less than it says, and the one by Student's t is nearer.
///
/// It needs two labelled and two unlabelled items. A judge that never varies gets the lambda 0. Undefined when nothing is
/// left to vary, as when all human labels are equal.
pub fn prediction_powered_mean(
    human: &[f64],
    judge: &[f64],
    judge_unlabelled: &[f64],
    confidence: f64,
) -> Result<PredictionPowered, Undefined> {
    Undefined::unless_share("confidence", confidence)?;
    let parts = Parts::of(human, judge, judge_unlabelled)?;
    let lambda = parts.lambda();
    let (labelled, unlabelled) = (human.len(), judge_unlabelled.len());
    let human_moments: Moments = human.iter().copied().collect();
    let human_only = human_moments.mean()?;
    let share = parts.labelled / (parts.labelled + parts.unlabelled);
    let judge_only = share * parts.judge_mean + (1.0 - share) * parts.unlabelled_mean;
    let estimate = parts.estimate(lambda);
    let variance = parts.variance(lambda);
    let standard_error = variance.sqrt();
    let human_variance = parts.human_variance / labelled as f64;
    let scale = human.iter().fold(0.0_f64, |scale, value| scale.max(value.abs()));
    if human_variance.sqrt() <= NO_VARIATION * scale {
        return Err(Undefined::NoVariation { what: "human labels" });
    }
    let half_width = normal_quantile(f64::midpoint(1.0, confidence))? * standard_error;
    if half_width <= NO_VARIATION * scale {
        return Err(Undefined::NoVariation { what: "differences between human and judge" });
    }
    let variance_ratio = variance / human_variance;
    Ok(PredictionPowered {
        labelled,
        unlabelled,
        estimate,
        standard_error,
        interval: Interval { low: estimate - half_width, high: estimate + half_width },
        student_interval: student_interval(estimate, standard_error, labelled, confidence)?,
        lambda,
        human_only,
        human_only_interval: mean_interval(&human_moments, confidence),
        judge_only,
        variance_ratio,
        effective_labels: labelled as f64 / variance_ratio,
    })
}

/// `estimate ± t · standard_error · √(n/(n−1))`: Student's interval (1908) of a standard error that was divided by n.
fn student_interval(
    estimate: f64,
    standard_error: f64,
    labelled: usize,
    confidence: f64,
) -> Result<Interval, Undefined> {
    let n = labelled as f64;
    let t = student_t_quantile(f64::midpoint(1.0, confidence), n - 1.0)?;
    let half_width = t * standard_error * (n / (n - 1.0)).sqrt();
    Ok(Interval { low: estimate - half_width, high: estimate + half_width })
}

/// What the estimate is made of.
#[derive(Debug, Clone)]
pub(super) struct Parts {
    labelled: f64,
    unlabelled: f64,
    human_mean: f64,
    judge_mean: f64,
    unlabelled_mean: f64,
    /// Variance of the human labels, divided by n.
    pub(super) human_variance: f64,
    /// Covariance of both on labelled items, divided by n.
    pub(super) covariance: f64,
    /// Variance of the judge on labelled items, divided by n.
    pub(super) judge_variance: f64,
    /// Variance of the judge on unlabelled items, divided by n.
    pub(super) unlabelled_variance: f64,
    /// Variance of the judge on all items, divided by n − 1.
    pub(super) pooled_variance: f64,
}

impl Parts {
    pub(super) fn of(
        human: &[f64],
        judge: &[f64],
        judge_unlabelled: &[f64],
    ) -> Result<Self, Undefined> {
        check_pairs(human, judge, 2)?;
        Undefined::unless_enough("unlabelled items", judge_unlabelled.len(), 2)?;
        Undefined::unless_finite("unlabelled judge score", judge_unlabelled)?;
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let (human_mean, judge_mean) = (mean(human), mean(judge));
        let unlabelled_mean = mean(judge_unlabelled);
        let n = human.len() as f64;
        let (mut human_variance, mut covariance, mut judge_variance) = (0.0, 0.0, 0.0);
        for (human, judge) in human.iter().zip(judge) {
            let (y, f) = (human - human_mean, judge - judge_mean);
            human_variance += y * y / n;
            covariance += y * f / n;
            judge_variance += f * f / n;
        }
        let unlabelled = judge_unlabelled.len() as f64;
        let squares = judge_unlabelled.iter().map(|f| (f - unlabelled_mean).powi(2));
        let unlabelled_variance = squares.sum::<f64>() / unlabelled;
        let pooled: Moments = judge.iter().chain(judge_unlabelled).copied().collect();
        let parts = Self {
            labelled: n,
            unlabelled,
            human_mean,
            judge_mean,
            unlabelled_mean,
            human_variance,
            covariance,
            judge_variance,
            unlabelled_variance,
            pooled_variance: pooled.variance()?,
        };
        let sums = [parts.human_variance, parts.judge_variance, parts.unlabelled_variance];
        Undefined::unless_finite("variance", &sums)?;
        Ok(parts)
    }

    /// The lambda that makes the variance smallest, within 0–1; 0 for a judge that does not vary.
    fn lambda(&self) -> f64 {
        tuned(self.covariance, self.pooled_variance, self.labelled, self.unlabelled)
    }

    fn estimate(&self, lambda: f64) -> f64 {
        lambda * self.unlabelled_mean + self.human_mean - lambda * self.judge_mean
    }

    fn variance(&self, lambda: f64) -> f64 {
        variance_with(self, lambda, self.labelled, self.unlabelled)
    }
}

/// Lambda for so many labelled and unlabelled items.
pub(super) fn tuned(covariance: f64, pooled_variance: f64, labelled: f64, unlabelled: f64) -> f64 {
    let scale = (1.0 + labelled / unlabelled) * pooled_variance;
    if scale > 0.0 && scale.is_finite() { (covariance / scale).clamp(0.0, 1.0) } else { 0.0 }
}

/// Variance of the estimate for so many labelled and unlabelled items.
pub(super) fn variance_with(parts: &Parts, lambda: f64, labelled: f64, unlabelled: f64) -> f64 {
    let rectifier = parts.human_variance - 2.0 * lambda * parts.covariance
        + lambda * lambda * parts.judge_variance;
    let imputed =
        if lambda > 0.0 { lambda * lambda * parts.unlabelled_variance / unlabelled } else { 0.0 };
    rectifier.max(0.0) / labelled + imputed
}

/// One system's items: the judge's score of each, and the human one of some.
#[derive(Debug, Clone, Copy)]
pub struct PartlyLabelled<'a> {
    /// A code for each item, the same in both systems for the same item.
    pub items: &'a [u32],
    /// The judge's score of each item.
    pub judge: &'a [f64],
    /// The human score, where there is one.
    pub human: &'a [Option<f64>],
}

/// A difference of means, first − second.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PredictionPoweredDifference {
    /// The first system's mean.
    pub first: PredictionPowered,
    /// The second system's mean.
    pub second: PredictionPowered,
    /// The difference of the two.
    pub estimate: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// Its normal interval.
    pub interval: Interval,
    /// The same for few labels: Student's t as for a single mean, by the system with fewer labels.
    pub student_interval: Interval,
}

/// The difference of the mean human scores of two systems, each estimated as by [`prediction_powered_mean`].
///
/// The two may share items or not, and each may have its own items labelled: the variance adds up what each item contributes to
/// both sides (Liang and Zeger 1986), which for systems without common items is the sum of the two variances. Where every item
/// has both systems and is labelled in both or in neither, [`prediction_powered_mean`] of the differences is sharper.
/// Assumptions and degenerate input as there; an item may occur once in each system.
pub fn prediction_powered_difference(
    first: PartlyLabelled<'_>,
    second: PartlyLabelled<'_>,
    confidence: f64,
) -> Result<PredictionPoweredDifference, Undefined> {
    let mut contributions = BTreeMap::new();
    let one = first.estimated(confidence, 1.0, &mut contributions)?;
    let other = second.estimated(confidence, -1.0, &mut contributions)?;
    let estimate = one.estimate - other.estimate;
    let squares: f64 = contributions.values().map(|part: &f64| part * part).sum();
    let standard_error = squares.sqrt();
    let half_width = normal_quantile(f64::midpoint(1.0, confidence))? * standard_error;
    if half_width <= NO_VARIATION * one.estimate.abs().max(other.estimate.abs()) {
        return Err(Undefined::NoVariation { what: "differences between the systems" });
    }
    let fewer = one.labelled.min(other.labelled);
    Ok(PredictionPoweredDifference {
        estimate,
        standard_error,
        interval: Interval { low: estimate - half_width, high: estimate + half_width },
        student_interval: student_interval(estimate, standard_error, fewer, confidence)?,
        first: one,
        second: other,
    })
}

impl PartlyLabelled<'_> {
    /// Human and judge scores of the labelled items, and judge scores of the others.
    #[must_use]
    pub fn split(&self) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        let (mut human, mut judge, mut unlabelled) = (Vec::new(), Vec::new(), Vec::new());
        for (score, label) in self.judge.iter().zip(self.human) {
            match label {
                Some(label) => {
                    human.push(*label);
                    judge.push(*score);
                }
                None => unlabelled.push(*score),
            }
        }
        (human, judge, unlabelled)
    }

    /// The estimate; adds to each item, times `sign`, what it contributes to the error.
    fn estimated(
        &self,
        confidence: f64,
        sign: f64,
        contributions: &mut BTreeMap<u32, f64>,
    ) -> Result<PredictionPowered, Undefined> {
        Undefined::unless_paired("items and judge scores", self.items.len(), self.judge.len())?;
        Undefined::unless_paired("items and human scores", self.items.len(), self.human.len())?;
        let (human, judge, unlabelled) = self.split();
        let estimate = prediction_powered_mean(&human, &judge, &unlabelled, confidence)?;
        let parts = Parts::of(&human, &judge, &unlabelled)?;
        let lambda = estimate.lambda;
        let rectifier_mean = parts.human_mean - lambda * parts.judge_mean;
        for ((item, score), label) in self.items.iter().zip(self.judge).zip(self.human) {
            let part = match label {
                Some(label) => (label - lambda * score - rectifier_mean) / parts.labelled,
                None => lambda * (score - parts.unlabelled_mean) / parts.unlabelled,
            };
            *contributions.entry(*item).or_default() += sign * part;
        }
        Ok(estimate)
    }
}
