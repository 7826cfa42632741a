//! Correlation inside groups, and between systems (Deutsch, Dror and Roth 2021; Deutsch, Foster and Freitag 2023).

use std::collections::BTreeMap;

use rand::RngExt;
use serde::Serialize;

use super::{Coefficient, Resampling, check_pairs, correlate, correlation, value_or_reason};
use crate::{Interval, Moments, Undefined, student_t_sf};

/// The mean of the correlations inside groups.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroupCorrelation {
    /// Which coefficient it is.
    pub coefficient: Coefficient,
    /// The mean over the groups that have one.
    pub value: f64,
    /// How many groups have one.
    pub groups: usize,
    /// How many groups were left out because they have a single pair.
    pub single: usize,
    /// How many groups were left out because one side does not vary in them.
    pub without_variation: usize,
    /// Percentile bootstrap interval over groups.
    #[serde(serialize_with = "value_or_reason")]
    pub interval: Result<Interval, Undefined>,
    /// Two-sided p-value that the mean is 0, by Student's t over groups.
    #[serde(serialize_with = "value_or_reason")]
    pub p_value: Result<f64, Undefined>,
}

/// The correlation inside each group, averaged: does the judge order the answers to *one* question as people do? `groups` has
/// a code for each pair.
///
/// A group without variation on one side, or with a single pair, has no correlation. It is counted and left out, never taken
/// as 0: taking it so would mix how often people tie with how well the judge does. Groups must be independent; pairs of
/// a group need not be. The interval resamples groups and needs two, and many to be trusted. Undefined where no group has
/// a correlation.
pub fn group_correlation(
    coefficient: Coefficient,
    first: &[f64],
    second: &[f64],
    groups: &[u32],
    resampling: &Resampling,
) -> Result<GroupCorrelation, Undefined> {
    resampling.check()?;
    check_pairs(first, second, 2)?;
    Undefined::unless_paired("pairs and groups", first.len(), groups.len())?;
    let mut members: BTreeMap<u32, (Vec<f64>, Vec<f64>)> = BTreeMap::new();
    for ((group, x), y) in groups.iter().zip(first).zip(second) {
        let member = members.entry(*group).or_default();
        member.0.push(*x);
        member.1.push(*y);
    }
    let (mut values, mut single, mut without_variation) = (Vec::new(), 0, 0);
    for (x, y) in members.values() {
        match correlation(coefficient, x, y) {
            Ok(value) => values.push(value),
            Err(Undefined::TooFew { .. }) => single += 1,
            Err(_) => without_variation += 1,
        }
    }
    Undefined::unless_enough("groups with a correlation", values.len(), 1)?;
    let moments: Moments = values.iter().copied().collect();
    let value = moments.mean()?;
    let enough = || Undefined::unless_enough("groups with a correlation", values.len(), 2);
    let interval = enough().and_then(|()| {
        let mean = |random: &mut rand_pcg::Pcg64| {
            let draw = |_| values[random.random_range(0..values.len())];
            (0..values.len()).map(draw).sum::<f64>() / values.len() as f64
        };
        resampling.percentiles(resampling.rounds(mean))
    });
    let p_value = enough().and_then(|()| mean_p_value(&moments));
    let groups = values.len();
    Ok(GroupCorrelation {
        coefficient,
        value,
        groups,
        single,
        without_variation,
        interval,
        p_value,
    })
}

/// Two-sided p-value of a mean of 0 (Student 1908).
fn mean_p_value(moments: &Moments) -> Result<f64, Undefined> {
    let (mean, error) = (moments.mean()?, moments.standard_error()?);
    if error <= 1e-13 * mean.abs() {
        return Err(Undefined::NoVariation { what: "correlations of groups" });
    }
    let degrees = moments.count() as f64 - 1.0;
    Ok((2.0 * student_t_sf((mean / error).abs(), degrees)).min(1.0))
}

/// What a bootstrap of system means draws anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Resampled {
    /// Items only: the interval is about these systems on other items.
    Items,
    /// Systems and items: the interval is about other systems on other items ("Boot-Both" of Deutsch et al. 2021).
    Both,
}

/// The correlation of system means.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SystemCorrelation {
    /// Which coefficient it is.
    pub coefficient: Coefficient,
    /// Its value over the means of the systems.
    pub value: f64,
    /// How many systems.
    pub systems: usize,
    /// Percentile bootstrap interval.
    #[serde(serialize_with = "value_or_reason")]
    pub interval: Result<Interval, Undefined>,
    /// What the bootstrap drew anew.
    pub resampled: Resampled,
    /// Rounds whose draw of systems has no correlation (all the same system, say); they are not in the interval.
    pub undefined_rounds: usize,
    /// Two-sided p-value as for independent pairs, one for each system; see [`correlate`].
    #[serde(serialize_with = "value_or_reason")]
    pub p_value: Result<f64, Undefined>,
}

