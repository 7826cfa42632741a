//! JSON Lines: one object a line.

use std::io::{BufRead, Read};

use super::ProblemCode;
use super::limited::too_long;
use super::rows::{BadRow, MAX_ROW_BYTES, Row, RowSink, object};
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
        let is_too_long = bytes.len() > MAX_ROW_BYTES;
        if is_too_long && !bytes.ends_with(b"\n") {
            source.skip_until(b'\n').map_err(|error| unreadable_file(&error))?;
        }
        let mut text = without_line_end(&bytes);
        if line == 1 {
            text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
        }
        if !is_too_long && text.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        number += 1;
        let fields = if is_too_long {
            Err(too_long("line").hint("JSON Lines has one case a line; is this a `.json` file?"))
        } else {
            fields(text)
        };
        let line = Some(line);
        match fields {
            Ok(fields) => sink(Ok(Row { line, number, fields }))?,
            Err(bad) => sink(Err(bad.in_row(number, line)))?,
        }
    }
}

fn fields(text: &[u8]) -> Result<serde_json::Map<String, serde_json::Value>, BadRow> {
    if let Err(error) = std::str::from_utf8(text) {
        let message = format!("the line is not valid UTF-8 (byte {})", error.valid_up_to() + 1);
        return Err(BadRow::new(ProblemCode::NotUtf8, message).hint("save the file as UTF-8"));
    }
    object(serde_json::from_slice(text).map_err(|error| not_json(&error))?)
}

fn without_line_end(bytes: &[u8]) -> &[u8] {
    let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    bytes.strip_suffix(b"\r").unwrap_or(bytes)
}

fn not_json(error: &serde_json::Error) -> BadRow {
    let message = format!("this is not valid JSON: {}", super::json::reason(error));
    let bad = BadRow::new(ProblemCode::NotJson, message)
        .hint("JSON Lines has one complete JSON object a line");
    let column = Some(error.column() as u64);
    BadRow { problem: InputProblem { column, ..bad.problem }, ..bad }
}
