//! Confidence intervals by resampling.

use rand::RngExt;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::Interval;
use super::clustered::by_cluster;
use crate::descriptive::quantile_of_sorted;
use crate::{Moments, Undefined, normal_cdf, normal_quantile, random_stream};

/// Fewer rounds than this place no end of an interval.
const FEWEST_ROUNDS: usize = 100;
/// The jackknife leaves out one unit at a time up to this many, and beyond it this many groups of units.
const JACKKNIFE_GROUPS: usize = 2000;
/// The share of resamples on which a statistic must be defined.
const DEFINED_SHARE: f64 = 0.99;

/// How an interval is read off the resampled statistics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BootstrapMethod {
    /// Their quantiles (Efron 1979).
    Percentile,
    /// Their quantiles, corrected for bias and for a spread that changes with the value (BCa, Efron 1987).
    Bca,
}

/// A bootstrap: resampling with replacement, a stream of chance for each round, the same for any number of threads.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Bootstrap {
    /// How the interval is made.
    pub method: BootstrapMethod,
    /// How many resamples are drawn.
    pub rounds: usize,
    /// The confidence of the interval.
    pub confidence: f64,
    /// The seed of the resamples.
    pub seed: u64,
}

impl Default for Bootstrap {
    fn default() -> Self {
        Self { method: BootstrapMethod::Bca, rounds: 10_000, confidence: 0.95, seed: 1 }
    }
}

/// What a bootstrap found.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct BootstrapInterval {
    /// The statistic of the data itself.
    pub estimate: f64,
    /// The standard deviation of the resampled statistics.
    pub standard_error: f64,
    /// The interval.
    pub interval: Interval,
    /// Resamples on which the statistic was undefined, and which were left out.
    pub undefined_rounds: usize,
}

impl Bootstrap {
    /// The interval of a statistic of `count` independent observations, given as a function of the positions drawn: a position
    /// may come several times. Undefined for fewer than two observations or 100 rounds, where the statistic itself or more
    /// than 1% of its resamples are undefined, and without variation among them. BCa is undefined also where leaving out an
    /// observation never changes the statistic, or no resample lies on one side of it. From 2,001 observations on the
    /// acceleration of BCa comes from leaving out 2,000 groups.
    pub fn interval(
        &self,
        count: usize,
        statistic: impl Fn(&[usize]) -> Result<f64, Undefined> + Sync,
    ) -> Result<BootstrapInterval, Undefined> {
        Undefined::unless_enough("observations", count, 2)?;
        self.run(&Units::Single(count), statistic)
    }

    /// The same for observations in clusters, which are resampled whole (Davison and Hinkley 1997, section 3.8): clusters are
    /// independent of each other, observations within one need not be. Undefined for fewer than two clusters.
    pub fn clustered_interval(
        &self,
        clusters: &[u32],
        statistic: impl Fn(&[usize]) -> Result<f64, Undefined> + Sync,
    ) -> Result<BootstrapInterval, Undefined> {
        let units = by_cluster(clusters);
        Undefined::unless_enough("clusters", units.len(), 2)?;
        self.run(&Units::Clusters(units), statistic)
    }

