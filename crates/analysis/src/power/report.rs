//! The report of a plan.

use serde::Serialize;

use super::{Pilot, PowerDesign, Solved};
use crate::{Conclusion, Grid, Report, number, share};

/// A planned comparison of two means.
#[derive(Debug, Clone, Serialize)]
pub struct PowerReport {
    /// How the two sides are measured.
    pub design: PowerDesign,
    /// What was computed.
    pub solved: Solved,
    /// Cases in the first sample, pairs, or clusters.
    pub units: u64,
    /// Cases in the second of two independent samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub second_units: Option<u64>,
    /// Cases on one side, or in the first of two independent samples.
    pub cases: u64,
    /// How often each case is run on each side.
    pub repetitions: u32,
    /// The true difference; none where these units see no difference with the power that is planned for.
    pub effect: Option<f64>,
    /// The probability of seeing it with these units.
    pub power: Option<f64>,
    /// The power that was planned for.
    pub goal: f64,
    /// The level of the two-sided test.
    pub alpha: f64,
    /// Standard deviation of single scores, or of single differences for designs with pairs.
    pub standard_deviation: f64,
    /// Where it is from.
    pub spread_from: &'static str,
    /// The share of the variance that is chance within a case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub within_share: Option<f64>,
    /// Correlation of single differences of two cases in a cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intra_cluster_correlation: Option<f64>,
    /// Cases in a cluster, on average.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster_size: Option<f64>,
    /// How much clustering multiplies the variance.
    pub design_effect: f64,
    /// Standard error of the difference.
    pub standard_error: f64,
    /// Degrees of freedom of a t test.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub degrees_of_freedom: Option<f64>,
    /// What other sizes would show.
    pub plans: Vec<Plan>,
    /// What the pilot shows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pilot: Option<Pilot>,
    /// The test that is planned.
    pub method: &'static str,
    /// What it means.
    pub conclusion: Conclusion,
}

/// What one size of study would show.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Plan {
    /// Cases in the first sample, pairs, or clusters.
    pub units: u64,
    /// How often each case is run on each side.
    pub repetitions: u32,
    /// The smallest difference seen with the power that is planned for; none where none is.
    pub effect: Option<f64>,
}

impl PowerReport {
    /// The name of what is counted, in the plural.
    pub(super) fn unit(&self) -> &'static str {
        match self.design {
            PowerDesign::Independent => "cases in each sample",
            PowerDesign::Paired => "paired cases",
            PowerDesign::Clustered => "clusters",
        }
    }
}

impl Report for PowerReport {
    fn grids(&self) -> Vec<Grid> {
        let none = || "–".to_owned();
        let mut rows = vec![
            vec![self.unit().to_owned(), self.units.to_string()],
            vec!["difference".to_owned(), self.effect.map_or_else(none, number)],
            vec!["power".to_owned(), self.power.map_or_else(none, share)],
            vec!["level of the test".to_owned(), share(self.alpha)],
            vec!["standard deviation".to_owned(), number(self.standard_deviation)],
            vec!["standard error".to_owned(), number(self.standard_error)],
        ];
        if let Some(second) = self.second_units.filter(|second| *second != self.units) {
            rows[0][0] = "cases in the first sample".to_owned();
            rows.insert(1, vec!["cases in the second sample".to_owned(), second.to_string()]);
        }
        if self.design == PowerDesign::Clustered {
            rows.insert(1, vec!["cases on each side".to_owned(), self.cases.to_string()]);
            rows.push(vec!["design effect".to_owned(), number(self.design_effect)]);
        }
        let optional = [
            ("correlation within clusters", self.intra_cluster_correlation),
            ("share of variance within cases", self.within_share),
            (
                "correlation of the two sides in the pilot",
                self.pilot.and_then(|pilot| pilot.correlation),
            ),
        ];
        for (name, value) in optional {
            rows.extend(value.map(|value| vec![name.to_owned(), number(value)]));
        }
        let plans = self.plans.iter().map(|plan| {
            let effect = plan.effect.map_or_else(none, number);
            vec![plan.units.to_string(), plan.repetitions.to_string(), effect]
        });
        vec![
            Grid { title: None, header: vec!["plan", "value"], rows },
            Grid {
                title: Some(format!("difference seen with a power of {}", share(self.goal))),
                header: vec!["units", "repetitions", "difference"],
                rows: plans.collect(),
            },
        ]
    }

    fn conclusion(&self) -> &Conclusion {
        &self.conclusion
    }
}
