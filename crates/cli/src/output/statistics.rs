//! Reports of statistics: grids, and sentences that say what they mean.

use fullbench_analysis::{Conclusion, Report};

use crate::failure::CliError;

/// Letters in a line of a sentence.
const LINE: usize = 110;
/// Letters in a cell of a grid.
const CELL: usize = 100;

/// Prints a report as grids and sentences.
pub(crate) fn print_report(report: &impl Report) -> Result<(), CliError> {
    super::print_text(&shown(report))
}

fn shown(report: &impl Report) -> String {
    let mut text = String::new();
    for grid in report.grids() {
        if let Some(title) = &grid.title {
            text.push_str(&format!("{title}\n"));
        }
        let mut table = super::table(&grid.header);
        for row in &grid.rows {
            table.add_row(row.iter().map(|cell| super::shortened(cell, CELL)).collect::<Vec<_>>());
        }
        text.push_str(&format!("{table}\n"));
    }
    let Conclusion { meaning, firmer } = report.conclusion();
    for sentence in meaning {
        text.push_str(&wrapped(&super::visible(sentence), ""));
    }
    if !firmer.is_empty() {
        text.push_str("\nTo be firmer:\n");
    }
    for sentence in firmer {
        text.push_str(&wrapped(&super::visible(sentence), "- "));
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
