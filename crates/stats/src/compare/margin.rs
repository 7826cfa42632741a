//! Tests against a margin: not worse by more than it, or within it on both sides.

use serde::Serialize;

use super::MeanComparison;
use crate::{Undefined, student_t_cdf, student_t_sf};

/// A one-sided test against a margin.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct OneSided {
    /// Distance of the difference from the worst tolerated one, in standard errors.
    pub statistic: f64,
    /// Degrees of freedom.
    pub degrees_of_freedom: f64,
    /// One-sided p-value of "worse by the margin or more": small is evidence of non-inferiority.
    pub p_value: f64,
}

/// Two one-sided tests against the ends of a range of equivalence.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Equivalence {
    /// p-value of "at or below the lower end".
    pub p_low: f64,
    /// p-value of "at or above the upper end".
    pub p_high: f64,
    /// The larger of the two: small is evidence that the difference lies inside the range.
    pub p_value: f64,
}

/// Test of non-inferiority: is the second mean at most `margin` below the first? Higher is better; where lower is better,
/// swap the samples. It works from difference, standard error and degrees of freedom, and so serves Welch, paired and
/// clustered comparisons alike (Wellek 2010). A margin of 0 is a test of superiority. Undefined for a margin that is
/// negative or not finite.
pub fn non_inferiority(comparison: &MeanComparison, margin: f64) -> Result<OneSided, Undefined> {
    if !(margin >= 0.0 && margin.is_finite()) {
        return Err(Undefined::OutOfRange {
            what: "margin",
            value: margin,
            allowed: "0 or positive",
        });
    }
    let statistic = (comparison.difference + margin) / comparison.standard_error;
    let degrees_of_freedom = comparison.degrees_of_freedom;
    let p_value = student_t_sf(statistic, degrees_of_freedom);
    Ok(OneSided { statistic, degrees_of_freedom, p_value })
}

/// Test of equivalence by two one-sided tests (TOST, Schuirmann 1987): does the difference lie between `low` and `high`? At
/// level α it agrees with the 1 − 2α interval lying inside the range. Undefined unless low < high, both finite.
pub fn equivalence(
    comparison: &MeanComparison,
    low: f64,
    high: f64,
) -> Result<Equivalence, Undefined> {
    Undefined::unless_finite("end of the range", &[low, high])?;
    if low >= high {
        return Err(Undefined::OutOfRange {
            what: "the lower end of the range",
            value: low,
            allowed: "below the upper end",
        });
    }
    let in_errors = |bound: f64| (comparison.difference - bound) / comparison.standard_error;
    let p_low = student_t_sf(in_errors(low), comparison.degrees_of_freedom);
    let p_high = student_t_cdf(in_errors(high), comparison.degrees_of_freedom);
    Ok(Equivalence { p_low, p_high, p_value: p_low.max(p_high) })
}
