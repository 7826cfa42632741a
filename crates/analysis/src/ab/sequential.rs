//! The looks of an experiment.

use fullbench_stats::Moments;
use fullbench_stats::Undefined;
use fullbench_stats::experiment::{
    Arms, ConfidenceSequence, Decision, GroupDesign, GroupLook, Look, MixtureTest, alpha_spending,
    confidence_sequence, group_sequential, mixture_test, o_brien_fleming, pocock,
};
use serde::Serialize;

use super::data::{Data, LookEnd};
use super::{AbOptions, SequentialKind};
use crate::AnalysisError;

/// Units a confidence sequence is tuned for unless a number is planned. It must not follow the data, so it is a fixed number.
pub(super) const TUNED_FOR: u64 = 1000;
/// Values an arm needs before a test that is valid at any time says something: these tests are asymptotic.
pub(super) const NEEDED: u64 = 30;

/// A sequential comparison.
#[derive(Debug, Clone, Serialize)]
pub struct SequentialReport {
    /// Which test.
    pub kind: SequentialKind,
    /// What the looks so far allow to say.
    pub decision: Decision,
    /// The look at which it was decided.
    pub decided_at: Option<String>,
    /// What was found, in words.
    pub recommendation: &'static str,
    /// The confidence sequence and how many units it is tuned for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence_sequence: Option<TunedSequence>,
    /// The mixture test.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mixture: Option<MixtureTest>,
    /// The plan of a group-sequential test, with the bounds of looks to come.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub design: Option<GroupDesign>,
    /// The looks of a test that is valid at any time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub looks: Vec<LabelledLook>,
    /// The looks of a group-sequential test.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub planned: Vec<LabelledGroupLook>,
}

/// A confidence sequence and how many units it is tuned for.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct TunedSequence {
    /// Units, both arms together.
    pub tuned_for: u64,
    /// The sequence.
    #[serde(flatten)]
    pub sequence: ConfidenceSequence,
}

/// A look with its name.
#[derive(Debug, Clone, Serialize)]
pub struct LabelledLook {
    /// Its name in the file, or its number.
    pub label: String,
    /// What it shows.
    #[serde(flatten)]
    pub look: Look,
}

/// A planned look with its name.
#[derive(Debug, Clone, Serialize)]
pub struct LabelledGroupLook {
    /// Its name in the file, or its number.
    pub label: String,
    /// What it shows.
    #[serde(flatten)]
    pub look: GroupLook,
}

/// Goes through the looks.
pub(super) fn looks(
    data: &Data,
    control: &[f64],
    treatment: &[f64],
    options: &AbOptions,
) -> Result<Result<SequentialReport, Undefined>, AnalysisError> {
    match options.sequential {
        SequentialKind::ConfidenceSequence | SequentialKind::Msprt => {
            let steps = options.looks;
            let ends = data.looks.clone().unwrap_or_else(|| equal_steps(control, treatment, steps));
            Ok(at_any_time(&ends, control, treatment, options))
        }
        _ => planned(data, control, treatment, options),
    }
}

fn at_any_time(
    ends: &[LookEnd],
    control: &[f64],
    treatment: &[f64],
    options: &AbOptions,
) -> Result<SequentialReport, Undefined> {
    let mut arms = Arms::default();
    let (mut first, mut second) = (0, 0);
    let mut cumulative = Vec::with_capacity(ends.len());
    for end in ends {
        let add = |moments: &mut Moments, values: &[f64], from: usize, to: usize| {
            values.get(from..to).unwrap_or_default().iter().for_each(|value| moments.add(*value));
        };
        add(&mut arms.control, control, first, end.control);
        add(&mut arms.treatment, treatment, second, end.treatment);
        (first, second) = (end.control, end.treatment);
        cumulative.push(arms);
    }
    let (mut tuned, mut mixture) = (None, None);
    let looks = if options.sequential == SequentialKind::Msprt {
        let test = MixtureTest::with_tau(options.alpha, options.tau)?;
        mixture = Some(test);
        mixture_test(&cumulative, &test, NEEDED)
    } else {
        let tuned_for = options.planned_units.unwrap_or(TUNED_FOR);
        let sequence = ConfidenceSequence::tuned(options.alpha, tuned_for as f64)?;
        tuned = Some(TunedSequence { tuned_for, sequence });
        confidence_sequence(&cumulative, &sequence, NEEDED)
    };
    let decisions: Vec<Decision> = looks.iter().map(|look| look.decision).collect();
    let label = |(end, look): (&LookEnd, Look)| LabelledLook { label: end.label.clone(), look };
    let mut report = report(options.sequential, ends, &decisions);
    report.looks = ends.iter().zip(looks).map(label).collect();
    report.confidence_sequence = tuned;
    report.mixture = mixture;
    Ok(report)
}

