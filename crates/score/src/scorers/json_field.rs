//! `json_field`: one field of a JSON output has the expected value.

use fullbench_types::Score;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::expectation::{expected, listed, missing_reference};
use super::json_text::{at, brief, json_of, reads_alike};
use super::numeric_match::check_tolerance;
use super::{ItemScorer, Parameters};
use crate::registry::ScorerConfigError;
use crate::scorer::Item;

/// Parameters of `json_field`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct JsonField {
    /// Path of the field, such as `answer.value` or `items.0.name`.
    field: String,
    /// The expected value, in place of the case's references. A reference that is an object with this field counts by the field.
    #[serde(default)]
    value: Option<Value>,
    /// How far apart two numbers may be.
    #[serde(default)]
    #[schemars(range(min = 0.0))]
    tolerance: f64,
    /// Take the first JSON in a code fence or in the text, rather than the whole output.
    #[serde(default)]
    extract: bool,
}

impl Parameters for JsonField {
    type Scorer = Self;

    const KIND: &'static str = "json_field";
    const SUMMARY: &'static str =
        "Passes when one field of the JSON output equals the reference or a given value.";
    const EXAMPLE: &'static str = "{ type: json_field, field: answer.value, tolerance: 0.01 }";
    const NEEDS_REFERENCE: bool = true;

    fn build(self) -> Result<Self, ScorerConfigError> {
        if self.field.is_empty() {
            return Err(ScorerConfigError::at("field", "the path is empty")
                .hint("use `json_equal` to compare the whole output"));
        }
        check_tolerance("tolerance", self.tolerance)?;
        Ok(self)
    }
}

impl ItemScorer for JsonField {
    fn score_item(&self, item: &Item<'_>) -> Score {
        let Some(expected) = expected(self.value.as_ref(), item) else {
            return missing_reference();
        };
        let value = match json_of(&item.generation.text, self.extract) {
            Ok(value) => value,
            Err(reason) => return Score::binary(false).because(reason),
        };
        let Some(found) = at(&value, &self.field) else {
            return Score::binary(false)
                .because(format!("the output has no field `{}`", self.field));
        };
        let known = expected.iter().filter(|value| !value.is_null());
        for expected in known {
            let parsed = self.field_of(expected);
            if reads_alike(found, parsed.as_ref().unwrap_or(expected), self.tolerance) {
                return Score::binary(true);
            }
        }
        let reason = format!("`{}` is {}, expected {}", self.field, brief(found), listed(expected));
        Score::binary(false).because(reason)
    }
}

impl JsonField {
    /// The field of a reference that is an object, or the text of one.
    fn field_of(&self, reference: &Value) -> Option<Value> {
        match reference {
            Value::Object(_) => at(reference, &self.field).cloned(),
            Value::String(text) if text.trim_start().starts_with('{') => {
                let object: Value = serde_json::from_str(text).ok()?;
                at(&object, &self.field).cloned()
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use fullbench_types::UnscoredReason;
    use serde_json::json;

    use crate::scorers::fixture::{assert_table, none, refused, score, scorer};

    #[test]
    fn a_field_is_compared_with_the_reference() {
        assert_table(
            json!({"type": "json_field", "field": "a.b"}),
            &[
                ("{\"a\": {\"b\": \"x\"}}", json!("x"), true),
                ("{\"a\": {\"b\": 42}}", json!("42"), true),
                ("{\"a\": {\"b\": 42.0}}", json!(42), true),
                ("{\"a\": {\"b\": \"42\"}}", json!(42), true),
                ("{\"a\": {\"b\": true}}", json!("true"), true),
                ("{\"a\": {\"b\": [1]}}", json!([[1]]), true),
                ("{\"a\": {\"b\": \"y\"}}", json!(["x", "y"]), true),
                ("{\"a\": {\"b\": \"x\"}}", json!({"a": {"b": "x"}}), true),
                ("{\"a\": {\"b\": \"x\"}}", json!("{\"a\": {\"b\": \"x\"}}"), true),
                ("{\"a\": {\"b\": \"z\"}}", json!("x"), false),
                ("{\"a\": {}}", json!("x"), false),
                ("x", json!("x"), false),
            ],
        );
        let near = json!({"type": "json_field", "field": "n", "value": 0.29, "tolerance": 0.01});
        assert_table(near, &[("{\"n\": 0.30}", none(), true), ("{\"n\": 0.31}", none(), false)]);
        let item = json!({"type": "json_field", "field": "0.id", "value": 7, "extract": true});
        assert_table(item, &[("Found: [{\"id\": 7}]", none(), true)]);
    }

    #[test]
    fn it_says_what_it_found_and_needs_something_to_compare() {
        let field = scorer(json!({"type": "json_field", "field": "a"}));
        assert_eq!(
            score(&field, "{\"a\": 1}", json!("2")).reasoning.as_deref(),
            Some("`a` is 1, expected \"2\"")
        );
        assert_eq!(
            score(&field, "{}", json!("2")).reasoning.as_deref(),
            Some("the output has no field `a`")
        );
        assert_eq!(
            score(&field, "{}", none()).outcome.reason(),
            Some(UnscoredReason::MissingReference)
        );
        assert_eq!(
            refused(json!({"type": "json_field", "field": ""})).field.as_deref(),
            Some("field")
        );
        let negative = json!({"type": "json_field", "field": "a", "tolerance": -1});
        assert_eq!(refused(negative).field.as_deref(), Some("tolerance"));
    }
}
