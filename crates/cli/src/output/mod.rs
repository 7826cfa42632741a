//! What goes to stdout: the numbers of a run in several formats.

pub(crate) mod evidence;
mod github;
mod junit;
mod markdown;
pub(crate) mod results;
pub(crate) mod savings;
mod statistics;
mod summary;

use std::io::Write;

use comfy_table::{ContentArrangement, LineStyle, Table, TableStyle};
use fullbench_engine::RunReport;
use fullbench_store::{RunRecord, ScopedStore};
use serde::Serialize;

use crate::arguments::Format;
use crate::failure::CliError;

pub(crate) use statistics::print_report;

/// Prints a report in a format.
pub(crate) async fn print(
    report: &RunReport,
    format: Format,
    store: &ScopedStore,
    run: &RunRecord,
) -> Result<(), CliError> {
    match format {
        Format::Junit => junit::print(report, store, run).await,
        other => print_numbers(report, other),
    }
}

/// Prints a report in a format that takes no more than its numbers.
pub(crate) fn print_numbers(report: &RunReport, format: Format) -> Result<(), CliError> {
    match format {
        Format::Table => print_text(&summary::tables(report)),
        Format::Json => print_json(report),
        Format::Jsonl => summary::print_lines(report),
        Format::Csv => summary::print_csv(report),
        Format::Markdown => print_text(&markdown::document(report)),
        Format::Github => github::print(report),
        Format::Junit => Err(CliError::input(
            "JUnit XML needs every result, and there are only the numbers here",
            Some("use `-o github` or `-o markdown`".to_owned()),
        )),
    }
}

/// Columns without lines, a rule under the header and one at the end.
const STYLE: TableStyle = TableStyle::new()
    .header_separator(LineStyle::none().fill('─').junction('─'))
    .bottom_border(LineStyle::none().fill(' ').junction(' '));

/// A table in the house style. A row is a line, however narrow the terminal: a number cut in two would be another number.
pub(crate) fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(STYLE).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(header.to_vec());
    table
}

/// Text on stdout.
pub(crate) fn print_text(text: &str) -> Result<(), CliError> {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    Ok(stdout.flush()?)
}

/// A JSON document on stdout.
pub(crate) fn print_json(value: &impl Serialize) -> Result<(), CliError> {
    let mut stdout = std::io::stdout().lock();
    serde_json::to_writer_pretty(&mut stdout, value)?;
    writeln!(stdout)?;
    Ok(())
}

/// Untrusted text for a terminal: control characters and marks that change the direction of writing become visible.
pub(crate) fn visible(text: &str) -> String {
    let hidden = |letter: char| {
        (letter.is_control() && !matches!(letter, '\n' | '\t'))
            || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if !text.chars().any(hidden) {
        return text.to_owned();
    }
    let shown = |letter: char| {
        if hidden(letter) { letter.escape_unicode().to_string() } else { letter.to_string() }
    };
    text.chars().map(shown).collect()
}

/// The beginning of a text that must fit a column.
pub(crate) fn shortened(text: &str, width: usize) -> String {
    let line: String = text
        .chars()
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .take(width + 1)
        .collect();
    if line.chars().count() <= width {
        return line;
    }
    let kept: String = line.chars().take(width.saturating_sub(1)).collect();
    format!("{kept}…")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_are_shown_not_obeyed() {
        assert_eq!(visible("a\u{1b}[2Jb\nc\u{202e}d"), "a\\u{1b}[2Jb\nc\\u{202e}d");
        assert_eq!(visible("größe 🙂"), "größe 🙂");
    }
}
