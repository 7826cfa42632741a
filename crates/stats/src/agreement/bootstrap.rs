//! An interval for Krippendorff's alpha.

use rand::{Rng, RngExt};
use rand_distr::{Binomial, Distribution};
use rayon::prelude::*;
use serde::Serialize;

use super::FEWEST_ITEMS;
use super::alpha::{Room, Units};
use super::ratings::Ratings;
use super::scale::Level;
use crate::{Interval, Undefined, normal_cdf, normal_quantile, random_stream};

/// Drawing a binomial number takes about as long as drawing this many items.
const DRAWS_FOR_A_BINOMIAL: usize = 8;

/// At most this many groups of items are left out in turn.
const MAX_GROUPS: usize = 400;

/// Resamples that should lie beyond each end of an interval.
const BEYOND_EACH_END: f64 = 2.0;

/// Fewer rounds than this place no end of an interval.
const FEWEST_ROUNDS: usize = 100;

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

/// BCa bootstrap interval of [`alpha`](super::alpha): quantiles of alpha over resamples, corrected for bias and acceleration (Efron
/// 1987). Each round draws as many items with two ratings as there are, with replacement, and keeps their ratings
/// together, as Zapf et al. (2016) recommend for agreement. The acceleration is by the jackknife over items; where more than 400
/// items have values of their own, over 400 groups of them.
///
/// It assumes that the items are an independent sample of what the annotators might be given; it says nothing about other
/// annotators. Resamples in which all values are equal have no alpha; they are counted and left out. Undefined for fewer than ten
/// items with two ratings, for so few rounds that fewer than two would lie beyond an end, where alpha is undefined, when more than a share of 1 − `confidence` of the resamples has no alpha, and
/// when all resamples have the same, as for perfect agreement: that says nothing about how far it may be off. The result
/// depends on the seed but not on the number of threads.
pub fn alpha_interval(
    ratings: &Ratings,
    level: Level,
    confidence: f64,
    rounds: usize,
    seed: u64,
) -> Result<AlphaInterval, Undefined> {
    Undefined::unless_share("confidence", confidence)?;
    let rounds_needed = (2.0 * BEYOND_EACH_END / (1.0 - confidence)).ceil() as usize;
    Undefined::unless_enough("rounds", rounds, rounds_needed.max(FEWEST_ROUNDS))?;
    let units = Units::new(ratings, level)?;
    let items = units.classes.paired_items();
    Undefined::unless_enough("items with two ratings", items, FEWEST_ITEMS)?;
    let estimate = units.alpha(level)?.alpha;
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
    if alphas.first() == alphas.last() {
        return Err(Undefined::NoVariation { what: "resamples" });
    }
    let acceleration = acceleration(&units);
    let (low, high) = ends(&alphas, estimate, acceleration, confidence)?;
    let interval = Interval { low: quantile(&alphas, low), high: quantile(&alphas, high) };
    Ok(AlphaInterval { interval, confidence, rounds, degenerate: rounds - alphas.len(), seed })
}

/// Which quantiles of the resamples bound the interval: those of the percentile interval, corrected for bias and for a spread that
/// changes with the coefficient.
fn ends(
    sorted: &[f64],
    estimate: f64,
    acceleration: f64,
    confidence: f64,
) -> Result<(f64, f64), Undefined> {
    let below = sorted.partition_point(|alpha| *alpha < estimate);
    let not_above = sorted.partition_point(|alpha| *alpha <= estimate);
    // Resamples that equal the estimate count half to either side. The share stays off 0 and 1, which have no quantile.
    let share =
        f64::midpoint(below as f64, not_above as f64).max(0.5).min(sorted.len() as f64 - 0.5);
    let bias = normal_quantile(share / sorted.len() as f64)?;
    let end = |tail: f64| {
        let z = bias + normal_quantile(tail)?;
        let spread = 1.0 - acceleration * z;
        // Beyond the pole the correction has lost its meaning; the plain quantile is left.
        Ok(if spread > 0.0 { normal_cdf(bias + z / spread) } else { tail })
    };
    Ok((end((1.0 - confidence) / 2.0)?, end(f64::midpoint(1.0, confidence))?))
}

/// How the spread changes with the coefficient: a sixth of the skewness of the influences of items, by leaving each out in turn. Where
/// items hardly repeat, groups of them are left out.
fn acceleration(units: &Units<'_>) -> f64 {
    let counts = units.classes.counts();
    let size = counts.len().div_ceil(MAX_GROUPS);
    let groups: Vec<usize> = (0..counts.len()).step_by(size).collect();
    let left_out = |&first: &usize| {
        let mut weights = counts.to_vec();
        let group = first..(first + size).min(counts.len());
        // Of a class on its own one item is left out, and stands for all of them.
        let times = if size == 1 { f64::from(counts[first]) } else { 1.0 };
        for weight in &mut weights[group] {
            *weight = if size == 1 { *weight - 1 } else { 0 };
        }
        let sums = units.disagreement(&weights, &mut Room::default())?;
        Some((1.0 - sums.observed / sums.expected, times))
    };
    let without: Option<Vec<(f64, f64)>> = groups.par_iter().map(left_out).collect();
    // Where one item is all that varies, nothing can be said.
    let Some(without) = without else { return 0.0 };
    let total: f64 = without.iter().map(|(_, times)| times).sum();
    let mean = without.iter().map(|(alpha, times)| alpha * times).sum::<f64>() / total;
    let power = |exponent: i32| -> f64 {
        without.iter().map(|(alpha, times)| times * (mean - alpha).powi(exponent)).sum()
    };
    let spread = power(2);
    if spread > 0.0 { power(3) / (6.0 * spread.powf(1.5)) } else { 0.0 }
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
