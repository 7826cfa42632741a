//! Student's t distribution.

use super::beta::{beta_quantile, incomplete_beta};
use super::normal::{normal_cdf, normal_quantile};
use crate::Undefined;

/// From this many degrees of freedom on, t is computed as a correction of the normal distribution.
const NEARLY_NORMAL: f64 = 1000.0;

/// Upper tail of Student's t: the probability of `t` or more, for positive degrees of freedom. Small tails keep their digits.
#[must_use]
pub fn student_t_sf(t: f64, degrees_of_freedom: f64) -> f64 {
    if degrees_of_freedom >= NEARLY_NORMAL {
        let tail = nearly_normal_tail(t.abs(), degrees_of_freedom);
        return if t >= 0.0 { tail } else { 1.0 - tail };
    }
    let square = t * t;
    let scale = degrees_of_freedom + square;
    let (x, rest) = (degrees_of_freedom / scale, square / scale);
    let tail = 0.5 * incomplete_beta(x, rest, degrees_of_freedom / 2.0, 0.5);
    if t >= 0.0 { tail } else { 1.0 - tail }
}

/// The tail beyond `t ≥ 0` as that of a normal variable (Hill 1970, algorithm 395). The incomplete beta function loses digits here, and the
/// expansion has fifteen up to 8 standard deviations, and eight still at 30.
fn nearly_normal_tail(t: f64, degrees_of_freedom: f64) -> f64 {
    let a = degrees_of_freedom - 0.5;
    let b = 48.0 * a * a;
    let y = a * (t * t / degrees_of_freedom).ln_1p();
    let inner = (((-0.4 * y - 3.3) * y - 24.0) * y - 85.5) / (0.8 * y * y + 100.0 + b);
    normal_cdf(-y.sqrt() * ((inner + y + 3.0) / b + 1.0))
}

/// Distribution function of Student's t, for positive degrees of freedom.
#[must_use]
pub fn student_t_cdf(t: f64, degrees_of_freedom: f64) -> f64 {
    student_t_sf(-t, degrees_of_freedom)
}

/// Quantile of Student's t; undefined unless 0 < p < 1 and the degrees of freedom are positive.
///
/// Large degrees of freedom use the Cornish–Fisher expansion (Abramowitz and Stegun 26.7.5), whose first
/// omitted term is below 1e-13 there.
pub fn student_t_quantile(p: f64, degrees_of_freedom: f64) -> Result<f64, Undefined> {
    Undefined::unless_share("probability", p)?;
    Undefined::unless_positive("degrees of freedom", degrees_of_freedom)?;
    if degrees_of_freedom < NEARLY_NORMAL {
        let tail = p.min(1.0 - p);
        let half = degrees_of_freedom / 2.0;
        // The share that is small is the one found, so that its digits are kept.
        let t = if tail < 0.25 {
            let share = beta_quantile(2.0 * tail, half, 0.5)?;
            (degrees_of_freedom * (1.0 - share) / share).sqrt()
        } else if tail < 0.5 {
            let share = beta_quantile(1.0 - 2.0 * tail, 0.5, half)?;
            (degrees_of_freedom * share / (1.0 - share)).sqrt()
        } else {
            0.0
        };
        return Ok(if p < 0.5 { -t } else { t });
    }
    let z = normal_quantile(p)?;
    let z2 = z * z;
    let terms = [
        z * (z2 + 1.0) / 4.0,
        z * ((5.0 * z2 + 16.0) * z2 + 3.0) / 96.0,
        z * (((3.0 * z2 + 19.0) * z2 + 17.0) * z2 - 15.0) / 384.0,
        z * ((((79.0 * z2 + 776.0) * z2 + 1482.0) * z2 - 1920.0) * z2 - 945.0) / 92_160.0,
    ];
    let (mut quantile, mut power) = (z, 1.0);
    for term in terms {
        power *= degrees_of_freedom;
        quantile += term / power;
    }
    Ok(quantile)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of `scipy.stats.t.ppf(0.975, df)` and `scipy.stats.norm.ppf(0.975)`, scipy 1.17.1.
    #[test]
    fn quantiles_equal_scipy() {
        let expected = [
            (1.0, 12.706_204_736_174_694),
            (2.0, 4.302_652_729_749_462),
            (9.0, 2.262_157_162_798_205),
            (39.0, 2.022_690_920_036_761),
            (999.0, 1.962_341_461_133_449_3),
            (1000.0, 1.962_339_080_826_408_3),
            (1e6, 1.959_966_356_814_107),
        ];
        for (degrees, value) in expected {
            let quantile = student_t_quantile(0.975, degrees).unwrap_or(f64::NAN);
            assert!((quantile - value).abs() < 1e-9, "{degrees}: {quantile} is not {value}");
        }
        let tails = [
            (2.489_197_802_980_785_7, 21.993_245_819_885_125, 0.010_427_803_088_644_879),
            (1.5, 1.0, 0.187_167_041_810_998_8),
            (3.0, 1000.0, 0.001_383_354_522_119_093_9),
            (2.2, 123_456.7, 0.013_904_370_471_694_445),
            (4.5, 1e7, 3.397_711_336_025_497_5e-6),
            (10.0, 5.0, 8.547_378_787_148_179e-5),
            (0.3, 50.0, 0.382_710_440_127_651_6),
            (12.0, 1e5, 1.872_252_905_978_209_3e-33),
            (30.0, 1e5, 3.689_268_436_111_38e-197),
        ];
        for (t, degrees, expected) in tails {
            let tail = student_t_sf(t, degrees);
            assert!((tail / expected - 1.0).abs() < 1e-11, "{t} {degrees}: {tail} not {expected}");
            assert!((student_t_cdf(t, degrees) + tail - 1.0).abs() < 1e-15);
        }
        assert!((student_t_sf(20.0, 1000.0) / 2.031_144_249_762_408_7e-75 - 1.0).abs() < 1e-9);
        assert_eq!(student_t_sf(1e6, 1e5), 0.0);
        let normal = normal_quantile(0.975).unwrap_or(f64::NAN);
        assert!((normal - 1.959_963_984_540_054).abs() < 1e-12, "{normal}");
    }

    #[test]
    fn outside_of_their_domain_there_is_no_quantile() {
        assert!(student_t_quantile(0.975, 0.0).is_err());
        assert!(student_t_quantile(1.0, 5.0).is_err());
        assert!(normal_quantile(f64::NAN).is_err());
        assert_eq!(student_t_quantile(0.5, 7.0), Ok(0.0));
    }
}
