//! `json_schema`: the output is JSON that satisfies a schema.

use fullbench_types::Score;
use jsonschema::Validator;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::json_text::json_of;
use super::{ItemScorer, Parameters};
use crate::registry::ScorerConfigError;
use crate::scorer::Item;

/// Parameters of `json_schema`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct JsonSchemaMatch {
    /// The JSON schema, or the path of a JSON file that holds it. References to other files or URLs are not followed.
    schema: Value,
    /// Take the first JSON in a code fence or in the text, rather than the whole output.
    #[serde(default)]
    extract: bool,
}

/// Validates outputs.
pub(crate) struct SchemaValidator {
    validator: Validator,
    extract: bool,
}

impl Parameters for JsonSchemaMatch {
    type Scorer = SchemaValidator;

    const KIND: &'static str = "json_schema";
    const SUMMARY: &'static str = "Passes when the output is JSON that satisfies a JSON schema.";
    const EXAMPLE: &'static str = "{ type: json_schema, schema: schemas/answer.json }";
    const FILE_PARAMETERS: &'static [&'static str] = &["schema"];

    fn build(self) -> Result<SchemaValidator, ScorerConfigError> {
        if !self.schema.is_object() && !self.schema.is_boolean() {
            let message = format!("a JSON schema is an object, not {}", kind_of(&self.schema));
            return Err(ScorerConfigError::at("schema", message));
        }
        let built = jsonschema::options().offline().build(&self.schema);
        let validator = built.map_err(|error| {
            let place = error.instance_path().to_string();
            let message = one_line(&error.to_string());
            let message = if place.is_empty() { message } else { format!("at {place}: {message}") };
            ScorerConfigError::at("schema", format!("not a JSON schema: {message}"))
        })?;
        Ok(SchemaValidator { validator, extract: self.extract })
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

fn one_line(text: &str) -> String {
    const LONGEST: usize = 200;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

impl ItemScorer for SchemaValidator {
    fn score_item(&self, item: &Item<'_>) -> Score {
        const SHOWN: usize = 3;
        let value = match json_of(&item.generation.text, self.extract) {
            Ok(value) => value,
            Err(reason) => return Score::binary(false).because(reason),
        };
        if self.validator.is_valid(&value) {
            return Score::binary(true);
        }
        let violations = self.validator.iter_errors(&value).take(SHOWN).map(|error| {
            let place = error.instance_path().to_string();
            let place = if place.is_empty() { "/".to_owned() } else { place };
            format!("{place}: {}", one_line(&error.to_string()))
        });
        Score::binary(false).because(violations.collect::<Vec<_>>().join("; "))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::scorers::fixture::{assert_table, none, refused, score, scorer};

    #[test]
    fn outputs_are_validated() {
        let schema = json!({
            "type": "object",
            "properties": {"answer": {"type": "integer"}, "tags": {"type": "array", "items": {"$ref": "#/$defs/tag"}}},
            "required": ["answer"],
            "additionalProperties": false,
            "$defs": {"tag": {"type": "string"}},
        });
        assert_table(
            json!({"type": "json_schema", "schema": schema}),
            &[
                ("{\"answer\": 1}", none(), true),
                ("{\"answer\": 1, \"tags\": [\"a\"]}", none(), true),
                ("{\"answer\": \"1\"}", none(), false),
                ("{\"answer\": 1, \"tags\": [1]}", none(), false),
                ("{}", none(), false),
                ("[]", none(), false),
                ("not json", none(), false),
                ("```\n{\"answer\": 1}\n```", none(), false),
            ],
        );
        let extracting = json!({"type": "json_schema", "schema": schema, "extract": true});
        assert_table(extracting, &[("```\n{\"answer\": 1}\n```", none(), true)]);
    }

    #[test]
    fn violations_are_listed_with_their_places() {
        let items =
            json!({"type": "json_schema", "schema": {"items": {"type": "string"}, "minItems": 2}});
        let failed = score(&scorer(items), "[1]", none());
        assert_eq!(
            failed.reasoning.as_deref(),
            Some("/: [1] has less than 2 items; /0: 1 is not of type \"string\"")
        );
    }

    #[test]
    fn a_bad_schema_is_refused_before_the_run() {
        let refused = |schema| refused(json!({"type": "json_schema", "schema": schema}));
        assert_eq!(
            refused(json!("schemas/answer.json")).message,
            "a JSON schema is an object, not a text"
        );
        let wrong = refused(json!({"type": "objekt"}));
        assert_eq!(wrong.field.as_deref(), Some("schema"));
        assert!(wrong.message.starts_with("not a JSON schema: at /type: "), "{}", wrong.message);
        assert!(
            refused(json!({"$ref": "https://example.com/schema.json"}))
                .message
                .contains("example.com")
        );
        assert!(
            refused(json!({"$ref": "file:///etc/passwd"})).message.starts_with("not a JSON schema")
        );
        assert!(refused(json!({"pattern": "("})).message.starts_with("not a JSON schema"));
    }
}
