//! Weights of the members of a panel, learned from scores of people, and whether learning pays.
//!
//! It takes slices: which scores belong to which items is decided by the caller.

mod conclusion;
mod grids;

use fullbench_stats::validity::{CrossValidation, StackedWeights, stacked_weights};
use fullbench_stats::{Interval, Undefined};
use serde::Serialize;

use crate::{AnalysisError, Conclusion, Grid, Report};

/// A member of a panel.
#[derive(Debug, Clone, Copy)]
pub struct Member<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its score of each item, on the scale of the human scores.
    pub scores: &'a [f64],
}

/// Learned weights.
#[derive(Debug, Clone, Serialize)]
pub struct StackingReport {
    /// How the numbers were made.
    pub method: &'static str,
    /// How the weights were tested, and the confidence of the intervals.
    pub validation: CrossValidation,
    /// Each member, as it was given.
    pub members: Vec<MemberReport>,
    /// The weights and their errors.
    pub fit: StackedWeights,
    /// What it means.
    pub conclusion: Conclusion,
}

/// One member.
#[derive(Debug, Clone, Serialize)]
pub struct MemberReport {
    /// Its name.
    pub name: String,
    /// Its learned weight.
    pub weight: f64,
    /// Its smallest and largest weight over the folds.
    pub fold_weights: Interval,
    /// Its mean squared error alone.
    pub error: f64,
}

/// The weights of a panel that fit scores of people best, with a cross-validated answer to whether they beat equal weights
/// and the best single member. Assumptions, degenerate cases and sources are those of [`stacked_weights`].
///
/// It is an error, with a hint, when there are no members or fewer than two items, scores differ in number or are not finite,
/// or all human scores are equal; and for options out of range.
pub fn weigh(
    members: &[Member<'_>],
    human: &[f64],
    validation: &CrossValidation,
) -> Result<StackingReport, AnalysisError> {
    check(validation)?;
    let scores: Vec<&[f64]> = members.iter().map(|member| member.scores).collect();
    let fit = stacked_weights(&scores, human, validation).map_err(undefined)?;
    let found = fit.weights.iter().zip(&fit.fold_weights).zip(&fit.member_errors);
    let member =
        |(member, ((weight, fold_weights), error)): (&Member<'_>, ((&f64, &Interval), &f64))| {
            let name = member.name.to_owned();
            MemberReport { name, weight: *weight, fold_weights: *fold_weights, error: *error }
        };
    let mut report = StackingReport {
        method: "stacked regressions on the simplex (Breiman 1996), by an active set; k-fold cross-validation; intervals by Student's t with \
                 the correction of Nadeau and Bengio (2003)",
        validation: *validation,
        members: members.iter().zip(found).map(member).collect(),
        fit,
        conclusion: Conclusion::default(),
    };
    report.conclusion = conclusion::of(&report);
    Ok(report)
}

fn check(validation: &CrossValidation) -> Result<(), AnalysisError> {
    let CrossValidation { folds, confidence, .. } = *validation;
    if !(confidence > 0.0 && confidence < 1.0) {
        let message = format!("the confidence is {confidence}");
        return Err(AnalysisError::question(message, "give a number between 0 and 1, like 0.95"));
    }
    if folds < 2 {
        let message = format!("{folds} folds leave no items to test on");
        return Err(AnalysisError::question(message, "give 2 or more; 10 is usual"));
    }
    Ok(())
}

fn undefined(reason: Undefined) -> AnalysisError {
    let hint = match &reason {
        Undefined::NoVariation { .. } => {
            "nothing can be learned from human scores that are all equal: score items of different quality"
        }
        Undefined::TooFew { what: "members", .. } => "name the members of the panel",
        Undefined::TooFew { .. } => "score at least two items by hand, better a hundred",
        Undefined::LengthsDiffer { .. } => {
            "every member needs a score for each item that people scored: leave out the other items"
        }
        _ => "leave out items without a usable score",
    };
    AnalysisError::undefined("the weights of the panel", reason, hint)
}

impl Report for StackingReport {
    fn grids(&self) -> Vec<Grid> {
        grids::of(self)
    }

    fn conclusion(&self) -> &Conclusion {
        &self.conclusion
    }
}
