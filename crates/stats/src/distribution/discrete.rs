//! Binomial and chi-square distributions.

use statrs::function::gamma::gamma_ur;

use super::beta::{incomplete_beta, leading_factor};

/// Probability of at most `k` successes of `n` with success probability `p`.
#[must_use]
pub fn binomial_cdf(k: u64, n: u64, p: f64) -> f64 {
    if k >= n {
        return 1.0;
    }
    incomplete_beta(1.0 - p, p, (n - k) as f64, (k + 1) as f64)
}

/// Probability of exactly `k` successes of `n` with success probability `p` (Loader 2000).
#[must_use]
pub fn binomial_pmf(k: u64, n: u64, p: f64) -> f64 {
    if k > n {
        return 0.0;
    }
    if k == 0 {
        return (n as f64 * (-p).ln_1p()).exp();
    }
    if k == n {
        return p.powf(n as f64);
    }
    let (a, b) = (k as f64, (n - k) as f64);
    leading_factor(p, 1.0 - p, a, b) * (a + b) / (a * b)
}

/// Upper tail of the chi-square distribution: the probability of `x` or more; 1 for x ≤ 0.
#[must_use]
pub fn chi_square_sf(x: f64, degrees_of_freedom: f64) -> f64 {
    if x <= 0.0 { 1.0 } else { gamma_ur(degrees_of_freedom / 2.0, x / 2.0) }
}
