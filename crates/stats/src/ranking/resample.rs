//! The bootstrap of duels: drawn with replacement one by one, or in whole groups (Efron 1979; Field and Welsh 2007).

use rand::{Rng, RngExt};
use rand_distr::{Distribution, Poisson};
use rayon::prelude::*;

use super::DEFAULT_RIDGE;
use super::cells::{Cells, Tally};
use super::connected::WinGraph;
use super::likelihood::Likelihood;
use super::newton::Workspace;
use crate::{Undefined, random_stream};

/// What is left after a step this small is about its square: far below what resampling varies.
const TOLERANCE: f64 = 1e-4;
/// So many standard deviations below the number of duels is what the counts are drawn for, so that too many are drawn
/// less than once in ten thousand rounds.
const MARGIN: f64 = 4.0;

/// The parameters of each round, one after the other, and how many rounds needed a prior.
pub(super) struct Rounds {
    pub(super) parameters: Vec<f64>,
    pub(super) regularized: usize,
}

/// Fits each resample, starting from the fit of all duels. A resample without a finite maximum is fitted with the
/// default ridge on every parameter and counted.
pub(super) fn rounds(
    likelihood: &Likelihood,
    start: &[f64],
    rounds: usize,
    seed: u64,
) -> Result<Rounds, Undefined> {
    Undefined::unless_enough("bootstrap rounds", rounds, 2)?;
    let cells = likelihood.cells;
    let draw = Draw::of(cells);
    let fits: Result<Vec<(Vec<f64>, bool)>, Undefined> = (0..rounds)
        .into_par_iter()
        .map_init(Room::default, |room, round| {
            let mut random = random_stream(seed, round as u64);
            draw.counts(cells, &mut random, &mut room.counts);
            cells.tallies_into(room.counts.iter().copied(), &mut room.tallies);
            let regular = likelihood.ridge > 0.0
                || (room.graph.check(cells, &room.tallies).is_ok()
                    && likelihood.check_ties(&room.tallies).is_ok());
            let mut parameters = start.to_vec();
            let workspace = &mut room.workspace;
            let mut fit = |likelihood: &Likelihood, parameters: &mut [f64]| {
                workspace.maximise(likelihood, &room.tallies, parameters, TOLERANCE)
            };
            if regular && fit(likelihood, &mut parameters).is_ok() {
                return Ok((parameters, false));
            }
            let mut parameters = start.to_vec();
            let ridge = likelihood.ridge.max(DEFAULT_RIDGE);
            let held = Likelihood { ridge, effect_ridge: DEFAULT_RIDGE, ..*likelihood };
            fit(&held, &mut parameters)?;
            Ok((parameters, true))
        })
        .collect();
    let fits = fits?;
    let regularized = fits.iter().filter(|(_, separated)| *separated).count();
    Ok(Rounds { parameters: fits.into_iter().flat_map(|(fit, _)| fit).collect(), regularized })
}

#[derive(Default)]
struct Room {
    counts: Vec<u32>,
    tallies: Vec<Tally>,
    graph: WinGraph,
    workspace: Workspace,
}

/// How duels are drawn with replacement.
enum Draw {
    /// Whole groups.
    Groups,
    /// One by one.
    Battles(Alias),
    /// As counts of cells, which is the same and quicker.
    Counts {
        /// The distribution of cells with the same number of duels.
        expected: Vec<Poisson<f64>>,
        /// Which of them each cell has.
        kinds: Vec<u32>,
        rest: Alias,
    },
}

impl Draw {
    fn of(cells: &Cells) -> Self {
        if cells.groups() > 0 {
            return Self::Groups;
        }
        let counts: Vec<f64> = cells.cells.iter().map(|cell| f64::from(cell.count)).collect();
        let total: f64 = counts.iter().sum();
        let share = 1.0 - MARGIN / total.sqrt();
        let rest = Alias::of(&counts);
        let mut distinct: Vec<u32> = cells.cells.iter().map(|cell| cell.count).collect();
        distinct.sort_unstable();
        distinct.dedup();
        let expected: Result<Vec<_>, _> =
            distinct.iter().map(|count| Poisson::new(f64::from(*count) * share)).collect();
        // A share that is not positive, with very few duels, has no distribution.
        let Ok(expected) = expected else { return Self::Battles(rest) };
        let kind = |count| distinct.partition_point(|other| *other < count) as u32;
        let kinds = cells.cells.iter().map(|cell| kind(cell.count)).collect();
        Self::Counts { expected, kinds, rest }
    }

    /// How often each cell is in one resample: multinomial, exactly.
    ///
    /// Independent Poisson counts are multinomial given their sum. They are drawn for somewhat fewer duels than there
    /// are, drawn anew in the rare case that there are too many, and the duels still missing are drawn one by one.
    fn counts(&self, cells: &Cells, random: &mut impl Rng, counts: &mut Vec<u32>) {
        counts.clear();
        counts.resize(cells.cells.len(), 0);
        let total: u64 = cells.cells.iter().map(|cell| u64::from(cell.count)).sum();
        match self {
            Self::Groups => {
                for _ in 0..cells.groups() {
                    for &(cell, count) in cells.members(random.random_range(0..cells.groups())) {
                        counts[cell as usize] += count;
                    }
                }
            }
            Self::Battles(alias) => {
                (0..total).for_each(|_| counts[alias.draw(random)] += 1);
            }
            Self::Counts { expected, kinds, rest } => {
                let drawn = loop {
                    let mut drawn = 0;
                    for (count, kind) in counts.iter_mut().zip(kinds) {
                        *count = expected[*kind as usize].sample(random) as u32;
                        drawn += u64::from(*count);
                    }
                    if drawn <= total {
                        break drawn;
                    }
                };
                (drawn..total).for_each(|_| counts[rest.draw(random)] += 1);
            }
        }
    }
}

/// Draws an index with given weights in constant time (Walker 1977, Vose 1991).
struct Alias {
    /// The share of each slot that is its own, and who has the rest.
    slots: Vec<(f64, u32)>,
}

impl Alias {
    /// From weights of which at least one is positive.
    fn of(weights: &[f64]) -> Self {
        let mean = weights.iter().sum::<f64>() / weights.len() as f64;
        let mut slots: Vec<(f64, u32)> =
            weights.iter().enumerate().map(|(own, weight)| (weight / mean, own as u32)).collect();
        let (mut small, mut large): (Vec<usize>, Vec<usize>) =
            (0..slots.len()).partition(|slot| slots[*slot].0 < 1.0);
        while let (Some(&giver), Some(taker)) = (large.last(), small.pop()) {
            slots[taker].1 = giver as u32;
            slots[giver].0 -= 1.0 - slots[taker].0;
            if slots[giver].0 < 1.0 {
                large.pop();
                small.push(giver);
            }
        }
        // What is left on either side is one up to rounding.
        for slot in small.into_iter().chain(large) {
            slots[slot].0 = 1.0;
        }
        Self { slots }
    }

    fn draw(&self, random: &mut impl Rng) -> usize {
        let slot = random.random_range(0..self.slots.len());
        let (own, other) = self.slots[slot];
        if random.random::<f64>() < own { slot } else { other as usize }
    }
}
