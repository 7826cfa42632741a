//! Levels of measurement, and the disagreement of the pairs of a set of values at each.

use serde::Serialize;

use super::ratio::RatioPairs;
use crate::Undefined;

/// What may be compared about two values (Stevens 1946).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Only whether they are equal: names.
    Nominal,
    /// Also which is higher: grades.
    Ordinal,
    /// Also how far apart they are: temperatures.
    Interval,
    /// Also how many times one is the other: durations. Values are not negative.
    Ratio,
}

impl Level {
    /// Every level, the weakest first.
    pub const ALL: [Self; 4] = [Self::Nominal, Self::Ordinal, Self::Interval, Self::Ratio];

    /// Its name, as it is serialized.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Nominal => "nominal",
            Self::Ordinal => "ordinal",
            Self::Interval => "interval",
            Self::Ratio => "ratio",
        }
    }
}

/// The squared distances of a level over the categories of some ratings (Krippendorff 2011):
///
/// | level | δ² of the values c and k |
/// |---|---|
/// | nominal | 0 if equal, else 1 |
/// | ordinal | (Σ from c to k of n_g − (n_c + n_k)/2)², that is the squared difference of their mid-ranks |
/// | interval | (c − k)² |
/// | ratio | ((c − k)/(c + k))², and 0 if both are 0 |
pub(super) enum Scale {
    Nominal,
    Ordinal,
    /// Numbers shifted to their middle and divided by `unit`, so that squares neither overflow nor vanish.
    Interval {
        numbers: Vec<f64>,
        unit: f64,
    },
    Ratio(RatioPairs),
}

impl Scale {
    /// The scale of a level over ascending numbers; undefined for negative ones at the ratio level.
    pub(super) fn new(level: Level, numbers: &[f64]) -> Result<Self, Undefined> {
        match level {
            Level::Nominal => Ok(Self::Nominal),
            Level::Ordinal => Ok(Self::Ordinal),
            Level::Interval => {
                let first = numbers.first().copied().unwrap_or(0.0);
                let last = numbers.last().copied().unwrap_or(0.0);
                let middle = f64::midpoint(first, last);
                let unit = if last > first { last - first } else { 1.0 };
                let numbers = numbers.iter().map(|number| (number - middle) / unit).collect();
                Ok(Self::Interval { numbers, unit })
            }
            Level::Ratio => Ok(Self::Ratio(RatioPairs::new(numbers)?)),
        }
    }

    /// What a squared distance must be multiplied by to be in the units of the data.
    pub(super) fn squared_unit(&self) -> f64 {
        match self {
            Self::Interval { unit, .. } => unit * unit,
            _ => 1.0,
        }
    }

    /// Where each category lies, at levels whose distance is a squared difference; `counts` are those of all values.
    pub(super) fn positions(&self, counts: &[f64]) -> Vec<f64> {
        match self {
            Self::Nominal | Self::Ratio(_) => Vec::new(),
            Self::Interval { numbers, .. } => numbers.clone(),
            Self::Ordinal => mid_ranks(counts),
        }
    }

    /// Σ δ² over all ordered pairs of different places among values, given as runs of (category, count).
    pub(super) fn pair_sum(
        &self,
        positions: &[f64],
        runs: impl Iterator<Item = (usize, f64)> + Clone,
    ) -> f64 {
        match self {
            Self::Nominal => {
                let (total, squares) = runs.fold((0.0, 0.0), |(n, squares), (_, count)| {
                    (n + count, squares + count * count)
                });
                total * total - squares
            }
            Self::Ordinal | Self::Interval { .. } => {
                let (total, sum) = runs.clone().fold((0.0, 0.0), |(n, sum), (place, count)| {
                    (n + count, sum + count * positions[place])
                });
                let mean = sum / total;
                let squares: f64 =
                    runs.map(|(place, count)| count * (positions[place] - mean).powi(2)).sum();
                2.0 * total * squares
            }
            Self::Ratio(pairs) => pairs.pair_sum(runs),
        }
    }

    /// Σ δ² from a category to values, given as runs of (category, count).
    pub(super) fn sum_from(
        &self,
        positions: &[f64],
        from: usize,
        runs: impl Iterator<Item = (usize, f64)>,
    ) -> f64 {
        let distance = |to: usize| match self {
            Self::Nominal => f64::from(u8::from(to != from)),
            Self::Ordinal | Self::Interval { .. } => (positions[to] - positions[from]).powi(2),
            Self::Ratio(pairs) => pairs.squared_distance(from, to),
        };
        runs.map(|(value, count)| count * distance(value)).sum()
    }
}

/// The middle rank of each category when all values stand in a row.
fn mid_ranks(counts: &[f64]) -> Vec<f64> {
    let mut before = 0.0;
    let mid_rank = |&count: &f64| {
        let middle = before + count / 2.0;
        before += count;
        middle
    };
    counts.iter().map(mid_rank).collect()
}

/// Runs of equal values in an ascending list, as (category, count).
pub(super) fn runs(sorted: &[u32]) -> impl Iterator<Item = (usize, f64)> + Clone {
    sorted.chunk_by(|a, b| a == b).map(|run| (run[0] as usize, run.len() as f64))
}

/// Categories with their counts, those without any left out.
pub(super) fn used(counts: &[f64]) -> impl Iterator<Item = (usize, f64)> + Clone {
    counts.iter().copied().enumerate().filter(|(_, count)| *count > 0.0)
}
