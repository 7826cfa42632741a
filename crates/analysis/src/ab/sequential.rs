//! The looks of an experiment.

use fullbench_stats::Moments;
use fullbench_stats::Undefined;
use fullbench_stats::experiment::{
    Arms, ConfidenceSequence, Decision, GroupDesign, GroupLook, Look, MixtureTest, Spending,
    alpha_spending, confidence_sequence, group_sequential, mixture_test, o_brien_fleming, pocock,
};
use serde::Serialize;

use super::data::{Data, LookEnd};
use super::plan::{equal_steps, fractions, planned_count, reached, unless_beyond};
use super::{AbOptions, SequentialKind, given};
use crate::AnalysisError;

/// Units a confidence sequence is tuned for unless a number is planned. It must not follow the data, so it is a fixed number.
pub(super) const TUNED_FOR: u64 = 1000;
/// Values an arm needs before a test that is valid at any time says something: these tests are asymptotic.
pub(super) const NEEDED: u64 = 30;
/// Size of the differences the mixture test is tuned for unless one is given, in standard deviations: small after Cohen (1988).
pub(super) const TAU: f64 = 0.2;
/// Looks that are shown unless a number is given.
const SHOWN: usize = 10;

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
    given::check_looks(data, options)?;
    let kind = options.sequential.unwrap_or_default();
    if kind.is_planned() {
        return planned(kind, data, control, treatment, options);
    }
    // A look without a value in both arms shows nothing.
    let most = control.len().min(treatment.len()).max(1);
    let count = options.looks.unwrap_or(SHOWN).min(most);
    let ends = data.looks.clone().unwrap_or_else(|| equal_steps(control, treatment, count));
    Ok(at_any_time(kind, &ends, control, treatment, options))
}

fn at_any_time(
    kind: SequentialKind,
    ends: &[LookEnd],
    control: &[f64],
    treatment: &[f64],
    options: &AbOptions,
) -> Result<SequentialReport, Undefined> {
    let origin = origin(control, treatment);
    let mut arms = Arms::default();
    let (mut first, mut second) = (0, 0);
    let mut cumulative = Vec::with_capacity(ends.len());
    for end in ends {
        let add = |moments: &mut Moments, values: &[f64], from: usize, to: usize| {
            let values = values.get(from..to).unwrap_or_default();
            values.iter().for_each(|value| moments.add(value - origin));
        };
        add(&mut arms.control, control, first, end.control);
        add(&mut arms.treatment, treatment, second, end.treatment);
        (first, second) = (end.control, end.treatment);
        cumulative.push(arms);
    }
    let (mut tuned, mut mixture) = (None, None);
    let looks = if kind == SequentialKind::Msprt {
        let test = MixtureTest::with_tau(options.alpha, options.tau.unwrap_or(TAU))?;
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
    let mut report = report(kind, ends, &decisions);
    report.looks = ends.iter().zip(looks).map(label).collect();
    report.confidence_sequence = tuned;
    report.mixture = mixture;
    Ok(report)
}

/// What is taken away from all values: the first of the control, so that values far from 0 keep the digits in which they differ. Where
/// the values vary by no more than rounding nothing is taken away, and the test sees how small that is beside them.
fn origin(control: &[f64], treatment: &[f64]) -> f64 {
    let Some(&origin) = control.first() else { return 0.0 };
    let varies = |values: &[f64]| {
        let moments: Moments = values.iter().map(|value| value - origin).collect();
        moments.variance().is_ok_and(|variance| variance.sqrt() > 1e-12 * origin.abs())
    };
    if varies(control) || varies(treatment) { origin } else { 0.0 }
}

fn planned(
    kind: SequentialKind,
    data: &Data,
    control: &[f64],
    treatment: &[f64],
    options: &AbOptions,
) -> Result<Result<SequentialReport, Undefined>, AnalysisError> {
    let count = planned_count(kind, data, options)?;
    let ends = match (&data.looks, options.planned_units) {
        (Some(ends), _) => ends.clone(),
        (None, Some(units)) => reached(control.len(), treatment.len(), count, units)?,
        (None, None) => {
            let least = control.len().min(treatment.len());
            if count > least {
                return Err(AnalysisError::question(
                    format!("{count} looks are planned, and the smaller arm has {least} values"),
                    "without a column `look` or `day` and without `--planned-units` all looks are taken to have been: give `--planned-units`",
                ));
            }
            equal_steps(control, treatment, count)
        }
    };
    if ends.len() > count {
        return Err(AnalysisError::question(
            format!("{count} looks are planned, and the data have {}", ends.len()),
            "a plan cannot be stretched afterwards: use `--sequential confidence-sequence`, which needs none",
        ));
    }
    if let Some(units) = options.planned_units {
        unless_beyond(&ends, units)?;
    }
    let design = match kind {
        SequentialKind::OBrienFleming => o_brien_fleming(count, options.alpha),
        SequentialKind::Pocock => pocock(count, options.alpha),
        _ => {
            let fractions = fractions(data, &ends, count, options.planned_units);
            let spending = options.spending.unwrap_or(Spending::OBrienFleming);
            alpha_spending(spending, &fractions, options.alpha)
        }
    };
    let design = design.map_err(|reason| {
        AnalysisError::undefined("the plan of looks", reason, "check `--planned-looks`")
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
    let mut report = report(kind, &ends, &decisions);
    report.planned = ends.iter().zip(looks).map(label).collect();
    report.design = Some(design);
    Ok(Ok(report))
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
