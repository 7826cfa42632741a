//! `ensemble`: one score from several scorers.

use async_trait::async_trait;
use fullbench_types::{Outcome, Score};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Children, NestedScorer, passing_reason, with_parts};
use crate::registry::ScorerConfigError;
use crate::scorer::Item;
use crate::scorers::{BatchScorer, Parameters};

/// How the values of the members become one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Combine {
    /// The mean, by weight.
    #[default]
    Mean,
    /// The lower median, by weight.
    Median,
    /// The lowest.
    Min,
    /// The highest.
    Max,
    /// The share of members that pass, by weight; it passes when that is more than half. Every member needs a threshold.
    Majority,
}

/// One of several scorers.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Member {
    /// The scorer: its name, or a map with `type` and its parameters.
    scorer: NestedScorer,
    /// How much it counts beside the others.
    #[serde(default = "one")]
    #[schemars(range(min = 0.0))]
    weight: f64,
}

fn one() -> f64 {
    1.0
}

/// Parameters of `ensemble`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EnsembleParameters {
    /// The scorers with their weights.
    members: Vec<Member>,
    /// How their values become one.
    #[serde(default)]
    combine: Combine,
    /// Leave out members that have no score, rather than giving none: the mix then differs from case to case.
    #[serde(default)]
    skip_unscored: bool,
    /// Passed when the value is at least this much.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1.0))]
    threshold: Option<f64>,
}

/// One score from several scorers.
pub(crate) struct Ensemble {
    children: Children,
    parameters: EnsembleParameters,
}

impl Parameters for EnsembleParameters {
    type Scorer = Ensemble;

    const KIND: &'static str = "ensemble";
    const SUMMARY: &'static str = "One score from several scorers: their weighted mean, median, lowest, highest, or majority.";
    const EXAMPLE: &'static str =
        "{ type: ensemble, members: [{ scorer: token_f1, weight: 2 }, { scorer: rouge_l }] }";
    const BINARY: bool = false;
    const SCORER_PARAMETERS: &'static [&'static str] = &["members.scorer"];

    fn build(self) -> Result<Ensemble, ScorerConfigError> {
        if self.members.is_empty() {
            return Err(ScorerConfigError::at("members", "an ensemble without members")
                .hint("add at least one: `members: [{ scorer: token_f1 }]`"));
        }
        for (index, member) in self.members.iter().enumerate() {
            if !member.weight.is_finite() || member.weight < 0.0 {
                let place = format!("members[{index}].weight");
                return Err(ScorerConfigError::at(place, "a weight is a number from 0 on"));
            }
        }
        if self.members.iter().all(|member| member.weight == 0.0) {
            return Err(ScorerConfigError::at("members", "every weight is 0")
                .hint("give at least one member a weight above 0"));
        }
        if self.threshold.is_some_and(|threshold| !(0.0..=1.0).contains(&threshold)) {
            return Err(ScorerConfigError::at("threshold", "a threshold is from 0 to 1"));
        }
        let entries = self.members.iter().enumerate();
        let entries =
            entries.map(|(index, member)| (format!("members[{index}].scorer"), &member.scorer));
        let children = Children::build(entries)?;
        Ok(Ensemble { children, parameters: self })
    }
}

#[async_trait]
impl BatchScorer for Ensemble {
    fn children(&self) -> Option<&Children> {
        Some(&self.children)
    }

    async fn score_items(&self, items: &[Item<'_>]) -> Vec<Score> {
        let scores = self.children.scores(items).await;
        scores.into_iter().map(|scores| self.combined(scores)).collect()
    }
}

impl Ensemble {
    fn combined(&self, scores: Vec<Score>) -> Score {
        let mut whole = self.whole(&scores);
        let said = self.children.iter().zip(&self.parameters.members).zip(&scores);
        let said = said.map(|((child, member), score)| {
            json!({ "scorer": child.name, "weight": member.weight, "value": score.value,
                "outcome": score.outcome, "reasoning": score.reasoning })
        });
        whole.evidence = Some(said.collect());
        let names = self.children.iter().map(|child| child.name.as_str());
        with_parts(whole, "ensemble", names.zip(scores).collect())
    }

