//! The report as grids.

use fullbench_stats::validity::MarkCounts;
use fullbench_stats::{Interval, Undefined};

use super::ThresholdReport;
use crate::{Grid, number, share};

/// A longer curve is shown in this many rows; the JSON document has all of it.
const ROWS: usize = 20;

pub(super) fn of(report: &ThresholdReport) -> Vec<Grid> {
    vec![marks(report), estimates(report), curve(report)]
}

fn range(interval: &Result<Interval, Undefined>) -> String {
    let shown =
        |interval: &Interval| format!("{} to {}", number(interval.low), number(interval.high));
    interval.as_ref().map_or_else(ToString::to_string, shown)
}

fn shown(value: &Result<f64, Undefined>) -> String {
    value.as_ref().map_or_else(|_| "undefined".to_owned(), |value| number(*value))
}

fn row(name: &str, counts: &MarkCounts, goal: f64) -> Vec<String> {
    let percent =
        |value: Result<f64, Undefined>| value.map_or_else(|_| "undefined".to_owned(), share);
    vec![
        name.to_owned(),
        number(counts.mark),
        number(goal),
        percent(counts.accuracy()),
        percent(counts.sensitivity()),
        percent(counts.specificity()),
        counts.false_passes.to_string(),
        counts.false_failures.to_string(),
    ]
}

fn marks(report: &ThresholdReport) -> Grid {
    let found = &report.suggestion;
    let mut rows = vec![row("suggested", &found.counts, found.apparent)];
    rows.extend(report.present.iter().map(|now| row("present", &now.counts, now.value)));
    Grid {
        title: Some(format!(
            "pass marks on {} labelled items: {} passing, {} failing",
            found.pairs, found.passing, found.failing
        )),
        header: vec![
            "mark",
            "value",
            "goal",
            "accuracy",
            "sensitivity",
            "specificity",
            "false passes",
            "false failures",
        ],
        rows,
    }
}

fn estimates(report: &ThresholdReport) -> Grid {
    let found = &report.suggestion;
    let line = |name: &str, value: String, interval: String| vec![name.to_owned(), value, interval];
    let mut rows = vec![
        line("mark", number(found.mark), range(&found.interval)),
        line("goal on these items", number(found.apparent), String::new()),
        line("goal to expect on others", shown(&found.corrected), String::new()),
        line("area under the curve", number(found.area.area), range(&found.area.interval)),
    ];
    if let Some(now) = &report.present {
        rows.push(line("goal at the present mark", number(now.value), String::new()));
        rows.push(line("gain to expect", shown(&now.gain), String::new()));
        rows.push(line("p of McNemar (optimistic)", shown(&now.p_value), String::new()));
    }
    Grid { title: Some("how sure".to_owned()), header: vec!["", "value", "interval"], rows }
}

fn curve(report: &ThresholdReport) -> Grid {
    let found = &report.suggestion;
    let every = found.curve.len().div_ceil(ROWS).max(1);
    let is_shown = |(place, counts): &(usize, &MarkCounts)| {
        place % every == 0 || place + 1 == found.curve.len() || counts.mark == found.mark
    };
    let rows = found.curve.iter().enumerate().filter(is_shown).map(|(_, counts)| {
        vec![
            number(counts.mark),
            counts.true_passes.to_string(),
            counts.false_passes.to_string(),
            counts.true_failures.to_string(),
            counts.false_failures.to_string(),
        ]
    });
    Grid {
        title: Some("what each mark decides".to_owned()),
        header: vec!["mark", "true passes", "false passes", "true failures", "false failures"],
        rows: rows.collect(),
    }
}
