//! Scores and their outcomes.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Judgement, NanoDollars, ScorePath};

/// Why a unit's last attempt failed; `resume` tries these again.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum FailureReason {
    /// The provider refused or failed.
    ProviderError,
    /// No answer within the deadline.
    Timeout,
    /// The provider's limits left no room within the deadline.
    RateLimited,
}

impl FailureReason {
    /// All reasons.
    pub const ALL: [Self; 3] = [Self::ProviderError, Self::Timeout, Self::RateLimited];

    /// The stored word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ProviderError => "provider_error",
            Self::Timeout => "timeout",
            Self::RateLimited => "rate_limited",
        }
    }

    /// Reads the stored word back.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.as_str() == word)
    }
}

impl fmt::Display for FailureReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// Why there is no score.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum UnscoredReason {
    /// A judge answered something that is no judgement.
    UnparseableJudgement,
    /// The scorer compares with a reference and the case has none.
    MissingReference,
    /// The scorer itself failed.
    ScorerError,
    /// A person has not scored it yet.
    PendingHuman,
    /// The unit has no answer because the provider refused or failed, or no score because that of the scorer did.
    ProviderError,
    /// The unit has no answer: none came within the deadline.
    Timeout,
    /// The unit has no answer: the provider's limits left no room.
    RateLimited,
    /// Planned, not run: the budget was used up. Derived, never stored.
    BudgetExhausted,
    /// Planned, not run: the run was stopped. Derived, never stored.
    Cancelled,
}

impl UnscoredReason {
    /// All reasons.
    pub const ALL: [Self; 9] = [
        Self::UnparseableJudgement,
        Self::MissingReference,
        Self::ScorerError,
        Self::PendingHuman,
        Self::ProviderError,
        Self::Timeout,
        Self::RateLimited,
        Self::BudgetExhausted,
        Self::Cancelled,
    ];

    /// The stored word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::UnparseableJudgement => "unparseable_judgement",
            Self::MissingReference => "missing_reference",
            Self::ScorerError => "scorer_error",
            Self::PendingHuman => "pending_human",
            Self::ProviderError => "provider_error",
            Self::Timeout => "timeout",
            Self::RateLimited => "rate_limited",
            Self::BudgetExhausted => "budget_exhausted",
            Self::Cancelled => "cancelled",
        }
    }

    /// Reads the stored word back.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.as_str() == word)
    }
}

impl From<FailureReason> for UnscoredReason {
    fn from(reason: FailureReason) -> Self {
        match reason {
            FailureReason::ProviderError => Self::ProviderError,
            FailureReason::Timeout => Self::Timeout,
            FailureReason::RateLimited => Self::RateLimited,
        }
    }
}

impl fmt::Display for UnscoredReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// How scoring ended. An outage never turns into a low score: it is `Unscored`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "outcome", content = "reason")]
pub enum Outcome {
    /// There is a threshold, and the value reaches it.
    Passed,
    /// There is a threshold, and the value does not reach it.
    Failed,
    /// There is a value and no threshold.
    Scored,
    /// A cascade chose not to score this one.
    NotSampled,
    /// There is no value, and why.
    Unscored(UnscoredReason),
}

impl Outcome {
    /// Passed or failed.
    #[must_use]
    pub fn from_pass(passed: bool) -> Self {
        if passed { Self::Passed } else { Self::Failed }
    }

    /// The stored word, without the reason.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Scored => "scored",
            Self::NotSampled => "not_sampled",
            Self::Unscored(_) => "unscored",
        }
    }

    /// The reason, when unscored.
    #[must_use]
    pub fn reason(self) -> Option<UnscoredReason> {
        match self {
            Self::Unscored(reason) => Some(reason),
            _ => None,
        }
    }

    /// Reads the stored words back.
    #[must_use]
    pub fn from_words(outcome: &str, reason: Option<&str>) -> Option<Self> {
        match outcome {
            "passed" => Some(Self::Passed),
            "failed" => Some(Self::Failed),
            "scored" => Some(Self::Scored),
            "not_sampled" => Some(Self::NotSampled),
            "unscored" => UnscoredReason::from_word(reason?).map(Self::Unscored),
            _ => None,
        }
    }
}

/// One score of one output by one scorer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// How scoring ended.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// The value on the scorer's own scale.
    pub raw: Option<f64>,
    /// The value from 0 to 1, higher is better; none exactly when there is no score.
    pub value: Option<f64>,
    /// Why, in a sentence for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// What the reasoning rests on, in the scorer's own shape.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Value>,
    /// How sure the scorer is, from 0 to 1; none unless measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// What scoring cost; none for scorers that cost nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<NanoDollars>,
    /// Rests on a response served from the cache.
    #[serde(default)]
    pub cached: bool,
    /// How a judge came to it; none for scorers that ask no model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judgement: Option<Box<Judgement>>,
    /// The way to it, where not every output is judged by the same scorer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<Box<ScorePath>>,
}

impl Score {
    /// A yes/no score: 1 and passed, or 0 and failed.
    #[must_use]
    pub fn binary(passed: bool) -> Self {
        let value = f64::from(u8::from(passed));
        Self {
            outcome: Outcome::from_pass(passed),
            raw: Some(value),
            value: Some(value),
            ..Self::blank()
        }
    }

    /// A graded score, passed or failed by a threshold on the value where there is one.
    #[must_use]
    pub fn graded(raw: f64, value: f64, threshold: Option<f64>) -> Self {
        let outcome =
            threshold.map_or(Outcome::Scored, |threshold| Outcome::from_pass(value >= threshold));
        Self { outcome, raw: Some(raw), value: Some(value), ..Self::blank() }
    }

    /// No score, and why.
    #[must_use]
    pub fn unscored(reason: UnscoredReason) -> Self {
        Self { outcome: Outcome::Unscored(reason), ..Self::blank() }
    }

    /// No score, since this output was not chosen for one.
    #[must_use]
    pub fn not_sampled() -> Self {
        Self { outcome: Outcome::NotSampled, ..Self::blank() }
    }

    /// The same score with a sentence that explains it.
    #[must_use]
    pub fn because(self, reasoning: impl Into<String>) -> Self {
        Self { reasoning: Some(reasoning.into()), ..self }
    }

    fn blank() -> Self {
        Self {
            outcome: Outcome::Scored,
            raw: None,
            value: None,
            reasoning: None,
            evidence: None,
            confidence: None,
            cost: None,
            cached: false,
            judgement: None,
            path: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_read_back_from_their_words() {
        let unscored = UnscoredReason::ALL.map(Outcome::Unscored);
        let all = [Outcome::Passed, Outcome::Failed, Outcome::Scored, Outcome::NotSampled];
        for outcome in all.into_iter().chain(unscored) {
            let reason = outcome.reason().map(UnscoredReason::as_str);
            assert_eq!(Outcome::from_words(outcome.as_str(), reason), Some(outcome));
        }
    }

    #[test]
    fn a_score_is_plain_json() {
        let json =
            serde_json::to_value(Score::unscored(UnscoredReason::Timeout)).unwrap_or_default();
        assert_eq!(json["outcome"], "unscored");
        assert_eq!(json["reason"], "timeout");
    }
}
