//! Numbers of scorers that do not judge every output in the same way: cascades, routes, and judgements taken from similar outputs.
//!
//! The plain mean of what was judged would be that of the suspicious outputs in a cascade, and a mix of two instruments on
//! routes. Here the way each output took is read with its score, and the numbers say what was saved and what it cost in certainty.

mod cascade;
mod route;
mod similar;

use fullbench_stats::sampling::{Target, WeightedCluster, WeightedSums};
use fullbench_stats::{Moments, mean_interval};
use fullbench_types::{NanoDollars, Score, ScorePath};
use serde::{Deserialize, Serialize};

pub use cascade::{AgreementSummary, CascadeSummary, TierSummary};
pub use route::{RouteNumbers, RouteSummary};
pub use similar::SimilarSummary;

pub(super) use cascade::CascadeSums;
use route::RouteSums;
use similar::SimilarSums;

/// The confidence of every interval.
const CONFIDENCE: f64 = 0.95;

/// An estimate with its 95% interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimated {
    /// The estimate.
    pub estimate: f64,
    /// Lower end; none where too few were judged to tell.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
}

impl Estimated {
    /// A plain mean, with the interval for other values like these.
    fn of(moments: &Moments) -> Option<Self> {
        let interval = mean_interval(moments, CONFIDENCE).ok();
        Some(Self {
            estimate: moments.mean().ok()?,
            low: interval.map(|interval| interval.low),
            high: interval.map(|interval| interval.high),
        })
    }

    /// A mean of values from 0 to 1.
    fn share(sums: &WeightedSums, target: Target) -> Option<Self> {
        let interval = sums.score_interval(target, CONFIDENCE).ok();
        Some(Self {
            estimate: sums.mean().ok()?,
            low: interval.map(|interval| interval.low),
            high: interval.map(|interval| interval.high),
        })
    }

    /// A mean of any values.
    fn mean(sums: &WeightedSums, target: Target) -> Option<Self> {
        let interval = sums.interval(target, CONFIDENCE).ok();
        Some(Self {
            estimate: sums.mean().ok()?,
            low: interval.map(|interval| interval.low),
            high: interval.map(|interval| interval.high),
        })
    }

    /// The same, so many times.
    fn times(self, factor: f64) -> Self {
        Self {
            estimate: self.estimate * factor,
            low: self.low.map(|low| low * factor),
            high: self.high.map(|high| high * factor),
        }
    }
}

/// Weighted sums whose values may belong together.
#[derive(Default)]
struct ClusteredSums {
    alone: WeightedSums,
    clusters: Vec<WeightedCluster>,
}

impl ClusteredSums {
    /// Takes a value; one that is no number, which no scorer gives, is left out.
    fn add(&mut self, value: f64, probability: f64, cluster: Option<u32>) {
        let Some(cluster) = cluster.map(|cluster| cluster as usize) else {
            let _ = self.alone.add(value, probability);
            return;
        };
        if self.clusters.len() <= cluster {
            self.clusters.resize(cluster + 1, WeightedCluster::default());
        }
        let _ = self.clusters[cluster].add(value, probability);
    }

    fn is_clustered(&self) -> bool {
        !self.clusters.is_empty()
    }

    /// The sums with all clusters in them.
    fn closed(&self) -> WeightedSums {
        let mut sums = self.alone;
        self.clusters.iter().for_each(|cluster| sums.add_cluster(cluster));
        sums
    }
}

/// Sums over the ways that the outputs of one scorer took.
#[derive(Default)]
pub(super) struct PathSums {
    pub(super) cascade: Option<CascadeSums>,
    routes: Option<RouteSums>,
    similar: Option<SimilarSums>,
}

/// What the ways come to.
#[derive(Debug, Clone, Default)]
pub(super) struct PathSummary {
    pub(super) cascade: Option<CascadeSummary>,
    pub(super) routes: Option<RouteSummary>,
    pub(super) similar: Option<SimilarSummary>,
}

impl PathSums {
    /// Takes a score, with the number of its cluster.
    pub(super) fn add(&mut self, score: &Score, cluster: Option<u32>) {
        match score.path.as_deref() {
            Some(ScorePath::Cascade(path)) => {
                self.cascade.get_or_insert_default().add(score, path, cluster);
            }
            Some(ScorePath::Route(path)) => {
                self.routes.get_or_insert_default().add(score, path, cluster);
            }
            Some(ScorePath::Similar(path)) => {
                self.similar.get_or_insert_default().add(score.value, path);
            }
            None => {}
        }
    }

    /// The summary; `tiers` are the names of a cascade's tiers.
    pub(super) fn summary(&self, tiers: &[String]) -> PathSummary {
        PathSummary {
            cascade: self.cascade.as_ref().map(|sums| sums.summary(tiers)),
            routes: self.routes.as_ref().map(RouteSums::summary),
            similar: self.similar.as_ref().map(SimilarSums::summary),
        }
    }
}

/// Adds to a sum of money that may be unknown.
fn add_money(sum: &mut Option<NanoDollars>, more: Option<NanoDollars>) {
    if let Some(more) = more {
        *sum = Some(sum.unwrap_or_default() + more);
    }
}

fn dollars(money: Option<NanoDollars>) -> Option<f64> {
    money.map(NanoDollars::dollars)
}

#[cfg(test)]
mod tests;
