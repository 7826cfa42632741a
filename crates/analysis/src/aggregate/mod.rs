//! `stats aggregate`: one label for each item from many annotators.

mod conclusion;
mod grids;
mod outcome;

use std::path::Path;

use fullbench_stats::Interval;
use fullbench_stats::agreement::Level;
use fullbench_stats::labels::{Decision, annotator_quality, clearly_below};
use serde::Serialize;

use crate::ratings::NamedRatings;
use crate::table::Wanted;
use crate::{AnalysisError, Conclusion, Grid, Report};
use outcome::Outcome;

/// Annotators who agree with the labels less often than this, beyond doubt, are pointed out.
const LOW_AGREEMENT: f64 = 0.7;
/// Fewer ratings than this point out nobody.
const ENOUGH_RATINGS: u64 = 10;

/// How labels are decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Most votes; with an order, the lower median.
    Majority,
    /// Most weight of votes, by the column `weight`; with an order, the weighted lower median.
    Weighted,
    /// The model of Dawid and Skene.
    DawidSkene,
    /// The model MACE.
    Mace,
}

impl Method {
    /// Its name, as it is serialized.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Majority => "majority",
            Self::Weighted => "weighted",
            Self::DawidSkene => "dawid-skene",
            Self::Mace => "mace",
        }
    }
}

/// What to compute.
#[derive(Debug, Clone)]
pub struct AggregateOptions {
    /// Names of columns by role: `item`, `annotator`, `value`, `weight`.
    pub columns: Vec<(String, String)>,
    /// How labels are decided.
    pub method: Method,
    /// [`Level::Nominal`] for names, [`Level::Ordinal`] for labels with an order, which votes decide by their median.
    pub level: Level,
    /// The labels from the lowest to the highest, where they have an order and are not numbers.
    pub order: Vec<String>,
    /// Iterations at most, for the models.
    pub iterations: usize,
    /// Random starts, for MACE.
    pub restarts: usize,
    /// Confidence of the annotators' intervals.
    pub confidence: f64,
    /// Seed of the random starts.
    pub seed: u64,
}

impl Default for AggregateOptions {
    fn default() -> Self {
        Self {
            columns: Vec::new(),
            method: Method::Majority,
            level: Level::Nominal,
            order: Vec::new(),
            iterations: 100,
            restarts: 10,
            confidence: 0.95,
            seed: 1,
        }
    }
}

/// Labels and who gave them.
#[derive(Debug, Clone, Serialize)]
pub struct AggregateReport {
    /// How labels were decided.
    pub method: Method,
    /// The level of measurement.
    pub level: Level,
    /// What the method's confidence of a label is.
    pub confidence_is: &'static str,
    /// Items in the file.
    pub items: usize,
    /// Annotators in the file.
    pub annotators: usize,
    /// Ratings.
    pub ratings: usize,
    /// Rows without a value.
    pub missing: usize,
    /// Items with enough agreement.
    pub consensus: usize,
    /// Items that someone has to decide.
    pub needs_adjudication: usize,
    /// Of these, items with a tie.
    pub ties: usize,
    /// Items with fewer than two ratings.
    pub insufficient: usize,
    /// How frequent each label is.
    pub distribution: Vec<LabelShare>,
    /// Each item.
    pub labels: Vec<ItemLabel>,
    /// Each annotator.
    pub by_annotator: Vec<AnnotatorReport>,
    /// The model, where one was fitted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelReport>,
    /// Confidence of the annotators' intervals.
    pub confidence: f64,
    /// What it means.
    pub conclusion: Conclusion,
}

/// A label and its share.
#[derive(Debug, Clone, Serialize)]
pub struct LabelShare {
    /// The label.
    pub label: String,
    /// Items that have it.
    pub items: usize,
    /// The model's estimate of its share; none for votes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prior: Option<f64>,
}

/// The label of an item.
#[derive(Debug, Clone, Serialize)]
pub struct ItemLabel {
    /// Which item.
    pub item: String,
    /// The label; none for a tie between labels without order, and without ratings.
    pub label: Option<String>,
    /// How sure it is: the share of votes, or the probability under the model.
    pub confidence: f64,
    /// Whether labels share the lead.
    pub tie: bool,
    /// Whether it may stand.
    pub decision: Decision,
    /// Ratings of the item.
    pub ratings: usize,
}

/// One annotator.
#[derive(Debug, Clone, Serialize)]
pub struct AnnotatorReport {
    /// Who.
    pub annotator: String,
    /// Ratings.
    pub ratings: u64,
    /// Ratings of items that have a label.
    pub compared: u64,
    /// Of these, the share that is the label.
    pub agreement: Option<f64>,
    /// Its Wilson interval.
    pub interval: Option<Interval>,
    /// The model's probability of giving the true label (Dawid–Skene) or of knowing it (MACE); none for votes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quality: Option<f64>,
    /// The weight of the votes; none without weights.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
    /// Given the true label (row), the probability of each label; Dawid–Skene only.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub confusion: Vec<Vec<f64>>,
    /// Whether the agreement is below 0.7 beyond doubt.
    pub low_agreement: bool,
}

