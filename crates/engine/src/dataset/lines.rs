//! JSON Lines: one object a line.

use std::io::{BufRead, Read};

use super::rows::{MAX_ROW_BYTES, Row, RowSink, object};
use crate::InputProblem;
use crate::spec::unreadable_file;

/// Reads the rows of a JSON Lines file.
pub(crate) fn read(mut source: impl BufRead, sink: RowSink<'_>) -> Result<(), InputProblem> {
    let mut bytes = Vec::new();
    let (mut line, mut number) = (0, 0);
    loop {
        bytes.clear();
        line += 1;
        let mut limited = (&mut source).take(MAX_ROW_BYTES as u64 + 1);
        let read =
            limited.read_until(b'\n', &mut bytes).map_err(|error| unreadable_file(&error))?;
        if read == 0 {
            return Ok(());
        }
        if bytes.len() > MAX_ROW_BYTES {
            let problem =
                InputProblem::new(format!("the line is longer than {} MiB", MAX_ROW_BYTES >> 20));
            return Err(problem
                .at_line(line)
                .hint("JSON Lines has one case a line; is this a `.json` file?"));
        }
        let mut text = without_line_end(&bytes);
        if line == 1 {
            text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
        }
        if text.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        if let Err(error) = std::str::from_utf8(text) {
            let problem = InputProblem::new(format!(
                "the line is not valid UTF-8 (byte {})",
                error.valid_up_to() + 1
            ));
            return Err(problem.at_line(line).hint("save the file as UTF-8"));
        }
        number += 1;
        let value = serde_json::from_slice(text).map_err(|error| not_json(&error, line))?;
        let fields = object(value).map_err(|problem| problem.at_line(line))?;
        sink(Row { line: Some(line), number, fields })?;
    }
}

fn without_line_end(bytes: &[u8]) -> &[u8] {
    let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    bytes.strip_suffix(b"\r").unwrap_or(bytes)
}

fn not_json(error: &serde_json::Error, line: u64) -> InputProblem {
    let problem =
        InputProblem::new(format!("this is not valid JSON: {}", super::json::reason(error)));
    InputProblem { column: Some(error.column() as u64), ..problem.at_line(line) }
        .hint("JSON Lines has one complete JSON object a line")
}
