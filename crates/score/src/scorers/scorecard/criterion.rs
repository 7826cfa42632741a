//! The criteria of a scorecard as the evaluation file gives them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::card::Bands;
use crate::registry::ScorerConfigError;
use crate::scorers::composite::NestedScorer;

/// One criterion of a scorecard.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CardCriterion {
    /// What it is called.
    pub(super) name: String,
    /// How much it counts beside the others.
    #[serde(default = "one")]
    #[schemars(range(min = 0.0))]
    pub(super) weight: f64,
    /// The best score there is.
    #[serde(default = "hundred")]
    pub(super) max_score: f64,
    /// What scores it: the name of a scorer, or a map with `type` and its parameters; `human_review` waits for a person.
    pub(super) scorer: NestedScorer,
    /// The scorer only suggests, and a person decides: the criterion has no score until then.
    #[serde(default)]
    pub(super) person_decides: bool,
    /// Where its bands begin, in percent.
    #[serde(default)]
    pub(super) bands: Bands,
    /// What changes the score afterwards, in this order.
    #[serde(default)]
    pub(super) rules: Vec<Rule>,
}

fn one() -> f64 {
    1.0
}

fn hundred() -> f64 {
    100.0
}

/// Changes a criterion's score where another scorer passes.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rule {
    /// A scorer that passes or fails: its name, or a map with `type` and its parameters.
    pub(super) when: NestedScorer,
    /// Act where it fails, rather than where it passes.
    #[serde(default)]
    pub(super) fails: bool,
    /// What to do.
    pub(super) action: Action,
    /// By how many points, of the criterion's scale; not for `zero`.
    #[serde(default)]
    pub(super) points: f64,
}

/// What a rule does to a score.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Action {
    /// Adds points, up to the best score.
    Award,
    /// Takes points away, down to 0.
    Deduct,
    /// Lowers the score to the points where it is above.
    Cap,
    /// Makes the score 0.
    Zero,
}

impl Action {
    /// The score after the action.
    pub(super) fn apply(self, score: f64, points: f64, best: f64) -> f64 {
        match self {
            Self::Award => (score + points).min(best),
            Self::Deduct => (score - points).max(0.0),
            Self::Cap => score.min(points),
            Self::Zero => 0.0,
        }
    }

    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Award => "points added",
            Self::Deduct => "points deducted",
            Self::Cap => "score capped",
            Self::Zero => "score set to 0",
        }
    }
}

/// Refuses criteria whose numbers make no sense.
pub(super) fn check(criteria: &[CardCriterion]) -> Result<(), ScorerConfigError> {
    for (index, criterion) in criteria.iter().enumerate() {
        let wrong = |field: &str, message: &str| {
            Err(ScorerConfigError::at(format!("criteria[{index}].{field}"), message))
        };
        if criterion.name.trim().is_empty() {
            return wrong("name", "a criterion needs a name");
        }
        if criteria[..index].iter().any(|other| other.name == criterion.name) {
            return wrong("name", "another criterion has this name");
        }
        if !(criterion.weight.is_finite() && criterion.weight >= 0.0) {
            return wrong("weight", "a weight is a number from 0 on");
        }
        if !(criterion.max_score.is_finite() && criterion.max_score > 0.0) {
            return wrong("max_score", "the best score is a number above 0");
        }
        let Bands { excellent, good, satisfactory } = criterion.bands;
        let in_order = [100.0, excellent, good, satisfactory, 0.0];
        if !in_order.is_sorted_by(|higher, lower| higher >= lower) {
            return wrong("bands", "bands are percentages, excellent ≥ good ≥ satisfactory");
        }
        for (at, rule) in criterion.rules.iter().enumerate() {
            if !(rule.points.is_finite() && rule.points >= 0.0) {
                return wrong(&format!("rules[{at}].points"), "points are a number from 0 on");
            }
            if rule.points == 0.0 && matches!(rule.action, Action::Award | Action::Deduct) {
                return wrong(&format!("rules[{at}].points"), "say how many points");
            }
        }
    }
    if !criteria.is_empty() && criteria.iter().all(|criterion| criterion.weight == 0.0) {
        return Err(ScorerConfigError::at("criteria", "every weight is 0"));
    }
    Ok(())
}
