//! `fullbench stats`: each verb asks `fullbench-analysis` and prints what it says.

mod annotation;
mod experiment;
mod judge;
mod ranking;

use fullbench_analysis::{Conclusion, Report};

use crate::arguments::PlainFormat;
use crate::arguments::stats::{StatsArguments, StatsCommand};
use crate::failure::{CliError, Exit};
use crate::output;

/// Letters in a line of a sentence.
const LINE: usize = 110;
/// Letters in a cell of a grid.
const CELL: usize = 100;

/// Runs one verb.
pub(crate) fn run(arguments: &StatsArguments) -> Result<Exit, CliError> {
    match &arguments.command {
        StatsCommand::Agreement(arguments) => annotation::agreement(arguments),
        StatsCommand::Aggregate(arguments) => annotation::aggregate(arguments),
        StatsCommand::Rank(arguments) => ranking::rank(arguments),
        StatsCommand::Ab(arguments) => experiment::ab(arguments),
        StatsCommand::Power(arguments) => experiment::power(arguments),
        StatsCommand::Correlate(arguments) => judge::correlate(arguments),
        StatsCommand::Ppi(arguments) => judge::ppi(arguments),
    }
}

/// Prints a report: the whole as JSON, or grids and sentences.
fn print(report: &impl Report, format: PlainFormat) -> Result<Exit, CliError> {
    match format {
        PlainFormat::Json => output::print_json(report)?,
        PlainFormat::Table => output::print_text(&shown(report))?,
    }
    Ok(Exit::Fine)
}

fn shown(report: &impl Report) -> String {
    let mut text = String::new();
    for grid in report.grids() {
        if let Some(title) = &grid.title {
            text.push_str(&format!("{title}\n"));
        }
        let mut table = output::table(&grid.header);
        for row in &grid.rows {
            table.add_row(row.iter().map(|cell| output::shortened(cell, CELL)).collect::<Vec<_>>());
        }
        text.push_str(&format!("{table}\n"));
    }
    let Conclusion { meaning, firmer } = report.conclusion();
    for sentence in meaning {
        text.push_str(&wrapped(&output::visible(sentence), ""));
    }
    if !firmer.is_empty() {
        text.push_str("\nTo be firmer:\n");
    }
    for sentence in firmer {
        text.push_str(&wrapped(&output::visible(sentence), "- "));
    }
    text
}

/// A sentence in lines of bearable length; the mark stands before the first.
fn wrapped(sentence: &str, mark: &str) -> String {
    let mut text = String::from(mark);
    let mut length = mark.chars().count();
    for (index, word) in sentence.split_whitespace().enumerate() {
        let letters = word.chars().count();
        if index > 0 && length + 1 + letters > LINE {
            text.push('\n');
            text.push_str(&" ".repeat(mark.len()));
            length = mark.len();
        } else if index > 0 {
            text.push(' ');
            length += 1;
        }
        text.push_str(word);
        length += letters;
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_broken_between_words() {
        let sentence = "word ".repeat(40);
        let text = wrapped(&sentence, "- ");
        assert!(text.lines().all(|line| line.chars().count() <= LINE));
        assert!(text.starts_with("- word word") && text.contains("\n  word"));
        assert_eq!(text.split_whitespace().filter(|word| *word == "word").count(), 40);
    }
}