/// The means of each system on both sides, correlated: does the judge order *systems* as people do? `systems` and `items` have
/// a code for each pair; a system need not have every item, but means over different items compare badly.
///
/// It needs three systems. The interval of few systems is wide and, by resampling, only roughly right: the percentile
/// bootstrap knows no other systems than those it has. Undefined as [`correlation`] is.
pub fn system_correlations(
    coefficients: &[Coefficient],
    first: &[f64],
    second: &[f64],
    systems: &[u32],
    items: &[u32],
    resampled: Resampled,
    resampling: &Resampling,
) -> Result<Vec<Result<SystemCorrelation, Undefined>>, Undefined> {
    resampling.check()?;
    check_pairs(first, second, 2)?;
    Undefined::unless_paired("pairs and systems", first.len(), systems.len())?;
    Undefined::unless_paired("pairs and items", first.len(), items.len())?;
    let scores = Scores::of(first, second, systems, items);
    Undefined::unless_enough("systems", scores.systems, 3)?;
    let drawn: Vec<Vec<Option<f64>>> = resampling.rounds(|random| {
        let (x, y) = scores.drawn_means(resampled, random);
        coefficients.iter().map(|&coefficient| correlation(coefficient, &x, &y).ok()).collect()
    });
    let (x, y) = scores.means(&vec![1; scores.lengths.len()]);
    let of = |(index, &coefficient): (usize, &Coefficient)| {
        let plain = correlate(coefficient, &x, &y, resampling.confidence)?;
        let defined: Vec<f64> = drawn.iter().filter_map(|round| round[index]).collect();
        let undefined_rounds = drawn.len() - defined.len();
        let interval = resampling.percentiles(defined);
        let (value, systems, p_value) = (plain.value, plain.pairs, plain.p_value);
        Ok(SystemCorrelation {
            coefficient,
            value,
            systems,
            interval,
            resampled,
            undefined_rounds,
            p_value,
        })
    };
    Ok(coefficients.iter().enumerate().map(of).collect())
}

/// The scores, item after item.
struct Scores {
    systems: usize,
    /// The place of the system, and both scores.
    cells: Vec<(u32, f64, f64)>,
    /// How many cells each item has.
    lengths: Vec<usize>,
}

impl Scores {
    fn of(first: &[f64], second: &[f64], systems: &[u32], items: &[u32]) -> Self {
        let mut places: BTreeMap<u32, u32> = systems.iter().map(|&system| (system, 0)).collect();
        places.values_mut().zip(0..).for_each(|(slot, place)| *slot = place);
        let mut order: Vec<usize> = (0..items.len()).collect();
        order.sort_by_key(|&index| items[index]);
        let cell = |&index: &usize| {
            (places.get(&systems[index]).copied().unwrap_or(0), first[index], second[index])
        };
        let cells = order.iter().map(cell).collect();
        let runs = order.chunk_by(|&left, &right| items[left] == items[right]);
        let lengths = runs.map(<[_]>::len).collect();
        Self { systems: places.len(), cells, lengths }
    }

    /// The means of each system that has a score, with items counted as often as they were drawn.
    fn means(&self, times: &[u32]) -> (Vec<f64>, Vec<f64>) {
        let sums = self.sums(times);
        sums.iter().filter(|sum| sum.0 > 0.0).map(|sum| (sum.1 / sum.0, sum.2 / sum.0)).unzip()
    }

    fn sums(&self, times: &[u32]) -> Vec<(f64, f64, f64)> {
        let mut sums = vec![(0.0, 0.0, 0.0); self.systems];
        let mut rest = &self.cells[..];
        for (&length, &times) in self.lengths.iter().zip(times) {
            let (item, others) = rest.split_at(length.min(rest.len()));
            rest = others;
            if times == 0 {
                continue;
            }
            let weight = f64::from(times);
            for &(system, x, y) in item {
                let sum = &mut sums[system as usize];
                *sum = (sum.0 + weight, sum.1 + weight * x, sum.2 + weight * y);
            }
        }
        sums
    }

    fn drawn_means(
        &self,
        resampled: Resampled,
        random: &mut rand_pcg::Pcg64,
    ) -> (Vec<f64>, Vec<f64>) {
        let mut times = vec![0; self.lengths.len()];
        for _ in 0..self.lengths.len() {
            times[random.random_range(0..self.lengths.len())] += 1;
        }
        let (x, y) = self.means(&times);
        match resampled {
            Resampled::Items => (x, y),
            Resampled::Both => {
                let mut draw = || random.random_range(0..x.len());
                let drawn: Vec<usize> = (0..x.len()).map(|_| draw()).collect();
                drawn.into_iter().map(|index| (x[index], y[index])).unzip()
            }
        }
    }
}
