//! Routes in numbers: each judge by itself, what they differ by, and what the strong one would say of everything.

use fullbench_stats::sampling::{Target, WeightedSums};
use fullbench_types::{NanoDollars, Outcome, Route, RoutePath, Score};
use serde::{Deserialize, Serialize};

use super::{ClusteredSums, Estimated, add_money, dollars};
use crate::report::Word;

/// What two judges gave on the outputs that went to each. Their common mean mixes two instruments.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RouteSummary {
    /// Each judge on its own outputs.
    pub routes: Vec<RouteNumbers>,
    /// Outputs of the cheap judge that the strong one judged as well.
    pub audited: u64,
    /// The strong judge's value minus the cheap one's, on outputs that both judged.
    pub difference: Option<Estimated>,
    /// Of audited outputs with a verdict of both, how many have the same.
    pub same_verdict: (u64, u64),
    /// The mean that the strong judge would have given on all these outputs.
    pub strong_on_all: Option<Estimated>,
    /// What both judges cost without the response cache, audits included, in dollars.
    pub cost_usd: Option<f64>,
    /// What the strong judge would have cost on everything.
    pub strong_cost_of_all_usd: Option<Estimated>,
}

impl RouteSummary {
    /// Both judges gave values.
    pub(crate) fn is_mixed(&self) -> bool {
        self.routes.iter().filter(|route| route.outputs > 0).count() > 1
    }
}

/// One judge on the outputs that went to it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RouteNumbers {
    /// `cheap` or `strong`.
    pub route: Word,
    /// Outputs that went to it.
    pub outputs: u64,
    /// Their mean, with the interval for other outputs like them.
    pub mean: Option<Estimated>,
}

/// Sums over outputs.
#[derive(Default)]
pub(super) struct RouteSums {
    cheap: (u64, ClusteredSums),
    strong: (u64, ClusteredSums),
    audited: u64,
    difference: ClusteredSums,
    same_verdict: (u64, u64),
    strong_values: WeightedSums,
    strong_costs: WeightedSums,
    cost: Option<NanoDollars>,
}

impl RouteSums {
    pub(super) fn add(&mut self, score: &Score, path: &RoutePath, cluster: Option<u32>) {
        let (outputs, sums) = match path.route {
            Route::Cheap => &mut self.cheap,
            Route::Strong => &mut self.strong,
        };
        *outputs += 1;
        if let Some(value) = score.value {
            sums.add(value, 1.0, cluster);
        }
        add_money(&mut self.cost, path.full_cost);
        if path.route == Route::Strong {
            self.add_strong(score.value, path.full_cost, 1.0);
        }
        let Some(audit) = &path.audit else { return };
        add_money(&mut self.cost, audit.full_cost);
        self.audited += 1;
        self.add_strong(audit.value, audit.full_cost, audit.probability);
        if let (Some(cheap), Some(strong)) = (score.value, audit.value) {
            self.difference.add(strong - cheap, 1.0, cluster);
        }
        let has_verdict = |outcome| matches!(outcome, Outcome::Passed | Outcome::Failed);
        if has_verdict(score.outcome) && has_verdict(audit.outcome) {
            self.same_verdict.0 += u64::from(score.outcome == audit.outcome);
            self.same_verdict.1 += 1;
        }
    }

    fn add_strong(&mut self, value: Option<f64>, cost: Option<NanoDollars>, probability: f64) {
        // Probabilities of draws that happened are above 0.
        if let Some(value) = value {
            let _ = self.strong_values.add(value, probability);
        }
        if let Some(cost) = cost {
            let _ = self.strong_costs.add(cost.dollars(), probability);
        }
    }

    pub(super) fn summary(&self) -> RouteSummary {
        let outputs = self.cheap.0 + self.strong.0;
        // Without an audit nothing of the cheap judge's outputs is known to the strong one.
        let is_known = self.audited > 0 || self.cheap.0 == 0;
        let of_all = |sums: &WeightedSums| {
            Estimated::mean(sums, Target::ThisPopulation).filter(|_| is_known)
        };
        RouteSummary {
            routes: vec![numbers(Route::Cheap, &self.cheap), numbers(Route::Strong, &self.strong)],
            audited: self.audited,
            difference: Estimated::mean(&self.difference.closed(), Target::OtherOutputs),
            same_verdict: self.same_verdict,
            strong_on_all: Estimated::share(&self.strong_values, Target::ThisPopulation)
                .filter(|_| is_known),
            cost_usd: dollars(self.cost),
            strong_cost_of_all_usd: of_all(&self.strong_costs)
                .map(|cost| cost.times(outputs as f64)),
        }
    }
}

fn numbers(route: Route, (outputs, sums): &(u64, ClusteredSums)) -> RouteNumbers {
    let mean = Estimated::mean(&sums.closed(), Target::OtherOutputs);
    RouteNumbers { route: route.as_str().into(), outputs: *outputs, mean }
}
