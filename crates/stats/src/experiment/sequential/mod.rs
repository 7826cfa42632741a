//! Looking more than once: tests whose error stays below alpha however often, or as often as planned, the data are looked at.

mod boundary;
mod confidence;
mod group;
mod mixture;
mod recursion;

pub use boundary::{GroupDesign, Spending, alpha_spending, o_brien_fleming, pocock};
pub use confidence::{ConfidenceSequence, confidence_sequence};
pub use group::{GroupLook, group_sequential};
pub use mixture::{MixtureTest, mixture_test};

use serde::Serialize;

use crate::{Interval, Moments, Undefined};

/// All values of two arms up to a look.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Arms {
    /// The control's values.
    pub control: Moments,
    /// The treatment's values.
    pub treatment: Moments,
}

/// What a look allows to say. Once there is a decision it stands: later looks cannot take it back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// Nothing yet: more looks may follow.
    Continue,
    /// The treatment is better; the experiment may end.
    TreatmentBetter,
    /// The treatment is worse; the experiment may end.
    TreatmentWorse,
    /// The last planned look has passed without a decision.
    NoDifferenceShown,
}

impl Decision {
    /// The decision for a difference that is beyond its bound.
    fn by_sign(difference: f64) -> Self {
        if difference > 0.0 { Self::TreatmentBetter } else { Self::TreatmentWorse }
    }
}

/// One look of a test that is valid at any time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Look {
    /// Values of the control so far.
    pub control_count: u64,
    /// Values of the treatment so far.
    pub treatment_count: u64,
    /// Mean of the treatment − mean of the control; none while an arm has no values.
    pub difference: Option<f64>,
    /// The interval at this look; all of them together hold the true difference with probability 1 − alpha. None where it is
    /// not defined yet.
    pub interval: Option<Interval>,
    /// The always-valid p-value: how small alpha might have been for a decision by now.
    pub p_value: f64,
    /// Why there is no interval.
    pub undefined: Option<Undefined>,
    /// What this look, with those before it, allows to say.
    pub decision: Decision,
}

/// A difference of means and its standard error.
struct Difference {
    value: f64,
    standard_error: f64,
}

impl Arms {
    fn count(&self) -> f64 {
        (self.control.count() + self.treatment.count()) as f64
    }

    fn raw_difference(&self) -> Option<f64> {
        Some(self.treatment.mean().ok()? - self.control.mean().ok()?)
    }

    /// Undefined for fewer than `needed` values in an arm, and without variation.
    fn difference(&self, needed: u64) -> Result<Difference, Undefined> {
        for arm in [&self.control, &self.treatment] {
            Undefined::unless_enough(
                "values in an arm",
                arm.count() as usize,
                needed.max(2) as usize,
            )?;
        }
        let (control, treatment) = (self.control.mean()?, self.treatment.mean()?);
        let variance =
            self.control.standard_error()?.powi(2) + self.treatment.standard_error()?.powi(2);
        let standard_error = variance.sqrt();
        // A standard error this small beside the means is rounding.
        if standard_error <= 1e-13 * control.abs().max(treatment.abs()) || standard_error <= 0.0 {
            return Err(Undefined::NoVariation { what: "values" });
        }
        Ok(Difference { value: treatment - control, standard_error })
    }
}

/// The normal mixture that both tests valid at any time rest on (Robbins 1970). With `r` the variance of the mixture in units of the
/// squared standard error, the likelihood ratio of the mixture against no difference is `exp(z² r / (2 (1 + r))) / √(1 + r)`.
mod mixed {
    /// How many standard errors from the estimate the interval reaches.
    pub(super) fn width(ratio: f64, alpha: f64) -> f64 {
        (2.0 * (ratio + 1.0) / ratio * (0.5 * ratio.ln_1p() - alpha.ln())).sqrt()
    }

    /// The p-value of one look: one over the likelihood ratio, at most 1.
    pub(super) fn p_value(z: f64, ratio: f64) -> f64 {
        (0.5 * ratio.ln_1p() - 0.5 * z * z * ratio / (1.0 + ratio)).exp().min(1.0)
    }
}

/// Goes through the looks; `ratio` gives the mixture's variance for the arms and their difference.
fn valid_at_any_time(
    looks: &[Arms],
    alpha: f64,
    needed: u64,
    ratio: impl Fn(&Arms, &Difference) -> f64,
) -> Vec<Look> {
    let (mut p_value, mut decision) = (1.0_f64, Decision::Continue);
    let mut results = Vec::with_capacity(looks.len());
    for arms in looks {
        let (mut interval, mut undefined) = (None, None);
        match arms.difference(needed) {
            Ok(difference) => {
                let ratio = ratio(arms, &difference);
                let half = mixed::width(ratio, alpha) * difference.standard_error;
                interval =
                    Some(Interval { low: difference.value - half, high: difference.value + half });
                let z = difference.value / difference.standard_error;
                p_value = p_value.min(mixed::p_value(z, ratio));
                if decision == Decision::Continue && difference.value.abs() > half {
                    decision = Decision::by_sign(difference.value);
                }
            }
            Err(reason) => undefined = Some(reason),
        }
        results.push(Look {
            control_count: arms.control.count(),
            treatment_count: arms.treatment.count(),
            difference: arms.raw_difference(),
            interval,
            p_value,
            undefined,
            decision,
        });
    }
    results
}
