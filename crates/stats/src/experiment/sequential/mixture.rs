//! The mixture sequential probability ratio test, whose p-value may be read at any time.

use serde::Serialize;

use super::{Arms, Look, valid_at_any_time};
use crate::Undefined;

/// The mixture SPRT for a difference of means (Robbins 1970; Johari, Koomen, Pekelis and Walsh 2022): the likelihood of differences spread normally
/// around 0 with standard deviation `tau · s` against that of no difference. Its p-value is one over the largest ratio so far.
/// Assumes independent values, and enough of them for the arms' means to be normal.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct MixtureTest {
    /// How often the test may find a difference where there is none.
    pub alpha: f64,
    /// Standard deviation of the differences that are expected, in units of the values' pooled standard deviation. The test is valid for
    /// any choice made before the data, and quickest where differences are of about this size.
    pub tau: f64,
}

impl MixtureTest {
    /// A test tuned for small differences after Cohen (1988): 0.2 standard deviations. Undefined unless 0 < alpha < 1.
    pub fn new(alpha: f64) -> Result<Self, Undefined> {
        Self::with_tau(alpha, 0.2)
    }

    /// A test tuned for differences of about `tau` standard deviations. Undefined unless 0 < alpha < 1 and tau is positive.
    pub fn with_tau(alpha: f64, tau: f64) -> Result<Self, Undefined> {
        Undefined::unless_share("alpha", alpha)?;
        Undefined::unless_positive("tau", tau)?;
        Ok(Self { alpha, tau })
    }
}

/// A difference of means, looked at again and again. `looks` hold all values up to each look. A look with fewer than `needed`
/// values in an arm (at least 2) says nothing: with estimated variances the test needs a delayed start (Bibaut, Kallus and Lindon 2024).
///
/// With `V = s₁²/n₁ + s₂²/n₂` the likelihood ratio is `√(V/(V+τ²)) exp(τ² d² / (2 V (V+τ²)))`, which for arms of equal size and
/// variance is that of Johari et al.
#[must_use]
pub fn mixture_test(looks: &[Arms], test: &MixtureTest, needed: u64) -> Vec<Look> {
    valid_at_any_time(looks, test.alpha, needed, |arms, difference| {
        let tau = test.tau * pooled_deviation(arms);
        (tau / difference.standard_error).powi(2)
    })
}

/// The pooled standard deviation of the arms; both have at least two values here.
fn pooled_deviation(arms: &Arms) -> f64 {
    let mut squares = 0.0;
    let mut degrees = 0.0;
    for arm in [&arms.control, &arms.treatment] {
        let freedom = arm.count() as f64 - 1.0;
        squares += arm.variance().unwrap_or_default() * freedom;
        degrees += freedom;
    }
    (squares / degrees).sqrt()
}
