//! Quantiles of the normal and of Student's t distribution.

use statrs::distribution::{Continuous, ContinuousCDF, Normal, StudentsT};

/// Above this many degrees of freedom the t quantile is expanded around the normal one: `statrs` loses accuracy there.
const EXPANSION_FROM: f64 = 1000.0;

/// Quantile of the standard normal distribution; `None` unless 0 < p < 1.
#[must_use]
pub fn normal_quantile(p: f64) -> Option<f64> {
    if !(p > 0.0 && p < 1.0) {
        return None;
    }
    Normal::new(0.0, 1.0).ok().map(|normal| normal.inverse_cdf(p))
}

/// Quantile of Student's t; `None` unless 0 < p < 1 and the degrees of freedom are positive.
///
/// Large degrees of freedom use the Cornish–Fisher expansion (Abramowitz and Stegun 26.7.5), whose first
/// omitted term is below 1e-13 there.
#[must_use]
pub fn student_t_quantile(p: f64, degrees_of_freedom: f64) -> Option<f64> {
    if !(p > 0.0 && p < 1.0 && degrees_of_freedom > 0.0) {
        return None;
    }
    if degrees_of_freedom < EXPANSION_FROM {
        let student = StudentsT::new(0.0, 1.0, degrees_of_freedom).ok()?;
        return Some(polished(p, student.inverse_cdf(p), &student));
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
    Some(quantile)
}

/// Two Newton steps from a start that is already close.
fn polished(p: f64, start: f64, student: &StudentsT) -> f64 {
    let mut quantile = start;
    for _ in 0..2 {
        let density = student.pdf(quantile);
        if density > 0.0 {
            quantile -= (student.cdf(quantile) - p) / density;
        }
    }
    quantile
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
        let normal = normal_quantile(0.975).unwrap_or(f64::NAN);
        assert!((normal - 1.959_963_984_540_054).abs() < 1e-12, "{normal}");
    }

    #[test]
    fn outside_of_their_domain_there_is_no_quantile() {
        assert_eq!(student_t_quantile(0.975, 0.0), None);
        assert_eq!(student_t_quantile(1.0, 5.0), None);
        assert_eq!(normal_quantile(f64::NAN), None);
    }
}
