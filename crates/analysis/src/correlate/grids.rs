//! The report as grids.

use fullbench_stats::validity::{BiasSlope, Coefficient};
use fullbench_stats::{Interval, Undefined};

use super::{CorrelateReport, LabelReport, ScoreReport};
use crate::{Grid, number, p_value, share};

pub(super) fn of(report: &CorrelateReport) -> Vec<Grid> {
    let mut grids = Vec::new();
    if let Some(scores) = &report.scores {
        grids.push(correlations(scores));
        grids.push(bias(scores));
    }
    grids.extend(report.labels.as_ref().map(labels));
    grids
}

pub(super) fn name(coefficient: Coefficient) -> &'static str {
    match coefficient {
        Coefficient::Pearson => "Pearson",
        Coefficient::Spearman => "Spearman",
        Coefficient::Kendall => "Kendall tau-b",
    }
}

fn interval(interval: &Result<Interval, Undefined>) -> String {
    match interval {
        Ok(interval) => range(*interval),
        Err(_) => "undefined".to_owned(),
    }
}

fn range(interval: Interval) -> String {
    format!("{} to {}", number(interval.low), number(interval.high))
}

fn p(value: &Result<f64, Undefined>) -> String {
    value.as_ref().map_or_else(|_| "undefined".to_owned(), |value| p_value(*value))
}

fn correlations(scores: &ScoreReport) -> Grid {
    let mut rows = Vec::new();
    let row = |level: &str, coefficient: Coefficient, cells: [String; 4]| {
        let mut row = vec![level.to_owned(), name(coefficient).to_owned()];
        row.extend(cells);
        row
    };
    let undefined = |reason: &Undefined| {
        ["undefined".to_owned(), String::new(), String::new(), reason.to_string()]
    };
    let items = &scores.item_level;
    for one in &items.correlations {
        let cells = match &one.independent {
            Ok(found) => {
                let (shown, of) = match (&one.clustered_interval, items.clusters) {
                    (Some(clustered), Some(clusters)) => {
                        (interval(clustered), format!("{} pairs in {clusters} groups", found.pairs))
                    }
                    _ => (interval(&found.interval), format!("{} pairs", found.pairs)),
                };
                let p = if items.clusters.is_some() { String::new() } else { p(&found.p_value) };
                [number(found.value), shown, p, of]
            }
            Err(reason) => undefined(reason),
        };
        rows.push(row("item", one.coefficient, cells));
    }
    for one in scores.group_level.iter().flat_map(|level| &level.correlations) {
        let cells = match &one.result {
            Ok(found) => {
                let left_out = found.single + found.without_variation;
                let of = format!("{} groups, {left_out} left out", found.groups);
                [number(found.value), interval(&found.interval), p(&found.p_value), of]
            }
            Err(reason) => undefined(reason),
        };
        rows.push(row("group", one.coefficient, cells));
    }
    for one in scores.system_level.iter().flat_map(|level| &level.correlations) {
        let cells = match &one.result {
            Ok(found) => {
                let of = format!("{} systems", found.systems);
                [number(found.value), interval(&found.interval), p(&found.p_value), of]
            }
            Err(reason) => undefined(reason),
        };
        rows.push(row("system", one.coefficient, cells));
    }
    Grid {
        title: Some("correlation of judge and people".to_owned()),
        header: vec!["level", "coefficient", "value", "interval", "p", "of"],
        rows,
    }
}

fn bias(scores: &ScoreReport) -> Grid {
    let mut rows = Vec::new();
    let mut add = |name: &str, value: String, interval: String, p: String| {
        rows.push(vec![name.to_owned(), value, interval, p]);
    };
    match &scores.bias {
        Ok(bias) => {
            let mean = number(bias.mean_difference);
            add("mean difference", mean, interval(&bias.interval), String::new());
            add(
                "its standard deviation",
                number(bias.standard_deviation),
                String::new(),
                String::new(),
            );
            add("limits of agreement", String::new(), interval(&bias.limits), String::new());
        }
        Err(reason) => {
            add("mean difference", "undefined".to_owned(), reason.to_string(), String::new());
        }
    }
    let slopes: [(&str, &Result<BiasSlope, Undefined>); 2] = [
        ("slope on the mean of both", &scores.slope_on_mean),
        ("slope on the human score", &scores.slope_on_human),
    ];
    for (name, slope) in slopes {
        match slope {
            Ok(line) => add(name, number(line.slope), range(line.interval), p_value(line.p_value)),
            Err(reason) => add(name, "undefined".to_owned(), reason.to_string(), String::new()),
        }
    }
    Grid {
        title: Some("bias: judge − human".to_owned()),
        header: vec!["", "value", "interval", "p"],
        rows,
    }
}

fn labels(report: &LabelReport) -> Grid {
    let table = &report.confusion;
    let shown = |value: &Result<f64, Undefined>, interval: &Result<Interval, Undefined>| match (
        value, interval,
    ) {
        (Ok(value), Ok(interval)) => {
            format!("{} ({} to {})", share(*value), share(interval.low), share(interval.high))
        }
        _ => "undefined".to_owned(),
    };
    let rows = report.labels.iter().zip(&table.classes).zip(&table.table).map(
        |((label, class), counts)| {
            let said = report.labels.iter().zip(counts).filter(|(_, count)| **count > 0);
            let said: Vec<String> =
                said.map(|(label, count)| format!("{label}: {count}")).collect();
            vec![
                label.clone(),
                class.human.to_string(),
                class.judge.to_string(),
                shown(&class.precision, &class.precision_interval),
                shown(&class.recall, &class.recall_interval),
                said.join(", "),
            ]
        },
    );
    Grid {
        title: Some(format!("labels: {} the same", share(table.accuracy))),
        header: vec![
            "label",
            "people said",
            "judge said",
            "precision",
            "recall",
            "judge on what people called so",
        ],
        rows: rows.collect(),
    }
}
