//! `stats agreement`: how far annotators agree on the same items.

mod conclusion;
mod grids;

use std::path::Path;

use fullbench_stats::Interval;
use fullbench_stats::agreement::{
    Alpha, AlphaInterval, CategoryWeights, ChanceCorrected, Kappa, Level, PercentAgreement, alpha,
    alpha_interval, annotator_agreements, brennan_prediger, cohen_kappa, fleiss_kappa, gwet_ac,
    interpretation, item_disagreements, pair_tables, percent_agreement,
};
use serde::Serialize;

use crate::measured::Measured;
use crate::ratings::NamedRatings;
use crate::{AnalysisError, Conclusion, Grid, Report};

/// Pairs of annotators are compared up to this many annotators.
const MAX_ANNOTATORS_IN_PAIRS: usize = 10;
/// What others write where there is no value.
const MISSING_WORDS: [&str; 6] = ["na", "n/a", "nan", "null", "none", "-"];
/// How many disputed items are shown.
const DISPUTED: usize = 10;

/// What to compute.
#[derive(Debug, Clone)]
pub struct AgreementOptions {
    /// Names of columns by role: `item`, `annotator`, `value`.
    pub columns: Vec<(String, String)>,
    /// The level of measurement of the values.
    pub level: Level,
    /// The values from the lowest to the highest, where they have an order and are not numbers.
    pub order: Vec<String>,
    /// Rounds of the bootstrap for alpha's interval; 0 for no interval.
    pub rounds: usize,
    /// Confidence of the intervals.
    pub confidence: f64,
    /// Seed of the bootstrap.
    pub seed: u64,
}

impl Default for AgreementOptions {
    fn default() -> Self {
        Self {
            columns: Vec::new(),
            level: Level::Nominal,
            order: Vec::new(),
            rounds: 1_000,
            confidence: 0.95,
            seed: 1,
        }
    }
}

/// How far annotators agree.
#[derive(Debug, Clone, Serialize)]
pub struct AgreementReport {
    /// The level of measurement.
    pub level: Level,
    /// Items in the file.
    pub items: usize,
    /// Items with two ratings or more.
    pub paired_items: usize,
    /// Annotators in the file.
    pub annotators: usize,
    /// Ratings.
    pub ratings: usize,
    /// Rows without a value.
    pub missing: usize,
    /// Distinct values.
    pub values: usize,
    /// A value that reads like a missing one.
    #[serde(skip)]
    suspicious: Option<String>,
    /// Confidence of the intervals.
    pub confidence: f64,
    /// Krippendorff's alpha.
    pub alpha: Measured<AlphaReport>,
    /// Plain agreement.
    pub percent_agreement: Measured<PercentAgreement>,
    /// Which values that are not equal agree in part, for the next three: `identity`, `ordinal` or `quadratic`.
    pub weights: &'static str,
    /// Fleiss' kappa.
    pub fleiss_kappa: Measured<ChanceCorrected>,
    /// Gwet's AC1, or AC2 where there are weights.
    pub gwet_ac: Measured<ChanceCorrected>,
    /// Brennan and Prediger's coefficient.
    pub brennan_prediger: Measured<ChanceCorrected>,
    /// Which values that are not equal agree in part, for Cohen's kappa: `identity`, `linear` or `quadratic`.
    pub kappa_weights: &'static str,
    /// Cohen's kappa of each two annotators.
    pub pairs: Measured<Vec<PairReport>>,
    /// Each annotator against the others.
    pub by_annotator: Vec<AnnotatorReport>,
    /// The items with most disagreement.
    pub disputed: Vec<DisputedItem>,
    /// What it means.
    pub conclusion: Conclusion,
}

/// Krippendorff's alpha with its interval.
#[derive(Debug, Clone, Serialize)]
pub struct AlphaReport {
    /// The coefficient and what it is made of.
    #[serde(flatten)]
    pub estimate: Alpha,
    /// Bootstrap interval over items.
    pub interval: Measured<Interval>,
    /// The resamples it was made of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resamples: Option<Resamples>,
    /// How the interval was made.
    pub interval_method: &'static str,
    /// The usual words for a coefficient of this size.
    pub interpretation: &'static str,
}

/// The resamples of a bootstrap.
#[derive(Debug, Clone, Serialize)]
pub struct Resamples {
    /// How many were drawn.
    pub rounds: usize,
    /// Those without variation, in which alpha is undefined; they were left out.
    pub degenerate: usize,
    /// The seed.
    pub seed: u64,
}