    fn whole(&self, scores: &[Score]) -> Score {
        if let Some(again) = passing_reason(&scores.iter().collect::<Vec<_>>()) {
            return again;
        }
        let mut values = Vec::new();
        for ((score, member), child) in
            scores.iter().zip(&self.parameters.members).zip(self.children.iter())
        {
            let value = match (score.outcome, self.parameters.combine) {
                (Outcome::Passed, Combine::Majority) => Some(1.0),
                (Outcome::Failed, Combine::Majority) => Some(0.0),
                (_, Combine::Majority) => None,
                _ => score.value,
            };
            match value {
                _ if member.weight == 0.0 => {}
                Some(value) => values.push((value, member.weight)),
                None if self.parameters.skip_unscored => {}
                None => return without(&child.name, score),
            }
        }
        match combined(&mut values, self.parameters.combine) {
            Some(value) if self.parameters.combine == Combine::Majority => {
                let share = Score::graded(value, value, self.parameters.threshold);
                match self.parameters.threshold {
                    Some(_) => share,
                    None => Score { outcome: Outcome::from_pass(value > 0.5), ..share },
                }
            }
            Some(value) => Score::graded(value, value, self.parameters.threshold),
            None => without("every member", scores.first().unwrap_or(&Score::binary(false))),
        }
    }
}

/// No score, for the reason of a member that has none.
fn without(name: &str, member: &Score) -> Score {
    match member.outcome {
        Outcome::Unscored(reason) => {
            let why = member.reasoning.as_deref().unwrap_or(reason.as_str());
            Score::unscored(reason).because(format!("{name} has no score: {why}"))
        }
        _ => Score::unscored(fullbench_types::UnscoredReason::ScorerError)
            .because(format!("{name} neither passes nor fails: give it a threshold")),
    }
}

/// One value from several with their weights, of which at least one is above 0; none without values.
fn combined(values: &mut [(f64, f64)], combine: Combine) -> Option<f64> {
    let only = values.iter().map(|(value, _)| *value);
    let weights: f64 = values.iter().map(|(_, weight)| weight).sum();
    match combine {
        Combine::Mean | Combine::Majority => (weights > 0.0)
            .then(|| values.iter().map(|(value, weight)| value * weight).sum::<f64>() / weights),
        Combine::Min => only.reduce(f64::min),
        Combine::Max => only.reduce(f64::max),
        Combine::Median => {
            values.sort_by(|first, second| first.0.total_cmp(&second.0));
            let mut below = 0.0;
            let reaches_half = |&&(_, weight): &&(f64, f64)| {
                below += weight;
                2.0 * below >= weights
            };
            values.iter().find(reaches_half).map(|(value, _)| *value)
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use fullbench_types::UnscoredReason;
    use serde_json::{Value, json};

    use super::*;
    use crate::scorers::fixture::{none, refused, score, scorer};

    fn members(entries: &[(Value, f64)]) -> Value {
        let entries = entries.iter();
        entries.map(|(scorer, weight)| json!({"scorer": scorer, "weight": weight})).collect()
    }

    #[test]
    fn values_become_one() {
        let values = [(0.2, 1.0), (0.4, 1.0), (1.0, 2.0)];
        let of = |combine| combined(&mut values.clone(), combine).unwrap();
        assert!((of(Combine::Mean) - 0.65).abs() < 1e-12);
        assert_eq!((of(Combine::Median), of(Combine::Min), of(Combine::Max)), (0.4, 0.2, 1.0));
        assert_eq!(combined(&mut [], Combine::Mean), None);
    }

    #[test]
    fn the_mean_is_by_weight_and_every_member_is_told() {
        let members = members(&[(json!("exact_match"), 3.0), (json!("json_valid"), 1.0)]);
        let mixed = scorer(json!({"type": "ensemble", "members": members, "threshold": 0.5}));
        let scored = score(&mixed, "7", json!("7"));
        assert_eq!((scored.value, scored.outcome), (Some(1.0), Outcome::Passed));
        let scored = score(&mixed, "8", json!("7"));
        assert_eq!((scored.value, scored.outcome), (Some(0.25), Outcome::Failed));
        let evidence = scored.evidence.unwrap();
        assert_eq!(
            (&evidence[0]["scorer"], &evidence[1]["value"]),
            (&json!("exact_match"), &json!(1.0))
        );
    }

    #[test]
    fn a_member_without_a_score_leaves_the_whole_without() {
        let parts = members(&[(json!("exact_match"), 1.0), (json!("json_valid"), 1.0)]);
        let strict = scorer(json!({"type": "ensemble", "members": parts}));
        let scored = score(&strict, "7", none());
        assert_eq!(scored.outcome, Outcome::Unscored(UnscoredReason::MissingReference));
        assert!(scored.reasoning.unwrap().starts_with("exact_match has no score"));
        let lenient = scorer(json!({"type": "ensemble", "members": parts, "skip_unscored": true}));
        assert_eq!(score(&lenient, "7", none()).value, Some(1.0));
    }

    #[test]
    fn a_majority_must_be_more_than_half() {
        let parts = members(&[(json!("exact_match"), 1.0), (json!("json_valid"), 1.0)]);
        let entry = json!({"type": "ensemble", "members": parts, "combine": "majority"});
        let scored = score(&scorer(entry), "8", json!("7"));
        assert_eq!((scored.value, scored.outcome), (Some(0.5), Outcome::Failed));
        let graded = members(&[(json!("token_f1"), 1.0)]);
        let entry = json!({"type": "ensemble", "members": graded, "combine": "majority"});
        let scored = score(&scorer(entry), "8", json!("7"));
        assert_eq!(scored.outcome, Outcome::Unscored(UnscoredReason::ScorerError));
    }

    #[test]
    fn mistakes_are_told_in_their_place() {
        let error = refused(json!({"type": "ensemble", "members": []}));
        assert_eq!(error.field.as_deref(), Some("members"));
        let wrong = members(&[
            (json!("exact_match"), 1.0),
            (json!({"type": "regex", "patterns": ["("]}), 1.0),
        ]);
        let error = refused(json!({"type": "ensemble", "members": wrong}));
        assert!(error.field.unwrap().starts_with("members[1].scorer.patterns"));
        let error = refused(
            json!({"type": "ensemble", "members": members(&[(json!("exact_match"), -1.0)])}),
        );
        assert_eq!(error.field.as_deref(), Some("members[0].weight"));
    }

    #[test]
    fn two_spellings_of_a_member_are_the_same_ensemble() {
        let of = |member| scorer(json!({"type": "ensemble", "members": members(&[(member, 1.0)])}));
        let plain = of(json!("exact_match"));
        assert_eq!(plain.hash, of(json!({"type": "exact_match", "trim": true})).hash);
        assert_ne!(plain.hash, of(json!({"type": "exact_match", "trim": false})).hash);
    }
}
