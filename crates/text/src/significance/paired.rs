//! Paired tests of several systems against the first one, on the same segments.

use rayon::prelude::*;
use serde::Serialize;

use super::interval::{BootstrapInterval, ResampledScores, Resampling};
use super::random::NumpyRandom;
use crate::corpus::{Aggregate, Statistics, add};

/// Trials that are drawn before they are scored on all cores.
const DRAWN_AT_ONCE: usize = 256;

/// A system's score, and how it compares with the first system.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PairedResult {
    /// The score of the whole corpus.
    pub score: f64,
    /// How likely a difference from the first system as large as this one is by chance. The first system has none.
    pub p_value: Option<f64>,
    /// The score's interval, where resamples were asked for.
    pub interval: Option<BootstrapInterval>,
}

/// Systems were to be compared that do not have the same segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("system {system} has {segments} segments and the first one has {expected}")]
pub struct UnequalSystems {
    /// The index of the system.
    pub system: usize,
    /// How many segments it has.
    pub segments: usize,
    /// How many the first one has.
    pub expected: usize,
}

/// How an approximate randomization test is made. The defaults are sacreBLEU's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Randomization {
    /// How often systems exchange segments.
    pub trials: usize,
    /// The seed of the random numbers.
    pub seed: u64,
    /// How many resamples to make for intervals; 0 makes none.
    pub interval_samples: usize,
}

impl Default for Randomization {
    fn default() -> Self {
        Self { trials: 10_000, seed: 12345, interval_samples: 0 }
    }
}

/// Paired bootstrap resampling (Koehn, 2004): the systems are scored on the same resamples.
pub fn paired_bootstrap(
    aggregate: &(impl Aggregate + ?Sized),
    systems: &[Statistics],
    resampling: &Resampling,
) -> Result<Vec<PairedResult>, UnequalSystems> {
    check(systems)?;
    let mut results: Vec<PairedResult> = Vec::with_capacity(systems.len());
    let mut baseline: Option<ResampledScores> = None;
    for system in systems {
        let score = aggregate.score(&system.total());
        let mut random = NumpyRandom::new(resampling.seed);
        let scores = ResampledScores::draw(aggregate, system, resampling.samples, &mut random);
        let interval = scores.paired_interval();
        let p_value = match (&baseline, results.first()) {
            (Some(baseline), Some(first)) => {
                Some(bootstrap_p_value(baseline, &scores, (first.score - score).abs()))
            }
            _ => None,
        };
        results.push(PairedResult { score, p_value, interval });
        baseline.get_or_insert(scores);
    }
    Ok(results)
}

/// How often the resampled difference lies further above its mean than the real difference lies above zero.
fn bootstrap_p_value(baseline: &ResampledScores, scores: &ResampledScores, difference: f64) -> f64 {
    let differences: Vec<f64> = scores
        .values
        .iter()
        .zip(&baseline.values)
        .map(|(score, base)| scores.round(score - base).abs())
        .collect();
    let mean = scores.numpy_mean(&differences);
    let difference = scores.round(difference);
    let above =
        differences.iter().filter(|value| scores.round(**value - mean) > difference).count();
    p_value(above, differences.len())
}

/// Paired approximate randomization (Riezler and Maxwell, 2005): each segment is exchanged between the systems or
/// not, by a coin.
pub fn paired_randomization(
    aggregate: &(impl Aggregate + ?Sized),
    systems: &[Statistics],
    randomization: &Randomization,
) -> Result<Vec<PairedResult>, UnequalSystems> {
    check(systems)?;
    let mut results: Vec<PairedResult> = Vec::with_capacity(systems.len());
    for system in systems {
        let score = aggregate.score(&system.total());
        let mut random = NumpyRandom::new(randomization.seed);
        let p_value = results.first().map(|first| {
            let difference = (first.score - score).abs();
            randomization_p_value(
                aggregate,
                &systems[0],
                system,
                difference,
                randomization.trials,
                &mut random,
            )
        });
        let interval = if randomization.interval_samples > 0 {
            let scores = ResampledScores::draw(
                aggregate,
                system,
                randomization.interval_samples,
                &mut random,
            );
            scores.paired_interval()
        } else {
            None
        };
        results.push(PairedResult { score, p_value, interval });
    }
    Ok(results)
}

fn randomization_p_value(
    aggregate: &(impl Aggregate + ?Sized),
    baseline: &Statistics,
    system: &Statistics,
    difference: f64,
    trials: usize,
    random: &mut NumpyRandom,
) -> f64 {
    let segments = system.len();
    let system_total = system.total();
    let mut both = baseline.total();
    add(&mut both, &system_total);
    let changes: Vec<f64> = baseline
        .rows()
        .flatten()
        .zip(system.rows().flatten())
        .map(|(baseline, system)| baseline - system)
        .collect();
    let exceeds = |taken: &[bool]| {
        let mut left = system_total.clone();
        for (change, _) in changes.chunks_exact(left.len()).zip(taken).filter(|(_, taken)| **taken)
        {
            add(&mut left, change);
        }
        let right: Vec<f64> = both.iter().zip(&left).map(|(both, left)| both - left).collect();
        (aggregate.score(&left) - aggregate.score(&right)).abs() > difference
    };
    let mut coins = random.coins();
    let mut above = 0;
    let mut drawn: Vec<bool> = Vec::new();
    let mut left = trials;
    while left > 0 && segments > 0 {
        let count = DRAWN_AT_ONCE.min(left);
        drawn.clear();
        drawn.extend((0..count * segments).map(|_| coins.toss()));
        above += drawn.par_chunks(segments).filter(|taken| exceeds(taken)).count();
        left -= count;
    }
    p_value(above, trials)
}

fn p_value(above: usize, samples: usize) -> f64 {
    (above + 1) as f64 / (samples + 1) as f64
}

fn check(systems: &[Statistics]) -> Result<(), UnequalSystems> {
    let expected = systems.first().map_or(0, Statistics::len);
    match systems.iter().position(|system| system.len() != expected) {
        Some(system) => Err(UnequalSystems { system, segments: systems[system].len(), expected }),
        None => Ok(()),
    }
}
