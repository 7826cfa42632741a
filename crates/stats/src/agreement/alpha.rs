//! Krippendorff's alpha.

use rayon::prelude::*;
use serde::Serialize;

use super::classes::Classes;
use super::ratings::Ratings;
use super::scale::{Level, Scale, runs, used};
use crate::Undefined;

/// A resample whose expected disagreement is this small beside its size has none: what is left is rounding.
const NO_DISAGREEMENT: f64 = 1e-12;

/// Krippendorff's alpha and what it is made of.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Alpha {
    /// The coefficient: 1 for perfect agreement, 0 for what chance gives, below 0 for systematic disagreement.
    pub alpha: f64,
    /// The level of measurement.
    pub level: Level,
    /// Mean squared distance of two values of the same item, in squared units of the data.
    pub observed_disagreement: f64,
    /// Mean squared distance of two values of any items.
    pub expected_disagreement: f64,
    /// Items with at least two ratings; only they count.
    pub paired_items: usize,
    /// Ratings of these items.
    pub paired_values: usize,
    /// Items with one rating, which say nothing about agreement.
    pub single_items: usize,
}

/// Krippendorff's alpha: 1 − observed / expected disagreement, for any number of annotators and with missing ratings
/// (Krippendorff 2011, "Computing Krippendorff's alpha-reliability"; Krippendorff 2019, *Content Analysis*, chapter 12).
///
/// With coincidences `o_ck`, marginals `n_c` and their sum `n`, `α = 1 − (n−1)·Σ o_ck δ²_ck / Σ n_c n_k δ²_ck`. It assumes that
/// annotators work independently and are interchangeable, and that items are. No coincidence matrix is made, so that many
/// distinct values take no more memory than the ratings. Undefined when no item has two ratings, when all values of items with
/// two ratings are equal, and at the ratio level for negative values.
pub fn alpha(ratings: &Ratings, level: Level) -> Result<Alpha, Undefined> {
    Units::new(ratings, level)?.alpha(level)
}

/// The usual reading of alpha in words. The cuts are conventions (Krippendorff 2004 asks for 0.800, and 0.667 for tentative
/// conclusions), not statistics.
#[must_use]
pub fn interpretation(alpha: f64) -> &'static str {
    if alpha >= 0.80 {
        "Good reliability - suitable for most applications"
    } else if alpha >= 0.67 {
        "Moderate reliability - acceptable for exploratory research"
    } else if alpha >= 0.40 {
        "Fair reliability - requires caution in interpretation"
    } else {
        "Poor reliability - not suitable for making conclusions"
    }
}

/// The classes of items with what the disagreement of any mixture of them is made of.
pub(super) struct Units<'a> {
    pub(super) classes: &'a Classes,
    pub(super) scale: Scale,
    /// For each class Σ δ² over the pairs of an item / (values − 1); empty at the ordinal level, where it depends on the mixture.
    observed: Vec<f64>,
    /// For each class the sum and the sum of squares of its values; at the interval level only.
    moments: Vec<(f64, f64)>,
}

/// Disagreement of a mixture of classes: sums that are yet to be divided by the number of values.
pub(super) struct Disagreement {
    /// Σ over items of Σ δ² / (values of the item − 1).
    pub(super) observed: f64,
    /// Σ δ² over all pairs of values / (values − 1).
    pub(super) expected: f64,
    /// How many values.
    pub(super) values: f64,
}

/// Room for the counts of one mixture, to be used again for the next.
#[derive(Default)]
pub(super) struct Room {
    counts: Vec<f64>,
}

