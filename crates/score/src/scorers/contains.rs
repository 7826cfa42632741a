//! `contains` and `not_contains`: texts that must, or must not, occur in the output.

use fullbench_types::{Score, text_of};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::expectation::{expected, listed, missing_reference, quoted};
use super::{ItemScorer, Parameters};
use crate::registry::ScorerConfigError;
use crate::scorer::Item;

/// How many of the texts must occur.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Mode {
    /// One of them.
    #[default]
    Any,
    /// Every one.
    All,
}

/// Parameters of `contains`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Contains {
    /// The texts to look for, in place of the case's references.
    values: Option<Vec<Value>>,
    /// How many of the texts must occur: any or all.
    mode: Mode,
    /// Take small and capital letters as the same.
    ignore_case: bool,
}

/// Parameters of `not_contains`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct NotContains {
    /// The texts that must not occur, in place of the case's references.
    values: Option<Vec<Value>>,
    /// Take small and capital letters as the same.
    ignore_case: bool,
}

/// Looks for texts in outputs.
pub(crate) struct Finder {
    values: Option<Vec<Value>>,
    wanted: Wanted,
    ignore_case: bool,
}

#[derive(Clone, Copy)]
enum Wanted {
    Any,
    All,
    Neither,
}

impl Parameters for Contains {
    type Scorer = Finder;

    const KIND: &'static str = "contains";
    const SUMMARY: &'static str =
        "Passes when the output contains a reference, or any or all of the given texts.";
    const EXAMPLE: &'static str =
        "{ type: contains, values: [refund, \"5 days\"], mode: all, ignore_case: true }";
    const NEEDS_REFERENCE: bool = true;

    fn build(self) -> Result<Finder, ScorerConfigError> {
        let wanted = if self.mode == Mode::All { Wanted::All } else { Wanted::Any };
        Finder::new(self.values, wanted, self.ignore_case)
    }
}

impl Parameters for NotContains {
    type Scorer = Finder;

    const KIND: &'static str = "not_contains";
    const SUMMARY: &'static str =
        "Passes when the output contains none of the references or given texts.";
    const EXAMPLE: &'static str =
        "{ type: not_contains, values: [\"as an AI\"], ignore_case: true }";
    const NEEDS_REFERENCE: bool = true;

    fn build(self) -> Result<Finder, ScorerConfigError> {
        Finder::new(self.values, Wanted::Neither, self.ignore_case)
    }
}

impl Finder {
    fn new(
        values: Option<Vec<Value>>,
        wanted: Wanted,
        ignore_case: bool,
    ) -> Result<Self, ScorerConfigError> {
        for (index, value) in values.iter().flatten().enumerate() {
            if value.is_null() || text_of(value).is_empty() {
                let field = format!("values[{index}]");
                return Err(ScorerConfigError::at(
                    field,
                    "an empty text is contained in every output",
                ));
            }
        }
        if values.as_ref().is_some_and(Vec::is_empty) {
            return Err(ScorerConfigError::at("values", "the list is empty")
                .hint("give at least one text, or leave `values` out to look for the references"));
        }
        Ok(Self { values, wanted, ignore_case })
    }

    fn is_in(&self, value: &Value, output: &str) -> bool {
        let text = text_of(value);
        if self.ignore_case {
            output.contains(&text.to_lowercase())
        } else {
            output.contains(text.as_ref())
        }
    }
}

impl ItemScorer for Finder {
    fn score_item(&self, item: &Item<'_>) -> Score {
        let values = match &self.values {
            Some(values) => values.as_slice(),
            None => expected(None, item).unwrap_or_default(),
        };
        let mut looked_for =
            values.iter().filter(|value| !value.is_null() && !text_of(value).is_empty()).peekable();
        if looked_for.peek().is_none() {
            return missing_reference();
        }
        let output = &item.generation.text;
        let lowered = self.ignore_case.then(|| output.to_lowercase());
        let output = lowered.as_deref().unwrap_or(output);
        match self.wanted {
            Wanted::Any if looked_for.any(|value| self.is_in(value, output)) => Score::binary(true),
            Wanted::Any => Score::binary(false)
                .because(format!("the output does not contain {}", listed(values))),
            Wanted::All => match looked_for.find(|value| !self.is_in(value, output)) {
                None => Score::binary(true),
                Some(value) => failed("the output does not contain", value),
            },
            Wanted::Neither => match looked_for.find(|value| self.is_in(value, output)) {
                None => Score::binary(true),
                Some(value) => failed("the output contains", value),
            },
        }
    }
}

fn failed(reason: &str, value: &Value) -> Score {
    Score::binary(false).because(format!("{reason} {}", quoted(&text_of(value))))
}

#[cfg(test)]
mod tests {
    use fullbench_types::UnscoredReason;
    use serde_json::json;

    use crate::scorers::fixture::{assert_table, none, refused, score, scorer};

    #[test]
    fn texts_are_found_anywhere_in_the_output() {
        assert_table(
            json!("contains"),
            &[
                ("It is Paris, of course", json!("Paris"), true),
                ("It is paris", json!("Paris"), false),
                ("It is Lyon", json!(["Paris", "Lyon"]), true),
                ("It is 42", json!(42), true),
                ("", json!("Paris"), false),
            ],
        );
        let all = json!({"type": "contains", "values": ["Refund", 5], "mode": "all", "ignore_case": true});
        assert_table(all, &[("refund in 5 days", none(), true), ("refund soon", none(), false)]);
    }

    #[test]
    fn unwanted_texts_fail() {
        assert_table(
            json!({"type": "not_contains", "values": ["as an AI", "sorry"], "ignore_case": true}),
            &[
                ("Sure.", none(), true),
                ("As an ai model", none(), false),
                ("I am SORRY", none(), false),
            ],
        );
        assert_table(
            json!("not_contains"),
            &[("a", json!(["b", "c"]), true), ("ab", json!(["c", "b"]), false)],
        );
        let failed = score(&scorer(json!("not_contains")), "ab", json!(["c", "b"]));
        assert_eq!(failed.reasoning.as_deref(), Some("the output contains \"b\""));
    }

    #[test]
    fn an_empty_reference_proves_nothing() {
        for kind in ["contains", "not_contains"] {
            for references in [none(), json!(""), json!([null])] {
                let score = score(&scorer(json!(kind)), "x", references);
                assert_eq!(score.outcome.reason(), Some(UnscoredReason::MissingReference));
            }
        }
    }

    #[test]
    fn empty_lists_and_texts_are_refused() {
        assert_eq!(
            refused(json!({"type": "contains", "values": []})).field.as_deref(),
            Some("values")
        );
        assert_eq!(
            refused(json!({"type": "contains", "values": ["a", ""]})).field.as_deref(),
            Some("values[1]")
        );
        let error = refused(json!({"type": "contains", "mode": "some"}));
        assert_eq!(error.to_string(), "`mode`: unknown variant `some`, expected `any` or `all`");
    }
}
