//! `human_review`: a person scores it.

use fullbench_types::{Score, UnscoredReason};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ItemScorer, Parameters};
use crate::registry::ScorerConfigError;
use crate::scorer::Item;

/// Parameters of `human_review`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct HumanReview {
    /// What the person is to look at.
    instructions: Option<String>,
}

impl Parameters for HumanReview {
    type Scorer = Self;

    const KIND: &'static str = "human_review";
    const SUMMARY: &'static str =
        "Waits for a person: without a score until someone gives one with `fullbench review`.";
    const EXAMPLE: &'static str =
        "{ type: human_review, instructions: \"Is the tone right for a customer?\" }";
    const BINARY: bool = false;

    fn build(self) -> Result<Self, ScorerConfigError> {
        Ok(self)
    }
}

impl ItemScorer for HumanReview {
    fn is_binary(&self) -> bool {
        false
    }

    fn score_item(&self, _: &Item<'_>) -> Score {
        let waits = Score::unscored(UnscoredReason::PendingHuman);
        match &self.instructions {
            Some(instructions) => waits.because(instructions),
            None => waits.because("waits for a person"),
        }
    }
}
