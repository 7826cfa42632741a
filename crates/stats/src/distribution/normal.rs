//! The standard normal distribution.

use statrs::function::erf::{erfc, erfc_inv};

use crate::Undefined;

/// Density of the standard normal distribution.
#[must_use]
pub fn normal_pdf(z: f64) -> f64 {
    (-0.5 * z * z).exp() / (2.0 * std::f64::consts::PI).sqrt()
}

/// Distribution function of the standard normal distribution; `normal_cdf(-z)` is its upper tail.
#[must_use]
pub fn normal_cdf(z: f64) -> f64 {
    0.5 * erfc(-z * std::f64::consts::FRAC_1_SQRT_2)
}

/// Quantile of the standard normal distribution; undefined unless 0 < p < 1.
pub fn normal_quantile(p: f64) -> Result<f64, Undefined> {
    Undefined::unless_share("probability", p)?;
    Ok(-std::f64::consts::SQRT_2 * erfc_inv(2.0 * p))
}
