//! `panel`: several judges of the same output, and one score of what they gave.
//!
//! The spread of the members is told as confidence: 1 − s/½, where s is the standard deviation of their values, which is at most ½.
//! A member whose call failed leaves the panel without a score until it is tried again; a member that gave no judgement is left out
//! and named, as long as more than half of the members gave one.

use async_trait::async_trait;
use fullbench_llm::ModelConfig;
use fullbench_types::{
    ContentHash, Generation, Judgement, NanoDollars, Outcome, Score, UnscoredReason,
};
use futures::future::join_all;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::ask::{Ask, AskError, Question};
use crate::config::JudgeConfig;
use crate::error::JudgeError;
use crate::judge::Judge;
use crate::subject::Subject;

/// How the members' values become one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Combine {
    /// Their mean.
    #[default]
    Mean,
    /// Their median; the mean of the two in the middle for an even number.
    Median,
    /// Passed or failed as more than half of them; every member needs a threshold or the method `binary`.
    Majority,
    /// Their mean with weights, such as those learned from human labels.
    Weighted,
}

/// Several judges of the same output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PanelConfig {
    /// The panel's name where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The members, two or more.
    pub judges: Vec<JudgeConfig>,
    /// How their values become one.
    #[serde(default)]
    pub combine: Combine,
    /// `weighted` only: one weight of 0 or more for each member.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub weights: Vec<f64>,
    /// Least value from 0 to 1 that passes. `majority` needs none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f64>,
}

/// A panel of judges.
pub struct Panel {
    config: PanelConfig,
    members: Vec<Judge>,
}

impl Panel {
    /// A panel.
    ///
    /// # Errors
    /// Says which setting is wrong and what to do.
    pub fn new(config: PanelConfig) -> Result<Self, JudgeError> {
        if config.judges.len() < 2 {
            let hint = "name two judges or more";
            return Err(JudgeError::setting("judges", "a panel has several judges", hint));
        }
        check_weights(&config)?;
        let is_majority = config.combine == Combine::Majority;
        let wrong_threshold = config.threshold.filter(|value| !(0.0..=1.0).contains(value));
        if wrong_threshold.is_some() || (is_majority && config.threshold.is_some()) {
            let message = "it must be from 0 to 1, and a majority has none of its own";
            return Err(JudgeError::setting("threshold", message, "correct or remove it"));
        }
        let members: Vec<Judge> =
            config.judges.iter().cloned().map(Judge::new).collect::<Result<_, _>>()?;
        let undecided = config.judges.iter().position(|judge| {
            judge.threshold.is_none() && judge.method != crate::config::Method::Binary
        });
        if let Some(index) = undecided.filter(|_| is_majority) {
            let message = "a member of a majority must pass or fail";
            let hint = "give it a `threshold`, or use `binary`";
            return Err(JudgeError::setting(format!("judges[{index}].threshold"), message, hint));
        }
        Ok(Self { config, members })
    }

    /// The models of all members, one member after the other.
    #[must_use]
    pub fn models(&self) -> Vec<ModelConfig> {
        self.members.iter().flat_map(Judge::models).collect()
    }

    /// The members.
    #[must_use]
    pub fn members(&self) -> &[Judge] {
        &self.members
    }

    /// The score of one output.
    pub async fn judge(&self, ask: &dyn Ask, subject: &Subject<'_>) -> Score {
        let mut first = 0;
        let mut asks = Vec::with_capacity(self.members.len());
        for (number, member) in (1..).zip(&self.members) {
            asks.push(Shifted { ask, first, number });
            first += member.models().len();
        }
        let judged = self.members.iter().zip(&asks).map(|(member, ask)| member.judge(ask, subject));
        let scores = join_all(judged).await;
        let combined = self.combined(&scores);
        let cost: Vec<NanoDollars> = scores.iter().filter_map(|score| score.cost).collect();
        let cached = scores.iter().any(|score| score.cached);
        let evidence = json!({ "members": self.told(&scores) });
        Score {
            evidence: Some(evidence),
            cost: (!cost.is_empty()).then(|| cost.into_iter().sum()),
            cached,
            judgement: Some(Box::new(self.judgement(scores))),
            ..combined
        }
    }

