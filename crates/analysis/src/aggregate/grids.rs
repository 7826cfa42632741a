//! Labels as grids.

use fullbench_stats::labels::Decision;

use super::{AggregateReport, AnnotatorReport};
use crate::{Grid, number, share};

/// Items and annotators shown; all are in the JSON document.
const SHOWN: usize = 20;

pub(super) fn of(report: &AggregateReport) -> Vec<Grid> {
    vec![summary(report), labels(report), annotators(report)]
}

fn summary(report: &AggregateReport) -> Grid {
    let row = |name: &str, count: usize| vec![name.to_owned(), count.to_string()];
    let mut rows = vec![
        row("items", report.items),
        row("decided", report.consensus),
        row("to be adjudicated", report.needs_adjudication),
        row("of these with a tie", report.ties),
        row("with fewer than two ratings", report.insufficient),
    ];
    let shown = report.distribution.iter().take(SHOWN);
    rows.extend(shown.map(|label| row(&format!("labelled `{}`", label.label), label.items)));
    let title = format!("Labels by {}", report.method.name());
    Grid { title: Some(title), header: vec!["what", "count"], rows }
}

fn labels(report: &AggregateReport) -> Grid {
    let title = match report.labels.len() {
        ..=SHOWN => "Items".to_owned(),
        count => format!("The first {SHOWN} of {count} items"),
    };
    let rows = report.labels.iter().take(SHOWN).map(|item| {
        let note = match (item.decision, item.tie) {
            (_, true) => "tie",
            (Decision::NeedsAdjudication, _) => "adjudicate",
            (Decision::Insufficient, _) => "one rating",
            (Decision::Consensus, _) => "",
        };
        vec![
            item.item.clone(),
            item.label.clone().unwrap_or_default(),
            number(item.confidence),
            item.ratings.to_string(),
            note.to_owned(),
        ]
    });
    let header = vec!["item", "label", "confidence", "ratings", "note"];
    Grid { title: Some(title), header, rows: rows.collect() }
}

/// Annotators, those who agree least first.
fn annotators(report: &AggregateReport) -> Grid {
    let mut all: Vec<&AnnotatorReport> = report.by_annotator.iter().collect();
    let agreement = |who: &AnnotatorReport| who.agreement.unwrap_or(2.0);
    all.sort_by(|a, b| agreement(a).total_cmp(&agreement(b)));
    let title = match all.len() {
        ..=SHOWN => "Annotators against the labels".to_owned(),
        count => format!("The {SHOWN} of {count} annotators who agree least with the labels"),
    };
    let last = match (&report.model, report.by_annotator.iter().any(|who| who.weight.is_some())) {
        (Some(_), _) => Some("quality"),
        (None, true) => Some("weight"),
        (None, false) => None,
    };
    let rows = all.iter().take(SHOWN).map(|who| {
        let ends = who.interval.map_or_else(String::new, |interval| {
            format!("{} – {}", share(interval.low), share(interval.high))
        });
        let mut row = vec![
            who.annotator.clone(),
            who.ratings.to_string(),
            who.agreement.map_or_else(String::new, share),
            ends,
        ];
        row.extend(last.map(|_| who.quality.or(who.weight).map_or_else(String::new, number)));
        row.push(if who.low_agreement { "low".to_owned() } else { String::new() });
        row
    });
    let mut header = vec!["annotator", "ratings", "agreement", "interval"];
    header.extend(last);
    header.push("note");
    Grid { title: Some(title), header, rows: rows.collect() }
}
