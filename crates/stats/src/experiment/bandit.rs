//! Which arm the next unit goes to.

use rand::{Rng, RngExt};
use rand_distr::{Beta, Distribution, StandardNormal, StudentT};
use serde::Serialize;

use super::Posterior;
use crate::{Undefined, random_stream};

/// Redraws of top-two sampling before the arm that came second most often is taken.
const MAX_REDRAWS: u32 = 1000;

/// What is known of an arm that is chosen by its upper bound.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Rewards {
    /// How often it was played.
    pub count: u64,
    /// Its mean reward, from 0 to 1.
    pub mean: f64,
}

/// Thompson sampling (Thompson 1933): one draw from what is believed of each arm; the arm with the largest draw is played. Round after round
/// an arm is so chosen as often as it is probable to be best. The same seed and round give the same choice. Undefined for
/// no arms, and for parameters that are no distribution.
pub fn thompson(arms: &[Posterior], seed: u64, round: u64) -> Result<usize, Undefined> {
    let drawn = drawing(arms)?;
    let mut generator = random_stream(seed, round);
    Ok(first_and_second(&drawn, &mut generator).0)
}

/// Top-two Thompson sampling (Russo 2016): the winner of a draw is played with probability `leader_share` (one half is Russo's
/// choice), or else the winner of further draws that first differs from it. It tells the best arm from the second best sooner than
/// Thompson sampling, which hardly plays the second any more. Where the leader wins 1000 draws in a row, the arm that came second most often in
/// them is played. Undefined for fewer than two arms, for parameters that are no distribution, and unless 0 < leader share < 1.
pub fn top_two_thompson(
    arms: &[Posterior],
    leader_share: f64,
    seed: u64,
    round: u64,
) -> Result<usize, Undefined> {
    Undefined::unless_enough("arms", arms.len(), 2)?;
    Undefined::unless_share("the leader's share", leader_share)?;
    let drawn = drawing(arms)?;
    let mut generator = random_stream(seed, round);
    let (leader, _) = first_and_second(&drawn, &mut generator);
    if generator.random::<f64>() < leader_share {
        return Ok(leader);
    }
    let mut seconds = vec![0_u32; arms.len()];
    for _ in 0..MAX_REDRAWS {
        let (first, second) = first_and_second(&drawn, &mut generator);
        if first != leader {
            return Ok(first);
        }
        if let Some(count) = seconds.get_mut(second) {
            *count += 1;
        }
    }
    let most = seconds.iter().copied().max().unwrap_or_default();
    Ok(seconds.iter().position(|count| *count == most).unwrap_or(leader))
}

/// How often top-two sampling plays each arm, from the probability of each to be best: `p_i (b + (1 − b) Σ_{j≠i} p_j / (1 − p_j))`
/// (Russo 2016). Undefined for fewer than two arms, for probabilities that are not from 0 to 1, and where one arm is best with certainty.
pub fn top_two_shares(probability_best: &[f64], leader_share: f64) -> Result<Vec<f64>, Undefined> {
    Undefined::unless_enough("arms", probability_best.len(), 2)?;
    Undefined::unless_share("the leader's share", leader_share)?;
    for &probability in probability_best {
        if !(0.0..1.0).contains(&probability) {
            let what = "a probability of being best";
            let allowed = "from 0 to less than 1";
            return Err(Undefined::OutOfRange { what, value: probability, allowed });
        }
    }
    let odds: f64 = probability_best.iter().map(|p| p / (1.0 - p)).sum();
    let share = |p: &f64| p * (leader_share + (1.0 - leader_share) * (odds - p / (1.0 - p)));
    Ok(probability_best.iter().map(share).collect())
}

/// The upper confidence bound UCB1 (Auer, Cesa-Bianchi and Fischer 2002) of each arm: `mean + √(2 ln n / n_i)`, for rewards from 0 to 1. An arm
/// that was never played has none and comes first. Undefined for no arms and for means outside of 0 to 1.
pub fn ucb1_bounds(arms: &[Rewards]) -> Result<Vec<Option<f64>>, Undefined> {
    Undefined::unless_enough("arms", arms.len(), 1)?;
    for arm in arms.iter().filter(|arm| arm.count > 0) {
        if !(0.0..=1.0).contains(&arm.mean) {
            let (what, allowed) = ("a mean reward", "from 0 to 1");
            return Err(Undefined::OutOfRange { what, value: arm.mean, allowed });
        }
    }
    let total: u64 = arms.iter().map(|arm| arm.count).sum();
    let bound = |arm: &Rewards| {
        (arm.count > 0).then(|| arm.mean + (2.0 * (total as f64).ln() / arm.count as f64).sqrt())
    };
    Ok(arms.iter().map(bound).collect())
}

/// The arm UCB1 plays next: the first that was never played, or else the one with the largest bound, the first of equals. Undefined as
/// [`ucb1_bounds`] is.
pub fn ucb1(arms: &[Rewards]) -> Result<usize, Undefined> {
    let mut best = (0, f64::NEG_INFINITY);
    for (index, bound) in ucb1_bounds(arms)?.into_iter().enumerate() {
        match bound {
            None => return Ok(index),
            Some(bound) if bound > best.1 => best = (index, bound),
            Some(_) => {}
        }
    }
    Ok(best.0)
}

/// A distribution to draw from.
enum Drawing {
    Normal(f64, f64),
    Student(f64, f64, StudentT<f64>),
    Beta(Beta<f64>),
}

fn drawing(arms: &[Posterior]) -> Result<Vec<Drawing>, Undefined> {
    Undefined::unless_enough("arms", arms.len(), 1)?;
    let out_of_range = |value: f64| Undefined::OutOfRange {
        what: "a parameter of a posterior",
        value,
        allowed: "positive and not so small or large that nothing can be drawn",
    };
    let one = |arm: &Posterior| {
        arm.check()?;
        match *arm {
            Posterior::Normal { mean, standard_deviation } => {
                Ok(Drawing::Normal(mean, standard_deviation))
            }
            Posterior::StudentT { location, scale, degrees_of_freedom } => {
                let standard = StudentT::new(degrees_of_freedom)
                    .map_err(|_| out_of_range(degrees_of_freedom))?;
                Ok(Drawing::Student(location, scale, standard))
            }
            Posterior::Beta { alpha, beta } => {
                Ok(Drawing::Beta(Beta::new(alpha, beta).map_err(|_| out_of_range(alpha))?))
            }
        }
    };
    arms.iter().map(one).collect()
}

/// The arms with the largest and the second largest draw; with one arm, that arm twice.
fn first_and_second(arms: &[Drawing], generator: &mut impl Rng) -> (usize, usize) {
    let (mut first, mut second) = ((0, f64::NEG_INFINITY), (0, f64::NEG_INFINITY));
    for (index, arm) in arms.iter().enumerate() {
        let draw = match arm {
            Drawing::Normal(mean, deviation) => {
                let z: f64 = StandardNormal.sample(generator);
                mean + deviation * z
            }
            Drawing::Student(location, scale, standard) => {
                location + scale * standard.sample(generator)
            }
            Drawing::Beta(beta) => beta.sample(generator),
        };
        if draw > first.1 {
            second = first;
            first = (index, draw);
        } else if draw > second.1 {
            second = (index, draw);
        }
    }
    (first.0, second.0)
}