    fn combined(&self, scores: &[Score]) -> Score {
        let is_failure = |score: &&Score| {
            matches!(
                score.outcome.reason(),
                Some(reason) if !matches!(reason, UnscoredReason::UnparseableJudgement | UnscoredReason::PendingHuman)
            )
        };
        if let Some(failed) = scores.iter().find(is_failure) {
            return Score { judgement: None, ..failed.clone() };
        }
        let weights = self.config.weights.iter().copied().chain(std::iter::repeat(1.0));
        let given: Vec<(f64, f64, bool)> = scores
            .iter()
            .zip(weights)
            .filter_map(|(score, weight)| {
                Some((score.value?, weight, score.outcome == Outcome::Passed))
            })
            .collect();
        let missing = scores.len() - given.len();
        let weight: f64 = given.iter().map(|(_, weight, _)| weight).sum();
        if given.len() <= missing || weight <= 0.0 {
            let first = scores.iter().find_map(|score| score.outcome.reason());
            let reason = first.unwrap_or(UnscoredReason::UnparseableJudgement);
            let message = format!("{missing} of {} judges gave no score", scores.len());
            return Score::unscored(reason).because(message);
        }
        let values: Vec<f64> = given.iter().map(|(value, _, _)| *value).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
        let spread = (squares / values.len() as f64).sqrt();
        let left_out = match missing {
            0 => String::new(),
            missing => format!(", {missing} of {} left out for giving no score", scores.len()),
        };
        let score = match self.config.combine {
            Combine::Mean => self.graded(mean),
            Combine::Median => self.graded(median(values)),
            Combine::Weighted => {
                let total: f64 = given.iter().map(|(value, weight, _)| value * weight).sum();
                self.graded(total / weight)
            }
            Combine::Majority => {
                let passed = given.iter().filter(|(_, _, passed)| *passed).count();
                match (passed * 2).cmp(&given.len()) {
                    std::cmp::Ordering::Equal => Score::unscored(UnscoredReason::PendingHuman),
                    order => Score::binary(order.is_gt()),
                }
            }
        };
        let values: Vec<String> = given.iter().map(|(value, _, _)| format!("{value:.2}")).collect();
        let reasoning = format!("the judges gave {}{left_out}", values.join(", "));
        let is_scored = score.value.is_some();
        Score {
            confidence: is_scored.then(|| (1.0 - spread / 0.5).max(0.0)),
            ..score.because(reasoning)
        }
    }

    fn graded(&self, value: f64) -> Score {
        Score::graded(value, value, self.config.threshold)
    }

    fn told(&self, scores: &[Score]) -> Vec<serde_json::Value> {
        let members = self.members.iter().zip(scores).map(|(member, score)| {
            json!({
                "judge": member_name(member),
                "outcome": score.outcome.as_str(),
                "raw": score.raw,
                "value": score.value,
                "confidence": score.confidence,
                "reasoning": score.reasoning,
            })
        });
        members.collect()
    }

    /// All members' replies, each with its member's name.
    fn judgement(&self, scores: Vec<Score>) -> Judgement {
        let names: Vec<String> = self.members.iter().map(member_name).collect();
        let mut prompts = Vec::new();
        let mut replies = Vec::new();
        for (name, score) in names.iter().zip(scores) {
            let Some(judgement) = score.judgement else { continue };
            prompts.push(format!("[{name}]\n{}", judgement.prompt));
            for mut reply in judgement.replies {
                reply.part = Some(match reply.part {
                    Some(part) => format!("{name}: {part}"),
                    None => name.clone(),
                });
                replies.push(reply);
            }
        }
        let hashes: Vec<ContentHash> = self.members.iter().map(Judge::template).collect();
        let parts: Vec<&[u8]> = hashes.iter().map(|hash| &hash.0[..]).collect();
        let mut criteria: Vec<&str> =
            self.members.iter().map(|member| member.criterion().name.as_str()).collect();
        criteria.dedup();
        Judgement {
            judge: None,
            criterion: criteria.join(", "),
            method: "panel".to_owned(),
            model: names.join(", "),
            prompt: prompts.join("\n\n"),
            template: ContentHash::of_parts(&parts),
            threshold: self.config.threshold,
            replies,
        }
    }
}

fn member_name(member: &Judge) -> String {
    let config = member.config();
    let described = || format!("{} by {}", config.method, config.model.display_name());
    config.name.clone().unwrap_or_else(described)
}

fn check_weights(config: &PanelConfig) -> Result<(), JudgeError> {
    let wrong = |message: &str, hint: &str| Err(JudgeError::setting("weights", message, hint));
    if config.combine != Combine::Weighted {
        if config.weights.is_empty() {
            return Ok(());
        }
        return wrong("only `combine: weighted` has weights", "remove them");
    }
    if config.weights.len() != config.judges.len() {
        return wrong("there must be one weight for each judge", "count them");
    }
    let is_usable = config.weights.iter().all(|weight| weight.is_finite() && *weight >= 0.0);
    if !is_usable || config.weights.iter().sum::<f64>() <= 0.0 {
        return wrong("weights are 0 or more, and one is above 0", "correct them");
    }
    Ok(())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() % 2 {
        1 => values[middle],
        _ => f64::midpoint(values[middle - 1], values[middle]),
    }
}

/// The requests of one member among those of all. Their names have the member's number before them: `2.g_eval`.
struct Shifted<'ask> {
    ask: &'ask dyn Ask,
    first: usize,
    number: usize,
}

#[async_trait]
impl Ask for Shifted<'_> {
    async fn ask(&self, question: Question<'_>) -> Result<Generation, AskError> {
        let name = format!("{}.{}", self.number, question.name);
        let request = self.first + question.request;
        self.ask.ask(Question { request, name: &name, ..question }).await
    }

    fn is_recorded(&self) -> bool {
        self.ask.is_recorded()
    }
}
