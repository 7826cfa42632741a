//! `multiple_choice`: the output chooses the right letter.

use fullbench_types::{Score, UnscoredReason, text_of};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::choice_letter::{Choice, chosen};
use super::expectation::{expected, listed, missing_reference};
use super::{ItemScorer, Parameters};
use crate::registry::ScorerConfigError;
use crate::scorer::Item;

/// What a reference is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ReferenceKind {
    /// A letter.
    #[default]
    Letter,
    /// A number: 0 is the first choice.
    Index,
}

/// Parameters of `multiple_choice`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct MultipleChoice {
    /// The letters there are to choose from.
    choices: String,
    /// What a reference is: letter (`B`), or index, counted from 0 (`1`).
    reference_is: ReferenceKind,
}

impl Default for MultipleChoice {
    fn default() -> Self {
        Self { choices: "ABCDEFGHIJ".to_owned(), reference_is: ReferenceKind::Letter }
    }
}

impl Parameters for MultipleChoice {
    type Scorer = Self;

    const KIND: &'static str = "multiple_choice";
    const SUMMARY: &'static str =
        "Passes when the output chooses the reference's letter, however it phrases it.";
    const EXAMPLE: &'static str = "{ type: multiple_choice, choices: ABCD, reference_is: index }";
    const NEEDS_REFERENCE: bool = true;

    fn build(self) -> Result<Self, ScorerConfigError> {
        let choices = self.choices.to_ascii_uppercase();
        let mut letters: Vec<char> = choices.chars().collect();
        letters.sort_unstable();
        letters.dedup();
        let are_letters = letters.iter().all(char::is_ascii_alphabetic);
        if letters.len() < 2 || !are_letters || letters.len() != choices.len() {
            let message =
                format!("`{}` is not a list of two or more different letters", self.choices);
            return Err(
                ScorerConfigError::at("choices", message).hint("for example: choices: ABCD")
            );
        }
        Ok(Self { choices, ..self })
    }
}

impl ItemScorer for MultipleChoice {
    fn score_item(&self, item: &Item<'_>) -> Score {
        let Some(expected) = expected(None, item) else { return missing_reference() };
        let mut letters =
            expected.iter().filter_map(|reference| self.letter_of(reference)).peekable();
        if letters.peek().is_none() {
            return self.unusable(expected);
        }
        match chosen(&item.generation.text, &self.choices) {
            Choice::One(letter) if letters.any(|expected| expected == letter) => {
                Score::binary(true)
            }
            Choice::One(letter) => Score::binary(false)
                .because(format!("chose {letter}, expected {}", self.shown(expected))),
            Choice::Several(letters) => {
                let named: Vec<_> = letters.iter().map(char::to_string).collect();
                Score::binary(false)
                    .because(format!("the output names several choices: {}", named.join(", ")))
            }
            Choice::Nothing => Score::binary(false).because("no choice letter in the output"),
        }
    }
}

impl MultipleChoice {
    fn letter_of(&self, reference: &Value) -> Option<char> {
        let text = text_of(reference);
        match self.reference_is {
            ReferenceKind::Index => self.choices.chars().nth(text.trim().parse().ok()?),
            ReferenceKind::Letter => match chosen(&text, &self.choices) {
                Choice::One(letter) => Some(letter),
                Choice::Several(_) | Choice::Nothing => None,
            },
        }
    }

    fn shown(&self, references: &[Value]) -> String {
        let letters = references.iter().filter_map(|reference| self.letter_of(reference));
        letters.map(|letter| letter.to_string()).collect::<Vec<_>>().join(" or ")
    }

    fn unusable(&self, references: &[Value]) -> Score {
        let shown = listed(references);
        let reason = match self.reference_is {
            ReferenceKind::Index => format!("the reference {shown} is not the number of a choice"),
            ReferenceKind::Letter
                if references
                    .iter()
                    .any(|value| text_of(value).trim().parse::<usize>().is_ok()) =>
            {
                format!("the reference {shown} is a number; set `reference_is: index`")
            }
            ReferenceKind::Letter => format!("the reference {shown} names no choice"),
        };
        Score::unscored(UnscoredReason::MissingReference).because(reason)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::scorers::fixture::{assert_table, none, refused, score, scorer};

    #[test]
    fn the_chosen_letter_is_compared() {
        assert_table(
            json!("multiple_choice"),
            &[
                ("The answer is (B).", json!("B"), true),
                ("b", json!("B"), true),
                ("B", json!("(B)"), true),
                ("J", json!("J"), true),
                ("C", json!(["B", "C"]), true),
                ("C", json!("B"), false),
                ("A dog is an animal", json!("A"), false),
                ("B or C", json!("B"), false),
            ],
        );
        let index = json!({"type": "multiple_choice", "choices": "abcd", "reference_is": "index"});
        assert_table(
            index,
            &[
                ("Answer: B", json!(1), true),
                ("Answer: B", json!("1"), true),
                ("A", json!(1), false),
            ],
        );
    }

    #[test]
    fn a_reference_that_names_no_choice_is_missing() {
        let letters = scorer(json!({"type": "multiple_choice", "choices": "ABCD"}));
        for (reference, reason) in [
            (json!(2), "the reference \"2\" is a number; set `reference_is: index`"),
            (json!("E"), "the reference \"E\" names no choice"),
            (json!("Paris"), "the reference \"Paris\" names no choice"),
        ] {
            let score = score(&letters, "B", reference);
            assert_eq!(score.outcome.reason(), Some(UnscoredReason::MissingReference));
            assert_eq!(score.reasoning.as_deref(), Some(reason));
        }
        assert_eq!(
            score(&letters, "B", none()).outcome.reason(),
            Some(UnscoredReason::MissingReference)
        );
        let index =
            scorer(json!({"type": "multiple_choice", "choices": "ABCD", "reference_is": "index"}));
        assert_eq!(
            score(&index, "B", json!(4)).outcome.reason(),
            Some(UnscoredReason::MissingReference)
        );
    }

    #[test]
    fn choices_must_be_different_letters() {
        for choices in ["", "A", "AA", "12", "A,B"] {
            let error = refused(json!({"type": "multiple_choice", "choices": choices}));
            assert_eq!(error.field.as_deref(), Some("choices"));
        }
    }
}
