//! Two arms by Bayes' rule: how probable an improvement is, and what each choice is expected to lose.

use serde::Serialize;

use super::Posterior;
use super::prior::{BetaPrior, NormalInverseGamma};
use crate::numeric::root_between;
use crate::{Interval, Moments, Undefined};

/// Absolute error of a probability.
const TOLERANCE: f64 = 1e-11;
/// How often the range in which a quantile is looked for is doubled.
const MAX_WIDENINGS: usize = 1000;
/// The recommendation "high confidence" says 95% in its text.
const HIGH: f64 = 0.95;
const MODERATE: f64 = 0.80;

/// Two arms compared by what is believed of each. `d` is treatment − control.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BayesianTest {
    /// What is believed of the control.
    pub control: Posterior,
    /// What is believed of the treatment.
    pub treatment: Posterior,
    /// The probability that the treatment is better, P(d > 0).
    pub probability_of_improvement: f64,
    /// The expected difference, `E[d]`.
    pub expected_lift: f64,
    /// The expected difference as a percentage of the control's expectation; none where that is 0.
    pub expected_lift_percent: Option<f64>,
    /// What is expected to be lost by choosing the control: E[max(0, d)].
    pub risk_of_choosing_control: f64,
    /// What is expected to be lost by choosing the treatment: E[max(0, −d)].
    pub risk_of_choosing_treatment: f64,
    /// The equal-tailed credible interval of d that holds it with probability 1 − alpha.
    pub credible_interval: Interval,
    /// P(d > 0) is above 1 − alpha/2 or below alpha/2: the credible interval leaves out 0.
    pub significant: bool,
    /// What to do, in words.
    pub recommendation: &'static str,
}

/// The means of two samples, each with a normal-inverse-gamma prior. Assumes independent values, normal or many. Undefined for
/// fewer than two values in an arm, and for an arm whose values are all equal: its spread would be the prior's alone.
pub fn bayesian_means(
    control: &[f64],
    treatment: &[f64],
    prior: &NormalInverseGamma,
    alpha: f64,
) -> Result<BayesianTest, Undefined> {
    let posterior = |values: &[f64]| {
        Undefined::unless_finite("value", values)?;
        mean_posterior(&values.iter().copied().collect(), prior)
    };
    compare_posteriors(posterior(control)?, posterior(treatment)?, alpha)
}

/// What is believed of a mean; undefined for fewer than two values, and when all are equal.
pub fn mean_posterior(
    values: &Moments,
    prior: &NormalInverseGamma,
) -> Result<Posterior, Undefined> {
    if values.variance()? <= 0.0 {
        return Err(Undefined::NoVariation { what: "values of an arm" });
    }
    prior.updated(values)?.marginal_mean()
}

/// Two rates, given as successes and observations, each with a beta prior. Assumes independent yes/no observations. Undefined for
/// no observations in an arm, and for more successes than observations.
pub fn bayesian_rates(
    control: (u64, u64),
    treatment: (u64, u64),
    prior: &BetaPrior,
    alpha: f64,
) -> Result<BayesianTest, Undefined> {
    for (_, count) in [control, treatment] {
        Undefined::unless_enough("observations", count as usize, 1)?;
    }
    let control = prior.updated(control.0, control.1)?;
    let treatment = prior.updated(treatment.0, treatment.1)?;
    compare_posteriors(control, treatment, alpha)
}

/// Two beliefs compared, by numerical integration; independent of each other. Undefined unless 0 < alpha < 1 and both have an
/// expectation.
///
/// The texts of the recommendation name 95%, so that "high confidence" takes both that and significance at `alpha`.
pub fn compare_posteriors(
    control: Posterior,
    treatment: Posterior,
    alpha: f64,
) -> Result<BayesianTest, Undefined> {
    Undefined::unless_share("alpha", alpha)?;
    let (control_mean, treatment_mean) = (control.mean()?, treatment.mean()?);
    let pair = Pair::of(control, treatment);
    let better = pair.above(0.0);
    let worse = pair.below(0.0);
    let expected_lift = treatment_mean - control_mean;
    let low = pair.quantile(alpha / 2.0)?;
    let high = pair.quantile(1.0 - alpha / 2.0)?;
    let significant = better.min(worse) < alpha / 2.0;
    Ok(BayesianTest {
        control,
        treatment,
        probability_of_improvement: better,
        expected_lift,
        expected_lift_percent: (control_mean != 0.0)
            .then(|| 100.0 * expected_lift / control_mean.abs())
            .filter(|percent| percent.is_finite()),
        risk_of_choosing_control: pair.risk_of_choosing_control(),
        risk_of_choosing_treatment: pair.risk_of_choosing_treatment(),
        credible_interval: Interval { low, high },
        significant,
        recommendation: recommendation(better, significant),
    })
}

