//! `fullbench diff`.

use std::path::Path;

use fullbench_engine::{Change, DiffReport, compare_runs};

use crate::arguments::{DiffArguments, PlainFormat};
use crate::failure::{CliError, Exit};
use crate::progress::write_line;
use crate::{home, output};

/// Compares two runs case by case.
pub(crate) async fn run(arguments: &DiffArguments, home: &Path) -> Result<Exit, CliError> {
    let store = home::open_existing(home).await?;
    let before = store.find_run(&arguments.before).await?;
    let after = store.find_run(&arguments.after).await?;
    let report = compare_runs(&store, &before, &after).await?;
    match arguments.output {
        PlainFormat::Json => output::print_json(&report)?,
        PlainFormat::Table => print_tables(&report, arguments.cases)?,
    }
    Ok(Exit::Fine)
}

fn print_tables(report: &DiffReport, limit: usize) -> Result<(), CliError> {
    let value =
        |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| format!("{value:.4}"));
    let mut table =
        output::table(&["model", "scorer", "pairs", "before", "after", "fixed", "broken", "same"]);
    for counts in &report.counts {
        let count = |change| counts.changes.get(&change).copied().unwrap_or_default().to_string();
        table.add_row(vec![
            counts.model.clone(),
            counts.scorer.clone(),
            counts.pairs.to_string(),
            value(counts.before_mean),
            value(counts.after_mean),
            count(Change::Fixed),
            count(Change::Broken),
            count(Change::Same),
        ]);
    }
    output::print_text(&format!("{table}\n"))?;
    if !report.changes.is_empty() {
        let mut table = output::table(&["change", "case", "model", "scorer", "before", "after"]);
        for change in report.changes.iter().take(limit) {
            table.add_row(vec![
                word(change.change).to_owned(),
                output::shortened(&change.case, 40),
                change.model.clone(),
                change.scorer.clone(),
                value(change.before),
                value(change.after),
            ]);
        }
        output::print_text(&format!("{table}\n"))?;
    }
    if report.changes.len() > limit {
        write_line(&format!(
            "{} more changed cases: --cases, or --output json",
            report.changes.len() - limit
        ));
    }
    if report.only_before + report.only_after > 0 {
        write_line(&format!(
            "not compared: {} units only in the first run, {} only in the second",
            report.only_before, report.only_after
        ));
    }
    for note in &report.notes {
        write_line(&format!("note: {note}"));
    }
    Ok(())
}

fn word(change: Change) -> &'static str {
    match change {
        Change::Fixed => "fixed",
        Change::Broken => "broken",
        Change::Same => "same",
        Change::LostScore => "lost its score",
        Change::GainedScore => "gained a score",
    }
}
