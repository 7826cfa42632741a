//! What is believed of a value after seeing data: a distribution, and expectations under it by integration.

use serde::Serialize;
use statrs::function::gamma::ln_gamma;

use crate::distribution::{incomplete_beta, leading_factor};
use crate::numeric::integrate_pieces;
use crate::{Undefined, normal_cdf, normal_pdf, student_t_sf};

/// Beyond this many standard deviations a normal distribution has nothing left.
const NORMAL_REACH: f64 = 9.5;
/// What is below this share of the peak of a density counts as nothing.
const NOTHING: f64 = 1e-21;
/// Student's t has an expectation from more than 1 degree of freedom on; below this, the integral of its tails does not settle.
const LEAST_DEGREES: f64 = 1.1;

/// The distribution of an arm's true value, given what was seen of it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "family", rename_all = "snake_case")]
pub enum Posterior {
    /// A normal distribution.
    Normal {
        /// Its mean.
        mean: f64,
        /// Its standard deviation, positive.
        standard_deviation: f64,
    },
    /// Student's t, moved and stretched: the mean of normal values of unknown variance.
    StudentT {
        /// Its center.
        location: f64,
        /// Its scale, positive.
        scale: f64,
        /// Its degrees of freedom, positive.
        degrees_of_freedom: f64,
    },
    /// A beta distribution: a rate.
    Beta {
        /// Its first parameter: successes, and the prior's.
        alpha: f64,
        /// Its second parameter: failures, and the prior's.
        beta: f64,
    },
}

impl Posterior {
    /// The belief about the mean of values with known standard deviation `noise`, after `count` values of the given mean, from a
    /// normal prior (DeGroot 1970). Undefined unless both standard deviations are positive and all numbers finite.
    pub fn gaussian(
        prior_mean: f64,
        prior_standard_deviation: f64,
        noise: f64,
        count: u64,
        mean: f64,
    ) -> Result<Self, Undefined> {
        Undefined::unless_positive("the prior's standard deviation", prior_standard_deviation)?;
        Undefined::unless_positive("the standard deviation of the values", noise)?;
        Undefined::unless_finite("mean", &[prior_mean, mean])?;
        let prior_precision = prior_standard_deviation.powi(-2);
        let precision = count as f64 / (noise * noise);
        let total = prior_precision + precision;
        let posterior = Self::Normal {
            mean: (prior_mean * prior_precision + mean * precision) / total,
            standard_deviation: total.sqrt().recip(),
        };
        posterior.check()?;
        Ok(posterior)
    }

    /// Its expectation. Undefined for Student's t with 1 degree of freedom or fewer.
    pub fn mean(&self) -> Result<f64, Undefined> {
        self.check()?;
        match *self {
            Self::Normal { mean, .. } => Ok(mean),
            Self::StudentT { location, degrees_of_freedom, .. } => {
                if degrees_of_freedom < LEAST_DEGREES {
                    return Err(Undefined::OutOfRange {
                        what: "the posterior's degrees of freedom",
                        value: degrees_of_freedom,
                        allowed: "at least 1.1, or its expectation is unbounded",
                    });
                }
                Ok(location)
            }
            Self::Beta { alpha, beta } => Ok(alpha / (alpha + beta)),
        }
    }

    /// The probability that the value is at most `value`.
    #[must_use]
    pub fn cdf(&self, value: f64) -> f64 {
        match *self {
            Self::Normal { mean, standard_deviation } => {
                normal_cdf((value - mean) / standard_deviation)
            }
            Self::StudentT { location, scale, degrees_of_freedom } => {
                student_t_sf((location - value) / scale, degrees_of_freedom)
            }
            Self::Beta { alpha, beta } => incomplete_beta(value, 1.0 - value, alpha, beta),
        }
    }

    /// The probability that the value is above `value`; small ones keep their digits.
    #[must_use]
    pub fn above(&self, value: f64) -> f64 {
        match *self {
            Self::Normal { mean, standard_deviation } => {
                normal_cdf((mean - value) / standard_deviation)
            }
            Self::StudentT { location, scale, degrees_of_freedom } => {
                student_t_sf((value - location) / scale, degrees_of_freedom)
            }
            Self::Beta { alpha, beta } => incomplete_beta(1.0 - value, value, beta, alpha),
        }
    }

    /// How far the value is expected to be above `value`: E[max(0, X − value)].
    pub(crate) fn excess(&self, value: f64) -> f64 {
        match *self {
            Self::Beta { alpha, beta } => {
                let over = (alpha / (alpha + beta) - value) * self.above(value);
                (over + rate_term(value, alpha, beta)).max(0.0)
            }
            _ => self.one_sided(value, 1.0),
        }
    }

    /// How far the value is expected to be below `value`: E[max(0, value − X)].
    pub(crate) fn shortfall(&self, value: f64) -> f64 {
        match *self {
            Self::Beta { alpha, beta } => {
                let under = (value - alpha / (alpha + beta)) * self.cdf(value);
                (under + rate_term(value, alpha, beta)).max(0.0)
            }
            _ => self.one_sided(value, -1.0),
        }
    }

