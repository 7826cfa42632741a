//! The report as grids.

use fullbench_stats::Interval;
use fullbench_stats::validity::ErrorDifference;

use super::StackingReport;
use crate::{Grid, number};

pub(super) fn of(report: &StackingReport) -> Vec<Grid> {
    vec![weights(report), errors(report)]
}

fn range(interval: Interval) -> String {
    format!("{} to {}", number(interval.low), number(interval.high))
}

fn weights(report: &StackingReport) -> Grid {
    let rows = report.members.iter().map(|member| {
        vec![
            member.name.clone(),
            number(member.weight),
            range(member.fold_weights),
            number(member.error),
        ]
    });
    Grid {
        title: Some(format!("weights learned from {} items", report.fit.items)),
        header: vec!["member", "weight", "over the folds", "squared error alone"],
        rows: rows.collect(),
    }
}

fn errors(report: &StackingReport) -> Grid {
    let fit = &report.fit;
    let row = |name: &str, error: f64, difference: Option<&ErrorDifference>| {
        let cells = match difference {
            Some(difference) => [
                number(difference.estimate),
                difference
                    .interval
                    .as_ref()
                    .map_or_else(ToString::to_string, |found| range(*found)),
            ],
            None => [String::new(), String::new()],
        };
        let [difference, interval] = cells;
        vec![name.to_owned(), number(error), difference, interval]
    };
    Grid {
        title: Some(format!("mean squared error on items not learned from, {} folds", fit.folds)),
        header: vec!["weights", "error", "learned − this", "interval"],
        rows: vec![
            row("learned", fit.learned_error, None),
            row("equal", fit.equal_error, Some(&fit.against_equal)),
            row("best single member", fit.best_single_error, Some(&fit.against_best_single)),
        ],
    }
}
