//! A pass mark suggested from pass and fail labels of people, and how the present one compares.
//!
//! It takes slices: which scores belong to which labels is decided by the caller.

mod conclusion;
mod grids;

use fullbench_stats::Undefined;
use fullbench_stats::compare::mcnemar_exact;
use fullbench_stats::validity::{
    Goal, MarkCounts, Resampling, SuggestedThreshold, suggest_threshold, value_or_reason,
};
use serde::Serialize;

use crate::{AnalysisError, Conclusion, Grid, Report};

/// What to compute.
#[derive(Debug, Clone, Copy, Default)]
pub struct ThresholdOptions {
    /// What the mark should be best at.
    pub goal: Goal,
    /// The mark that is used now, to be compared with the suggested one.
    pub present: Option<f64>,
    /// How the bootstrap is done, and the confidence of the intervals.
    pub resampling: Resampling,
}

/// A suggested pass mark.
#[derive(Debug, Clone, Serialize)]
pub struct ThresholdReport {
    /// How the numbers were made.
    pub method: &'static str,
    /// How the bootstrap was done, and the confidence of the intervals.
    pub resampling: Resampling,
    /// The mark and all that is known of it.
    pub suggestion: SuggestedThreshold,
    /// The mark that is used now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub present: Option<PresentMark>,
    /// What it means.
    pub conclusion: Conclusion,
}

/// The mark that is used now, beside the suggested one on the same items.
#[derive(Debug, Clone, Serialize)]
pub struct PresentMark {
    /// What it decides.
    pub counts: MarkCounts,
    /// Of what people passed, the share that passes.
    pub sensitivity: f64,
    /// Of what people failed, the share that fails.
    pub specificity: f64,
    /// The share of items on which mark and people agree.
    pub accuracy: f64,
    /// The goal at this mark. It was not chosen on these items, so that nothing needs to be subtracted.
    pub value: f64,
    /// What the suggested mark can be expected to add to the goal on other items: its corrected goal less the goal at this mark.
    #[serde(serialize_with = "value_or_reason")]
    pub gain: Result<f64, Undefined>,
    /// Items that only the suggested mark decides as people do.
    pub only_suggested_right: u64,
    /// Items that only the present mark decides as people do.
    pub only_present_right: u64,
    /// McNemar's exact p-value that both are right equally often. It favours the suggested mark, which was chosen on these
    /// items. Undefined when both decide every item alike.
    #[serde(serialize_with = "value_or_reason")]
    pub p_value: Result<f64, Undefined>,
}

/// The pass mark that fits labels of people best: `values` and `passes` have one entry for each item, and a value at or above
/// the mark passes. Assumptions, ties and sources are those of [`suggest_threshold`]; the present mark is compared by
/// McNemar's exact test (1947) on the same items.
///
/// It is an error, with a hint, when there are no items, the two differ in number, a value is not finite, or all labels or
/// all values are equal; and for options out of range.
pub fn suggest(
    values: &[f64],
    passes: &[bool],
    options: &ThresholdOptions,
) -> Result<ThresholdReport, AnalysisError> {
    check(options)?;
    let suggestion =
        suggest_threshold(values, passes, options.goal, &options.resampling).map_err(undefined)?;
    let compared = |mark| present_mark(mark, values, passes, &suggestion).map_err(undefined);
    let present = options.present.map(compared).transpose()?;
    let mut report = ThresholdReport {
        method: "best mark between neighbouring values; goal corrected for optimism by bootstrap (Efron 1983, Harrell 1996); \
                 interval of the mark by percentile bootstrap; area by DeLong on log odds; McNemar exact",
        resampling: options.resampling,
        suggestion,
        present,
        conclusion: Conclusion::default(),
    };
    report.conclusion = conclusion::of(&report);
    Ok(report)
}

fn check(options: &ThresholdOptions) -> Result<(), AnalysisError> {
    let Resampling { rounds, confidence, .. } = options.resampling;
    if !(confidence > 0.0 && confidence < 1.0) {
        let message = format!("the confidence is {confidence}");
        return Err(AnalysisError::question(message, "give a number between 0 and 1, like 0.95"));
    }
    if rounds < 100 {
        let message = format!("{rounds} bootstrap rounds are too few");
        return Err(AnalysisError::question(message, "give 100 or more; 2000 is usual"));
    }
    if let Goal::Cost { ratio } = options.goal
        && !(ratio > 0.0 && ratio.is_finite())
    {
        return Err(AnalysisError::question(
            format!("the cost of a false pass is {ratio} times that of a false failure"),
            "give a positive number, like 3 where a false pass is three times as bad",
        ));
    }
    match options.present {
        Some(mark) if !mark.is_finite() => Err(AnalysisError::question(
            format!("the present mark is {mark}"),
            "give a number on the scale of the values",
        )),
        _ => Ok(()),
    }
}

fn undefined(reason: Undefined) -> AnalysisError {
    let hint = match &reason {
        Undefined::NoVariation { what: "labels" } => {
            "a mark divides two kinds of items: label some that should pass and some that should fail"
        }
        Undefined::NoVariation { .. } => {
            "no mark divides items that all have the same value: take another scorer, or finer scores"
        }
        Undefined::TooFew { .. } => {
            "label items as passing or failing: at least one of each, better a hundred"
        }
        Undefined::LengthsDiffer { .. } => "give one label for each value",
        _ => "leave out items without a usable value",
    };
    AnalysisError::undefined("the pass mark", reason, hint)
}

fn present_mark(
    mark: f64,
    values: &[f64],
    passes: &[bool],
    suggestion: &SuggestedThreshold,
) -> Result<PresentMark, Undefined> {
    let counts = MarkCounts::at(mark, values, passes)?;
    let (mut only_suggested_right, mut only_present_right) = (0, 0);
    for (value, pass) in values.iter().zip(passes) {
        let by_suggested = (*value >= suggestion.mark) == *pass;
        let by_present = (*value >= mark) == *pass;
        match (by_suggested, by_present) {
            (true, false) => only_suggested_right += 1,
            (false, true) => only_present_right += 1,
            _ => {}
        }
    }
    let value = suggestion.goal.value(&counts)?;
    Ok(PresentMark {
        counts,
        sensitivity: counts.sensitivity()?,
        specificity: counts.specificity()?,
        accuracy: counts.accuracy()?,
        value,
        gain: suggestion.corrected.clone().map(|corrected| corrected - value),
        only_suggested_right,
        only_present_right,
        p_value: mcnemar_exact(only_suggested_right, only_present_right),
    })
}

impl Report for ThresholdReport {
    fn grids(&self) -> Vec<Grid> {
        grids::of(self)
    }

    fn conclusion(&self) -> &Conclusion {
        &self.conclusion
    }
}
