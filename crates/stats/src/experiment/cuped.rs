//! CUPED: less noise from what was known of each unit before the experiment.

use serde::Serialize;

use crate::compare::{MeanComparison, welch_t};
use crate::{Moments, Undefined};

/// A comparison with the variance that a covariate explains taken out.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cuped {
    /// How much the value rises with the covariate: their covariance over the covariate's variance, arms pooled.
    pub theta: f64,
    /// The share of the values' variance that is taken out: the squared correlation.
    pub variance_reduction: f64,
    /// Welch's test of the adjusted values.
    pub adjusted: MeanComparison,
    /// Welch's test of the values as they are.
    pub unadjusted: MeanComparison,
}

/// The values of an arm with the covariate of each.
#[derive(Debug, Clone, Copy)]
pub struct WithCovariate<'a> {
    /// What was measured.
    pub values: &'a [f64],
    /// What was known of the same units before.
    pub covariates: &'a [f64],
}

/// Controlled experiments using pre-experiment data (Deng, Xu, Kohavi and Walker 2013): `y − θ (x − mean of x)`. The covariate must not
/// be touched by the treatment, or its effect is taken out with the noise. Undefined where values and covariates differ in
/// number, for fewer than two values in an arm, for a covariate that does not vary, and where nothing is left after the adjustment.
pub fn cuped(
    control: WithCovariate<'_>,
    treatment: WithCovariate<'_>,
    confidence: f64,
) -> Result<Cuped, Undefined> {
    let adjusted = cuped_values(control, treatment)?;
    Ok(Cuped {
        theta: adjusted.theta,
        variance_reduction: adjusted.variance_reduction,
        adjusted: welch_t(&adjusted.control, &adjusted.treatment, confidence)?,
        unadjusted: welch_t(control.values, treatment.values, confidence)?,
    })
}

/// The adjusted values, for other tests than Welch's.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CupedValues {
    /// See [`Cuped::theta`].
    pub theta: f64,
    /// See [`Cuped::variance_reduction`].
    pub variance_reduction: f64,
    /// The control's values, adjusted.
    pub control: Vec<f64>,
    /// The treatment's values, adjusted.
    pub treatment: Vec<f64>,
}

/// The values adjusted as by [`cuped`], under the same conditions.
pub fn cuped_values(
    control: WithCovariate<'_>,
    treatment: WithCovariate<'_>,
) -> Result<CupedValues, Undefined> {
    for arm in [control, treatment] {
        Undefined::unless_paired("values and covariates", arm.values.len(), arm.covariates.len())?;
        Undefined::unless_enough("values in an arm", arm.values.len(), 2)?;
        Undefined::unless_finite("value", arm.values)?;
        Undefined::unless_finite("covariate", arm.covariates)?;
    }
    let all = |of: fn(WithCovariate<'_>) -> &[f64]| -> Moments {
        of(control).iter().chain(of(treatment)).copied().collect()
    };
    let (values, covariates) = (all(|arm| arm.values), all(|arm| arm.covariates));
    let (center, middle) = (covariates.mean()?, values.mean()?);
    let covariate_variance = covariates.variance()?;
    if covariate_variance.sqrt() <= 1e-13 * center.abs() || covariate_variance <= 0.0 {
        return Err(Undefined::NoVariation { what: "covariates" });
    }
    let mut products = 0.0;
    for arm in [control, treatment] {
        for (value, covariate) in arm.values.iter().zip(arm.covariates) {
            products += (value - middle) * (covariate - center);
        }
    }
    let covariance = products / (values.count() - 1) as f64;
    let theta = covariance / covariate_variance;
    let value_variance = values.variance()?;
    if value_variance <= 0.0 {
        return Err(Undefined::NoVariation { what: "values" });
    }
    let adjusted = |arm: WithCovariate<'_>| -> Vec<f64> {
        let pairs = arm.values.iter().zip(arm.covariates);
        pairs.map(|(value, covariate)| value - theta * (covariate - center)).collect()
    };
    Ok(CupedValues {
        theta,
        variance_reduction: (theta * covariance / value_variance).clamp(0.0, 1.0),
        control: adjusted(control),
        treatment: adjusted(treatment),
    })
}
