//! The standard normal distribution.

use libm::erfc;
use statrs::function::erf::erfc_inv;

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

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of `scipy.stats.norm.cdf`, scipy 1.17.1; the error function of statrs has ten digits of them.
    #[test]
    fn tails_equal_scipy() {
        for (z, expected) in [
            (-1.0, 0.158_655_253_931_457_07),
            (-3.0, 0.001_349_898_031_630_093_3),
            (0.4, 0.655_421_741_610_324_2),
            (-8.5, 9.479_534_822_203_25e-18),
        ] {
            let tail = normal_cdf(z);
            assert!((tail / expected - 1.0).abs() < 1e-14, "{z}: {tail} not {expected}");
        }
    }
}
