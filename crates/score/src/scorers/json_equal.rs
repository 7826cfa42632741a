//! `json_equal`: the JSON output is the expected JSON.

use std::borrow::Cow;

use fullbench_types::Score;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::expectation::{expected, missing_reference};
use super::json_text::{difference, json_of};
use super::numeric_match::check_tolerance;
use super::{ItemScorer, Parameters};
use crate::registry::ScorerConfigError;
use crate::scorer::Item;

/// Parameters of `json_equal`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct JsonEqual {
    /// The expected value, in place of the case's references.
    value: Option<Value>,
    /// How far apart two numbers may be.
    #[schemars(range(min = 0.0))]
    tolerance: f64,
    /// Take the first JSON in a code fence or in the text, rather than the whole output.
    extract: bool,
}

impl Parameters for JsonEqual {
    type Scorer = Self;

    const KIND: &'static str = "json_equal";
    const SUMMARY: &'static str =
        "Passes when the JSON output equals the reference; the order of fields does not matter.";
    const EXAMPLE: &'static str = "{ type: json_equal, tolerance: 0.01 }";
    const NEEDS_REFERENCE: bool = true;

    fn build(self) -> Result<Self, ScorerConfigError> {
        check_tolerance("tolerance", self.tolerance)?;
        Ok(self)
    }
}

impl ItemScorer for JsonEqual {
    fn score_item(&self, item: &Item<'_>) -> Score {
        let Some(expected) = expected(self.value.as_ref(), item) else {
            return missing_reference();
        };
        let found = match json_of(&item.generation.text, self.extract) {
            Ok(value) => value,
            Err(reason) => return Score::binary(false).because(reason),
        };
        let mut first_difference = None;
        for expected in expected.iter().filter(|value| !value.is_null()) {
            match difference(&found, &as_json(expected), self.tolerance) {
                None => return Score::binary(true),
                Some(difference) => first_difference = first_difference.or(Some(difference)),
            }
        }
        Score::binary(false).because(first_difference.unwrap_or_default())
    }
}

/// A reference that is text is read as JSON where it is JSON.
fn as_json(reference: &Value) -> Cow<'_, Value> {
    if let Value::String(text) = reference
        && let Ok(value) = serde_json::from_str(text)
    {
        return Cow::Owned(value);
    }
    Cow::Borrowed(reference)
}

#[cfg(test)]
mod tests {
    use fullbench_types::UnscoredReason;
    use serde_json::json;

    use crate::scorers::fixture::{assert_table, none, score, scorer};

    #[test]
    fn json_is_compared_by_value() {
        assert_table(
            json!("json_equal"),
            &[
                ("{\"b\": 2, \"a\": 1.0}", json!({"a": 1, "b": 2}), true),
                ("{\"a\": 1}", json!("{ \"a\": 1 }"), true),
                ("\"Paris\"", json!("Paris"), true),
                ("[1, 2]", json!([[1, 2]]), true),
                ("[2, 1]", json!([[1, 2]]), false),
                ("{\"a\": 1}", json!([{"a": 2}, {"a": 1}]), true),
                ("{\"a\": \"1\"}", json!({"a": 1}), false),
                ("Paris", json!("Paris"), false),
            ],
        );
        let near =
            json!({"type": "json_equal", "tolerance": 0.1, "value": {"a": [0.5]}, "extract": true});
        assert_table(
            near,
            &[("So {\"a\": [0.45]}", none(), true), ("So {\"a\": [0.3]}", none(), false)],
        );
    }

    #[test]
    fn the_first_difference_is_the_reason() {
        let equal = scorer(json!("json_equal"));
        let failed = score(&equal, "{\"a\": [1]}", json!({"a": [2]}));
        assert_eq!(failed.reasoning.as_deref(), Some("at `a.0`: expected 2, got 1"));
        assert_eq!(
            score(&equal, "{}", none()).outcome.reason(),
            Some(UnscoredReason::MissingReference)
        );
    }
}
