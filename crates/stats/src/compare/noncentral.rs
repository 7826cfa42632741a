//! The noncentral t distribution: what a t statistic follows when there is a difference.

use statrs::function::gamma::ln_gamma;

use crate::numeric::integrate;
use crate::{Undefined, normal_cdf};

/// The root of a chi-square has Gaussian tails around √df at least this thin: beyond nine there is less than 1e-17.
const REACH: f64 = 9.0;

/// Upper tail of the noncentral t distribution, for at least one degree of freedom: the mean of the normal tail over the
/// distribution of the estimated standard deviation, by integration.
pub(super) fn noncentral_t_sf(t: f64, degrees_of_freedom: f64, noncentrality: f64) -> f64 {
    let spread = REACH / degrees_of_freedom.sqrt();
    let (low, high) = ((1.0 - spread).max(0.0), 1.0 + spread);
    let half = degrees_of_freedom / 2.0;
    let constant = log_constant(half);
    let integrand = |s: f64| {
        let power =
            if degrees_of_freedom == 1.0 { 0.0 } else { (degrees_of_freedom - 1.0) * s.ln() };
        (constant + power - half * (s - 1.0) * (s + 1.0)).exp() * normal_cdf(noncentrality - t * s)
    };
    let below = integrate(low, 1.0, 1e-12, integrand);
    (below + integrate(1.0, high, 1e-12, integrand)).clamp(0.0, 1.0)
}

/// The logarithm of the density of √(χ²/df) at 1, with x = df/2: `ln(2 xˣ e⁻ˣ / Γ(x))`, large parts cancelled by hand.
fn log_constant(x: f64) -> f64 {
    if x < 16.0 {
        return 2.0_f64.ln() + x * x.ln() - x - ln_gamma(x);
    }
    let square = x * x;
    let inner = 1.0 / 1260.0 - (1.0 / 1680.0 - (1.0 / 1188.0) / square) / square;
    let stirling = (1.0 / 12.0 - (1.0 / 360.0 - inner / square) / square) / x;
    2.0_f64.ln() + 0.5 * (x / (2.0 * std::f64::consts::PI)).ln() - stirling
}

/// Refuses degrees of freedom below 1, where the density has a pole.
pub(super) fn unless_at_least_one(degrees_of_freedom: f64) -> Result<(), Undefined> {
    if degrees_of_freedom >= 1.0 && degrees_of_freedom.is_finite() {
        return Ok(());
    }
    Err(Undefined::OutOfRange {
        what: "degrees of freedom",
        value: degrees_of_freedom,
        allowed: "at least 1",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TAILS: [(f64, f64, f64, f64); 9] = [
        (2.0, 5.0, 1.0, 0.221_925_337_383_785_14),
        (1.98, 126.0, 2.8, 0.793_209_638_827_044_2),
        (-1.98, 126.0, 2.8, 0.999_998_930_631_738_2),
        (2.0, 1.0, 2.0, 0.632_208_584_729_329_1),
        (12.7, 1.0, 30.0, 0.981_473_094_378_274),
        (1.96, 100_000.0, 2.8, 0.799_544_918_814_510_6),
        (4.3, 2.0, 8.0, 0.958_198_720_263_489_2),
        (1.97, 393.0, 0.0, 0.024_770_050_747_672_58),
        (2.5, 33.4, -1.0, 0.000_425_889_797_061_076_5),
    ];

    /// Values of `scipy.stats.nct.sf`, scipy 1.17.1.
    #[test]
    fn tails_equal_scipy() {
        for (t, degrees, noncentrality, expected) in TAILS {
            let tail = noncentral_t_sf(t, degrees, noncentrality);
            assert!(
                (tail - expected).abs() < 2e-10,
                "{t} {degrees} {noncentrality}: {tail} not {expected}"
            );
        }
    }
}