    /// The same for the two distributions that are symmetric.
    fn one_sided(&self, value: f64, side: f64) -> f64 {
        let (location, scale) = self.center_and_scale();
        let distance = side * (value - location) / scale;
        let expected = match *self {
            Self::StudentT { degrees_of_freedom, .. } => {
                let share = (degrees_of_freedom + distance * distance) / (degrees_of_freedom - 1.0);
                share * student_density(distance, degrees_of_freedom)
                    - distance * student_t_sf(distance, degrees_of_freedom)
            }
            _ => normal_pdf(distance) - distance * normal_cdf(-distance),
        };
        (scale * expected).max(0.0)
    }

    /// The same distribution moved to the origin, and by how much: values far from 0 would leave few digits for a small spread. A rate stays
    /// where it is.
    pub(crate) fn centered(&self) -> (Self, f64) {
        match *self {
            Self::Normal { mean, standard_deviation } => {
                (Self::Normal { mean: 0.0, standard_deviation }, mean)
            }
            Self::StudentT { location, scale, degrees_of_freedom } => {
                (Self::StudentT { location: 0.0, scale, degrees_of_freedom }, location)
            }
            Self::Beta { .. } => (*self, 0.0),
        }
    }

    /// Where most of it lies.
    pub(crate) fn center_and_scale(&self) -> (f64, f64) {
        match *self {
            Self::Normal { mean, standard_deviation } => (mean, standard_deviation),
            Self::StudentT { location, scale, .. } => (location, scale),
            Self::Beta { alpha, beta } => {
                let total = alpha + beta;
                (alpha / total, (alpha * beta / (total + 1.0)).sqrt() / total)
            }
        }
    }

    /// The expectation of a function of the value, to about `tolerance`. `features` are distributions near whose centers the
    /// function changes, so that no step of it is missed.
    ///
    /// Student's t is integrated over the inverse hyperbolic sine of the value and beta over its logit: the densities are
    /// smooth there and fall off fast, whatever the parameters.
    pub(crate) fn expectation(
        &self,
        features: &[(f64, f64)],
        tolerance: f64,
        function: impl Fn(f64) -> f64,
    ) -> f64 {
        let (center, scale) = self.center_and_scale();
        let mut points = vec![];
        for &(feature, width) in features {
            points.push(feature);
            // A feature narrower than this holds nothing of the belief.
            let mut distance = (3.0 * width).max(1e-12 * scale);
            while distance < 4.0 * (scale + (feature - center).abs()) {
                points.extend([feature - distance, feature + distance]);
                distance *= 5.0;
            }
        }
        match *self {
            Self::Normal { .. } => {
                let inner = points.into_iter().map(|point| (point - center) / scale);
                pieces((-NORMAL_REACH, NORMAL_REACH), 2.0, 0.0, inner, tolerance, |z| {
                    normal_pdf(z) * function(center + scale * z)
                })
            }
            Self::StudentT { degrees_of_freedom, .. } => {
                let reach = student_reach(degrees_of_freedom).asinh();
                let inner = points.into_iter().map(|point| ((point - center) / scale).asinh());
                let constant = student_constant(degrees_of_freedom);
                pieces((-reach, reach), 1.5, 0.0, inner, tolerance, |w| {
                    let z = w.sinh();
                    let power = 0.5 * (degrees_of_freedom + 1.0);
                    let log_density = -power * (z * z / degrees_of_freedom).ln_1p();
                    constant * log_density.exp() * w.cosh() * function(center + scale * z)
                })
            }
            Self::Beta { alpha, beta } => {
                let width = (alpha.recip() + beta.recip()).sqrt();
                let peak = (alpha / beta).ln();
                let density = |w: f64| logit_density(w, alpha, beta);
                let (mut low, mut high) = (peak - width, peak + width);
                while density(low) > NOTHING * density(peak) {
                    low -= width;
                }
                while density(high) > NOTHING * density(peak) {
                    high += width;
                }
                let inside = points.into_iter().filter(|point| *point > 0.0 && *point < 1.0);
                let inner = inside.map(|point| (point / (1.0 - point)).ln());
                pieces((low, high), 2.0 * width, peak, inner, tolerance, |w| {
                    density(w) * function((1.0 + (-w).exp()).recip())
                })
            }
        }
    }

    /// Refuses parameters that are no distribution.
    pub(crate) fn check(&self) -> Result<(), Undefined> {
        match *self {
            Self::Normal { mean, standard_deviation } => {
                Undefined::unless_finite("mean", &[mean])?;
                Undefined::unless_positive("the posterior's standard deviation", standard_deviation)
            }
            Self::StudentT { location, scale, degrees_of_freedom } => {
                Undefined::unless_finite("location", &[location])?;
                Undefined::unless_positive("the posterior's scale", scale)?;
                Undefined::unless_positive("the posterior's degrees of freedom", degrees_of_freedom)
            }
            Self::Beta { alpha, beta } => {
                Undefined::unless_positive("a parameter of the beta distribution", alpha)?;
                Undefined::unless_positive("a parameter of the beta distribution", beta)
            }
        }
    }
}

