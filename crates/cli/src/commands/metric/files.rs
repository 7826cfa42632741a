//! Texts of `fullbench metric`: files with one text a line.

use std::io::Read;
use std::path::Path;

use crate::arguments::metric::MetricName;
use crate::failure::CliError;

/// The lines of a file, or of standard input for `-`, without blanks at their ends, as sacreBLEU reads them. The lines of a summary, which ROUGE-Lsum compares one by one, are
/// written as one with `\n` between them.
pub(super) fn lines(path: &Path, metric: MetricName) -> Result<Vec<String>, CliError> {
    let shown = path.display();
    let mut bytes = Vec::new();
    let read = if path == Path::new("-") {
        std::io::stdin().lock().read_to_end(&mut bytes)
    } else {
        std::fs::File::open(path).and_then(|mut file| file.read_to_end(&mut bytes))
    };
    if let Err(error) = read {
        let hint = "name a file with one text a line, or `-` for standard input";
        return Err(CliError::input(
            format!("{shown} cannot be read: {error}"),
            Some(hint.to_owned()),
        ));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        CliError::input(
            format!("{shown}:{line}: the text is not UTF-8"),
            Some("save the file as UTF-8".to_owned()),
        )
    })?;
    let is_summary = metric == MetricName::RougeLsum;
    let text_of_line = |line: &str| {
        let line = line.trim_end_matches(is_blank);
        if is_summary { line.replace("\\n", "\n") } else { line.to_owned() }
    };
    let lines: Vec<String> = text.lines().map(text_of_line).collect();
    if lines.is_empty() {
        return Err(CliError::input(format!("{shown} has no lines"), None));
    }
    Ok(lines)
}

/// Refuses files that cannot be lined up.
pub(super) fn check_lengths(files: &[(&Path, &[String])]) -> Result<(), CliError> {
    let Some((first, expected)) = files.first() else { return Ok(()) };
    for (path, lines) in &files[1..] {
        if lines.len() != expected.len() {
            return Err(CliError::input(
                format!(
                    "{} has {} lines and {} has {}",
                    first.display(),
                    expected.len(),
                    path.display(),
                    lines.len()
                ),
                Some("line n of every file must belong to the same text; an empty output is an empty line".to_owned()),
            ));
        }
    }
    Ok(())
}

/// White space as Python's `str.rstrip` has it.
fn is_blank(letter: char) -> bool {
    letter.is_whitespace() || matches!(letter, '\u{1c}'..='\u{1f}')
}
