//! What is believed before the first value.

use serde::Serialize;

use super::Posterior;
use crate::{Moments, Undefined};

/// A normal-inverse-gamma prior of a mean and a variance: the variance is inverse-gamma(`alpha`, `beta`), and the mean, given the
/// variance, normal around `mean` with the weight of `kappa` observations (Murphy 2007).
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct NormalInverseGamma {
    /// Where the mean is expected.
    pub mean: f64,
    /// How many observations that expectation is worth.
    pub kappa: f64,
    /// Shape of the variance's distribution.
    pub alpha: f64,
    /// Scale of the variance's distribution, in the square of the values' unit.
    pub beta: f64,
}

impl NormalInverseGamma {
    /// A prior that says next to nothing of values of the order of 0.01 to 100: mean 0 worth a millionth of an observation.
    /// For values of other sizes look at [`NormalInverseGamma::share_of_spread`].
    #[must_use]
    pub fn weak() -> Self {
        Self { mean: 0.0, kappa: 1e-6, alpha: 1e-3, beta: 1e-3 }
    }

    /// A prior with a thousandth of an observation at 0. It pulls on means far from 0: a mean of 1000 adds about 500 to the sum of
    /// squares.
    #[must_use]
    pub fn thousandth() -> Self {
        Self { mean: 0.0, kappa: 1e-3, alpha: 1e-3, beta: 1e-3 }
    }

    /// The reference prior, proportional to 1/σ² (Jeffreys 1961; Bernardo 1979): nothing is assumed of size or
    /// place, and the posterior of the mean is Student's t with n − 1 degrees of freedom.
    #[must_use]
    pub fn reference() -> Self {
        Self { mean: 0.0, kappa: 0.0, alpha: -0.5, beta: 0.0 }
    }

    /// The prior after seeing values, as the parameters of the same family. Undefined for no values, and for parameters that
    /// are not finite or, `alpha` apart, negative.
    pub fn updated(&self, values: &Moments) -> Result<Self, Undefined> {
        Undefined::unless_finite(
            "parameter of the prior",
            &[self.mean, self.kappa, self.alpha, self.beta],
        )?;
        for (what, value) in [("the prior's kappa", self.kappa), ("the prior's beta", self.beta)] {
            if value < 0.0 {
                return Err(Undefined::OutOfRange { what, value, allowed: "0 or more" });
            }
        }
        let n = values.count() as f64;
        let mean = values.mean()?;
        let squares = if values.count() < 2 { 0.0 } else { values.variance()? * (n - 1.0) };
        let kappa = self.kappa + n;
        let pull = mean - self.mean;
        Ok(Self {
            mean: (self.kappa * self.mean + n * mean) / kappa,
            kappa,
            alpha: self.alpha + n / 2.0,
            beta: self.beta + 0.5 * squares + self.kappa * n * pull * pull / (2.0 * kappa),
        })
    }

    /// How much of the updated `beta`, the spread that is believed in, comes from the prior instead of the values: from 0 to
    /// 1. A share of more than a few percent means that the prior does not fit the size of the values.
    pub fn share_of_spread(&self, values: &Moments) -> Result<f64, Undefined> {
        let n = values.count() as f64;
        let seen = 0.5 * values.variance()? * (n - 1.0);
        let all = self.updated(values)?.beta;
        if all <= 0.0 {
            return Err(Undefined::NoVariation { what: "values" });
        }
        Ok((1.0 - seen / all).max(0.0))
    }

    /// The belief about the mean, the variance integrated out: Student's t with 2α degrees of freedom. Undefined where these
    /// parameters are no distribution, such as those of [`NormalInverseGamma::reference`] before it is updated.
    pub fn marginal_mean(&self) -> Result<Posterior, Undefined> {
        Undefined::unless_positive("alpha", self.alpha)?;
        Undefined::unless_positive("beta", self.beta)?;
        Undefined::unless_positive("kappa", self.kappa)?;
        let posterior = Posterior::StudentT {
            location: self.mean,
            scale: (self.beta / (self.alpha * self.kappa)).sqrt(),
            degrees_of_freedom: 2.0 * self.alpha,
        };
        posterior.check()?;
        Ok(posterior)
    }
}

/// A beta prior of a rate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct BetaPrior {
    /// How many successes it is worth.
    pub alpha: f64,
    /// How many failures it is worth.
    pub beta: f64,
}

impl BetaPrior {
    /// Every rate is equally likely (Bayes 1763; Laplace 1774).
    #[must_use]
    pub fn uniform() -> Self {
        Self { alpha: 1.0, beta: 1.0 }
    }

    /// The prior that does not depend on the scale a rate is written in (Jeffreys 1946).
    #[must_use]
    pub fn jeffreys() -> Self {
        Self { alpha: 0.5, beta: 0.5 }
    }

    /// The belief about the rate after `successes` of `count`. Undefined for more successes than observations, and unless both
    /// parameters are positive.
    pub fn updated(&self, successes: u64, count: u64) -> Result<Posterior, Undefined> {
        Undefined::unless_positive("the prior's alpha", self.alpha)?;
        Undefined::unless_positive("the prior's beta", self.beta)?;
        let Some(failures) = count.checked_sub(successes) else {
            return Err(Undefined::OutOfRange {
                what: "the number of successes",
                value: successes as f64,
                allowed: "at most the count",
            });
        };
        Ok(Posterior::Beta {
            alpha: self.alpha + successes as f64,
            beta: self.beta + failures as f64,
        })
    }
}
