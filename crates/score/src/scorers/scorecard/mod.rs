//! `scorecard`: several criteria, each with its own scorer, and a weighted overall score with feedback.

mod card;
mod criterion;
mod defaults;
mod feedback;
mod set;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use async_trait::async_trait;
use fullbench_types::{Score, TestCase, UnscoredReason, text_of};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use card::{Band, Bands, CriterionScore, Evidence, EvidenceType, Scorecard};
pub use feedback::Feedback;

use super::composite::{Children, NestedScorer, passing_reason, with_parts};
use super::{BatchScorer, Parameters};
use crate::registry::ScorerConfigError;
use crate::scorer::{AskedCall, Item};
use criterion::CardCriterion;
use defaults::TaskType;
use set::Set;

/// Parameters of `scorecard`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ScorecardParameters {
    /// The criteria. Without any, those of the case's type of task.
    criteria: Vec<CardCriterion>,
    /// The type of task, where the case does not say: it decides which criteria there are when none are given.
    task: TaskType,
    /// The model that judges the criteria of a type of task: `provider:model`, or a mapping.
    #[schemars(with = "Option<Value>")]
    model: Option<Value>,
    /// The field of a case with its type of task: `coding`, `reasoning` or `general`.
    task_field: String,
    /// The field of a case with the names of its criteria, a list; all of them where the case has no such field.
    criteria_field: String,
    /// Passed when the overall score, from 0 to 1, is at least this much.
    #[schemars(range(min = 0.0, max = 1.0))]
    threshold: Option<f64>,
}

impl Default for ScorecardParameters {
    fn default() -> Self {
        Self {
            criteria: Vec::new(),
            task: TaskType::General,
            model: None,
            task_field: "task_type".to_owned(),
            criteria_field: "criteria".to_owned(),
            threshold: None,
        }
    }
}

impl ScorecardParameters {
    /// The pass mark of the overall score.
    pub(crate) fn threshold(&self) -> Option<f64> {
        self.threshold
    }
}

/// Several criteria with their scorers.
pub(crate) struct ScorecardScorer {
    parameters: ScorecardParameters,
    /// The criteria given, or those of each type of task.
    sets: Vec<Set>,
    children: Children,
}

impl Parameters for ScorecardParameters {
    type Scorer = ScorecardScorer;

    const KIND: &'static str = "scorecard";
    const SUMMARY: &'static str = "Several criteria, each with its own scorer: a weighted overall score from 0 to 100, with feedback.";
    const EXAMPLE: &'static str = "{ type: scorecard, criteria: [{ name: correct, weight: 0.7, scorer: exact_match }, { name: tone, weight: 0.3, scorer: human_review }] }";
    const BINARY: bool = false;
    const LANGUAGE_MODEL_PARAMETERS: &'static [&'static str] = &["model"];
    const SCORER_PARAMETERS: &'static [&'static str] = &["criteria.scorer", "criteria.rules.when"];

    fn build(self) -> Result<ScorecardScorer, ScorerConfigError> {
        criterion::check(&self.criteria)?;
        if self.threshold.is_some_and(|threshold| !(0.0..=1.0).contains(&threshold)) {
            return Err(ScorerConfigError::at("threshold", "a threshold is from 0 to 1"));
        }
        let mut nested: Vec<(String, NestedScorer)> = Vec::new();
        let sets = if self.criteria.is_empty() {
            let of = |task| defaults::criteria(task, self.model.as_ref());
            TaskType::ALL.map(|task| Set::of_task(task, of(task), &mut nested)).into()
        } else {
            vec![Set::given(&self.criteria, &mut nested)]
        };
        let children = Children::build(nested.iter().map(|(place, one)| (place.clone(), one)))?;
        Ok(ScorecardScorer { parameters: self, sets, children })
    }
}

#[async_trait]
impl BatchScorer for ScorecardScorer {
    fn ready(&self) -> Result<(), ScorerConfigError> {
        let Some(set) = self.set_of(self.parameters.task) else { return Ok(()) };
        let mut asked = self.children.iter().enumerate();
        asked.try_for_each(|(index, child)| match set.asks(index, None) {
            true => child.scorer.ready(),
            false => Ok(()),
        })
    }

