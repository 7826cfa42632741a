//! `stats correlate`: a judge's scores or labels against those of people.

mod conclusion;
mod data;
mod grids;

use std::path::Path;

use fullbench_stats::validity::{
    Against, Bias, BiasSlope, Coefficient, Confusion, Correlation, GroupCorrelation, Resampled,
    Resampling, SystemCorrelation, bias, bias_slope, clustered_interval, confusion,
    correlate as correlation_of, group_correlation, system_correlations, value_or_reason,
};
use fullbench_stats::{Interval, Undefined};
use serde::Serialize;

use crate::{AnalysisError, Conclusion, Grid, Report};
use data::{Labels, Scores, Values};

/// Up to this many distinct scores a table of them says more than it hides.
const FEW_VALUES: usize = 10;

/// What to compute.
#[derive(Debug, Clone)]
pub struct CorrelateOptions {
    /// Names of columns by role: `item`, `judge`, `human`, `group`, `system`.
    pub columns: Vec<(String, String)>,
    /// Confidence of the intervals.
    pub confidence: f64,
    /// Take both columns as labels, also where they are numbers.
    pub labels: bool,
    /// Rounds of the bootstrap.
    pub rounds: usize,
    /// Seed of the bootstrap.
    pub seed: u64,
}

impl Default for CorrelateOptions {
    fn default() -> Self {
        let resampling = Resampling::default();
        Self {
            columns: Vec::new(),
            confidence: resampling.confidence,
            labels: false,
            rounds: resampling.rounds,
            seed: resampling.seed,
        }
    }
}

/// A judge against people.
#[derive(Debug, Clone, Serialize)]
pub struct CorrelateReport {
    /// Rows with both a judge's and a human value.
    pub pairs: usize,
    /// Rows left out because the judge's value is missing.
    pub without_judge: usize,
    /// Rows left out because only the human value is missing.
    pub without_human: usize,
    /// Confidence of the intervals.
    pub confidence: f64,
    /// How the bootstrap intervals were made.
    pub resampling: Resampling,
    /// Scores, where the columns have numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scores: Option<ScoreReport>,
    /// Labels, where the columns have labels or few distinct numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub labels: Option<LabelReport>,
    /// What it means.
    pub conclusion: Conclusion,
}

/// What scores say.
#[derive(Debug, Clone, Serialize)]
pub struct ScoreReport {
    /// All pairs.
    pub item_level: ItemLevel,
    /// Inside groups, then averaged; none where the file has no groups.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group_level: Option<GroupLevel>,
    /// Means of systems; none where the file has no systems.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_level: Option<SystemLevel>,
    /// The differences judge − human; both sides must be on one scale.
    #[serde(serialize_with = "value_or_reason")]
    pub bias: Result<Bias, Undefined>,
    /// The slope of the difference on the mean of both.
    #[serde(serialize_with = "value_or_reason")]
    pub slope_on_mean: Result<BiasSlope, Undefined>,
    /// The slope of the difference on the human score.
    #[serde(serialize_with = "value_or_reason")]
    pub slope_on_human: Result<BiasSlope, Undefined>,
    /// Smallest and largest judge score.
    pub judge_range: Interval,
    /// Smallest and largest human score.
    pub human_range: Interval,
}

/// Correlations of all pairs.
#[derive(Debug, Clone, Serialize)]
pub struct ItemLevel {
    /// How intervals and p-values were made.
    pub method: &'static str,
    /// As if all pairs were independent.
    pub correlations: Vec<ItemCorrelation>,
    /// How many clusters the pairs come in: groups, or items with several systems. None where each pair stands alone.
    pub clusters: Option<usize>,
}

/// One coefficient of all pairs.
#[derive(Debug, Clone, Serialize)]
pub struct ItemCorrelation {
    /// Which.
    pub coefficient: Coefficient,
    /// Its value, with the interval and p-value of independent pairs.
    #[serde(serialize_with = "value_or_reason")]
    pub independent: Result<Correlation, Undefined>,
    /// The interval that allows for pairs of a cluster depending on each other.
    #[serde(serialize_with = "if_clustered", skip_serializing_if = "Option::is_none")]
    pub clustered_interval: Option<Result<Interval, Undefined>>,
}

fn if_clustered<S: serde::Serializer>(
    interval: &Option<Result<Interval, Undefined>>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match interval {
        Some(interval) => value_or_reason(interval, serializer),
        None => serializer.serialize_none(),
    }
}

/// Correlations inside groups.
#[derive(Debug, Clone, Serialize)]
pub struct GroupLevel {
    /// What the groups are: the column `group`, or the items of several systems.
    pub groups_are: &'static str,
    /// How intervals and p-values were made.
    pub method: &'static str,
    /// Each coefficient.
    pub correlations: Vec<Reasoned<GroupCorrelation>>,
}

/// Correlations of system means.
#[derive(Debug, Clone, Serialize)]
pub struct SystemLevel {
    /// How many systems.
    pub systems: usize,
    /// How intervals and p-values were made.
    pub method: &'static str,
    /// Each coefficient.
    pub correlations: Vec<Reasoned<SystemCorrelation>>,
}

/// A coefficient that exists, or why it does not.
#[derive(Debug, Clone, Serialize)]
pub struct Reasoned<T: Serialize> {
    /// Which.
    pub coefficient: Coefficient,
    /// It, or the reason.
    #[serde(serialize_with = "value_or_reason")]
    pub result: Result<T, Undefined>,
}