    fn run(
        &self,
        units: &Units,
        statistic: impl Fn(&[usize]) -> Result<f64, Undefined> + Sync,
    ) -> Result<BootstrapInterval, Undefined> {
        Undefined::unless_enough("rounds", self.rounds, FEWEST_ROUNDS)?;
        Undefined::unless_share("confidence", self.confidence)?;
        let all: Vec<usize> = (0..units.count()).collect();
        let mut drawn = Vec::new();
        units.gather(all.iter().copied(), &mut drawn);
        let estimate = statistic(&drawn)?;
        let mut resampled = self.resampled(units, &statistic);
        resampled.sort_unstable_by(f64::total_cmp);
        let needed = (DEFINED_SHARE * self.rounds as f64).ceil() as usize;
        let what = "resamples on which the statistic is defined";
        Undefined::unless_enough(what, resampled.len(), needed)?;
        if resampled.first() == resampled.last() {
            return Err(Undefined::NoVariation { what: "resampled statistics" });
        }
        let tail = (1.0 - self.confidence) / 2.0;
        let (low, high) = match self.method {
            BootstrapMethod::Percentile => (tail, 1.0 - tail),
            BootstrapMethod::Bca => {
                let bias = bias(&resampled, estimate)?;
                let acceleration = acceleration(units, &statistic)?;
                let level = |p: f64| -> Result<f64, Undefined> {
                    let shifted = bias + normal_quantile(p)?;
                    Ok(normal_cdf(bias + shifted / (1.0 - acceleration * shifted)))
                };
                (level(tail)?, level(1.0 - tail)?)
            }
        };
        let moments: Moments = resampled.iter().copied().collect();
        Ok(BootstrapInterval {
            estimate,
            standard_error: moments.variance()?.sqrt(),
            interval: Interval {
                low: quantile_of_sorted(&resampled, low)?,
                high: quantile_of_sorted(&resampled, high)?,
            },
            undefined_rounds: self.rounds - resampled.len(),
        })
    }

    /// The statistic of each resample on which it is a finite number.
    fn resampled(
        &self,
        units: &Units,
        statistic: &(impl Fn(&[usize]) -> Result<f64, Undefined> + Sync),
    ) -> Vec<f64> {
        let count = units.count();
        (0..self.rounds as u64)
            .into_par_iter()
            .map_init(Vec::new, |drawn, round| {
                let mut random = random_stream(self.seed, round);
                units.gather((0..count).map(|_| random.random_range(0..count)), drawn);
                statistic(drawn).ok().filter(|value| value.is_finite())
            })
            .flatten_iter()
            .collect()
    }
}

/// What is drawn: observations, or clusters of them.
enum Units {
    Single(usize),
    Clusters(Vec<Vec<usize>>),
}

impl Units {
    fn count(&self) -> usize {
        match self {
            Self::Single(count) => *count,
            Self::Clusters(clusters) => clusters.len(),
        }
    }

    /// The positions of the observations in these units.
    fn gather(&self, chosen: impl Iterator<Item = usize>, positions: &mut Vec<usize>) {
        positions.clear();
        match self {
            Self::Single(_) => positions.extend(chosen),
            Self::Clusters(clusters) => {
                chosen.for_each(|unit| positions.extend_from_slice(&clusters[unit]));
            }
        }
    }
}

/// How far the median of the resamples is from the estimate, in normal quantiles; ties count half.
fn bias(sorted: &[f64], estimate: f64) -> Result<f64, Undefined> {
    let below = sorted.partition_point(|value| *value < estimate);
    let up_to = sorted.partition_point(|value| *value <= estimate);
    let share = (below + up_to) as f64 / (2 * sorted.len()) as f64;
    Undefined::unless_share("the share of resamples below the estimate", share)?;
    normal_quantile(share)
}

/// The skewness of the jackknife values over six (Efron 1987).
fn acceleration(
    units: &Units,
    statistic: &(impl Fn(&[usize]) -> Result<f64, Undefined> + Sync),
) -> Result<f64, Undefined> {
    let count = units.count();
    let groups = count.min(JACKKNIFE_GROUPS);
    let left_out: Result<Vec<f64>, Undefined> = (0..groups)
        .into_par_iter()
        .map_init(Vec::new, |kept, group| {
            units.gather((0..count).filter(|unit| unit % groups != group), kept);
            statistic(kept)
        })
        .collect();
    let left_out = left_out?;
    let mean = left_out.iter().sum::<f64>() / groups as f64;
    let (mut squares, mut cubes) = (0.0, 0.0);
    for value in &left_out {
        let deviation = mean - value;
        squares += deviation * deviation;
        cubes += deviation * deviation * deviation;
    }
    if squares == 0.0 {
        return Err(Undefined::NoVariation { what: "jackknife values" });
    }
    Ok(cubes / (6.0 * squares.powf(1.5)))
}
