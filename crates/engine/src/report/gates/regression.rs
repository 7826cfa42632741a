//! What a comparison with a baseline says about "no regression".

use fullbench_stats::compare::mcnemar_exact;
use serde::{Deserialize, Serialize};

use super::super::diff::{DiffCounts, DiffReport};
use super::super::evidence::{Evidence, LEVEL, Verdict};
use super::call::Call;
use super::rounded;

/// The square of the 97.5% quantile of the normal distribution.
const Z_SQUARED: f64 = 3.841_458_820_694_124;

/// A baseline compared with the run, or why it cannot be.
pub(crate) type Comparison = Result<DiffReport, String>;

/// What one call came to.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Judgement {
    /// Not worse by more than the margin: the data show it.
    Shown,
    /// The data do not say; the text says why.
    TooSmall(String),
    /// Worse by more than the margin: the data show it.
    Regression,
    /// There is nothing to judge by.
    Unjudged(String),
}

/// A comparison that a gate rests on.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct GateEvidence {
    /// The baseline.
    pub baseline: String,
    /// The run it stood for.
    pub run: String,
    /// By how much the scorer may be worse.
    pub margin: f64,
    /// What else to know: data that differ from the baseline's, cases that are not compared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What was compared.
    #[serde(flatten)]
    pub comparison: DiffCounts,
}

/// Judges one call for one model.
pub(super) fn judge(
    call: &Call,
    model: &str,
    comparison: Option<&Comparison>,
) -> (Judgement, Option<GateEvidence>) {
    let Call { scorer, baseline, margin, .. } = call;
    let unjudged = |reason: String| (Judgement::Unjudged(reason), None);
    let report = match comparison {
        None => {
            return unjudged(format!("the baseline `{baseline}` was not there when the run began"));
        }
        Some(Err(reason)) => return unjudged(format!("the baseline `{baseline}`: {reason}")),
        Some(Ok(report)) => report,
    };
    let found = report.counts.iter().find(|row| row.model == model && row.scorer == *scorer);
    let Some(row) = found.filter(|row| row.pairs > 0) else {
        return unjudged(format!(
            "the baseline `{baseline}` has no value of `{scorer}` for the same cases and this model"
        ));
    };
    let evidence = GateEvidence {
        baseline: baseline.clone(),
        run: report.before.clone(),
        margin: *margin,
        notes: notes(report, row),
        comparison: row.clone(),
    };
    let judgement = if row.redefined {
        Judgement::Unjudged(format!(
            "`{scorer}` is defined differently in the baseline `{baseline}`"
        ))
    } else {
        of_evidence(&row.evidence, *margin)
    };
    (judgement, Some(evidence))
}

/// What a reader of one number must know of how it was compared.
fn notes(report: &DiffReport, row: &DiffCounts) -> Vec<String> {
    let mut notes = Vec::new();
    if report.other_data {
        notes.push("the data differ from the baseline's".to_owned());
    }
    for (units, whose) in [(row.before_units, "the baseline's"), (row.after_units, "this run's")] {
        if row.pairs < units {
            let what = if report.repeated { "answers" } else { "cases" };
            notes.push(format!("{} of {whose} {units} {what} are compared", row.pairs));
        }
    }
    notes
}

fn of_evidence(evidence: &Evidence, margin: f64) -> Judgement {
    let Some(interval) = evidence.interval else {
        let reason = evidence.undefined.as_deref().unwrap_or("there is no test");
        let fell = evidence.difference.is_some_and(|difference| difference < -margin);
        // All differences are equal: what is left to test is that every one lies below the margin, by the sign test.
        let by_signs = mcnemar_exact(0, evidence.observations);
        return if fell && by_signs.is_ok_and(|p| p <= LEVEL) {
            Judgement::Regression
        } else {
            Judgement::TooSmall(format!("it cannot be tested: {reason}"))
        };
    };
    // For yes/no values the exact test must agree: an interval may be a little narrow where few pairs changed.
    let rejected = evidence.p_value.is_some_and(|p| p <= LEVEL);
    if interval.high < -margin && rejected {
        return Judgement::Regression;
    }
    if interval.low >= -margin {
        return Judgement::Shown;
    }
    if interval.high < 0.0 && rejected {
        return Judgement::TooSmall(format!(
            "it is worse, by {} to {}, and too small to tell whether by more than {}",
            rounded(-interval.high),
            rounded(-interval.low),
            rounded(margin)
        ));
    }
    let mut text = format!(
        "too small to tell: the difference may be as low as {}, below {}",
        rounded(interval.low),
        rounded(-margin)
    );
    if let Some(needed) = needed(evidence, margin) {
        let what = match evidence.observation.as_ref() {
            "group" => "groups",
            _ => "cases",
        };
        text.push_str(&format!("; if nothing really changed, about {needed:.0} {what} would tell"));
    }
    Judgement::TooSmall(text)
}

/// Observations that show a true difference of 0 to be above the margin, in 80 of 100 runs; none where more do not help.
fn needed(evidence: &Evidence, margin: f64) -> Option<f64> {
    let observations = evidence.observations as f64;
    let needed = match evidence.verdict {
        // Of values that never change, the interval narrows with their number alone.
        Verdict::Identical => Z_SQUARED * (1.0 - margin) / margin,
        _ => evidence.needed_for_no_regression(margin)?,
    };
    (margin > 0.0 && needed.is_finite() && needed > observations).then(|| needed.ceil())
}

/// The numbers of a comparison, for the gate's line.
pub(super) fn shown(evidence: &GateEvidence) -> String {
    let GateEvidence { baseline, comparison, .. } = evidence;
    let number = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), rounded);
    let interval = comparison.evidence.interval.map_or_else(
        || "no interval".to_owned(),
        |interval| format!("95% interval {} to {}", rounded(interval.low), rounded(interval.high)),
    );
    let notes: String = evidence.notes.iter().map(|note| format!("; {note}")).collect();
    format!(
        "{} {} from {} of `{baseline}`: {} ({interval}, {} pairs{notes})",
        comparison.scorer,
        number(comparison.after_mean),
        number(comparison.before_mean),
        number(comparison.evidence.difference),
        comparison.pairs
    )
}
