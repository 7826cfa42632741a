//! The report in sentences.

use fullbench_stats::validity::ErrorDifference;

use super::{MemberReport, StackingReport};
use crate::{Conclusion, level, number, share};

/// With fewer items than this learned weights seldom pay, by simulation.
const FEW_ITEMS: usize = 100;
/// A weight that moves by more than this over the folds is not settled.
const UNSETTLED: f64 = 0.2;
/// A weight below this is none, as grids show it.
const NOTHING: f64 = 5e-5;

pub(super) fn of(report: &StackingReport) -> Conclusion {
    let mut conclusion = Conclusion::default();
    let fit = &report.fit;
    let percent = level(report.validation.confidence);
    if let [only] = &report.members[..] {
        conclusion.meaning.push(format!(
            "{} is the only member: there is nothing to weigh. Its mean squared error is {}.",
            only.name,
            number(only.error)
        ));
        return conclusion;
    }
    conclusion.meaning.push(pays(&fit.against_equal, &percent, fit.learned_error, fit.equal_error));
    conclusion.meaning.push(against_single(report, &percent));
    conclusion.meaning.push(shares(&report.members));
    about_certainty(report, &mut conclusion);
    conclusion
}

fn pays(difference: &ErrorDifference, percent: &str, learned: f64, equal: f64) -> String {
    let errors = format!(
        "on items they were not learned from, their mean squared error is {}, that of equal weights {}",
        number(learned),
        number(equal)
    );
    match &difference.interval {
        Ok(interval) => {
            let range = format!(
                "({percent} interval of the difference {} to {})",
                number(interval.low),
                number(interval.high)
            );
            if interval.high < 0.0 {
                format!("Learned weights are better than equal ones: {errors} {range}.")
            } else if interval.low > 0.0 {
                format!(
                    "Learned weights are worse than equal ones: {errors} {range}. Keep equal weights."
                )
            } else {
                format!(
                    "There is no evidence that learned weights are better than equal ones: {errors} {range}. Equal weights are the safer choice."
                )
            }
        }
        Err(reason) => {
            format!("Learned and equal weights cannot be compared: {errors} ({reason}).")
        }
    }
}

fn against_single(report: &StackingReport, percent: &str) -> String {
    let fit = &report.fit;
    let error = number(fit.best_single_error);
    match &fit.against_best_single.interval {
        Ok(interval) => {
            let verdict = if interval.high < 0.0 {
                "more than the panel: it is worth its calls"
            } else if interval.low > 0.0 {
                "less than the panel: one judge would do better"
            } else {
                "which is not clearly different from the panel: one judge might do"
            };
            format!(
                "The best single member, chosen in the same way, has {error}, {verdict} ({percent} interval of panel − member {} to {}).",
                number(interval.low),
                number(interval.high)
            )
        }
        Err(_) => format!(
            "The best single member, chosen in the same way, has {error}, as the panel has."
        ),
    }
}

fn shares(members: &[MemberReport]) -> String {
    let mut ordered: Vec<&MemberReport> = members.iter().collect();
    ordered.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    let (some, none): (Vec<&MemberReport>, Vec<&MemberReport>) =
        ordered.into_iter().partition(|member| member.weight >= NOTHING);
    let of = |member: &&MemberReport| format!("{} {}", member.name, share(member.weight));
    let some: Vec<String> = some.iter().map(of).collect();
    let none: Vec<&str> = none.iter().map(|member| member.name.as_str()).collect();
    if none.is_empty() {
        return format!("The weights are {}.", some.join(", "));
    }
    let add = if none.len() == 1 { "adds" } else { "add" };
    format!(
        "The weights are {}; {} {add} nothing beside the others and could be left out.",
        some.join(", "),
        none.join(", ")
    )
}

fn about_certainty(report: &StackingReport, conclusion: &mut Conclusion) {
    let fit = &report.fit;
    if fit.items < FEW_ITEMS {
        conclusion.firmer.push(format!(
            "{} items are few to learn weights from: below {FEW_ITEMS}, equal weights are hard to beat.",
            fit.items
        ));
    }
    let moves =
        |member: &&MemberReport| member.fold_weights.high - member.fold_weights.low > UNSETTLED;
    let unsettled: Vec<&str> =
        report.members.iter().filter(moves).map(|member| member.name.as_str()).collect();
    if !unsettled.is_empty() {
        conclusion.firmer.push(format!(
            "The weight of {} depends on which items it is learned from: it moves by more than {} over the folds.",
            unsettled.join(", "),
            share(UNSETTLED)
        ));
    }
    if fit.folds < report.validation.folds {
        conclusion.firmer.push(format!(
            "There are fewer items than the {} folds asked for: each item was its own fold.",
            report.validation.folds
        ));
    }
    conclusion.firmer.push(
        "Weights sum to 1 and correct no bias that all members share. They hold for items like these: chosen at random, on one scale."
            .to_owned(),
    );
}