fn planned(
    data: &Data,
    control: &[f64],
    treatment: &[f64],
    options: &AbOptions,
) -> Result<Result<SequentialReport, Undefined>, AnalysisError> {
    let spending = options.sequential == SequentialKind::Spending;
    let by_units = options.planned_units.filter(|_| spending);
    let Some(count) = options.planned_looks.or(by_units.and(data.looks.as_ref().map(Vec::len)))
    else {
        return Err(AnalysisError::question(
            "this test needs to know how many looks are planned",
            "give the number of planned looks, or, for alpha spending, the planned number of units; a confidence sequence needs no plan",
        ));
    };
    let ends = data.looks.clone().unwrap_or_else(|| equal_steps(control, treatment, count));
    if ends.len() > count {
        return Err(AnalysisError::question(
            format!("{count} looks are planned, and the data have {}", ends.len()),
            "a plan cannot be stretched afterwards: use a confidence sequence",
        ));
    }
    let design = match options.sequential {
        SequentialKind::OBrienFleming => o_brien_fleming(count, options.alpha),
        SequentialKind::Pocock => pocock(count, options.alpha),
        _ => {
            let fractions = fractions(&ends, count, by_units)?;
            alpha_spending(options.spending, &fractions, options.alpha)
        }
    };
    let design = design.map_err(|reason| {
        AnalysisError::undefined("the plan of looks", reason, "check the number of planned looks")
    })?;
    let slices: Vec<(&[f64], &[f64])> = ends
        .iter()
        .map(|end| {
            let first = control.get(..end.control).unwrap_or_default();
            (first, treatment.get(..end.treatment).unwrap_or_default())
        })
        .collect();
    let looks = match group_sequential(&design, &slices) {
        Ok(looks) => looks,
        Err(reason) => return Ok(Err(reason)),
    };
    let decisions: Vec<Decision> = looks.iter().map(|look| look.decision).collect();
    let label =
        |(end, look): (&LookEnd, GroupLook)| LabelledGroupLook { label: end.label.clone(), look };
    let mut report = report(options.sequential, &ends, &decisions);
    report.planned = ends.iter().zip(looks).map(label).collect();
    report.design = Some(design);
    Ok(Ok(report))
}

/// The share of the planned information at each look: by units where their number is planned, or else in equal steps. Where looks
/// are still to come, they follow in equal steps.
fn fractions(
    ends: &[LookEnd],
    count: usize,
    units: Option<u64>,
) -> Result<Vec<f64>, AnalysisError> {
    let Some(units) = units else {
        return Ok((1..=count).map(|look| look as f64 / count as f64).collect());
    };
    let mut fractions = Vec::with_capacity(count);
    for end in ends {
        let fraction = (end.control + end.treatment) as f64 / units as f64;
        if fraction > 1.0 {
            return Err(AnalysisError::question(
                format!(
                    "{units} units are planned, and look `{}` has {}",
                    end.label,
                    end.control + end.treatment
                ),
                "all of alpha is spent at the planned number: end the data there",
            ));
        }
        fractions.push(fraction);
    }
    let (last, open) = (fractions.last().copied().unwrap_or_default(), count - ends.len());
    if last < 1.0 {
        let open = open.max(1);
        let step = (1.0 - last) / open as f64;
        fractions.extend((1..open).map(|look| last + step * look as f64));
        fractions.push(1.0);
    }
    Ok(fractions)
}

fn report(kind: SequentialKind, ends: &[LookEnd], decisions: &[Decision]) -> SequentialReport {
    let decision = decisions.last().copied().unwrap_or(Decision::Continue);
    let decided = decisions.iter().position(|each| *each != Decision::Continue);
    SequentialReport {
        kind,
        decision,
        decided_at: decided.and_then(|look| ends.get(look)).map(|end| end.label.clone()),
        recommendation: match decision {
            Decision::Continue => "Insufficient evidence, continue experiment",
            Decision::TreatmentBetter => "Treatment is significantly BETTER than control",
            Decision::TreatmentWorse => "Treatment is significantly WORSE than control",
            Decision::NoDifferenceShown => "No significant difference detected",
        },
        confidence_sequence: None,
        mixture: None,
        design: None,
        looks: Vec::new(),
        planned: Vec::new(),
    }
}

/// Looks at equal steps of the rows.
fn equal_steps(control: &[f64], treatment: &[f64], count: usize) -> Vec<LookEnd> {
    let end = |length: usize, look: usize| (length as u128 * look as u128 / count as u128) as usize;
    (1..=count)
        .map(|look| LookEnd {
            label: look.to_string(),
            control: end(control.len(), look),
            treatment: end(treatment.len(), look),
        })
        .collect()
}
