//! Labels in plain words.

use super::{AggregateReport, Method};
use crate::{Conclusion, share};

pub(super) fn of(report: &AggregateReport) -> Conclusion {
    let mut conclusion = Conclusion::default();
    let part = |count: usize| share(count as f64 / report.items.max(1) as f64);
    conclusion.meaning.push(format!(
        "{} of {} items ({}) have a label that may stand; {} need someone to decide{}{}.",
        report.consensus,
        report.items,
        part(report.consensus),
        report.needs_adjudication,
        if report.ties > 0 {
            format!(", {} of them because of a tie", report.ties)
        } else {
            String::new()
        },
        if report.insufficient > 0 {
            format!(", and {} have fewer than two ratings", report.insufficient)
        } else {
            String::new()
        },
    ));
    conclusion.meaning.push(rule(report).to_owned());
    conclusion.firmer = firmer(report);
    conclusion
}

/// What lets a label stand.
fn rule(report: &AggregateReport) -> &'static str {
    use fullbench_stats::agreement::Level;
    match (report.method, report.level) {
        (Method::Majority | Method::Weighted, Level::Ordinal) => {
            "A label is the lower median of an item's ratings; where the middle lies between two labels, the lower one is shown and someone has to decide."
        }
        (Method::Majority, _) => {
            "A label stands when at least two thirds of an item's ratings agree. All annotators count alike."
        }
        (Method::Weighted, _) => {
            "A label stands when it has at least two thirds of the weight. The weights are taken as given."
        }
        (Method::DawidSkene, _) => {
            "A label stands when its probability is at least two thirds under a model in which annotators err independently, each in their own way. Probabilities near 1 are only as good as this assumption."
        }
        (Method::Mace, _) => {
            "A label stands when its probability is at least two thirds under a model in which an annotator knows the answer or guesses. Probabilities near 1 are only as good as this assumption."
        }
    }
}

fn firmer(report: &AggregateReport) -> Vec<String> {
    let mut firmer = Vec::new();
    if report.needs_adjudication > 0 {
        firmer.push(format!(
            "Ask for more ratings of the {} items that need a decision, not of all: `labels` in the JSON output names them.",
            report.needs_adjudication
        ));
    }
    let low: Vec<&str> = report
        .by_annotator
        .iter()
        .filter(|who| who.low_agreement)
        .map(|who| who.annotator.as_str())
        .collect();
    if let Some(first) = low.first() {
        let others = match low.len() {
            1 => " agrees".to_owned(),
            count => format!(" and {} more agree", count - 1),
        };
        firmer.push(format!(
            "`{first}`{others} with the labels in clearly less than 70% of cases: look at these ratings, or at the instructions."
        ));
    }
    if let Some(model) = &report.model {
        if !model.converged {
            firmer.push(format!(
                "The model had not settled after {} iterations: allow more.",
                model.iterations
            ));
        }
        if let (Some(1), Some(starts)) = (model.starts_at_best, model.restarts)
            && starts > 1
        {
            firmer.push(format!(
                "Only one of {starts} random starts came to this result: allow more of them."
            ));
        }
    }
    if report.missing > 0 {
        firmer.push(format!("{} rows without a value were left out.", report.missing));
    }
    firmer.push("Agreement of an annotator with the labels counts their own vote, so that it is too high where few rated an item. Items with known answers measure accuracy.".to_owned());
    firmer
}
