//! Permutation tests of a difference of means.

use rand::RngExt;
use rayon::prelude::*;
use serde::Serialize;

use super::mean::{differences, unless_rounding};
use crate::interval::unless_overflowed;
use crate::{Moments, Undefined, random_stream};

/// Sums that are equal in theory may differ by this much of the observed one.
const TIE: f64 = 100.0 * f64::EPSILON;
/// Rounds of one unit of parallel work.
const CHUNK: u64 = 64;

/// A permutation test of a difference of means.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Permutation {
    /// Second mean minus first.
    pub difference: f64,
    /// Two-sided p-value: twice the smaller tail, at most 1.
    pub p_value: f64,
    /// All arrangements were counted; else `rounds` were drawn at random.
    pub exact: bool,
    /// How many arrangements were looked at.
    pub rounds: u64,
}

/// Arrangements whose statistic is at most, and at least, the observed one.
#[derive(Debug, Clone, Copy, Default)]
struct Tails {
    low: u64,
    high: u64,
}

/// The permutation test of a difference of means of independent samples (Fisher 1935, Pitman 1937): labels are exchangeable
/// when there is no effect, which includes equal spread. Exact when there are at most `rounds` ways to divide the values,
/// else by `rounds` random divisions with the observed one counted in, so that p is never 0 and the level is kept (Phipson and
/// Smyth 2010). Undefined for an empty side, when all values are equal, and for no rounds.
pub fn permutation_test(
    control: &[f64],
    treatment: &[f64],
    rounds: u64,
    seed: u64,
) -> Result<Permutation, Undefined> {
    for side in [control, treatment] {
        Undefined::unless_enough("values on a side", side.len(), 1)?;
        Undefined::unless_finite("value", side)?;
    }
    Undefined::unless_enough("rounds", rounds as usize, 1)?;
    let mut pooled: Vec<f64> = control.iter().chain(treatment).copied().collect();
    let moments: Moments = pooled.iter().copied().collect();
    unless_rounding(moments.variance()?, &[control, treatment], "values")?;
    let mean = moments.mean()?;
    pooled.iter_mut().for_each(|value| *value -= mean);
    // The sum of one side, centered, is the difference of means up to a factor: that of the smaller side is drawn.
    let treatment_drawn = treatment.len() <= control.len();
    let (drawn, observed) = if treatment_drawn {
        (treatment.len(), pooled.iter().skip(control.len()).sum::<f64>())
    } else {
        (control.len(), pooled.iter().take(control.len()).sum::<f64>())
    };
    let band = Band::around(observed, &pooled);
    let divisions = divisions(pooled.len(), drawn);
    let exact = divisions.is_some_and(|count| count <= rounds);
    let tails = if exact {
        all_divisions(&pooled, drawn, band)
    } else {
        in_rounds(
            rounds,
            || pooled.clone(),
            |values, round| band.place(random_sum(values, drawn, seed, round)),
        )
    };
    let means = |side: &[f64]| side.iter().sum::<f64>() / side.len() as f64;
    result(means(treatment) - means(control), tails, exact, divisions, rounds)
}

/// The permutation test of paired differences (Fisher 1935): without an effect each difference could as well have the other
/// sign. Exact when there are at most `rounds` ways to set the signs of the differences that are not zero, else random as in
/// [`permutation_test`]. Undefined for fewer than two pairs, when no pair differs, and for no rounds.
pub fn sign_flip_test(
    before: &[f64],
    after: &[f64],
    rounds: u64,
    seed: u64,
) -> Result<Permutation, Undefined> {
    let all = differences(before, after)?;
    Undefined::unless_enough("rounds", rounds as usize, 1)?;
    let differing: Vec<f64> = all.iter().copied().filter(|value| *value != 0.0).collect();
    if differing.is_empty() {
        return Err(Undefined::NoVariation { what: "pairs" });
    }
    let observed: f64 = differing.iter().sum();
    let band = Band::around(observed, &differing);
    let flips = 1_u64.checked_shl(differing.len() as u32).filter(|_| differing.len() < 64);
    let exact = flips.is_some_and(|count| count <= rounds);
    let signed_sum = |signs: &mut dyn FnMut() -> u64| {
        let mut sum = 0.0;
        for chunk in differing.chunks(64) {
            let mut bits = signs();
            for value in chunk {
                sum += if bits & 1 == 1 { -value } else { *value };
                bits >>= 1;
            }
        }
        sum
    };
    let tails = in_rounds(
        flips.filter(|_| exact).unwrap_or(rounds),
        || (),
        |(), round| {
            band.place(if exact {
                signed_sum(&mut || round)
            } else {
                let mut random = random_stream(seed, round);
                signed_sum(&mut || random.random())
            })
        },
    );
    result(all.iter().sum::<f64>() / all.len() as f64, tails, exact, flips, rounds)
}

