//! What each scorer is, for the JSON schema of evaluation files and for the reference pages.

use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use crate::scorers::{KINDS, Kind};

/// A scorer as the reference pages show it.
#[derive(Debug, Clone, PartialEq)]
pub struct ScorerDescription {
    /// The name in `type:`.
    pub kind: &'static str,
    /// What it does, in a line.
    pub summary: &'static str,
    /// Compares with the case's references, unless its parameters say what to expect.
    pub needs_reference: bool,
    /// Every score is yes or no with the default parameters; otherwise graded.
    pub binary: bool,
    /// JSON schema of the parameters, each with its description and default.
    pub parameters: Value,
    /// An entry of `scorers:` as YAML.
    pub example: &'static str,
    /// Parameters that may be the path of a JSON file, which is read and put in its place before building.
    pub file_parameters: &'static [&'static str],
    /// Parameters that may be the path of a JSON Lines file, by their path; it is read and put in its place before building.
    pub lines_parameters: &'static [&'static str],
    /// Parameters that are the path of a text file, each with the parameter that gets its content before building.
    pub code_parameters: &'static [(&'static str, &'static str)],
    /// Parameters that may be the path of a model's folder, which is made absolute before building.
    pub model_parameters: &'static [&'static str],
    /// Parameters that are language models, by their path: `model`, `judges.model`.
    pub language_model_parameters: &'static [&'static str],
    /// Parameters that are scorers themselves, by their path: `members.scorer`.
    pub scorer_parameters: &'static [&'static str],
}

/// Every scorer, by kind.
#[must_use]
pub fn descriptions() -> Vec<ScorerDescription> {
    KINDS.iter().map(describe).collect()
}

fn describe(kind: &Kind) -> ScorerDescription {
    ScorerDescription {
        kind: kind.name,
        summary: kind.summary,
        needs_reference: kind.needs_reference,
        binary: kind.binary,
        parameters: parameters_schema(kind).to_value(),
        example: kind.example,
        file_parameters: kind.file_parameters,
        lines_parameters: kind.lines_parameters,
        code_parameters: kind.code_parameters,
        model_parameters: kind.model_parameters,
        language_model_parameters: kind.language_model_parameters,
        scorer_parameters: kind.scorer_parameters,
    }
}

/// The schema of a kind's parameters, complete in itself.
fn parameters_schema(kind: &Kind) -> Schema {
    let settings =
        SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    (kind.schema)(&mut settings.into_generator())
}

/// The names of a kind's parameters.
pub(crate) fn parameter_names(kind: &Kind) -> Vec<String> {
    let schema = parameters_schema(kind);
    let properties = schema.get("properties").and_then(Value::as_object);
    properties.into_iter().flatten().map(|(name, _)| name.clone()).collect()
}

/// The schema of an entry: a bare name where no parameter is required, or a map of one scorer's parameters.
pub(crate) fn entry_schema(generator: &mut SchemaGenerator) -> Schema {
    let mut alternatives = Vec::new();
    for kind in KINDS {
        let mut schema = (kind.schema)(generator);
        if schema.get("required").is_none() {
            alternatives.push(json!({"const": kind.name, "description": kind.summary}));
        }
        add_entry_fields(&mut schema, kind);
        alternatives.push(schema.to_value());
    }
    json_schema!({
        "description": "A scorer: its name, or a map with `type` and its parameters.",
        "oneOf": alternatives,
    })
}

fn add_entry_fields(schema: &mut Schema, kind: &Kind) {
    let mut properties = json!({
        "type": {"const": kind.name, "description": kind.summary},
        "name": {
            "description": "What to call the scores; the type unless given.",
            "type": "string",
            "pattern": "^[A-Za-z_][A-Za-z0-9_]*$",
        },
    });
    let mut required = vec![json!("type")];
    if let (Some(own), Some(Value::Object(parameters))) =
        (properties.as_object_mut(), schema.remove("properties"))
    {
        own.extend(parameters);
    }
    if let Some(Value::Array(names)) = schema.remove("required") {
        required.extend(names);
    }
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("title".to_owned(), json!(kind.name));
    schema.insert("description".to_owned(), json!(kind.summary));
    schema.insert("properties".to_owned(), properties);
    schema.insert("required".to_owned(), Value::Array(required));
    schema.insert("additionalProperties".to_owned(), json!(false));
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn every_parameter_is_documented() {
        for description in descriptions() {
            let properties = description.parameters["properties"].as_object();
            for (name, schema) in properties.into_iter().flatten() {
                assert!(
                    schema["description"].is_string(),
                    "{}.{name} has no description",
                    description.kind
                );
            }
            for path in description.file_parameters.iter().chain(description.model_parameters) {
                let name = path.split('.').next().unwrap();
                assert!(properties.unwrap().contains_key(name));
            }
        }
    }

    #[test]
    fn kinds_are_sorted_for_the_reader() {
        assert!(KINDS.is_sorted_by(|first, second| first.name < second.name));
    }
}
