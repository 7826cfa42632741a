//! The area under the curve of sensitivity against false passes: how well scores tell passing items from failing ones.

use serde::Serialize;

use super::marks::{Step, steps};
use super::value_or_reason;
use crate::{Interval, Undefined, normal_quantile};

/// A standard error this small is rounding, not variation.
const NO_VARIATION: f64 = 1e-13;

/// The area under the curve.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AreaUnderCurve {
    /// The probability that an item that people passed has a higher value than one that they failed, ties counted half.
    pub area: f64,
    /// Its standard error (DeLong, DeLong and Clarke-Pearson 1988).
    #[serde(serialize_with = "value_or_reason")]
    pub standard_error: Result<f64, Undefined>,
    /// Its interval, normal on the scale of log odds, so that it stays between 0 and 1.
    #[serde(serialize_with = "value_or_reason")]
    pub interval: Result<Interval, Undefined>,
}

/// The area under the receiver operating characteristic: 1 where every item that people passed has a higher value than every
/// item that they failed, 0.5 where values say nothing, below 0.5 where they say the opposite. It needs no mark and does not
/// depend on how many items pass.
///
/// Items are independent. The standard error is DeLong's (1988), computed from counts by distinct value; the interval is
/// taken on the scale of log odds (Qin and Hotilovac 2008). Both are undefined for fewer than two items of each label, and
/// the interval also where the values separate the labels without a mistake: no variation says nothing about how far the area
/// may be off. Undefined without pairs, for values that are not finite, and where all labels are equal.
pub fn area_under_curve(
    values: &[f64],
    passes: &[bool],
    confidence: f64,
) -> Result<AreaUnderCurve, Undefined> {
    Undefined::unless_share("confidence", confidence)?;
    let (steps, _) = steps(values, passes)?;
    Ok(area_of(&steps, confidence))
}

/// The same of steps that have both labels.
pub(super) fn area_of(steps: &[Step], confidence: f64) -> AreaUnderCurve {
    let passing = steps.iter().map(|step| step.passing).sum::<u64>() as f64;
    let failing = steps.iter().map(|step| step.failing).sum::<u64>() as f64;
    // For each step, the share of the other label that its items are on the right side of.
    let (mut failing_below, mut passing_below) = (0.0, 0.0);
    let mut placements = Vec::with_capacity(steps.len());
    for step in steps {
        let (pass, fail) = (step.passing as f64, step.failing as f64);
        let of_passing = (failing_below + fail / 2.0) / failing;
        let of_failing = (passing - passing_below - pass / 2.0) / passing;
        placements.push((pass, of_passing, fail, of_failing));
        failing_below += fail;
        passing_below += pass;
    }
    let area = placements.iter().map(|(pass, place, ..)| pass * place).sum::<f64>() / passing;
    let (mut of_passing, mut of_failing) = (0.0, 0.0);
    for (pass, place_of_passing, fail, place_of_failing) in placements {
        of_passing += pass * (place_of_passing - area).powi(2);
        of_failing += fail * (place_of_failing - area).powi(2);
    }
    let fewer = passing.min(failing) as usize;
    let standard_error = Undefined::unless_enough("items of each label", fewer, 2).map(|()| {
        let variance = of_passing / (passing - 1.0) / passing;
        (variance + of_failing / (failing - 1.0) / failing).sqrt()
    });
    let interval = standard_error.clone().and_then(|error| log_odds(area, error, confidence));
    AreaUnderCurve { area, standard_error, interval }
}

fn log_odds(area: f64, standard_error: f64, confidence: f64) -> Result<Interval, Undefined> {
    if standard_error <= NO_VARIATION || area <= 0.0 || area >= 1.0 {
        return Err(Undefined::NoVariation { what: "orders of a passing and a failing item" });
    }
    let center = (area / (1.0 - area)).ln();
    let z = normal_quantile(f64::midpoint(1.0, confidence))?;
    let reach = z * standard_error / (area * (1.0 - area));
    let share = |log_odds: f64| 1.0 / (1.0 + (-log_odds).exp());
    Ok(Interval { low: share(center - reach), high: share(center + reach) })
}
