//! `fullbench diff`.

use fullbench_engine::{Change, DiffCounts, DiffOptions, DiffReport, compare_runs};

use crate::arguments::{DiffArguments, PlainFormat};
use crate::failure::{CliError, Exit};
use crate::home::Home;
use crate::output;
use crate::progress::write_line;

/// Compares two runs case by case, and tests what changed.
pub(crate) async fn run(arguments: &DiffArguments, home: &Home) -> Result<Exit, CliError> {
    let store = home.open_existing().await?;
    let before = store.find_run(&arguments.before).await?;
    let after = store.find_run(&arguments.after).await?;
    if before.id == after.id {
        let message = format!(
            "`{}` and `{}` are the same run, {}",
            arguments.before, arguments.after, before.id
        );
        let hint = "a name stands for the newest run of that name; name the earlier one by its id, which `fullbench list` shows";
        return Err(CliError::input(message, Some(hint.to_owned())));
    }
    let changes = match arguments.output {
        PlainFormat::Json => usize::MAX,
        PlainFormat::Table => arguments.cases,
    };
    let options = DiffOptions { margin: arguments.margin, changes };
    let report = compare_runs(&store, &before, &after, options).await?;
    match arguments.output {
        PlainFormat::Json => output::print_json(&report)?,
        PlainFormat::Table => print_tables(&report)?,
    }
    Ok(Exit::Fine)
}

fn print_tables(report: &DiffReport) -> Result<(), CliError> {
    if !report.counts.is_empty() {
        output::print_text(&format!("{}\n{}\n", count_table(report), evidence_table(report)))?;
    }
    for sentence in report.conclusion.iter().chain(&report.firmer) {
        output::print_text(&format!("{}\n", output::visible(sentence)))?;
    }
    if !report.changes.is_empty() {
        output::print_text(&format!("\n{}\n", change_table(report)))?;
    }
    let more = report.changed - report.changes.len() as u64;
    if more > 0 {
        write_line(&format!("{more} more changed cases: --cases, or --output json"));
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

fn count_table(report: &DiffReport) -> comfy_table::Table {
    let (any_binary, any_graded) =
        (report.counts.iter().any(|row| row.binary), report.counts.iter().any(|row| !row.binary));
    let (better, worse) = match (any_binary, any_graded) {
        (true, true) => ("fixed / higher", "broken / lower"),
        (false, true) => ("higher", "lower"),
        _ => ("fixed", "broken"),
    };
    let mut table =
        output::table(&["model", "scorer", "pairs", "before", "after", better, worse, "same"]);
    for row in &report.counts {
        let count = |change| row.changes.get(&change).copied().unwrap_or_default().to_string();
        table.add_row(vec![
            row.model.clone(),
            row.scorer.clone(),
            row.pairs.to_string(),
            value(row.before_mean),
            value(row.after_mean),
            count(Change::Fixed),
            count(Change::Broken),
            count(Change::Same),
        ]);
    }
    table
}

fn evidence_table(report: &DiffReport) -> comfy_table::Table {
    let mut table = output::table(&[
        "model",
        "scorer",
        "difference",
        "95% interval",
        "effect",
        "test",
        "p",
        "p (Holm)",
        "detectable",
        "verdict",
    ]);
    for row in &report.counts {
        let evidence = &row.evidence;
        let signed = |value: f64| format!("{value:+.4}");
        let or_dash = |text: Option<String>| text.unwrap_or_else(|| "–".to_owned());
        table.add_row(vec![
            row.model.clone(),
            row.scorer.clone(),
            or_dash(evidence.difference.map(signed)),
            or_dash(
                evidence.interval.map(|interval| {
                    format!("{} – {}", signed(interval.low), signed(interval.high))
                }),
            ),
            or_dash(
                evidence
                    .effect_size
                    .map(|effect| format!("{:+.2} {}", effect.value, effect.magnitude.word())),
            ),
            test(row),
            p_value(evidence.p_value),
            p_value(evidence.adjusted_p_value),
            or_dash(evidence.minimum_detectable_effect.map(|effect| format!("{effect:.4}"))),
            evidence.verdict.words().to_owned(),
        ]);
    }
    table
}

/// The test, and what it counts where that is not the pairs.
fn test(row: &DiffCounts) -> String {
    let evidence = &row.evidence;
    let name = match evidence.test.as_deref() {
        Some("mcnemar_exact") => "McNemar",
        Some(_) => "paired t",
        None => return "–".to_owned(),
    };
    match evidence.observation.as_ref() {
        "pair" => name.to_owned(),
        what => format!("{name}, {} {what}s", evidence.observations),
    }
}

fn change_table(report: &DiffReport) -> comfy_table::Table {
    let mut table = output::table(&["change", "case", "model", "scorer", "before", "after"]);
    for change in &report.changes {
        table.add_row(vec![
            word(change.change, change.binary).to_owned(),
            output::shortened(&change.case, 40),
            change.model.clone(),
            change.scorer.clone(),
            value(change.before),
            value(change.after),
        ]);
    }
    table
}

fn value(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), |value| format!("{value:.4}"))
}

fn p_value(p: Option<f64>) -> String {
    match p {
        None => "–".to_owned(),
        Some(p) if p < 0.0001 => "< 0.0001".to_owned(),
        Some(p) => format!("{p:.4}"),
    }
}

/// A change in words. A graded value that rose a little has not fixed anything.
fn word(change: Change, binary: bool) -> &'static str {
    match change {
        Change::Fixed if binary => "fixed",
        Change::Fixed => "higher",
        Change::Broken if binary => "broken",
        Change::Broken => "lower",
        Change::Same => "same",
        Change::LostScore => "lost its score",
        Change::GainedScore => "gained a score",
    }
}