fn recommendation(better: f64, significant: bool) -> &'static str {
    if better > HIGH && significant {
        "High confidence treatment is BETTER (>95%)"
    } else if better < 1.0 - HIGH && significant {
        "High confidence treatment is WORSE (<5%)"
    } else if better > MODERATE {
        "Moderate evidence treatment is better, consider more data"
    } else if better < 1.0 - MODERATE {
        "Moderate evidence treatment is worse, consider more data"
    } else {
        "Insufficient evidence, continue experiment"
    }
}

/// Two independent beliefs, each moved to the origin, and how far apart they were. What is integrated over is the narrower, in which the
/// other is smooth.
struct Pair {
    control: Posterior,
    treatment: Posterior,
    apart: f64,
}

impl Pair {
    fn of(control: Posterior, treatment: Posterior) -> Self {
        let ((control, from), (treatment, to)) = (control.centered(), treatment.centered());
        Self { control, treatment, apart: to - from }
    }

    /// The same, seen from the other arm: −d.
    fn exchanged(&self) -> Self {
        Self { control: self.treatment, treatment: self.control, apart: -self.apart }
    }

    fn control_is_narrower(&self) -> bool {
        self.control.center_and_scale().1 <= self.treatment.center_and_scale().1
    }

    /// P(d > shift).
    fn above(&self, shift: f64) -> f64 {
        self.beyond(shift - self.apart)
    }

    /// P(d ≤ shift), for itself, so that small ones keep their digits.
    fn below(&self, shift: f64) -> f64 {
        self.exchanged().above(-shift)
    }

    /// P(d > apart + shift).
    fn beyond(&self, shift: f64) -> f64 {
        let value = if self.control_is_narrower() {
            let (center, scale) = self.treatment.center_and_scale();
            let features = [(center - shift, scale)];
            self.control.expectation(&features, TOLERANCE, |u| self.treatment.above(u + shift))
        } else {
            let (center, scale) = self.control.center_and_scale();
            let features = [(center + shift, scale)];
            self.treatment.expectation(&features, TOLERANCE, |u| self.control.cdf(u - shift))
        };
        value.clamp(0.0, 1.0)
    }

    /// E[max(0, d)].
    fn risk_of_choosing_control(&self) -> f64 {
        let (control, treatment) =
            (self.control.center_and_scale(), self.treatment.center_and_scale());
        let size = control.1 + treatment.1 + (treatment.0 + self.apart - control.0).abs();
        let tolerance = TOLERANCE * size;
        if self.control_is_narrower() {
            let features = [(treatment.0 + self.apart, treatment.1)];
            let excess = |u: f64| self.treatment.excess(u - self.apart);
            self.control.expectation(&features, tolerance, excess)
        } else {
            let features = [(control.0 - self.apart, control.1)];
            let shortfall = |u: f64| self.control.shortfall(u + self.apart);
            self.treatment.expectation(&features, tolerance, shortfall)
        }
    }

    /// E[max(0, −d)].
    fn risk_of_choosing_treatment(&self) -> f64 {
        self.exchanged().risk_of_choosing_control()
    }

    /// The value d stays below with this probability.
    fn quantile(&self, probability: f64) -> Result<f64, Undefined> {
        let (control, treatment) =
            (self.control.center_and_scale(), self.treatment.center_and_scale());
        let center = treatment.0 - control.0;
        let mut reach = 2.0 * control.1.hypot(treatment.1);
        let exchanged = self.exchanged();
        // Beyond the median the smaller probability is compared, which keeps its digits. What is as close as the integral is
        // exact counts as the root.
        let tail = probability.min(1.0 - probability);
        let distance = |shift: f64| {
            let distance = if probability < 0.5 {
                exchanged.beyond(-shift) - tail
            } else {
                tail - self.beyond(shift)
            };
            if distance.abs() < 1e-10 * tail { 0.0 } else { distance }
        };
        for _ in 0..MAX_WIDENINGS {
            if distance(center - reach) <= 0.0 && distance(center + reach) >= 0.0 {
                let root = root_between(center - reach, center + reach, distance)?;
                return Ok(self.apart + root);
            }
            reach *= 2.0;
        }
        Err(Undefined::NotConverged { what: "a credible interval", iterations: MAX_WIDENINGS })
    }
}