/// Two annotators.
#[derive(Debug, Clone, Serialize)]
pub struct PairReport {
    /// One.
    pub first: String,
    /// The other.
    pub second: String,
    /// Items that both rated.
    pub items: u64,
    /// Cohen's kappa.
    pub kappa: Measured<Kappa>,
}

/// One annotator.
#[derive(Debug, Clone, Serialize)]
pub struct AnnotatorReport {
    /// Who.
    pub annotator: String,
    /// Ratings.
    pub ratings: usize,
    /// Ratings of items that others rated too.
    pub compared: usize,
    /// Mean share of the others who gave exactly the same value.
    pub agreement: Option<f64>,
    /// Mean squared distance from the others against what chance gives: 0 for full agreement, 1 for chance.
    pub relative_disagreement: Option<f64>,
}

/// An item that annotators dispute.
#[derive(Debug, Clone, Serialize)]
pub struct DisputedItem {
    /// Which.
    pub item: String,
    /// What it was given, in order.
    pub values: Vec<String>,
    /// Its disagreement against what chance gives in the whole file.
    pub relative_disagreement: f64,
}

/// Measures agreement in a file with the columns `item`, `annotator` and `value`, one rating a line.
///
/// A file in which no item has two ratings is an error, and so is a second rating of an item by one annotator. What the data do
/// not define, such as alpha of values that are all equal, is in the report with its reason.
pub fn agreement(
    path: &Path,
    options: &AgreementOptions,
) -> Result<AgreementReport, AnalysisError> {
    let confidence = options.confidence;
    if !(confidence > 0.0 && confidence < 1.0) {
        let message = format!("a confidence of {confidence} makes no sense");
        return Err(AnalysisError::question(message, "it lies between 0 and 1, as in 0.95"));
    }
    let level = options.level;
    let named = NamedRatings::read(path, &options.columns, Vec::new(), level, &options.order)?;
    let ratings = &named.ratings;
    let percent = percent_agreement(ratings).map_err(|reason| {
        let hint = "agreement needs items that two annotators or more have rated; check the columns `item` and `annotator`";
        AnalysisError::undefined("agreement", reason, hint)
    })?;
    let (weights, kappa_weights) = weight_names(level);
    let of_many = category_weights(ratings.numbers(), weights);
    let many = |measure: Measure| -> Measured<ChanceCorrected> {
        of_many.clone().and_then(|weights| measure(ratings, &weights, confidence)).into()
    };
    let mut report = AgreementReport {
        level,
        items: ratings.items(),
        paired_items: percent.paired_items,
        annotators: ratings.annotators(),
        ratings: ratings.len(),
        missing: named.missing,
        values: ratings.numbers().len(),
        suspicious: suspicious(&named),
        confidence,
        alpha: alpha_report(&named, options),
        percent_agreement: Measured::Value(percent),
        weights,
        fleiss_kappa: many(fleiss_kappa),
        gwet_ac: many(gwet_ac),
        brennan_prediger: many(brennan_prediger),
        kappa_weights,
        pairs: pairs(&named, kappa_weights, confidence),
        by_annotator: by_annotator(&named, level)?,
        disputed: disputed(&named, level),
        conclusion: Conclusion::default(),
    };
    report.conclusion = conclusion::of(&report);
    Ok(report)
}

type Measure = fn(
    &fullbench_stats::agreement::Ratings,
    &CategoryWeights,
    f64,
) -> Result<ChanceCorrected, fullbench_stats::Undefined>;

/// The weights of coefficients for many annotators, and of Cohen's kappa.
fn weight_names(level: Level) -> (&'static str, &'static str) {
    match level {
        Level::Nominal => ("identity", "identity"),
        Level::Ordinal => ("ordinal", "linear"),
        Level::Interval | Level::Ratio => ("quadratic", "quadratic"),
    }
}

fn category_weights(
    numbers: &[f64],
    name: &str,
) -> Result<CategoryWeights, fullbench_stats::Undefined> {
    match name {
        "ordinal" => CategoryWeights::ordinal(numbers.len()),
        "linear" => {
            let places: Vec<f64> = (0..numbers.len()).map(|place| place as f64).collect();
            CategoryWeights::linear(&places)
        }
        "quadratic" => CategoryWeights::quadratic(numbers),
        _ => CategoryWeights::identity(numbers.len()),
    }
}