/// How a model was fitted.
#[derive(Debug, Clone, Serialize)]
pub struct ModelReport {
    /// Log-likelihood of the ratings.
    pub log_likelihood: f64,
    /// Iterations.
    pub iterations: usize,
    /// Whether it settled.
    pub converged: bool,
    /// Of the random starts, how many came to the same; MACE only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub starts_at_best: Option<usize>,
    /// How many random starts; MACE only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restarts: Option<usize>,
    /// Seed of the random starts; MACE only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}

/// Decides the label of each item of a file with the columns `item`, `annotator`, `value` and, for weighted votes, `weight`, one
/// rating a line.
pub fn aggregate(
    path: &Path,
    options: &AggregateOptions,
) -> Result<AggregateReport, AnalysisError> {
    check(options)?;
    let named = read(path, options)?;
    let outcome = Outcome::of(&named, options)?;
    let ratings = &named.ratings;
    let labels: Vec<Option<u32>> = outcome.votes.iter().map(|vote| vote.label).collect();
    let quality = annotator_quality(ratings, &labels, options.confidence).map_err(|reason| {
        AnalysisError::undefined("the quality of annotators", reason, "check the options")
    })?;
    let mut counts = vec![0; named.values.len()];
    for label in labels.iter().flatten() {
        counts[*label as usize] += 1;
    }
    let by_annotator = quality.into_iter().enumerate().map(|(who, quality)| AnnotatorReport {
        annotator: named.annotator(who).to_owned(),
        ratings: quality.ratings,
        compared: quality.compared,
        agreement: quality.share,
        interval: quality.interval,
        quality: outcome.qualities.get(who).copied().flatten(),
        weight: outcome.weights.get(who).copied(),
        confusion: outcome.confusions.get(who).cloned().unwrap_or_default(),
        low_agreement: clearly_below(
            quality.agreed,
            quality.compared,
            LOW_AGREEMENT,
            ENOUGH_RATINGS,
            options.confidence,
        )
        .unwrap_or(false),
    });
    let count = |decision| outcome.votes.iter().filter(|vote| vote.decision == decision).count();
    let mut report = AggregateReport {
        method: options.method,
        level: options.level,
        confidence_is: outcome.confidence_is,
        items: ratings.items(),
        annotators: ratings.annotators(),
        ratings: ratings.len(),
        missing: named.missing,
        consensus: count(Decision::Consensus),
        needs_adjudication: count(Decision::NeedsAdjudication),
        ties: outcome.votes.iter().filter(|vote| vote.tie).count(),
        insufficient: count(Decision::Insufficient),
        distribution: (0..named.values.len())
            .map(|label| LabelShare {
                label: named.values[label].clone(),
                items: counts[label],
                prior: outcome.priors.get(label).copied(),
            })
            .collect(),
        labels: outcome
            .votes
            .iter()
            .enumerate()
            .map(|(item, vote)| ItemLabel {
                item: named.item(item).to_owned(),
                label: vote.label.map(|label| named.value(label).to_owned()),
                confidence: vote.share,
                tie: vote.tie,
                decision: vote.decision,
                ratings: ratings.item(item).1.len(),
            })
            .collect(),
        by_annotator: by_annotator.collect(),
        model: outcome.model,
        confidence: options.confidence,
        conclusion: Conclusion::default(),
    };
    report.conclusion = conclusion::of(&report);
    Ok(report)
}

/// Reads the file; weights only where they count, so that a column of this name may hold anything else.
fn read(path: &Path, options: &AggregateOptions) -> Result<NamedRatings, AnalysisError> {
    let mut columns = options.columns.clone();
    let mut more = Vec::new();
    if options.method == Method::Weighted {
        more.push(Wanted::number("weight").optional());
    } else {
        columns.retain(|(role, _)| role != "weight");
    }
    NamedRatings::read(path, &columns, more, options.level, &options.order)
}

fn check(options: &AggregateOptions) -> Result<(), AnalysisError> {
    let confidence = options.confidence;
    if !(confidence > 0.0 && confidence < 1.0) {
        let message = format!("a confidence of {confidence} makes no sense");
        return Err(AnalysisError::question(message, "it lies between 0 and 1, as in 0.95"));
    }
    if matches!(options.level, Level::Interval | Level::Ratio) {
        let message = format!("labels of the {} level are not aggregated", options.level.name());
        let hint = "use `--level ordinal`, which takes the middle label; for means of numbers no labels are needed";
        return Err(AnalysisError::question(message, hint));
    }
    if options.level == Level::Ordinal
        && !matches!(options.method, Method::Majority | Method::Weighted)
    {
        let message = format!("{} knows no order of labels", options.method.name());
        let hint = "leave `--level` out, or use `--method majority` or `weighted`";
        return Err(AnalysisError::question(message, hint));
    }
    Ok(())
}

impl Report for AggregateReport {
    fn grids(&self) -> Vec<Grid> {
        grids::of(self)
    }

    fn conclusion(&self) -> &Conclusion {
        &self.conclusion
    }
}
