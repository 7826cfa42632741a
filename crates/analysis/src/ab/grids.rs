//! A comparison of arms as grids of text.

use fullbench_stats::Interval;
use fullbench_stats::experiment::Decision;

use super::sequential::SequentialReport;
use super::{AbReport, AbResult, ArmSummary, BayesianReport};
use crate::{Grid, number, p_value, share};

pub(super) fn grids(report: &AbReport) -> Vec<Grid> {
    let mut grids = vec![arms(report)];
    match &report.result {
        AbResult::Frequentist(test) => {
            let comparison = &test.comparison;
            grids.push(pairs(vec![
                ("difference", number(comparison.difference)),
                (interval_name(report.alpha), interval(&comparison.interval)),
                ("t", number(comparison.statistic)),
                ("degrees of freedom", format!("{:.1}", comparison.degrees_of_freedom)),
                ("p-value", p_value(comparison.p_value)),
                (
                    "Cohen's d",
                    format!("{} ({})", number(test.effect_size.value), test.effect_interpretation),
                ),
                ("recommendation", test.recommendation.to_owned()),
            ]));
        }
        AbResult::Bayesian(bayesian) => grids.push(by_bayes(report.alpha, bayesian)),
        AbResult::Sequential(sequential) => {
            grids.push(if sequential.design.is_none() {
                at_any_time(report.alpha, sequential)
            } else {
                planned(report.alpha, sequential)
            });
        }
        AbResult::Undefined(reason) => {
            grids.push(pairs(vec![
                ("difference", number(report.difference)),
                ("test", format!("undefined: {reason}")),
            ]));
        }
    }
    grids
}

fn arms(report: &AbReport) -> Grid {
    let row = |name: &str, arm: &ArmSummary| {
        let deviation = arm.standard_deviation.map_or("–".to_owned(), number);
        vec![name.to_owned(), arm.count.to_string(), number(arm.mean), deviation]
    };
    Grid {
        title: None,
        header: vec!["arm", "values", "mean", "standard deviation"],
        rows: vec![row("control", &report.control), row("treatment", &report.treatment)],
    }
}

fn by_bayes(alpha: f64, bayesian: &BayesianReport) -> Grid {
    let test = &bayesian.test;
    let percent =
        test.expected_lift_percent.map_or(String::new(), |percent| format!(" ({percent:.1}%)"));
    pairs(vec![
        ("probability of improvement", probability(test.probability_of_improvement)),
        ("expected lift", format!("{}{percent}", number(test.expected_lift))),
        (interval_name(alpha), interval(&test.credible_interval)),
        ("expected loss, control chosen", small(test.risk_of_choosing_control)),
        ("expected loss, treatment chosen", small(test.risk_of_choosing_treatment)),
        ("model", bayesian.model.replace('_', "-")),
        ("recommendation", test.recommendation.to_owned()),
    ])
}

fn at_any_time(alpha: f64, sequential: &SequentialReport) -> Grid {
    let row = |labelled: &super::LabelledLook| {
        let look = &labelled.look;
        vec![
            labelled.label.clone(),
            look.control_count.to_string(),
            look.treatment_count.to_string(),
            look.difference.map_or("–".to_owned(), number),
            look.interval.as_ref().map_or("–".to_owned(), interval),
            p_value(look.p_value),
            decision(look.decision).to_owned(),
        ]
    };
    let header = vec![
        "look",
        "control",
        "treatment",
        "difference",
        interval_name(alpha),
        "p-value",
        "decision",
    ];
    Grid { title: None, header, rows: sequential.looks.iter().map(row).collect() }
}

fn planned(alpha: f64, sequential: &SequentialReport) -> Grid {
    let row = |labelled: &super::LabelledGroupLook| {
        let look = &labelled.look;
        vec![
            labelled.label.clone(),
            look.control_count.to_string(),
            look.treatment_count.to_string(),
            look.difference.map_or("–".to_owned(), number),
            look.interval.as_ref().map_or("–".to_owned(), interval),
            look.statistic.map_or("–".to_owned(), number),
            look.critical_statistic.map_or("–".to_owned(), number),
            decision(look.decision).to_owned(),
        ]
    };
    let mut rows: Vec<Vec<String>> = sequential.planned.iter().map(row).collect();
    let to_come = sequential.design.iter().flat_map(|design| &design.critical);
    for (index, critical) in to_come.enumerate().skip(rows.len()) {
        let mut open = vec![format!("{} of the plan", index + 1)];
        open.extend(["–"; 5].map(str::to_owned));
        // The bound of t depends on the values to come; with many it is this one.
        open.extend([format!("{} or more", number(*critical)), "to come".to_owned()]);
        rows.push(open);
    }
    let header = vec![
        "look",
        "control",
        "treatment",
        "difference",
        interval_name(alpha),
        "t",
        "bound",
        "decision",
    ];
    Grid { title: None, header, rows }
}

fn pairs(rows: Vec<(&'static str, String)>) -> Grid {
    let rows = rows.into_iter().map(|(name, value)| vec![name.to_owned(), value]).collect();
    Grid { title: None, header: vec!["measure", "value"], rows }
}

fn interval_name(alpha: f64) -> &'static str {
    let usual = [(0.01, "99% interval"), (0.05, "95% interval"), (0.1, "90% interval")];
    let named = usual.iter().find(|(level, _)| (alpha - level).abs() < 1e-9);
    named.map_or("interval", |(_, name)| name)
}

pub(super) fn decision(decision: Decision) -> &'static str {
    match decision {
        Decision::Continue => "continue",
        Decision::TreatmentBetter => "treatment better",
        Decision::TreatmentWorse => "treatment worse",
        Decision::NoDifferenceShown => "no difference shown",
    }
}

pub(super) fn interval(interval: &Interval) -> String {
    format!("{} to {}", number(interval.low), number(interval.high))
}

/// A probability; never "100%" for what is not certain.
pub(super) fn probability(value: f64) -> String {
    if value > 0.9999 {
        ">99.99%".to_owned()
    } else if value < 0.0001 {
        "<0.01%".to_owned()
    } else {
        format!("{:.2}%", value * 100.0)
    }
}

/// A number that may be far below the fourth decimal.
pub(super) fn small(value: f64) -> String {
    if value != 0.0 && value.abs() < 0.001 { format!("{value:.2e}") } else { number(value) }
}

/// The confidence that belongs to a level.
pub(super) fn confidence(alpha: f64) -> String {
    let text = share(1.0 - alpha);
    text.strip_suffix(".0%").map_or(text.clone(), |whole| format!("{whole}%"))
}
