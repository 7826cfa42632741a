//! A row of a data set file, and where it stands.

use serde_json::{Map, Value};

use super::ProblemCode;
use crate::InputProblem;

/// A row with the place it was read from.
#[derive(Debug)]
pub(crate) struct Row {
    /// Its line, where the format has lines.
    pub(crate) line: Option<u64>,
    /// Its number, from 1.
    pub(crate) number: u64,
    /// Its fields.
    pub(crate) fields: Map<String, Value>,
}

/// A row that cannot be used, or what is wrong with the file where there is no number.
#[derive(Debug)]
pub(crate) struct BadRow {
    pub(crate) number: Option<u64>,
    pub(crate) code: ProblemCode,
    pub(crate) problem: InputProblem,
}

impl BadRow {
    /// A problem without a place yet.
    pub(crate) fn new(code: ProblemCode, message: impl Into<String>) -> Self {
        Self { number: None, code, problem: InputProblem::new(message) }
    }

    pub(crate) fn in_row(self, number: u64, line: Option<u64>) -> Self {
        let problem = InputProblem { line: line.or(self.problem.line), ..self.problem };
        Self { number: Some(number), problem, ..self }
    }

    pub(crate) fn in_field(self, field: &str) -> Self {
        Self { problem: self.problem.in_field(field), ..self }
    }

    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Self { problem: self.problem.hint(hint), ..self }
    }
}

/// The problem by itself; its row is named where no line is.
impl From<BadRow> for InputProblem {
    fn from(bad: BadRow) -> Self {
        match (bad.problem.line, bad.number) {
            (None, Some(number)) => {
                let message = format!("case {number}: {}", bad.problem.message);
                Self { message, ..bad.problem }
            }
            _ => bad.problem,
        }
    }
}

/// A row may hold this much; a larger one is a broken file.
pub(crate) const MAX_ROW_BYTES: usize = 16 * 1024 * 1024;

/// Takes the rows of a file one by one, and those that are no rows; an error ends the reading. A reader goes on after a bad row
/// where the format tells where the next one begins.
pub(crate) type RowSink<'sink> =
    &'sink mut dyn FnMut(Result<Row, BadRow>) -> Result<(), InputProblem>;

/// The fields of a JSON value that must be an object.
pub(crate) fn object(value: Value) -> Result<Map<String, Value>, BadRow> {
    match value {
        Value::Object(fields) => Ok(fields),
        other => {
            let message = format!("expected an object with fields, found {}", kind(&other));
            Err(BadRow::new(ProblemCode::WrongType, message)
                .hint("write each case as {\"input\": …, \"reference\": …}"))
        }
    }
}

/// What a value takes in memory, roughly.
#[must_use]
pub fn bytes_in_memory(value: &Value) -> usize {
    let within = match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(bytes_in_memory).sum(),
        Value::Object(entries) => {
            entries.iter().map(|(name, value)| name.len() + bytes_in_memory(value)).sum()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    };
    within + size_of_val(value)
}

/// What a value is, for people.
pub(crate) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
