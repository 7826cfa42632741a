//! `exact_match`: the output is the expected text.

use std::borrow::Cow;

use fullbench_types::{Score, text_of};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::expectation::{expected, listed, missing_reference, quoted};
use super::{ItemScorer, Parameters};
use crate::registry::ScorerConfigError;
use crate::scorer::Item;

/// Parameters of `exact_match`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ExactMatch {
    /// The expected text, in place of the case's references.
    value: Option<Value>,
    /// Leave out whitespace around the texts.
    trim: bool,
    /// Take small and capital letters as the same.
    ignore_case: bool,
    /// Leave out punctuation.
    ignore_punctuation: bool,
    /// Leave out the words a, an and the; words are then joined by single spaces.
    ignore_articles: bool,
    /// Take any run of whitespace as one space.
    collapse_whitespace: bool,
}

impl Default for ExactMatch {
    fn default() -> Self {
        Self {
            value: None,
            trim: true,
            ignore_case: false,
            ignore_punctuation: false,
            ignore_articles: false,
            collapse_whitespace: false,
        }
    }
}

impl Parameters for ExactMatch {
    type Scorer = Self;

    const KIND: &'static str = "exact_match";
    const SUMMARY: &'static str = "Passes when the output is one of the references.";
    const EXAMPLE: &'static str =
        "{ type: exact_match, ignore_case: true, ignore_punctuation: true }";
    const NEEDS_REFERENCE: bool = true;

    fn build(self) -> Result<Self, ScorerConfigError> {
        Ok(self)
    }
}

impl ItemScorer for ExactMatch {
    fn score_item(&self, item: &Item<'_>) -> Score {
        let Some(expected) = expected(self.value.as_ref(), item) else {
            return missing_reference();
        };
        let output = self.normalized(&item.generation.text);
        let known = expected.iter().filter(|value| !value.is_null());
        for value in known {
            if self.normalized(&text_of(value)) == output {
                return Score::binary(true);
            }
        }
        let reason =
            format!("expected {}, got {}", listed(expected), quoted(&item.generation.text));
        Score::binary(false).because(reason)
    }
}

impl ExactMatch {
    fn normalized<'text>(&self, text: &'text str) -> Cow<'text, str> {
        let trimmed = if self.trim { text.trim() } else { text };
        let mut text = Cow::Borrowed(trimmed);
        if self.ignore_case {
            text = Cow::Owned(text.to_lowercase());
        }
        if self.ignore_punctuation {
            text =
                Cow::Owned(text.chars().filter(|character| !is_punctuation(*character)).collect());
        }
        if self.ignore_articles {
            let words = text.split_whitespace().filter(|word| !is_article(word));
            return Cow::Owned(words.collect::<Vec<_>>().join(" "));
        }
        if self.collapse_whitespace {
            text = Cow::Owned(collapsed(&text));
        }
        if self.ignore_punctuation && self.trim {
            text = Cow::Owned(text.trim().to_owned());
        }
        text
    }
}

fn is_punctuation(character: char) -> bool {
    character.is_ascii_punctuation()
        || matches!(character, '\u{2010}'..='\u{2027}' | '\u{2030}'..='\u{205e}' | '\u{3001}'..='\u{3003}' | '«' | '»' | '¿' | '¡' | '·')
}

fn is_article(word: &str) -> bool {
    ["a", "an", "the"].iter().any(|article| word.eq_ignore_ascii_case(article))
}

fn collapsed(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut in_space = false;
    for character in text.chars() {
        if !character.is_whitespace() {
            result.push(character);
        } else if !in_space {
            result.push(' ');
        }
        in_space = character.is_whitespace();
    }
    result
}

#[cfg(test)]
mod tests {
    use fullbench_types::UnscoredReason;
    use serde_json::json;

    use crate::scorers::fixture::{assert_table, none, refused, score, scorer};

    #[test]
    fn only_surrounding_whitespace_is_forgiven_by_default() {
        assert_table(
            json!("exact_match"),
            &[
                ("Paris", json!("Paris"), true),
                ("  Paris\n", json!("Paris "), true),
                ("paris", json!("Paris"), false),
                ("Paris.", json!("Paris"), false),
                ("New  York", json!("New York"), false),
                ("", json!(""), true),
                ("42", json!(42), true),
                ("true", json!(true), true),
                ("Lyon", json!(["Paris", "Lyon"]), true),
                ("Lyon", json!([null, "Lyon"]), true),
                ("Nice", json!(["Paris", "Lyon"]), false),
                ("é", json!("e\u{301}"), false),
            ],
        );
        assert_table(
            json!({"type": "exact_match", "trim": false}),
            &[(" a", json!("a"), false), ("a", json!("a"), true)],
        );
    }

    #[test]
    fn normalizations_apply_to_both_sides() {
        assert_table(
            json!({"type": "exact_match", "ignore_case": true}),
            &[("ÉCOLE", json!("école"), true)],
        );
        let squad = json!({"type": "exact_match", "ignore_case": true, "ignore_punctuation": true, "ignore_articles": true});
        assert_table(
            squad,
            &[
                ("The  Eiffel Tower!", json!("eiffel tower"), true),
                ("“An answer…”", json!("answer"), true),
                ("theatre", json!("atre"), false),
                ("the", json!("a"), true),
            ],
        );
        assert_table(
            json!({"type": "exact_match", "collapse_whitespace": true}),
            &[("a \n\t b", json!("a b"), true), ("ab", json!("a b"), false)],
        );
        assert_table(
            json!({"type": "exact_match", "ignore_punctuation": true}),
            &[("( yes )", json!("yes"), true)],
        );
    }

    #[test]
    fn a_value_stands_in_for_references() {
        assert_table(
            json!({"type": "exact_match", "value": "yes"}),
            &[("yes", none(), true), ("no", json!("no"), false)],
        );
    }

    #[test]
    fn without_a_reference_there_is_no_score() {
        for references in [none(), json!([null])] {
            let score = score(&scorer(json!("exact_match")), "x", references);
            assert_eq!(score.outcome.reason(), Some(UnscoredReason::MissingReference));
        }
    }

    #[test]
    fn a_failure_says_what_was_expected() {
        let failed =
            score(&scorer(json!("exact_match")), &"x".repeat(100), json!(["a", "b", "c", "d"]));
        let reason =
            format!("expected \"a\" or \"b\" or \"c\" or 1 more, got {:?}…", "x".repeat(60));
        assert_eq!(failed.reasoning, Some(reason));
    }

    #[test]
    fn a_wrong_type_is_named_with_its_place() {
        let error = refused(json!({"type": "exact_match", "trim": "yes"}));
        assert_eq!(error.to_string(), "`trim`: invalid type: string \"yes\", expected a boolean");
    }
}
