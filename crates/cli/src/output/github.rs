//! GitHub Actions: annotations on stdout, the summary into the job's summary file.

use std::io::Write;

use fullbench_engine::RunReport;

use super::summary::{because, interval, number};
use super::{markdown, print_text, visible};
use crate::failure::CliError;

/// Prints annotations; a failed gate is an error, one that cannot tell a warning, everything else a notice.
pub(super) fn print(report: &RunReport) -> Result<(), CliError> {
    let mut text = String::new();
    for gate in &report.gates {
        let (kind, title) = match (gate.passed, &gate.warning) {
            (false, _) => ("error", "gate failed"),
            (true, Some(_)) => ("warning", "gate cannot tell"),
            (true, None) => ("notice", "gate holds"),
        };
        let message = format!("{}: {} ({})", gate.model, gate.expression, because(gate));
        text.push_str(&command(kind, title, &message));
    }
    for note in &report.notes {
        text.push_str(&command("warning", "fullbench", note));
    }
    for model in &report.models {
        for scores in &model.scores {
            let message = format!(
                "{}: {} = {} ({}), n = {}, unscored = {}",
                model.model,
                scores.scorer,
                number(scores.mean),
                interval(scores),
                scores.count,
                scores.unscored_count()
            );
            text.push_str(&command("notice", &report.name, &message));
        }
    }
    print_text(&text)?;
    if let Some(path) = std::env::var_os("GITHUB_STEP_SUMMARY") {
        let file = std::fs::OpenOptions::new().append(true).create(true).open(path);
        file?.write_all(markdown::document(report).as_bytes())?;
    }
    Ok(())
}

/// A workflow command; its special characters are escaped, so that no text can become another command.
fn command(kind: &str, title: &str, message: &str) -> String {
    let data =
        |text: &str| visible(&text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A"));
    let title = data(title).replace(':', "%3A").replace(',', "%2C");
    format!("::{kind} title={title}::{}\n", data(message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_become_a_command() {
        let line = command("error", "a:b", "x\n::error::y");
        assert_eq!(line, "::error title=a%3Ab::x%0A::error::y\n");
        assert_eq!(command("notice", "\u{1b}[2J", "x"), "::notice title=\\u{1b}[2J::x\n");
    }
}
