//! `stats ppi`: what people would say of all items, from judge scores of all and human labels of some.

mod conclusion;
mod data;
mod grids;

use std::path::Path;

use fullbench_stats::validity::{
    JudgedRates, LabelDesign, LabelsNeeded, PredictionPowered, PredictionPoweredDifference,
    Prevalence, labels_needed, prediction_powered_difference, prediction_powered_mean,
    rogan_gladen, value_or_reason,
};
use fullbench_stats::{Interval, Moments, Undefined, mean_interval, wilson_interval};
use serde::Serialize;

use crate::{AnalysisError, Conclusion, Grid, Report};
use data::{Data, Sample};

/// What to compute.
#[derive(Debug, Clone)]
pub struct PpiOptions {
    /// Names of columns by role: `item`, `judge`, `human`, `system`.
    pub columns: Vec<(String, String)>,
    /// Confidence of the intervals.
    pub confidence: f64,
    /// The half-width that is wanted: asks how many more labels it takes.
    pub half_width: Option<f64>,
}

impl Default for PpiOptions {
    fn default() -> Self {
        Self { columns: Vec::new(), confidence: 0.95, half_width: None }
    }
}

/// Means by judge scores and human labels.
#[derive(Debug, Clone, Serialize)]
pub struct PpiReport {
    /// Confidence of the intervals.
    pub confidence: f64,
    /// How the estimates were made.
    pub method: &'static str,
    /// Each system, or the one there is.
    pub systems: Vec<SystemReport>,
    /// The difference of two systems, first − second; none for other numbers of systems.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<DifferenceReport>,
    /// Labels still needed for the wanted half-width: of the difference, or of each mean where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wanted: Option<Wanted>,
    /// What it means.
    pub conclusion: Conclusion,
}

/// One system.
#[derive(Debug, Clone, Serialize)]
pub struct SystemReport {
    /// Its name; none where the file has no systems.
    pub system: Option<String>,
    /// Items with a human label.
    pub labelled: usize,
    /// Items with a judge score only.
    pub unlabelled: usize,
    /// Mean of the human labels alone.
    pub human_only: f64,
    /// Its interval: Wilson's for yes and no, Student's t else.
    #[serde(serialize_with = "value_or_reason")]
    pub human_only_interval: Result<Interval, Undefined>,
    /// Mean of the judge on all items: biased by as much as the judge is.
    pub judge_only: f64,
    /// PPI++.
    #[serde(serialize_with = "value_or_reason")]
    pub prediction_powered: Result<PredictionPowered, Undefined>,
    /// How many human labels the judge saves: those that alone would be as precise, less those there are.
    #[serde(serialize_with = "value_or_reason")]
    pub saved_labels: Result<f64, Undefined>,
    /// For yes and no: the rate corrected for the judge's errors.
    #[serde(serialize_with = "where_yes_and_no", skip_serializing_if = "Option::is_none")]
    pub rogan_gladen: Option<Result<Prevalence, Undefined>>,
}

fn where_yes_and_no<S: serde::Serializer>(
    rate: &Option<Result<Prevalence, Undefined>>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match rate {
        Some(rate) => value_or_reason(rate, serializer),
        None => serializer.serialize_none(),
    }
}

/// The difference of two systems.
#[derive(Debug, Clone, Serialize)]
pub struct DifferenceReport {
    /// The system that is subtracted from.
    pub first: String,
    /// The system that is subtracted.
    pub second: String,
    /// How the items go together.
    pub design: Design,
    /// The difference, or why there is none.
    #[serde(serialize_with = "value_or_reason")]
    pub result: Result<DifferenceEstimate, Undefined>,
}

/// How the items of two systems go together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Design {
    /// Every item has both systems and is labelled in both or in neither: PPI++ of the differences.
    Paired,
    /// Some items are common: two means, with a variance that adds up by item.
    Overlapping,
    /// No item is common: two independent means.
    Independent,
}

/// An estimated difference.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum DifferenceEstimate {
    /// Of paired items.
    Paired(PredictionPowered),
    /// Of two means.
    Means(Box<PredictionPoweredDifference>),
}

impl DifferenceEstimate {
    /// The estimate.
    #[must_use]
    pub fn estimate(&self) -> f64 {
        match self {
            Self::Paired(found) => found.estimate,
            Self::Means(found) => found.estimate,
        }
    }

    /// Its interval, by Student's t.
    #[must_use]
    pub fn interval(&self) -> Interval {
        match self {
            Self::Paired(found) => found.student_interval,
            Self::Means(found) => found.student_interval,
        }
    }
}

/// Labels for a wanted half-width.
#[derive(Debug, Clone, Serialize)]
pub struct Wanted {
    /// The half-width.
    pub half_width: f64,
    /// What it takes: for each mean, or once for the difference.
    pub answers: Vec<WantedAnswer>,
}

/// What it takes for one estimate.
#[derive(Debug, Clone, Serialize)]
pub struct WantedAnswer {
    /// Of what.
    pub of: String,
    /// With the judge's help, by PPI++; `more` is for each system.
    #[serde(serialize_with = "value_or_reason")]
    pub with_judge: Result<LabelsNeeded, Undefined>,
    /// By human labels alone.
    #[serde(serialize_with = "value_or_reason")]
    pub human_only: Result<LabelsNeeded, Undefined>,
}