fn result(
    difference: f64,
    tails: Tails,
    exact: bool,
    arrangements: Option<u64>,
    rounds: u64,
) -> Result<Permutation, Undefined> {
    unless_overflowed("difference", difference)?;
    let smaller = tails.low.min(tails.high) as f64;
    let (share, rounds) = match arrangements.filter(|_| exact) {
        Some(count) => (smaller / count as f64, count),
        None => ((smaller + 1.0) / (rounds as f64 + 1.0), rounds),
    };
    Ok(Permutation { difference, p_value: (2.0 * share).min(1.0), exact, rounds })
}

/// Where sums count as equal to the observed one.
#[derive(Clone, Copy)]
struct Band {
    low: f64,
    high: f64,
}

impl Band {
    fn around(observed: f64, values: &[f64]) -> Self {
        let size: f64 = values.iter().map(|value| value.abs()).sum();
        let slack = TIE * observed.abs().max(size);
        Self { low: observed - slack, high: observed + slack }
    }

    fn place(self, sum: f64) -> Tails {
        Tails { low: u64::from(sum <= self.high), high: u64::from(sum >= self.low) }
    }
}

impl Tails {
    fn plus(self, other: Self) -> Self {
        Self { low: self.low + other.low, high: self.high + other.high }
    }
}

/// The sum of what each round finds, in parallel; whole numbers add up the same in any order.
fn in_rounds<S: Send>(
    rounds: u64,
    start: impl Fn() -> S + Sync + Send,
    round: impl Fn(&mut S, u64) -> Tails + Sync + Send,
) -> Tails {
    (0..rounds.div_ceil(CHUNK))
        .into_par_iter()
        .map_init(start, |state, chunk| {
            let end = (chunk * CHUNK + CHUNK).min(rounds);
            (chunk * CHUNK..end)
                .map(|index| round(state, index))
                .fold(Tails::default(), Tails::plus)
        })
        .reduce(Tails::default, Tails::plus)
}

/// The sum of values drawn without replacement; the swaps are undone, so that no round depends on another.
fn random_sum(values: &mut [f64], drawn: usize, seed: u64, round: u64) -> f64 {
    let mut random = random_stream(seed, round);
    let mut swaps = Vec::with_capacity(drawn);
    let mut sum = 0.0;
    for index in 0..drawn {
        let other = random.random_range(index..values.len());
        values.swap(index, other);
        sum += values[index];
        swaps.push(other);
    }
    for (index, other) in swaps.into_iter().enumerate().rev() {
        values.swap(index, other);
    }
    sum
}

/// In how many ways `drawn` of `count` can be chosen, where that fits.
fn divisions(count: usize, drawn: usize) -> Option<u64> {
    let mut ways: u128 = 1;
    for i in 1..=drawn.min(count - drawn) as u128 {
        ways = ways * (count as u128 - i + 1) / i;
        if ways > u128::from(u64::MAX) {
            return None;
        }
    }
    u64::try_from(ways).ok()
}

/// All ways to choose `drawn` values, in lexicographic order.
fn all_divisions(values: &[f64], drawn: usize, band: Band) -> Tails {
    let mut chosen: Vec<usize> = (0..drawn).collect();
    let mut tails = Tails::default();
    loop {
        tails = tails.plus(band.place(chosen.iter().map(|&index| values[index]).sum()));
        let last_movable =
            (0..drawn).rev().find(|&place| chosen[place] < values.len() - drawn + place);
        let Some(place) = last_movable else {
            return tails;
        };
        let next = chosen[place] + 1;
        for (offset, slot) in chosen[place..].iter_mut().enumerate() {
            *slot = next + offset;
        }
    }
}