impl<'a> Units<'a> {
    pub(super) fn new(ratings: &'a Ratings, level: Level) -> Result<Self, Undefined> {
        let scale = Scale::new(level, ratings.numbers())?;
        let classes = ratings.classes();
        Undefined::unless_enough("items with two ratings", classes.paired_items(), 1)?;
        let mut units = Self { classes, scale, observed: Vec::new(), moments: Vec::new() };
        if level != Level::Ordinal {
            units.observed = units.observed(&units.scale.positions(&[]));
        }
        if let Scale::Interval { numbers, .. } = &units.scale {
            // Around the mean, so that the difference of sums below loses no digits.
            let total: f64 = units.classes.counts().iter().map(|&count| f64::from(count)).sum();
            let mean = units.classes.iter().fold(0.0, |mean, (count, values)| {
                let sum: f64 = values.iter().map(|&value| numbers[value as usize]).sum();
                mean + f64::from(count) / total * (sum / values.len() as f64)
            });
            let moments = |(_, values): (u32, &[u32])| {
                values.iter().fold((0.0, 0.0), |(sum, squares), &value| {
                    let number = numbers[value as usize] - mean;
                    (sum + number, squares + number * number)
                })
            };
            units.moments = units.classes.iter().map(moments).collect();
        }
        Ok(units)
    }

    /// Σ δ² over the pairs of an item / (values − 1), for each class.
    fn observed(&self, positions: &[f64]) -> Vec<f64> {
        (0..self.classes.len())
            .into_par_iter()
            .with_min_len(4_096)
            .map(|class| self.observed_of(class, positions))
            .collect()
    }

    fn observed_of(&self, class: usize, positions: &[f64]) -> f64 {
        let values = self.classes.values(class);
        self.scale.pair_sum(positions, runs(values)) / (values.len() as f64 - 1.0)
    }

    /// How often each category was given to items with two ratings or more.
    pub(super) fn value_counts(&self) -> Vec<f64> {
        let mut counts = vec![0.0; self.classes.singles().len()];
        self.classes.add_value_counts(self.classes.counts(), &mut counts);
        counts
    }

    /// The disagreement when class `c` stands for `weights[c]` items; none when all values are equal.
    pub(super) fn disagreement(&self, weights: &[u32], room: &mut Room) -> Option<Disagreement> {
        let weighted = |observed: &[f64]| -> f64 {
            observed
                .iter()
                .zip(weights)
                .map(|(observed, &weight)| observed * f64::from(weight))
                .sum()
        };
        if !self.moments.is_empty() {
            let (mut values, mut sum, mut squares) = (0.0, 0.0, 0.0);
            for (class, &weight) in weights.iter().enumerate() {
                let weight = f64::from(weight);
                values += weight * self.classes.values(class).len() as f64;
                sum += weight * self.moments[class].0;
                squares += weight * self.moments[class].1;
            }
            let spread = values * squares - sum * sum;
            let expected = 2.0 * spread / (values - 1.0);
            let observed = weighted(&self.observed);
            return (spread > NO_DISAGREEMENT * values * squares).then_some(Disagreement {
                observed,
                expected,
                values,
            });
        }
        room.counts.clear();
        room.counts.resize(self.classes.singles().len(), 0.0);
        self.classes.add_value_counts(weights, &mut room.counts);
        let mut counts = used(&room.counts);
        counts.next()?;
        counts.next()?;
        let values: f64 = room.counts.iter().sum();
        let positions = self.scale.positions(&room.counts);
        let expected = self.scale.pair_sum(&positions, used(&room.counts)) / (values - 1.0);
        let observed = if self.observed.is_empty() {
            let part = |(class, &weight): (usize, &u32)| match weight {
                0 => 0.0,
                _ => f64::from(weight) * self.observed_of(class, &positions),
            };
            weights.iter().enumerate().map(part).sum()
        } else {
            weighted(&self.observed)
        };
        (expected > 0.0).then_some(Disagreement { observed, expected, values })
    }

    /// Alpha of the items as they are.
    pub(super) fn alpha(&self, level: Level) -> Result<Alpha, Undefined> {
        let disagreement = self
            .disagreement(self.classes.counts(), &mut Room::default())
            .ok_or(Undefined::NoVariation { what: "values of items with two ratings" })?;
        let Disagreement { observed, expected, values } = disagreement;
        let unit = self.scale.squared_unit();
        Ok(Alpha {
            alpha: 1.0 - observed / expected,
            level,
            observed_disagreement: observed / values * unit,
            expected_disagreement: expected / values * unit,
            paired_items: self.classes.paired_items(),
            paired_values: values as usize,
            single_items: self.classes.singles().iter().map(|&count| count as usize).sum(),
        })
    }
}
