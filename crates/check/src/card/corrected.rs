//! What people would say of all answers: the judge's mean, corrected by human labels.

use std::collections::BTreeMap;

use fullbench_analysis::Measured;
use fullbench_stats::validity::{
    LabelDesign, LabelsNeeded, PredictionPowered, labels_needed, prediction_powered_mean,
};
use fullbench_stats::{Moments, Undefined, mean_interval, wilson_interval};
use serde::Serialize;

use super::data::Data;
use crate::{Estimate, Probe};

/// A system with fewer labels than this gets no corrected mean of its own.
pub(super) const ENOUGH_LABELS: usize = 10;

/// The means that people would give.
#[derive(Debug, Clone, Serialize)]
pub struct Corrected {
    /// The half-width that is wanted.
    pub half_width: f64,
    /// All answers.
    pub all: CorrectedMean,
    /// The answers of each system.
    pub systems: Vec<CorrectedMean>,
}

/// The mean that people would give to some answers.
#[derive(Debug, Clone, Serialize)]
pub struct CorrectedMean {
    /// The system; none for all answers.
    pub system: Option<String>,
    /// Answers with a human label and a score of the judge.
    pub labelled: usize,
    /// Answers with a score of the judge only.
    pub unlabelled: usize,
    /// The mean of the human labels: Wilson's interval for yes and no, Student's t else.
    pub human_only: Measured<Estimate>,
    /// The mean of the judge on all of them: off by as much as the judge is.
    pub judge_only: Measured<Estimate>,
    /// PPI++; its `student_interval` is the one for few labels.
    pub corrected: Measured<PredictionPowered>,
    /// How many more labels the wanted half-width takes.
    pub labels: LabelsWanted,
}

/// How many more labels a half-width takes.
#[derive(Debug, Clone, Serialize)]
pub struct LabelsWanted {
    /// With the judge's help.
    pub with_judge: Measured<LabelsNeeded>,
    /// By human labels alone.
    pub human_only: Measured<LabelsNeeded>,
}

#[derive(Default)]
struct Sample {
    human: Vec<f64>,
    judge: Vec<f64>,
    unlabelled: Vec<f64>,
}

impl Sample {
    fn add(&mut self, human: Option<f64>, judge: f64) {
        match human {
            Some(human) => {
                self.human.push(human);
                self.judge.push(judge);
            }
            None => self.unlabelled.push(judge),
        }
    }
}

pub(super) fn of(data: &Data<'_>) -> Option<Corrected> {
    let half_width = data.options.correct?;
    let mut all = Sample::default();
    let mut systems: BTreeMap<&str, Sample> = BTreeMap::new();
    let labels: BTreeMap<usize, f64> =
        data.labelled.iter().map(|one| (one.case, one.human)).collect();
    for case in data.scored_bases() {
        let probe = &data.probes[case];
        let (Probe::Base, Some(judge)) = (&probe.probe, data.value(case)) else { continue };
        let human = labels.get(&case).copied();
        all.add(human, judge);
        let system = data.examples.get(probe.example).and_then(|one| one.system.as_deref());
        if let Some(system) = system {
            systems.entry(system).or_default().add(human, judge);
        }
    }
    let confidence = data.options.confidence;
    let mean = |system: Option<&str>, sample: &Sample| {
        corrected_mean(system, sample, half_width, confidence)
    };
    Some(Corrected {
        half_width,
        all: mean(None, &all),
        systems: systems.iter().map(|(system, sample)| mean(Some(system), sample)).collect(),
    })
}

fn corrected_mean(
    system: Option<&str>,
    sample: &Sample,
    half_width: f64,
    confidence: f64,
) -> CorrectedMean {
    let Sample { human, judge, unlabelled } = sample;
    let enough = match system {
        Some(_) if human.len() < ENOUGH_LABELS => Err(Undefined::TooFew {
            what: "human labels",
            given: human.len(),
            needed: ENOUGH_LABELS,
        }),
        _ => Ok(()),
    };
    let design = enough.clone().and_then(|()| LabelDesign::of(human, judge, unlabelled));
    let needed = |with_judge| -> Measured<LabelsNeeded> {
        let design = design.clone().map(|design| vec![design]);
        design.and_then(|design| labels_needed(&design, half_width, confidence, with_judge)).into()
    };
    let all: Vec<f64> = judge.iter().chain(unlabelled).copied().collect();
    CorrectedMean {
        system: system.map(str::to_owned),
        labelled: human.len(),
        unlabelled: unlabelled.len(),
        human_only: mean(human, confidence, "human labels"),
        judge_only: mean(&all, confidence, "scores of the judge"),
        corrected: if unlabelled.is_empty() && !human.is_empty() {
            Measured::undefined("all of them are labelled, and the labels need no correction")
        } else {
            enough
                .and_then(|()| prediction_powered_mean(human, judge, unlabelled, confidence))
                .into()
        },
        labels: LabelsWanted { with_judge: needed(true), human_only: needed(false) },
    }
}

fn mean(values: &[f64], confidence: f64, of: &str) -> Measured<Estimate> {
    let moments: Moments = values.iter().copied().collect();
    let Ok(mean) = moments.mean() else {
        return Measured::undefined(format!("there are no {of}"));
    };
    let yes_or_no = values.iter().all(|value| *value == 0.0 || *value == 1.0);
    let interval = if yes_or_no {
        let yes = values.iter().filter(|value| **value == 1.0).count();
        wilson_interval(yes as u64, values.len() as u64, confidence)
    } else {
        mean_interval(&moments, confidence)
    };
    Measured::Value(Estimate::new(values.len(), mean, interval))
}