fn alpha_report(named: &NamedRatings, options: &AgreementOptions) -> Measured<AlphaReport> {
    let AgreementOptions { level, confidence, rounds, seed, .. } = *options;
    let bootstrap = || match rounds {
        0 => Measured::undefined("no rounds of the bootstrap were asked for"),
        _ => alpha_interval(&named.ratings, level, confidence, rounds, seed).into(),
    };
    let report = alpha(&named.ratings, level).map(|estimate| {
        let (interval, resamples) = match bootstrap() {
            Measured::Value(AlphaInterval { interval, rounds, degenerate, seed, .. }) => {
                (Measured::Value(interval), Some(Resamples { rounds, degenerate, seed }))
            }
            Measured::Undefined { undefined } => (Measured::Undefined { undefined }, None),
        };
        AlphaReport {
            interpretation: interpretation(estimate.alpha),
            interval,
            resamples,
            interval_method: "BCa bootstrap over items",
            estimate,
        }
    });
    report.into()
}

fn pairs(named: &NamedRatings, weights: &str, confidence: f64) -> Measured<Vec<PairReport>> {
    let annotators = named.ratings.annotators();
    if annotators > MAX_ANNOTATORS_IN_PAIRS {
        return Measured::undefined(format!(
            "{annotators} annotators make too many pairs; they are compared up to {MAX_ANNOTATORS_IN_PAIRS} annotators"
        ));
    }
    let weights = category_weights(named.ratings.numbers(), weights);
    let tables = weights.and_then(|weights| {
        let tables = pair_tables(&named.ratings)?;
        let pair = |table: fullbench_stats::agreement::PairTable| PairReport {
            first: named.annotator(table.first).to_owned(),
            second: named.annotator(table.second).to_owned(),
            items: table.counts.iter().flatten().sum(),
            kappa: cohen_kappa(&table.counts, &weights, confidence).into(),
        };
        Ok(tables.into_iter().map(pair).collect())
    });
    tables.into()
}

fn by_annotator(named: &NamedRatings, level: Level) -> Result<Vec<AnnotatorReport>, AnalysisError> {
    let all = annotator_agreements(&named.ratings, level).map_err(|reason| {
        AnalysisError::undefined("the agreement of annotators", reason, "check the file")
    })?;
    let report =
        |(who, sums): (usize, fullbench_stats::agreement::AnnotatorAgreement)| AnnotatorReport {
            annotator: named.annotator(who).to_owned(),
            ratings: sums.ratings,
            compared: sums.compared,
            agreement: sums.agreement,
            relative_disagreement: sums.relative_disagreement,
        };
    Ok(all.into_iter().enumerate().map(report).collect())
}

/// The items with most disagreement; of equal ones those with more ratings, then those that come first.
fn disputed(named: &NamedRatings, level: Level) -> Vec<DisputedItem> {
    let Ok(all) = item_disagreements(&named.ratings, level) else { return Vec::new() };
    let disagreements = all.relative.iter().enumerate();
    let mut disputed: Vec<(usize, f64)> = disagreements
        .filter_map(|(item, relative)| relative.map(|relative| (item, relative)))
        .filter(|(_, relative)| *relative > 0.0)
        .collect();
    let size = |item: usize| named.ratings.item(item).1.len();
    let by_dispute = |a: &(usize, f64), b: &(usize, f64)| {
        b.1.total_cmp(&a.1).then(size(b.0).cmp(&size(a.0))).then(a.0.cmp(&b.0))
    };
    if disputed.len() > DISPUTED {
        disputed.select_nth_unstable_by(DISPUTED, by_dispute);
        disputed.truncate(DISPUTED);
    }
    disputed.sort_unstable_by(by_dispute);
    let item = |(item, relative_disagreement): (usize, f64)| {
        let mut values = named.ratings.item(item).1.to_vec();
        values.sort_unstable();
        let values = values.into_iter().map(|value| named.value(value).to_owned()).collect();
        DisputedItem { item: named.item(item).to_owned(), values, relative_disagreement }
    };
    disputed.into_iter().map(item).collect()
}

/// A value that others write where there is none.
fn suspicious(named: &NamedRatings) -> Option<String> {
    let values = (0..named.ratings.numbers().len() as u32).map(|code| named.value(code));
    let mut found =
        values.filter(|value| MISSING_WORDS.iter().any(|word| value.eq_ignore_ascii_case(word)));
    found.next().map(str::to_owned)
}

impl AgreementReport {
    /// A value that reads like a missing one.
    fn looks_missing(&self) -> Option<&str> {
        self.suspicious.as_deref()
    }

    /// Alpha's interval, if it has one.
    fn alpha_interval(&self) -> Option<Interval> {
        self.alpha.value()?.interval.value().copied()
    }
}

impl Report for AgreementReport {
    fn grids(&self) -> Vec<Grid> {
        grids::of(self)
    }

    fn conclusion(&self) -> &Conclusion {
        &self.conclusion
    }
}
