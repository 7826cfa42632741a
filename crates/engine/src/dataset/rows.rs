//! A row of a data set file, and where it stands.

use serde_json::{Map, Value};

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

/// A row may hold this much; a larger one is a broken file.
pub(crate) const MAX_ROW_BYTES: usize = 16 * 1024 * 1024;

/// Takes the rows of a file one by one; an error ends the reading.
pub(crate) type RowSink<'sink> = &'sink mut dyn FnMut(Row) -> Result<(), InputProblem>;

/// The fields of a JSON value that must be an object.
pub(crate) fn object(value: Value) -> Result<Map<String, Value>, InputProblem> {
    match value {
        Value::Object(fields) => Ok(fields),
        other => {
            let problem = InputProblem::new(format!(
                "expected an object with fields, found {}",
                kind(&other)
            ));
            Err(problem.hint("write each case as {\"input\": …, \"reference\": …}"))
        }
    }
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
