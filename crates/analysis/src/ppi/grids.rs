//! The report as grids.

use fullbench_stats::validity::LabelsNeeded;
use fullbench_stats::{Interval, Undefined};

use super::{PpiReport, SystemReport};
use crate::{Grid, number};

pub(super) fn of(report: &PpiReport) -> Vec<Grid> {
    let mut grids: Vec<Grid> = report.systems.iter().map(system).collect();
    grids.extend(difference(report));
    grids.extend(wanted(report));
    grids
}

fn range(interval: Interval) -> String {
    format!("{} to {}", number(interval.low), number(interval.high))
}

fn interval(interval: &Result<Interval, Undefined>) -> String {
    interval.as_ref().map_or_else(ToString::to_string, |interval| range(*interval))
}

fn system(report: &SystemReport) -> Grid {
    let scored = report.labelled + report.unlabelled;
    let mut rows = vec![
        vec![
            "human labels alone".to_owned(),
            number(report.human_only),
            interval(&report.human_only_interval),
            format!("{} labels", report.labelled),
        ],
        vec![
            "judge alone (biased)".to_owned(),
            number(report.judge_only),
            String::new(),
            format!("{scored} scores"),
        ],
    ];
    rows.push(match &report.prediction_powered {
        Ok(found) => vec![
            "both (PPI++)".to_owned(),
            number(found.estimate),
            range(found.student_interval),
            format!(
                "lambda {}, worth {:.0} labels",
                number(found.lambda),
                found.effective_labels.floor()
            ),
        ],
        Err(reason) => vec![
            "both (PPI++)".to_owned(),
            "undefined".to_owned(),
            String::new(),
            reason.to_string(),
        ],
    });
    if let Some(rate) = &report.rogan_gladen {
        rows.push(match rate {
            Ok(found) => {
                let clipped = if found.estimate_clipped || found.interval_clipped {
                    ", cut off at 0 or 1"
                } else {
                    ""
                };
                vec![
                    "judge, corrected (Rogan–Gladen)".to_owned(),
                    number(found.estimate),
                    range(found.interval),
                    format!(
                        "sensitivity {}, specificity {}{clipped}",
                        number(found.sensitivity),
                        number(found.specificity)
                    ),
                ]
            }
            Err(reason) => vec![
                "judge, corrected (Rogan–Gladen)".to_owned(),
                "undefined".to_owned(),
                String::new(),
                reason.to_string(),
            ],
        });
    }
    Grid {
        title: report.system.as_ref().map(|name| format!("mean of {name}")),
        header: vec!["mean by", "estimate", "interval", "from"],
        rows,
    }
}

fn difference(report: &PpiReport) -> Option<Grid> {
    let difference = report.difference.as_ref()?;
    let row = match &difference.result {
        Ok(found) => vec![number(found.estimate()), range(found.interval())],
        Err(reason) => vec!["undefined".to_owned(), reason.to_string()],
    };
    Some(Grid {
        title: Some(format!("{} − {}", difference.first, difference.second)),
        header: vec!["difference (PPI++)", "interval"],
        rows: vec![row],
    })
}

/// What it takes, in words.
pub(super) fn labels(needed: &Result<LabelsNeeded, Undefined>) -> String {
    match needed {
        Ok(LabelsNeeded::Reachable { more: 0, .. }) => "0".to_owned(),
        Ok(LabelsNeeded::Reachable { more, .. }) => more.to_string(),
        Ok(LabelsNeeded::OutOfReach { smallest }) => {
            format!("out of reach: ±{} with every item labelled", number(*smallest))
        }
        Err(reason) => format!("undefined: {reason}"),
    }
}

fn wanted(report: &PpiReport) -> Option<Grid> {
    let wanted = report.wanted.as_ref()?;
    let row = |answer: &super::WantedAnswer| {
        vec![answer.of.clone(), labels(&answer.with_judge), labels(&answer.human_only)]
    };
    let each = if report.difference.is_some() { " (for each system)" } else { "" };
    Some(Grid {
        title: Some(format!("labels still needed for ±{}{each}", wanted.half_width)),
        header: vec!["of", "with the judge", "human labels alone"],
        rows: wanted.answers.iter().map(row).collect(),
    })
}
