//! `numeric_match`: the number in the output is the expected one.

use fullbench_types::{Score, UnscoredReason, text_of};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::expectation::{expected, missing_reference};
use super::json_text::within;
use super::number::{Found, first_number, last_number, only_number};
use super::{ItemScorer, Parameters};
use crate::registry::ScorerConfigError;
use crate::scorer::Item;

/// Which number of the output counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Extract {
    /// The last one in the text.
    #[default]
    Last,
    /// The first one in the text.
    First,
    /// The whole text must be one number.
    Whole,
}

/// Parameters of `numeric_match`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct NumericMatch {
    /// The expected number, in place of the last number of the case's references.
    value: Option<Value>,
    /// How far from the expected number the output's may be.
    #[schemars(range(min = 0.0))]
    tolerance: f64,
    /// How far it may be as a share of the expected number: 0.01 is one percent.
    #[schemars(range(min = 0.0))]
    relative_tolerance: f64,
    /// Which number of the output counts: the last, the first, or the whole output as one number.
    extract: Extract,
}

impl Parameters for NumericMatch {
    type Scorer = Self;

    const KIND: &'static str = "numeric_match";
    const SUMMARY: &'static str =
        "Passes when the last number in the output equals the last number of a reference.";
    const EXAMPLE: &'static str = "{ type: numeric_match, tolerance: 0.01 }";
    const NEEDS_REFERENCE: bool = true;

    fn build(self) -> Result<Self, ScorerConfigError> {
        check_tolerance("tolerance", self.tolerance)?;
        check_tolerance("relative_tolerance", self.relative_tolerance)?;
        if let Some(value) = &self.value
            && last_number(&text_of(value)).is_none()
        {
            return Err(ScorerConfigError::at("value", format!("there is no number in {value}")));
        }
        Ok(self)
    }
}

/// Refuses a tolerance that is negative or no number.
pub(crate) fn check_tolerance(field: &str, tolerance: f64) -> Result<(), ScorerConfigError> {
    if tolerance.is_finite() && tolerance >= 0.0 {
        return Ok(());
    }
    Err(ScorerConfigError::at(
        field,
        format!("{tolerance} is negative, so that no number would match"),
    ))
}

impl ItemScorer for NumericMatch {
    fn score_item(&self, item: &Item<'_>) -> Score {
        let Some(expected) = expected(self.value.as_ref(), item) else {
            return missing_reference();
        };
        let output = item.generation.text.as_str();
        let found = match self.extract {
            Extract::Last => last_number(output),
            Extract::First => first_number(output),
            Extract::Whole => only_number(output),
        };
        let mut wanted = Vec::new();
        for value in expected {
            let text = text_of(value);
            let Some(number) = last_number(&text) else { continue };
            if found.is_some_and(|found| self.matches(&found, &number)) {
                return Score::binary(true);
            }
            wanted.push(number.text.to_owned());
        }
        if wanted.is_empty() {
            return Score::unscored(UnscoredReason::MissingReference)
                .because("no number in the reference");
        }
        Score::binary(false).because(match found {
            Some(found) => format!("expected {}, got {}", wanted.join(" or "), found.text),
            None if self.extract == Extract::Whole => "the output is not a number".to_owned(),
            None => "no number in the output".to_owned(),
        })
    }
}

impl NumericMatch {
    fn matches(&self, found: &Found<'_>, expected: &Found<'_>) -> bool {
        if found.decimal() == expected.decimal() {
            return true;
        }
        if self.tolerance == 0.0 && self.relative_tolerance == 0.0 {
            return false;
        }
        let (found, expected) = (found.float(), expected.float());
        let tolerance = self.tolerance.max(self.relative_tolerance * expected.abs());
        within(found, expected, tolerance)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::scorers::fixture::{assert_table, none, refused, score, scorer};

    #[test]
    fn the_last_number_counts_by_default() {
        assert_table(
            json!("numeric_match"),
            &[
                ("16 - 7 = 9 eggs, 9 * 2 = $18.", json!("A: 18"), true),
                ("The total is $1,234.50", json!(1234.5), true),
                ("0.10", json!("0.1"), true),
                ("18.0", json!(18), true),
                ("19", json!(["18", "19"]), true),
                ("12345678901234567891", json!("12345678901234567890"), false),
                ("-5", json!(5), false),
                ("18 or so, not 19", json!("18"), false),
                ("none", json!("18"), false),
            ],
        );
    }

    #[test]
    fn tolerances_and_places_can_be_set() {
        let near = json!({"type": "numeric_match", "tolerance": 0.01});
        assert_table(near, &[("0.30", json!("0.29"), true), ("0.311", json!("0.29"), false)]);
        let percent = json!({"type": "numeric_match", "relative_tolerance": 0.01});
        assert_table(
            percent,
            &[
                ("101", json!("100"), true),
                ("102", json!("100"), false),
                ("-100", json!(100), false),
            ],
        );
        let first = json!({"type": "numeric_match", "extract": "first"});
        assert_table(first, &[("18, not 19", json!("18"), true)]);
        let whole = json!({"type": "numeric_match", "extract": "whole", "value": 18});
        assert_table(whole, &[("$18.", none(), true), ("it is 18", none(), false)]);
    }

    #[test]
    fn a_reference_without_a_number_is_missing() {
        let numeric = scorer(json!("numeric_match"));
        let unscored = score(&numeric, "18", json!("eighteen"));
        assert_eq!(unscored.outcome.reason(), Some(UnscoredReason::MissingReference));
        assert_eq!(unscored.reasoning.as_deref(), Some("no number in the reference"));
        assert_eq!(
            score(&numeric, "18", none()).outcome.reason(),
            Some(UnscoredReason::MissingReference)
        );
        assert_eq!(
            score(&numeric, "x", json!("1")).reasoning.as_deref(),
            Some("no number in the output")
        );
        assert_eq!(
            score(&numeric, "2", json!("1")).reasoning.as_deref(),
            Some("expected 1, got 2")
        );
    }

    #[test]
    fn senseless_parameters_are_refused() {
        assert_eq!(
            refused(json!({"type": "numeric_match", "tolerance": -1})).field.as_deref(),
            Some("tolerance")
        );
        assert_eq!(
            refused(json!({"type": "numeric_match", "value": "x"})).field.as_deref(),
            Some("value")
        );
    }
}
