//! What a study can find: power, sample size, minimum detectable effect.

use super::noncentral::{noncentral_t_sf, unless_at_least_one};
use crate::numeric::root_between;
use crate::{Undefined, student_t_quantile};

/// The noncentrality beyond which nothing is looked for.
const FARTHEST: f64 = 1e9;

/// The smallest true difference that a two-sided t test at level `alpha` finds with probability `power`, given the standard
/// error of the difference (Cohen 1988; noncentral t). Undefined unless the standard error is positive, the degrees of
/// freedom at least 1, and alpha < power, both between 0 and 1.
pub fn minimum_detectable_effect(
    standard_error: f64,
    degrees_of_freedom: f64,
    alpha: f64,
    power: f64,
) -> Result<f64, Undefined> {
    Undefined::unless_positive("standard error", standard_error)?;
    Ok(standard_error * detectable_noncentrality(degrees_of_freedom, alpha, power)?)
}

/// The noncentrality, a true difference in standard errors, that a two-sided t test finds with this power.
fn detectable_noncentrality(
    degrees_of_freedom: f64,
    alpha: f64,
    power: f64,
) -> Result<f64, Undefined> {
    Undefined::unless_share("alpha", alpha)?;
    Undefined::unless_share("power", power)?;
    unless_at_least_one(degrees_of_freedom)?;
    if power <= alpha {
        return Err(Undefined::OutOfRange {
            what: "power",
            value: power,
            allowed: "more than alpha",
        });
    }
    let critical = student_t_quantile(1.0 - alpha / 2.0, degrees_of_freedom)?;
    let missing =
        |noncentrality: f64| two_sided_power(critical, degrees_of_freedom, noncentrality) - power;
    let mut high = 1.0;
    while missing(high) < 0.0 {
        high *= 2.0;
        if high > FARTHEST {
            return Err(Undefined::NotConverged { what: "the detectable effect", iterations: 30 });
        }
    }
    root_between(0.0, high, missing)
}

/// The probability that a t statistic lies beyond the critical value on either side.
fn two_sided_power(critical: f64, degrees_of_freedom: f64, noncentrality: f64) -> f64 {
    noncentral_t_sf(critical, degrees_of_freedom, noncentrality)
        + noncentral_t_sf(critical, degrees_of_freedom, -noncentrality)
}
