//! How sure it is which arm is best, and what is still to be gained by finding out.

use serde::Serialize;

use super::Posterior;
use crate::Undefined;
use crate::numeric::root_between;

/// Absolute error of a probability.
const TOLERANCE: f64 = 1e-12;
/// Below this probability of a value that is not positive, a relative gain is taken to be defined.
const NEARLY_NEVER: f64 = 1e-6;
/// How often the range in which a quantile is looked for is doubled.
const MAX_WIDENINGS: usize = 200;

/// The probability of each arm to have the largest value, by integration: ∫ f_i(u) Π_{j≠i} F_j(u) du. Beliefs are independent of
/// each other. The probabilities sum to 1 but for rounding. Undefined for no arms and for parameters that are no distribution.
pub fn probability_best(arms: &[Posterior]) -> Result<Vec<f64>, Undefined> {
    check(arms)?;
    let probability = |index: usize| holding(&seen_from(arms, index), index, |u| u);
    Ok((0..arms.len()).map(probability).collect())
}

/// What is still to be gained by going on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ValueRemaining {
    /// The arm that is most probable to be best.
    pub best: usize,
    /// The probability of each arm to be best.
    pub probability_best: Vec<f64>,
    /// The quantile of (θ_max − θ_best) / θ_best: with the stated probability, no arm is better than the best one by more than this
    /// share of it. None where the best arm's value may well be 0 or negative, so that a share of it means nothing.
    pub relative: Option<f64>,
    /// The same quantile of θ_max − θ_best, in the unit of the values.
    pub absolute: f64,
}

/// Potential value remaining (Scott 2015; Google's content experiments): the distribution of (θ_max − θ_best) / θ_best, where θ_max
/// is the largest of the arms' true values and θ_best that of the arm most probable to be best; its quantile at `probability`, by
/// convention 0.95. An experiment is stopped when that falls below 1%. By integration. Undefined for no arms, for parameters that
/// are no distribution, and unless 0 < probability < 1.
pub fn value_remaining(arms: &[Posterior], probability: f64) -> Result<ValueRemaining, Undefined> {
    Undefined::unless_share("probability", probability)?;
    let probability_best = probability_best(arms)?;
    let mut best = 0;
    for (index, share) in probability_best.iter().enumerate() {
        if *share > probability_best[best] {
            best = index;
        }
    }
    let scale = arms.iter().map(|arm| arm.center_and_scale().1).fold(0.0, f64::max);
    let near = seen_from(arms, best);
    let absolute = quantile(probability, scale, |gain| holding(&near, best, |u| u + gain))?;
    let (center, _) = arms[best].center_and_scale();
    let relative = if center > 0.0 && arms[best].cdf(0.0) < NEARLY_NEVER {
        let gain = |gain: f64| holding(arms, best, |u| if u > 0.0 { u * (1.0 + gain) } else { u });
        Some(quantile(probability, scale / center, gain)?)
    } else {
        None
    };
    Ok(ValueRemaining { best, probability_best, relative, absolute })
}

/// All arms moved by as much as takes one of them to the origin, so that values far from 0 leave digits for a small spread. Rates stay
/// where they are.
fn seen_from(arms: &[Posterior], index: usize) -> Vec<Posterior> {
    if arms.iter().any(|arm| matches!(arm, Posterior::Beta { .. })) {
        return arms.to_vec();
    }
    let origin = arms.get(index).map_or(0.0, |arm| arm.center_and_scale().0);
    let moved = |arm: &Posterior| match *arm {
        Posterior::Normal { mean, standard_deviation } => {
            Posterior::Normal { mean: mean - origin, standard_deviation }
        }
        Posterior::StudentT { location, scale, degrees_of_freedom } => {
            Posterior::StudentT { location: location - origin, scale, degrees_of_freedom }
        }
        Posterior::Beta { .. } => *arm,
    };
    arms.iter().map(moved).collect()
}

/// The probability that no other arm exceeds `level` of this arm's value.
fn holding(arms: &[Posterior], index: usize, level: impl Fn(f64) -> f64) -> f64 {
    let others =
        || arms.iter().enumerate().filter(|(other, _)| *other != index).map(|(_, arm)| arm);
    let Some(arm) = arms.get(index) else { return 0.0 };
    // Where the level passes another arm's center, the product steps.
    let (own, shift) = (arm.center_and_scale().0, level(arm.center_and_scale().0));
    let features: Vec<(f64, f64)> = others()
        .map(|other| {
            let (center, scale) = other.center_and_scale();
            (center - (shift - own), scale)
        })
        .collect();
    let product = |u: f64| others().map(|other| other.cdf(level(u))).product();
    arm.expectation(&features, TOLERANCE, product).clamp(0.0, 1.0)
}

/// The smallest gain of at least 0 whose probability of not being exceeded is `probability`.
fn quantile(probability: f64, scale: f64, held: impl Fn(f64) -> f64) -> Result<f64, Undefined> {
    if held(0.0) >= probability {
        return Ok(0.0);
    }
    let mut reach = scale;
    for _ in 0..MAX_WIDENINGS {
        if held(reach) > probability {
            return root_between(0.0, reach, |gain| held(gain) - probability);
        }
        reach *= 2.0;
    }
    Err(Undefined::NotConverged { what: "the value remaining", iterations: MAX_WIDENINGS })
}

fn check(arms: &[Posterior]) -> Result<(), Undefined> {
    Undefined::unless_enough("arms", arms.len(), 1)?;
    arms.iter().try_for_each(Posterior::check)
}
