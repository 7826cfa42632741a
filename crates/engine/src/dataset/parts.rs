//! What of a row is what: input, references and metadata, by a mapping or by the usual names.

use fullbench_store::FieldMapping;
use fullbench_types::{CaseKey, TestCase, lookup, text_of};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::ProblemCode;
use super::rows::BadRow;
use crate::prompt::conversation;

/// Fields that are the input where none is named; the first that is there.
pub(crate) const USUAL_INPUTS: [&str; 4] = ["input", "prompt", "question", "conversation"];
/// Fields that are part of the input wherever they stand beside it.
const INPUT_PARTS: [&str; 4] = ["prompt", "context", "system_prompt", "conversation"];
/// Fields with accepted answers where none are named.
pub(crate) const USUAL_REFERENCES: [&str; 3] = ["expected_output", "reference", "references"];
/// Fields that are neither input nor reference nor metadata.
const OTHERS: [&str; 3] = ["id", "output", METADATA];
const METADATA: &str = "metadata";

/// A case as people look at it: its input, the answer that is expected, and what else is known of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InspectedCase {
    /// Position in the version, counted from 0.
    pub index: u64,
    /// Identity across versions and runs.
    pub key: CaseKey,
    /// The mapped field; where the row also has `prompt`, `context`, `system_prompt` or `conversation`, an object of all of them.
    pub input: Value,
    /// The first reference, as text.
    pub expected_output: Option<String>,
    /// The entries of the field `metadata`, and every other field that is not input, reference, `id` or `output`, nor the object
    /// that these are taken from.
    pub metadata: Map<String, Value>,
}

impl InspectedCase {
    /// Takes a case of a version with this mapping apart.
    #[must_use]
    pub fn of(case: TestCase, mapping: &FieldMapping) -> Self {
        let mapped = mapping.input.as_deref();
        let mut metadata = metadata_object(case.fields.get(METADATA)).unwrap_or_default();
        let mut parts = Map::new();
        let is_mapped = |name: &str| {
            let paths = mapping.references.iter().map(String::as_str).chain(mapped);
            paths.into_iter().any(|path| path == name || path.split('.').next() == Some(name))
        };
        for (name, value) in case.fields {
            if is_mapped(&name) || OTHERS.contains(&name.as_str()) {
                continue;
            }
            let is_part = INPUT_PARTS.contains(&name.as_str());
            if is_part && mapped.is_some() {
                if !value.is_null() && value != "" {
                    parts.insert(name, value);
                }
            } else {
                metadata.entry(name).or_insert(value);
            }
        }
        let input = match mapped {
            Some(name) if !parts.is_empty() => {
                let mut all = Map::from_iter([(name.to_owned(), case.input)]);
                all.append(&mut parts);
                Value::Object(all)
            }
            _ => case.input,
        };
        let expected_output = case.references.first().map(|first| text_of(first).into_owned());
        Self { index: case.index, key: case.key, input, expected_output, metadata }
    }
}

/// The metadata of a case: an object, or the text of one, as a CSV file has it.
fn metadata_object(value: Option<&Value>) -> Option<Map<String, Value>> {
    match value? {
        Value::Object(entries) => Some(entries.clone()),
        Value::String(text) => serde_json::from_str(text).ok(),
        _ => None,
    }
}

/// Refuses metadata that is no object.
pub(crate) fn check_metadata(fields: &Map<String, Value>) -> Result<(), BadRow> {
    let value = fields.get(METADATA);
    let is_empty = value.is_none_or(|value| value.is_null() || *value == "");
    if is_empty || matches!(value, Some(Value::Object(_))) || metadata_object(value).is_some() {
        return Ok(());
    }
    Err(BadRow::new(ProblemCode::WrongType, "`metadata` must be an object")
        .in_field(METADATA)
        .hint("write it as {\"category\": \"math\"}, or give the field another name"))
}

/// Refuses a row without input, and, where the input is sent as it is, a list that is no conversation.
pub(crate) fn check_input(
    name: &str,
    fields: &Map<String, Value>,
    is_sent: bool,
) -> Result<(), BadRow> {
    match lookup(fields, name) {
        None | Some(Value::Null) => {
            let message = format!("the case has no `{name}`");
            Err(BadRow::new(ProblemCode::MissingInput, message)
                .in_field(name)
                .hint("every case needs an input"))
        }
        Some(input @ Value::Array(items)) if is_sent && conversation(input).is_none() => {
            let message = if items.is_empty() {
                "the conversation is empty"
            } else {
                "a list must be a conversation"
            };
            let hint = "write messages as {\"role\": \"user\" | \"assistant\" | \"system\", \"content\": \"…\"}";
            Err(BadRow::new(ProblemCode::WrongType, message).in_field(name).hint(hint))
        }
        Some(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn inspected(fields: Value, mapping: &FieldMapping) -> InspectedCase {
        let Value::Object(fields) = fields else { unreachable!() };
        InspectedCase::of(mapping.case(0, "k".to_owned(), fields), mapping)
    }

    fn mapping(input: &str) -> FieldMapping {
        let references = USUAL_REFERENCES.map(str::to_owned).to_vec();
        FieldMapping { input: Some(input.to_owned()), references }
    }

    #[test]
    fn the_fields_of_the_input_stand_together() {
        let row = json!({"id": 1, "prompt": "Why?", "context": "Sky.", "system_prompt": "", "expected_output": "Light.",
            "category": "physics", "metadata": {"tags": ["a"]}, "output": "x"});
        let case = inspected(row, &mapping("prompt"));
        assert_eq!(case.input, json!({"prompt": "Why?", "context": "Sky."}));
        assert_eq!(case.expected_output.as_deref(), Some("Light."));
        assert_eq!(Value::Object(case.metadata), json!({"tags": ["a"], "category": "physics"}));
    }

    #[test]
    fn an_input_alone_is_as_it_is() {
        let input = json!({"prompt": "Why?", "context": "Sky."});
        let case = inspected(json!({"input": input, "references": [1, "one"]}), &mapping("input"));
        assert_eq!((case.input, case.expected_output.as_deref()), (input, Some("1")));
        assert!(case.metadata.is_empty());
    }

    #[test]
    fn metadata_may_be_the_text_of_an_object() {
        let row = json!({"input": "x", "metadata": "{\"level\": 3}"});
        assert!(check_metadata(row.as_object().unwrap_or(&Map::new())).is_ok());
        assert_eq!(inspected(row, &mapping("input")).metadata.get("level"), Some(&json!(3)));
        for wrong in [json!("free"), json!([1]), json!(7)] {
            let row = Map::from_iter([("metadata".to_owned(), wrong)]);
            assert!(check_metadata(&row).is_err());
        }
    }
}
