//! The texts of a data set file by themselves, for work on data sets outside of a run.

use std::path::Path;

use fullbench_types::{lookup, text_of};
use serde::Serialize;
use serde_json::{Map, Value};

use super::file::read_rows;
use crate::prompt::conversation;
use crate::spec::did_you_mean;
use crate::{EngineError, InputProblem};

/// The text of a case, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CaseText {
    /// The case's id, or its number where the data has no ids.
    pub id: String,
    /// Its line, where the format has lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The text.
    pub text: String,
}

/// Reads one field of every case: `input` unless another is named. Of a conversation the contents of its messages count.
///
/// # Errors
/// When the file cannot be read, has no cases, or a case has no such field.
pub fn read_texts(path: &Path, field: Option<&str>) -> Result<Vec<CaseText>, EngineError> {
    let mut texts = Vec::new();
    read_rows(path, &mut |row| {
        let text = text_of_field(&row.fields, field.unwrap_or("input"))?;
        let id = match row.fields.get("id") {
            Some(id @ (Value::String(_) | Value::Number(_))) => text_of(id).into_owned(),
            _ => row.number.to_string(),
        };
        texts.push(CaseText { id, line: row.line, text });
        Ok(())
    })?;
    if texts.is_empty() {
        return Err(InputProblem::new("the data set has no cases").in_file(path).into());
    }
    Ok(texts)
}

fn text_of_field(fields: &Map<String, Value>, name: &str) -> Result<String, InputProblem> {
    match lookup(fields, name) {
        Some(value) if !value.is_null() => Ok(match conversation(value) {
            Some(messages) => messages
                .iter()
                .map(|message| message.content.as_str())
                .collect::<Vec<_>>()
                .join("\n"),
            None => text_of(value).into_owned(),
        }),
        _ => {
            let hint = did_you_mean(name, fields.keys().map(String::as_str));
            Err(InputProblem::new(format!("the case has no `{name}`"))
                .in_field(name)
                .hint(format!("name the field with --field; {hint}")))
        }
    }
}
