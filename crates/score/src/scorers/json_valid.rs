//! `json_valid`: the output is JSON.

use fullbench_types::Score;
use schemars::JsonSchema;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use super::json_text::json_of;
use super::{ItemScorer, Parameters};
use crate::registry::ScorerConfigError;
use crate::scorer::Item;

/// Parameters of `json_valid`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct JsonValid {
    /// Take the first JSON in a code fence or in the text, rather than the whole output.
    extract: bool,
}

impl Parameters for JsonValid {
    type Scorer = Self;

    const KIND: &'static str = "json_valid";
    const SUMMARY: &'static str = "Passes when the output is valid JSON.";
    const EXAMPLE: &'static str = "json_valid";

    fn build(self) -> Result<Self, ScorerConfigError> {
        Ok(self)
    }
}

impl ItemScorer for JsonValid {
    fn score_item(&self, item: &Item<'_>) -> Score {
        let output = &item.generation.text;
        if serde_json::from_str::<IgnoredAny>(output).is_ok() {
            return Score::binary(true);
        }
        match json_of(output, self.extract) {
            Ok(_) => Score::binary(true),
            Err(reason) => Score::binary(false).because(reason),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::scorers::fixture::{assert_table, none, score, scorer};

    #[test]
    fn the_whole_output_must_be_json() {
        assert_table(
            json!("json_valid"),
            &[
                ("{\"a\": [1, 2.5e3, null]}", none(), true),
                (" \n42\n", none(), true),
                ("\"text\"", none(), true),
                ("", none(), false),
                ("{'a': 1}", none(), false),
                ("{\"a\": 1,}", none(), false),
                ("{} {}", none(), false),
                ("```json\n{}\n```", none(), false),
            ],
        );
    }

    #[test]
    fn with_extract_it_may_be_wrapped_in_words() {
        assert_table(
            json!({"type": "json_valid", "extract": true}),
            &[
                ("```json\n{}\n```", none(), true),
                ("So: [1]", none(), true),
                ("So: none", none(), false),
            ],
        );
    }

    #[test]
    fn the_reason_names_the_place() {
        let failed = score(&scorer(json!("json_valid")), "{\"a\": }", none());
        assert_eq!(
            failed.reasoning.as_deref(),
            Some("the output is not JSON: expected value at line 1 column 7")
        );
    }
}