/// Integrates over a range in pieces: steps of `step` around `center`, and the given points.
fn pieces(
    (low, high): (f64, f64),
    step: f64,
    center: f64,
    inner: impl Iterator<Item = f64>,
    tolerance: f64,
    function: impl FnMut(f64) -> f64,
) -> f64 {
    let mut edges = vec![low, center, high];
    edges.extend(inner);
    let mut distance = step;
    while center - distance > low || center + distance < high {
        edges.extend([center - distance, center + distance]);
        distance *= 2.0;
    }
    edges.retain(|edge| (low..=high).contains(edge));
    edges.sort_unstable_by(f64::total_cmp);
    integrate_pieces(&edges, tolerance, function)
}

/// What the expected excess of a rate has beside the distribution function: x^α (1−x)^β / (B(α, β) (α + β)).
fn rate_term(value: f64, alpha: f64, beta: f64) -> f64 {
    if value <= 0.0 || value >= 1.0 {
        return 0.0;
    }
    leading_factor(value, 1.0 - value, alpha, beta) / (alpha + beta)
}

/// The density of the logit of a rate.
fn logit_density(logit: f64, alpha: f64, beta: f64) -> f64 {
    let (odds, value) = ((-logit.abs()).exp(), (1.0 + (-logit.abs()).exp()).recip());
    let (x, rest) = if logit >= 0.0 { (value, odds * value) } else { (odds * value, value) };
    if x <= 0.0 || rest <= 0.0 { 0.0 } else { leading_factor(x, rest, alpha, beta) }
}

/// How far out the tails of Student's t matter, also for its expectation.
fn student_reach(degrees_of_freedom: f64) -> f64 {
    let decay = (degrees_of_freedom - 1.0).max(LEAST_DEGREES - 1.0);
    let square = degrees_of_freedom * (84.0 / decay).min(690.0).exp_m1();
    square.sqrt()
}

/// Density of Student's t.
fn student_density(t: f64, degrees_of_freedom: f64) -> f64 {
    let power = 0.5 * (degrees_of_freedom + 1.0);
    student_constant(degrees_of_freedom) * (-power * (t * t / degrees_of_freedom).ln_1p()).exp()
}

/// Γ((ν+1)/2) / (Γ(ν/2) √(νπ)); for many degrees of freedom by the series of the ratio (Abramowitz and Stegun 6.1.47), since
/// the two logarithms would cancel.
fn student_constant(v: f64) -> f64 {
    if v < 100.0 {
        let ratio = ln_gamma(f64::midpoint(v, 1.0)) - ln_gamma(v / 2.0);
        return ratio.exp() / (v * std::f64::consts::PI).sqrt();
    }
    let square = v * v;
    let exponent = (-0.25 + (1.0 / 24.0 - 0.05 / square) / square) / v;
    exponent.exp() * normal_pdf(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAMILIES: [Posterior; 6] = [
        Posterior::Normal { mean: -3.0, standard_deviation: 0.01 },
        Posterior::StudentT { location: 5.0, scale: 2.0, degrees_of_freedom: 2.002 },
        Posterior::StudentT { location: 0.5, scale: 1e-4, degrees_of_freedom: 1e7 },
        Posterior::Beta { alpha: 0.5, beta: 40.5 },
        Posterior::Beta { alpha: 121.0, beta: 881.0 },
        Posterior::Beta { alpha: 3e6, beta: 7e6 },
    ];

    #[test]
    fn densities_integrate_to_one_and_to_the_distribution_function() {
        for posterior in FAMILIES {
            let (center, scale) = posterior.center_and_scale();
            let whole = posterior.expectation(&[], 1e-13, |_| 1.0);
            assert!((whole - 1.0).abs() < 1e-11, "{posterior:?}: {whole}");
            let at = center + 0.7 * scale;
            let above = posterior.expectation(&[(at, 0.0)], 1e-13, |x| f64::from(u8::from(x > at)));
            assert!((above - posterior.above(at)).abs() < 1e-9, "{posterior:?}: {above}");
            assert!((posterior.above(at) + posterior.cdf(at) - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn excess_and_shortfall_are_the_integrals_they_stand_for() {
        for posterior in FAMILIES {
            let (center, scale) = posterior.center_and_scale();
            for distance in [-2.0, 0.0, 1.3] {
                let at = center + distance * scale;
                let feature = [(at, scale)];
                let over = posterior.expectation(&feature, 1e-13 * scale, |x| (x - at).max(0.0));
                let under = posterior.expectation(&feature, 1e-13 * scale, |x| (at - x).max(0.0));
                assert!((over - posterior.excess(at)).abs() < 1e-9 * scale, "{posterior:?}");
                assert!((under - posterior.shortfall(at)).abs() < 1e-9 * scale, "{posterior:?}");
                let mean = posterior.mean().unwrap_or(f64::NAN);
                assert!((over - under - (mean - at)).abs() < 1e-9 * scale.max(mean.abs()));
            }
        }
    }
}
