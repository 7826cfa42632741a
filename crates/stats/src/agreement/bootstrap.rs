//! An interval for Krippendorff's alpha.

use rand::{Rng, RngExt};
use rand_distr::{Binomial, Distribution};
use rayon::prelude::*;
use serde::Serialize;

use super::alpha::{Room, Units};
use super::ratings::Ratings;
use super::scale::Level;
use crate::{Interval, Undefined, random_stream};

/// Drawing a binomial number takes about as long as drawing this many items.
const DRAWS_FOR_A_BINOMIAL: usize = 8;

/// A bootstrap interval of alpha and how it was made.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AlphaInterval {
    /// The interval: quantiles of alpha over the resamples.
    pub interval: Interval,
    /// Its nominal coverage.
    pub confidence: f64,
    /// How many resamples were drawn.
    pub rounds: usize,
    /// Resamples without variation, in which alpha is undefined; they are left out.
    pub degenerate: usize,
    /// The seed.
    pub seed: u64,
}

/// Percentile bootstrap interval of [`alpha`](super::alpha) (Efron and Tibshirani 1993, chapter 13; for agreement Zapf et al.
/// 2016). Each round draws as many items with two ratings as there are, with replacement, and keeps their ratings together.
///
/// It assumes that the items are an independent sample of what the annotators might be given; it says nothing about other
/// annotators. Resamples in which all values are equal have no alpha; they are counted and left out. Undefined for fewer than two
/// items with two ratings, where alpha is undefined, and when more than a share of 1 − `confidence` of the resamples has no alpha.
/// The result depends on the seed but not on the number of threads.
pub fn alpha_interval(
    ratings: &Ratings,
    level: Level,
    confidence: f64,
    rounds: usize,
    seed: u64,
) -> Result<AlphaInterval, Undefined> {
    Undefined::unless_share("confidence", confidence)?;
    Undefined::unless_enough("rounds", rounds, 2)?;
    let units = Units::new(ratings, level)?;
    Undefined::unless_enough("items with two ratings", units.classes.paired_items(), 2)?;
    units.alpha(level)?;
    let resampler = Resampler::new(units.classes.counts());
    let mut alphas: Vec<f64> = (0..rounds as u64)
        .into_par_iter()
        .map_init(
            || (vec![0; units.classes.len()], Room::default()),
            |(weights, room), round| {
                resampler.draw(&mut random_stream(seed, round), weights);
                let sums = units.disagreement(weights, room)?;
                Some(1.0 - sums.observed / sums.expected)
            },
        )
        .filter_map(|alpha| alpha)
        .collect();
    let needed = (rounds as f64 * confidence).ceil().max(2.0) as usize;
    Undefined::unless_enough("resamples with variation", alphas.len(), needed)?;
    alphas.sort_unstable_by(f64::total_cmp);
    let tail = (1.0 - confidence) / 2.0;
    let interval = Interval { low: quantile(&alphas, tail), high: quantile(&alphas, 1.0 - tail) };
    Ok(AlphaInterval { interval, confidence, rounds, degenerate: rounds - alphas.len(), seed })
}

/// Draws items with replacement, as a number for each class.
struct Resampler<'a> {
    counts: &'a [u32],
    /// The classes, the largest first, when they are few: each gets a binomial number of what is left.
    by_size: Vec<u32>,
    /// The class of each item, when there are many.
    class_of: Vec<u32>,
    items: u64,
}

impl<'a> Resampler<'a> {
    fn new(counts: &'a [u32]) -> Self {
        let items: u64 = counts.iter().map(|&count| u64::from(count)).sum();
        let classes = 0..counts.len() as u32;
        let (mut by_size, mut class_of) = (Vec::new(), Vec::new());
        if counts.len().saturating_mul(DRAWS_FOR_A_BINOMIAL) <= items as usize {
            by_size = classes.collect();
            by_size.sort_by_key(|&class| std::cmp::Reverse(counts[class as usize]));
        } else {
            class_of = classes
                .flat_map(|class| std::iter::repeat_n(class, counts[class as usize] as usize))
                .collect();
        }
        Self { counts, by_size, class_of, items }
    }

    fn draw(&self, random: &mut impl Rng, weights: &mut [u32]) {
        weights.fill(0);
        if !self.class_of.is_empty() {
            for _ in 0..self.items {
                let item = random.random_range(0..self.class_of.len());
                weights[self.class_of[item] as usize] += 1;
            }
            return;
        }
        let (mut left, mut items) = (self.items, self.items);
        for &class in &self.by_size {
            if left == 0 {
                break;
            }
            let count = u64::from(self.counts[class as usize]);
            let share = count as f64 / items as f64;
            // The share of the last class is 1, for which the distribution is certain.
            let drawn = match Binomial::new(left, share) {
                Ok(binomial) if count < items => binomial.sample(random),
                _ => left,
            };
            weights[class as usize] = drawn as u32;
            left -= drawn;
            items -= count;
        }
    }
}

/// Linear interpolation between order statistics (type 7 of Hyndman and Fan 1996).
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() - 1) as f64;
    let below = place.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (place - below as f64) * (sorted[above] - sorted[below])
}