    fn children(&self) -> Option<&Children> {
        Some(&self.children)
    }

    fn calls(&self, item: &Item<'_>) -> Vec<AskedCall> {
        let Ok((place, names)) = self.needed(item.case) else { return Vec::new() };
        let Some(set) = self.sets.get(place) else { return Vec::new() };
        self.children.calls(item, |child| set.asks(child, names.as_deref()))
    }

    async fn score_items(&self, items: &[Item<'_>]) -> Vec<Score> {
        // Cases that need the same criteria together, so that no scorer is asked for what a case does not need.
        let mut alike: BTreeMap<(usize, Option<Vec<String>>), Vec<usize>> = BTreeMap::new();
        let mut scores = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            scores.push(match self.needed(item.case) {
                Ok(needed) => {
                    alike.entry(needed).or_default().push(index);
                    Score::unscored(UnscoredReason::ScorerError)
                }
                Err(message) => Score::unscored(UnscoredReason::ScorerError).because(message),
            });
        }
        for ((place, names), mine) in alike {
            let Some(set) = self.sets.get(place) else { continue };
            let asked: Vec<Item<'_>> = mine.iter().map(|index| items[*index]).collect();
            let names = names.as_deref();
            let by_item = self.children.scores_of(&asked, |child| set.asks(child, names)).await;
            for (index, of_children) in mine.into_iter().zip(by_item) {
                scores[index] = self.score_of(&items[index], set, names, of_children);
            }
        }
        scores
    }
}

impl ScorecardScorer {
    fn set_of(&self, task: TaskType) -> Option<&Set> {
        self.sets.iter().find(|set| set.task.is_none_or(|own| own == task))
    }

    /// Which set a case's criteria are from; none where it says a type of task that does not exist.
    fn place_of(&self, case: &TestCase) -> Option<usize> {
        let said = case.field(&self.parameters.task_field);
        let task = match said.filter(|_| self.parameters.criteria.is_empty()) {
            Some(word) => TaskType::from_word(&text_of(word))?,
            None => self.parameters.task,
        };
        self.sets.iter().position(|set| set.task.is_none_or(|own| own == task))
    }

    /// The set of a case's criteria, and which of them it names.
    fn needed(&self, case: &TestCase) -> Result<(usize, Option<Vec<String>>), String> {
        let place = self.place_of(case).ok_or_else(|| {
            let field = &self.parameters.task_field;
            let said = case.field(field).map(|value| text_of(value).into_owned());
            let said = said.unwrap_or_default();
            format!("the case's `{field}` is `{said}`: use coding, reasoning or general")
        })?;
        Ok((place, named_criteria(case, &self.parameters.criteria_field)?))
    }

    fn score_of(
        &self,
        item: &Item<'_>,
        set: &Set,
        names: Option<&[String]>,
        scores: Vec<Option<Score>>,
    ) -> Score {
        let asked: Vec<&Score> = scores.iter().flatten().collect();
        let whole = if let Some(again) = passing_reason(&asked) {
            again
        } else {
            match set.criteria(item, &scores, &self.children, names) {
                Ok(criteria) => Scorecard::new(criteria).into_score(self.parameters.threshold),
                Err(message) => Score::unscored(UnscoredReason::ScorerError).because(message),
            }
        };
        let children = self.children.iter().map(|child| child.name.as_str());
        let parts = children.zip(scores).filter_map(|(name, score)| Some((name, score?)));
        with_parts(whole, "scorecard", parts.collect())
    }
}

/// The names in a case's list of criteria; none where it has no list.
fn named_criteria(case: &TestCase, field: &str) -> Result<Option<Vec<String>>, String> {
    match case.field(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Array(names)) if names.iter().all(Value::is_string) => {
            Ok(Some(names.iter().map(|name| text_of(name).into_owned()).collect()))
        }
        Some(_) => Err(format!("the case's `{field}` is no list of names of criteria")),
    }
}
