//! Elo ratings, updated duel by duel.

use rand::RngExt;
use rayon::prelude::*;
use serde::Serialize;

use super::{Battles, Outcome};
use crate::{Moments, Undefined, random_stream};

/// How Elo ratings are updated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EloOptions {
    /// The rating everybody starts with.
    pub start: f64,
    /// How many points a duel moves at most.
    pub factor: f64,
}

impl Default for EloOptions {
    /// Start at 1000 with a factor of 4, as leaderboards of language models had it: many duels, each of little weight.
    fn default() -> Self {
        Self { start: 1000.0, factor: 4.0 }
    }
}

/// The Elo ratings of one player over shuffled orders.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct EloSpread {
    /// The mean over the orders.
    pub mean: f64,
    /// The standard deviation over the orders: how much the order alone decides. It is not the uncertainty of the rating.
    pub deviation: f64,
}

/// Elo ratings after all duels, in the order given (Elo 1978): the expected score is `1 / (1 + 10^((b − a)/400))`, and the
/// winner takes `factor · weight · (score − expected)` points from the loser; a tie is half a win.
///
/// **The result depends on the order of the duels**: late ones count more. For duels that have no order, use
/// [`super::bradley_terry`], or [`elo_over_shuffles`]. A factor that is not positive or a start that is not finite is
/// undefined, as are duels that are none.
pub fn elo(battles: &Battles, options: &EloOptions) -> Result<Vec<f64>, Undefined> {
    check(battles, options)?;
    Ok(played(battles, options, 0..battles.len()))
}

/// The mean of Elo ratings over seeded shuffles of the duels. Undefined as [`elo`] is, and for fewer than two shuffles.
pub fn elo_over_shuffles(
    battles: &Battles,
    options: &EloOptions,
    shuffles: usize,
    seed: u64,
) -> Result<Vec<EloSpread>, Undefined> {
    check(battles, options)?;
    Undefined::unless_enough("shuffles", shuffles, 2)?;
    let rounds: Vec<Vec<f64>> = (0..shuffles)
        .into_par_iter()
        .map(|shuffle| {
            let mut random = random_stream(seed, shuffle as u64);
            let mut order: Vec<u32> = (0..battles.len() as u32).collect();
            for last in (1..order.len()).rev() {
                order.swap(last, random.random_range(0..=last));
            }
            played(battles, options, order.into_iter().map(|battle| battle as usize))
        })
        .collect();
    (0..battles.players)
        .map(|player| {
            let ratings: Moments = rounds.iter().map(|ratings| ratings[player]).collect();
            Ok(EloSpread { mean: ratings.mean()?, deviation: ratings.variance()?.sqrt() })
        })
        .collect()
}

fn check(battles: &Battles, options: &EloOptions) -> Result<(), Undefined> {
    battles.check()?;
    Undefined::unless_positive("factor", options.factor)?;
    Undefined::unless_finite("start", &[options.start])
}

fn played(battles: &Battles, options: &EloOptions, order: impl Iterator<Item = usize>) -> Vec<f64> {
    let mut ratings = vec![options.start; battles.players];
    for battle in order {
        let (first, second) = (battles.first[battle] as usize, battles.second[battle] as usize);
        let score = match battles.outcomes[battle] {
            Outcome::FirstWins => 1.0,
            Outcome::SecondWins => 0.0,
            Outcome::Tie => 0.5,
        };
        let expected = 1.0 / (1.0 + 10_f64.powf((ratings[second] - ratings[first]) / 400.0));
        let points = options.factor * battles.weight(battle) * (score - expected);
        ratings[first] += points;
        ratings[second] -= points;
    }
    ratings
}
