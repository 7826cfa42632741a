//! The beta distribution: what the t, F and binomial distributions rest on.

use statrs::function::gamma::ln_gamma;

use crate::Undefined;
use crate::numeric::root_between;

/// Terms of the continued fraction; it needs about the square root of the larger parameter.
const MAX_TERMS: usize = 100_000;
/// Where a partial denominator would vanish.
const TINY: f64 = 1e-300;

/// Distribution function of the beta distribution at `x`, for positive parameters: the regularized incomplete beta
/// function, by the continued fraction of DLMF 8.17.22 after Lentz, with the leading factor after Loader (2000), which
/// loses no digits for parameters in the millions. Where one parameter is in the millions and the other below 1, the
/// fraction itself keeps about 9 digits. Outside of 0–1 it is 0 or 1.
#[must_use]
pub fn beta_cdf(x: f64, a: f64, b: f64) -> f64 {
    incomplete_beta(x, 1.0 - x, a, b)
}

/// Quantile of the beta distribution; undefined unless 0 < p < 1 and both parameters are positive.
pub fn beta_quantile(p: f64, a: f64, b: f64) -> Result<f64, Undefined> {
    Undefined::unless_share("probability", p)?;
    for value in [a, b] {
        Undefined::unless_positive("a parameter of the beta distribution", value)?;
    }
    root_between(0.0, 1.0, |x| beta_cdf(x, a, b) - p)
}

/// The regularized incomplete beta function, given both `x` and `1 − x`, so that neither is rounded away.
pub(crate) fn incomplete_beta(x: f64, rest: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if rest <= 0.0 {
        return 1.0;
    }
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - continued(rest, x, b, a);
    }
    continued(x, rest, a, b)
}

fn continued(x: f64, rest: f64, a: f64, b: f64) -> f64 {
    let guarded = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / guarded(1.0 - (a + b) * x / (a + 1.0));
    let mut fraction = d;
    for term in 1..MAX_TERMS {
        let m = term as f64;
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / guarded(1.0 + even * d);
        c = guarded(1.0 + even / c);
        fraction *= d * c;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / guarded(1.0 + odd * d);
        c = guarded(1.0 + odd / c);
        fraction *= d * c;
        if (d * c - 1.0).abs() < 1e-15 {
            break;
        }
    }
    (leading_factor(x, rest, a, b) * fraction / a).min(1.0)
}

/// `x^a (1−x)^b / B(a, b)`, with the large parts of the three gamma functions cancelled by hand (Loader 2000).
pub(crate) fn leading_factor(x: f64, rest: f64, a: f64, b: f64) -> f64 {
    let n = a + b;
    let scale = (a * b / (2.0 * std::f64::consts::PI * n)).sqrt();
    let stirling = stirling_error(n) - stirling_error(a) - stirling_error(b);
    scale * (stirling - deviance(a, n * x) - deviance(b, n * rest)).exp()
}

/// What Stirling's formula leaves of `ln Γ(n + 1)`.
fn stirling_error(n: f64) -> f64 {
    if n < 16.0 {
        let log_two_pi = (2.0 * std::f64::consts::PI).ln();
        return ln_gamma(n + 1.0) - (n + 0.5) * n.ln() + n - 0.5 * log_two_pi;
    }
    let square = n * n;
    let inner = 1.0 / 1260.0 - (1.0 / 1680.0 - (1.0 / 1188.0) / square) / square;
    (1.0 / 12.0 - (1.0 / 360.0 - inner / square) / square) / n
}

/// `x ln(x/m) + m − x`, without loss where `x` is near `m`.
fn deviance(x: f64, m: f64) -> f64 {
    if (x - m).abs() >= 0.1 * (x + m) {
        return x * (x / m).ln() + m - x;
    }
    let ratio = (x - m) / (x + m);
    let mut sum = (x - m) * ratio;
    let mut term = 2.0 * x * ratio;
    for j in 1..1000 {
        term *= ratio * ratio;
        let next = sum + term / f64::from(2 * j + 1);
        if next.to_bits() == sum.to_bits() {
            break;
        }
        sum = next;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    const CDF: [(f64, f64, f64, f64); 5] = [
        (0.3, 2.5, 4.0, 0.352_197_585_906_767_2),
        (0.001, 0.5, 0.5, 0.020_135_041_633_377_492),
        (0.5005, 500_000.0, 500_000.0, 0.841_344_746_068_553_6),
        (0.1, 150_000.0, 1_360_000.0, 0.996_696_435_111_849_2),
        (0.999_999, 5_000_000.0, 0.5, 0.001_565_398_432_595_212_4),
    ];
    const QUANTILES: [(f64, f64, f64, f64); 4] = [
        (0.025, 1.0, 10.0, 0.002_528_578_544_461_784_8),
        (0.975, 151.0, 850.0, 0.173_658_128_567_035_97),
        (0.025, 150_000.0, 850_001.0, 0.149_300_667_251_996_2),
        (0.5, 0.3, 0.2, 0.760_864_963_852_018_1),
    ];

    /// Values of `scipy.stats.beta.cdf` and `.ppf`, scipy 1.12.
    #[test]
    fn values_equal_scipy() {
        for (x, a, b, expected) in CDF {
            let value = beta_cdf(x, a, b);
            let tolerance = if a > 1e6 { 1e-9 } else { 1e-11 };
            assert!(
                (value / expected - 1.0).abs() < tolerance,
                "{x} {a} {b}: {value} not {expected}"
            );
        }
        for (p, a, b, expected) in QUANTILES {
            let value = beta_quantile(p, a, b).unwrap_or(f64::NAN);
            assert!((value / expected - 1.0).abs() < 1e-11, "{p} {a} {b}: {value} not {expected}");
        }
        assert!(beta_quantile(0.0, 1.0, 1.0).is_err());
    }
}
