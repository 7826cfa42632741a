//! Bootstrap resampling (Koehn, 2004): segments are drawn with replacement, and the score is computed anew.

use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::random::NumpyRandom;
use crate::corpus::{Aggregate, Precision, Statistics, add};

/// Resamples that are drawn before they are scored on all cores.
const DRAWN_AT_ONCE: usize = 64;

/// How often to resample. The defaults are sacreBLEU's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Resampling {
    /// How many resamples to make.
    pub samples: usize,
    /// The seed of the random numbers.
    pub seed: u64,
}

impl Default for Resampling {
    fn default() -> Self {
        Self { samples: 1000, seed: 12345 }
    }
}

/// A 95% interval from resampled scores.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct BootstrapInterval {
    /// The mean of the resampled scores.
    pub mean: f64,
    /// Half the distance between the bounds, which sacreBLEU writes after `±`.
    pub half_width: f64,
    /// The bound below which 2.5% of the resampled scores lie.
    pub low: f64,
    /// The bound above which 2.5% of the resampled scores lie.
    pub high: f64,
}

/// The interval of a score. `None` without segments or samples.
pub fn bootstrap(
    aggregate: &(impl Aggregate + ?Sized),
    statistics: &Statistics,
    resampling: &Resampling,
) -> Option<BootstrapInterval> {
    let mut random = NumpyRandom::new(resampling.seed);
    let scores = ResampledScores::draw(aggregate, statistics, resampling.samples, &mut random);
    let sum: f64 = scores.values.iter().sum();
    let mean = scores.round(sum / scores.values.len() as f64);
    scores.interval(|_| mean)
}

/// The scores of resamples, and whether they are in single precision.
pub(super) struct ResampledScores {
    pub(super) values: Vec<f64>,
    single: bool,
}

impl ResampledScores {
    pub(super) fn draw(
        aggregate: &(impl Aggregate + ?Sized),
        statistics: &Statistics,
        samples: usize,
        random: &mut NumpyRandom,
    ) -> Self {
        let precision = aggregate.resampling_precision();
        let single = precision == Precision::Single;
        let segments = statistics.len();
        if segments == 0 {
            return Self { values: Vec::new(), single };
        }
        let narrow: Vec<f32> = match precision {
            Precision::Double => Vec::new(),
            _ => statistics.rows().flatten().map(|&number| number as f32).collect(),
        };
        let score = |drawn: &[u32]| match precision {
            Precision::Double => {
                let mut total = vec![0.0; statistics.width()];
                drawn.iter().for_each(|&index| add(&mut total, statistics.row(index as usize)));
                aggregate.score(&total)
            }
            _ => aggregate.score_single(&sum_single(&narrow, statistics.width(), drawn)),
        };
        let mut values = Vec::with_capacity(samples);
        let mut drawn: Vec<u32> = Vec::new();
        while values.len() < samples {
            let count = DRAWN_AT_ONCE.min(samples - values.len());
            drawn.clear();
            drawn.extend((0..count * segments).map(|_| random.below(segments as u32)));
            values.par_extend(drawn.par_chunks(segments).map(score));
        }
        Self { values, single }
    }

    /// Rounds as numpy would after one operation on scores of this precision.
    pub(super) fn round(&self, number: f64) -> f64 {
        if self.single { f64::from(number as f32) } else { number }
    }

    /// The mean as numpy computes it: in the scores' precision, summed in pairs of halves.
    pub(super) fn numpy_mean(&self, values: &[f64]) -> f64 {
        let count = values.len() as f64;
        if !self.single {
            return values.iter().sum::<f64>() / count;
        }
        let narrow: Vec<f32> = values.iter().map(|&value| value as f32).collect();
        f64::from(pairwise_sum(&narrow) / count as f32)
    }

    /// The interval as sacreBLEU's paired tests give it, whose mean is that of the sorted scores.
    pub(super) fn paired_interval(&self) -> Option<BootstrapInterval> {
        self.interval(|sorted| self.numpy_mean(sorted))
    }

    /// The interval, around a mean of the sorted scores. 2.5% of the scores lie on each side, rounded down.
    fn interval(&self, mean: impl Fn(&[f64]) -> f64) -> Option<BootstrapInterval> {
        let mut sorted = self.values.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        let outside = sorted.len() / 40;
        let low = *sorted.get(outside)?;
        let high = *sorted.get(sorted.len() - outside - 1)?;
        Some(BootstrapInterval {
            mean: mean(&sorted),
            half_width: self.round(0.5 * (high - low)),
            low,
            high,
        })
    }
}

/// Sums rows in the order they were drawn, which decides how single precision rounds.
fn sum_single(rows: &[f32], width: usize, drawn: &[u32]) -> Vec<f32> {
    let mut total = vec![0.0; width];
    for &index in drawn {
        let start = index as usize * width;
        for (sum, number) in total.iter_mut().zip(&rows[start..start + width]) {
            *sum += number;
        }
    }
    total
}

/// numpy's sum: eight running sums in blocks of up to 128, and longer rows by halves.
fn pairwise_sum(values: &[f32]) -> f32 {
    let count = values.len();
    if count < 8 {
        return values.iter().fold(-0.0, |sum, value| sum + value);
    }
    if count > 128 {
        let half = count / 2 / 8 * 8;
        return pairwise_sum(&values[..half]) + pairwise_sum(&values[half..]);
    }
    let (chunks, rest) = values.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for (index, chunk) in chunks.iter().enumerate() {
        for (sum, value) in sums.iter_mut().zip(chunk) {
            *sum = if index == 0 { *value } else { *sum + value };
        }
    }
    let [a, b, c, d, e, f, g, h] = sums;
    let sum = ((a + b) + (c + d)) + ((e + f) + (g + h));
    rest.iter().fold(sum, |sum, value| sum + value)
}