/// Estimates human means on a file with the columns `item`, `judge` (on every row), `human` (empty where there is no label)
/// and, where there are some, `system`.
pub fn ppi(path: &Path, options: &PpiOptions) -> Result<PpiReport, AnalysisError> {
    check(options)?;
    let data = data::read(path, &options.columns)?;
    let confidence = options.confidence;
    let systems = data.samples.iter().map(|sample| system_report(sample, confidence));
    let systems = systems.collect::<Result<Vec<_>, _>>()?;
    let difference = match &data.samples[..] {
        [first, second] => Some(difference_report(&data, first, second, confidence)),
        _ => None,
    };
    let wanted = options.half_width.map(|half_width| Wanted {
        half_width,
        answers: answers(&data, difference.as_ref(), half_width, confidence),
    });
    let mut report = PpiReport {
        confidence,
        method: "PPI++ with power tuning (as ppi-python); student_interval by Student's t, interval normal; Rogan-Gladen with the interval of Lang and Reiczigel",
        systems,
        difference,
        wanted,
        conclusion: Conclusion::default(),
    };
    report.conclusion = conclusion::of(&report, &data);
    Ok(report)
}

fn check(options: &PpiOptions) -> Result<(), AnalysisError> {
    if !(options.confidence > 0.0 && options.confidence < 1.0) {
        let message = format!("the confidence is {}", options.confidence);
        return Err(AnalysisError::question(message, "give a number between 0 and 1, like 0.95"));
    }
    match options.half_width {
        Some(width) if !(width > 0.0 && width.is_finite()) => Err(AnalysisError::question(
            format!("the wanted half-width is {width}"),
            "give a positive number, like 0.02 for ±0.02",
        )),
        _ => Ok(()),
    }
}

fn system_report(sample: &Sample, confidence: f64) -> Result<SystemReport, AnalysisError> {
    let (human, judge, rest) = sample.split();
    let undefined = |reason: Undefined| {
        let hint = "label at least two items, better fifty or more, chosen at random";
        AnalysisError::undefined("the human mean", reason, hint)
    };
    if human.is_empty() {
        return Err(undefined(Undefined::TooFew { what: "human labels", given: 0, needed: 2 }));
    }
    let moments: Moments = human.iter().copied().collect();
    let all: Moments = sample.judge.iter().copied().collect();
    let yes_or_no = sample.is_yes_or_no();
    let human_only_interval = if yes_or_no {
        let yes = human.iter().filter(|label| **label == 1.0).count();
        wilson_interval(yes as u64, human.len() as u64, confidence)
    } else {
        mean_interval(&moments, confidence)
    };
    let powered = prediction_powered_mean(&human, &judge, &rest, confidence);
    let saved_labels = powered
        .as_ref()
        .map(|found| found.effective_labels - found.labelled as f64)
        .map_err(Clone::clone);
    Ok(SystemReport {
        system: sample.name.clone(),
        labelled: human.len(),
        unlabelled: rest.len(),
        human_only: moments.mean().map_err(undefined)?,
        human_only_interval,
        judge_only: all.mean().map_err(undefined)?,
        prediction_powered: powered,
        saved_labels,
        rogan_gladen: yes_or_no.then(|| rogan_gladen(&rates(sample), confidence)),
    })
}

fn rates(sample: &Sample) -> JudgedRates {
    let count = |human: Option<f64>, judge: Option<f64>| {
        let rows = sample.human.iter().zip(&sample.judge);
        let same = |score: f64| judge.is_none_or(|wanted| wanted == score);
        rows.filter(|(label, score)| **label == human && same(**score)).count() as u64
    };
    JudgedRates {
        human_yes: count(Some(1.0), None),
        judge_yes_of_human_yes: count(Some(1.0), Some(1.0)),
        human_no: count(Some(0.0), None),
        judge_no_of_human_no: count(Some(0.0), Some(0.0)),
        unlabelled: count(None, None),
        judge_yes_of_unlabelled: count(None, Some(1.0)),
    }
}

fn difference_report(
    data: &Data,
    first: &Sample,
    second: &Sample,
    confidence: f64,
) -> DifferenceReport {
    let design = data.design(first, second);
    let result = match design {
        Design::Paired => {
            let (human, judge, rest) = data::differences(first, second);
            prediction_powered_mean(&human, &judge, &rest, confidence)
                .map(DifferenceEstimate::Paired)
        }
        _ => prediction_powered_difference(first.partly(), second.partly(), confidence)
            .map(|found| DifferenceEstimate::Means(Box::new(found))),
    };
    let name = |sample: &Sample| sample.name.clone().unwrap_or_default();
    DifferenceReport { first: name(first), second: name(second), design, result }
}

fn answers(
    data: &Data,
    difference: Option<&DifferenceReport>,
    half_width: f64,
    confidence: f64,
) -> Vec<WantedAnswer> {
    let answer = |of: String, designs: Result<Vec<LabelDesign>, Undefined>| {
        let needed = |with_judge| match &designs {
            Ok(designs) => labels_needed(designs, half_width, confidence, with_judge),
            Err(reason) => Err(reason.clone()),
        };
        WantedAnswer { of, with_judge: needed(true), human_only: needed(false) }
    };
    let one = |(human, judge, rest): (Vec<f64>, Vec<f64>, Vec<f64>)| {
        LabelDesign::of(&human, &judge, &rest)
    };
    match (difference, &data.samples[..]) {
        (Some(difference), [first, second]) => {
            let designs = match difference.design {
                Design::Paired => one(data::differences(first, second)).map(|design| vec![design]),
                _ => [first, second].map(|sample| one(sample.split())).into_iter().collect(),
            };
            vec![answer(format!("{} − {}", difference.first, difference.second), designs)]
        }
        (_, samples) => samples
            .iter()
            .map(|sample| {
                let of = sample.name.clone().unwrap_or_else(|| "the mean".to_owned());
                answer(of, one(sample.split()).map(|design| vec![design]))
            })
            .collect(),
    }
}

impl Report for PpiReport {
    fn grids(&self) -> Vec<Grid> {
        grids::of(self)
    }

    fn conclusion(&self) -> &Conclusion {
        &self.conclusion
    }
}
