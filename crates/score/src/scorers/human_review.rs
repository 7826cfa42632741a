//! `human_review`: a person scores it.

use fullbench_types::{Score, UnscoredReason};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{ItemScorer, Parameters};
use crate::registry::ScorerConfigError;
use crate::review::HumanScore;
use crate::scorer::Item;

/// Parameters of `human_review`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct HumanReview {
    /// What the person is to look at.
    instructions: Option<String>,
    /// The most points a person may give; the fewest are 0.
    max_score: f64,
    /// Passed when the points, divided by the most, are at least this much.
    #[schemars(range(min = 0.0, max = 1.0))]
    threshold: Option<f64>,
}

impl Default for HumanReview {
    fn default() -> Self {
        Self { instructions: None, max_score: 1.0, threshold: None }
    }
}

impl HumanReview {
    /// The score once a person has spoken.
    pub(crate) fn reviewed(&self, human: &HumanScore<'_>) -> Result<Score, String> {
        if !(0.0..=self.max_score).contains(&human.points) {
            return Err(format!("a score is from 0 to {}", self.max_score));
        }
        let value = human.points / self.max_score;
        let reviewer = human.reviewer;
        let note = human.note.map_or_else(|| format!("scored by {reviewer}"), str::to_owned);
        Ok(Score {
            evidence: Some(json!({ "reviewer": reviewer })),
            ..Score::graded(human.points, value, self.threshold).because(note)
        })
    }
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
        if !(self.max_score.is_finite() && self.max_score > 0.0) {
            return Err(ScorerConfigError::at("max_score", "the most points are a number above 0"));
        }
        if self.threshold.is_some_and(|threshold| !(0.0..=1.0).contains(&threshold)) {
            return Err(ScorerConfigError::at("threshold", "a threshold is from 0 to 1"));
        }
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