/// What labels say.
#[derive(Debug, Clone, Serialize)]
pub struct LabelReport {
    /// The labels, in the order of the table's rows and columns.
    pub labels: Vec<String>,
    /// The table and what is read from it.
    #[serde(flatten)]
    pub confusion: Confusion,
}

/// Compares a judge with people on a file with the columns `item`, `judge`, `human`, and where there are some `group` and
/// `system`. Rows without a judge's or a human value are counted and left out.
pub fn correlate(
    path: &Path,
    options: &CorrelateOptions,
) -> Result<CorrelateReport, AnalysisError> {
    let resampling =
        Resampling { rounds: options.rounds, seed: options.seed, confidence: options.confidence };
    check(options)?;
    let data = data::read(path, options)?;
    let confidence = options.confidence;
    let (scores, labels) = match &data.values {
        Values::Labels(labels) => (None, Some(label_report(labels, confidence)?)),
        Values::Scores(scores) => {
            let few = scores.as_labels(FEW_VALUES).map(|labels| label_report(&labels, confidence));
            (Some(score_report(scores, &resampling)), few.transpose()?)
        }
    };
    let mut report = CorrelateReport {
        pairs: data.pairs,
        without_judge: data.without_judge,
        without_human: data.without_human,
        confidence,
        resampling,
        scores,
        labels,
        conclusion: Conclusion::default(),
    };
    report.conclusion = conclusion::of(&report);
    Ok(report)
}

fn check(options: &CorrelateOptions) -> Result<(), AnalysisError> {
    if !(options.confidence > 0.0 && options.confidence < 1.0) {
        let message = format!("the confidence is {}", options.confidence);
        return Err(AnalysisError::question(message, "give a number between 0 and 1, like 0.95"));
    }
    if options.rounds < 100 {
        let message = format!("{} bootstrap rounds are too few", options.rounds);
        return Err(AnalysisError::question(message, "give at least 100; 2000 are the default"));
    }
    Ok(())
}

fn label_report(labels: &Labels, confidence: f64) -> Result<LabelReport, AnalysisError> {
    let names = labels.names.clone();
    let table = confusion(&labels.judge, &labels.human, names.len(), confidence);
    let confusion = table.map_err(|reason| {
        AnalysisError::undefined("the confusion table", reason, "give rows with both labels")
    })?;
    Ok(LabelReport { labels: names, confusion })
}

fn score_report(scores: &Scores, resampling: &Resampling) -> ScoreReport {
    let (judge, human) = (&scores.judge[..], &scores.human[..]);
    let confidence = resampling.confidence;
    let clusters = scores.clusters.as_deref();
    let slope = |against| bias_slope(judge, human, against, clusters, confidence);
    ScoreReport {
        item_level: item_level(scores, confidence),
        group_level: scores.groups.as_deref().map(|groups| GroupLevel {
            groups_are: scores.groups_are,
            method: "mean over groups with a defined coefficient; percentile bootstrap over groups; Student's t over groups",
            correlations: reasoned(|coefficient| {
                group_correlation(coefficient, judge, human, groups, resampling)
            }),
        }),
        system_level: scores.systems.as_deref().map(|systems| system_level(scores, systems, resampling)),
        bias: bias(judge, human, clusters, confidence),
        slope_on_mean: slope(Against::Mean),
        slope_on_human: slope(Against::Human),
        judge_range: range(judge),
        human_range: range(human),
    }
}

fn item_level(scores: &Scores, confidence: f64) -> ItemLevel {
    let (judge, human) = (&scores.judge[..], &scores.human[..]);
    let of = |coefficient| ItemCorrelation {
        coefficient,
        independent: correlation_of(coefficient, judge, human, confidence),
        clustered_interval: scores
            .clusters
            .as_deref()
            .map(|clusters| clustered_interval(coefficient, judge, human, clusters, confidence)),
    };
    ItemLevel {
        method: "Fisher z (Pearson), Bonett-Wright (Spearman), Brown-Benedetti on Fisher's scale (Kendall tau-b); p-values as scipy; clustered intervals by the delta method",
        correlations: Coefficient::ALL.map(of).into(),
        clusters: scores.cluster_count(),
    }
}

fn system_level(scores: &Scores, systems: &[u32], resampling: &Resampling) -> SystemLevel {
    let all = &Coefficient::ALL;
    let results = system_correlations(
        all,
        &scores.judge,
        &scores.human,
        systems,
        &scores.items,
        Resampled::Both,
        resampling,
    );
    let results = results.unwrap_or_else(|reason| all.map(|_| Err(reason.clone())).into());
    let named = all.iter().zip(results);
    let mut distinct = systems.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    SystemLevel {
        systems: distinct.len(),
        method: "means of each system; percentile bootstrap of systems and items; p-values as scipy on the means",
        correlations: named
            .map(|(&coefficient, result)| Reasoned { coefficient, result })
            .collect(),
    }
}

fn reasoned<T: Serialize>(of: impl Fn(Coefficient) -> Result<T, Undefined>) -> Vec<Reasoned<T>> {
    let reasoned = |coefficient| Reasoned { coefficient, result: of(coefficient) };
    Coefficient::ALL.map(reasoned).into()
}

fn range(values: &[f64]) -> Interval {
    let low = values.iter().copied().reduce(f64::min).unwrap_or(0.0);
    let high = values.iter().copied().reduce(f64::max).unwrap_or(0.0);
    Interval { low, high }
}

impl Report for CorrelateReport {
    fn grids(&self) -> Vec<Grid> {
        grids::of(self)
    }

    fn conclusion(&self) -> &Conclusion {
        &self.conclusion
    }
}
