//! `routed`: simple outputs go to a cheap judge, complex ones to a strong one.
//!
//! The two are different instruments. Each score says which of them gave it, a share of the cheap one's outputs is shown to the
//! strong one as well, and summaries tell the routes apart.

mod complexity;

use std::collections::BTreeMap;

use async_trait::async_trait;
use fullbench_types::{Audit, NanoDollars, Route, RoutePath, Score, ScorePath};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use self::complexity::{Complexity, Domain, ambiguity, default_domains};
use super::composite::{Children, NestedScorer, chance, full_cost, passing_reason};
use super::{BatchScorer, Parameters};
use crate::registry::ScorerConfigError;
use crate::scorer::{AskedCall, Item};

const CHEAP: usize = 0;
const STRONG: usize = 1;

/// Parameters of `routed`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RoutedParameters {
    /// The judge of simple outputs.
    cheap: NestedScorer,
    /// The judge of complex ones, by the same criterion.
    strong: NestedScorer,
    /// An output goes to the strong judge from this complexity on: points for its length (one for 1,000 characters), its domain and its criterion.
    #[serde(default = "strong_from")]
    strong_from: f64,
    /// Domains with the words that tell them and the points they make; the most pointed one found counts. Finance, law, mathematics, medicine and programming, a point each, unless given.
    #[serde(default = "default_domains")]
    domains: BTreeMap<String, Domain>,
    /// Points for how much the criterion leaves open; unless given, one where its levels are not described and one where there is neither reference nor context to compare with.
    #[serde(default)]
    ambiguity: Option<f64>,
    /// The share of the cheap judge's outputs that the strong one judges as well, which measures what routing costs in agreement, 0 to 1.
    #[serde(default = "audit")]
    #[schemars(range(min = 0.0, max = 1.0))]
    audit: f64,
    /// The seed of the draws.
    #[serde(default)]
    seed: u64,
}

fn strong_from() -> f64 {
    2.0
}

fn audit() -> f64 {
    0.05
}

/// Two judges, and what sends an output to which.
pub(crate) struct Routed {
    children: Children,
    parameters: RoutedParameters,
    ambiguity: f64,
    is_binary: bool,
}

impl Parameters for RoutedParameters {
    type Scorer = Routed;

    const KIND: &'static str = "routed";
    const SUMMARY: &'static str = "Simple outputs go to a cheap judge, complex ones to a strong one; each score says who gave it, and a share is judged by both.";
    const EXAMPLE: &'static str = "{ type: routed, cheap: { type: g_eval, criterion: helpfulness, model: openai:gpt-4o-mini }, strong: { type: g_eval, criterion: helpfulness, model: openai:gpt-4o } }";
    const BINARY: bool = false;
    const SCORER_PARAMETERS: &'static [&'static str] = &["cheap", "strong"];

    fn build(self) -> Result<Routed, ScorerConfigError> {
        if !(0.0..=1.0).contains(&self.audit) {
            return Err(ScorerConfigError::at("audit", "a share is from 0 to 1"));
        }
        let numbers = self.domains.values().map(|domain| domain.points);
        let numbers = numbers.chain([self.strong_from]).chain(self.ambiguity);
        if !numbers.into_iter().all(f64::is_finite) {
            return Err(ScorerConfigError::new("points are numbers"));
        }
        let entries = [("cheap".to_owned(), &self.cheap), ("strong".to_owned(), &self.strong)];
        let children = Children::build(entries)?;
        let judged: Vec<_> = children.iter().map(|child| child.scorer.criterion()).collect();
        if let [Some(cheap), Some(strong)] = judged.as_slice()
            && cheap != strong
        {
            let message = format!(
                "the judges have different criteria: `{}` and `{}`",
                cheap.name, strong.name
            );
            return Err(
                ScorerConfigError::at("strong", message).hint("give both the same `criterion:`")
            );
        }
        let is_binary = children.iter().all(|child| child.binary);
        if children.iter().any(|child| child.binary != is_binary) {
            return Err(ScorerConfigError::at(
                "strong",
                "one judge gives yes or no, the other a number",
            )
            .hint("use the same method for both"));
        }
        let criterion = judged.into_iter().flatten().next();
        let ambiguity = self.ambiguity.or(criterion.map(ambiguity)).unwrap_or_default();
        Ok(Routed { children, ambiguity, is_binary, parameters: self })
    }
}

#[async_trait]
impl BatchScorer for Routed {
    fn is_binary(&self) -> bool {
        self.is_binary
    }

    fn children(&self) -> Option<&Children> {
        Some(&self.children)
    }

    fn has_paths(&self) -> bool {
        true
    }

    fn calls(&self, item: &Item<'_>) -> Vec<AskedCall> {
        let is_known = !item.generation.text.is_empty();
        let complex = self.complexity(item).points >= self.parameters.strong_from;
        // A longer answer only adds to the complexity of the question.
        let cheap = if complex { (0, 0) } else { (u32::from(is_known), 1) };
        let audited = self.is_audited(item);
        let strong = if complex {
            (1, 1)
        } else {
            (u32::from(audited && is_known), u32::from(audited || !is_known))
        };
        let mut calls = Vec::new();
        for (judge, (least, most)) in [(CHEAP, cheap), (STRONG, strong)] {
            let asked = self.children.calls(item, |child| child == judge).into_iter();
            let asked = asked.filter(|_| most > 0);
            calls.extend(
                asked.map(|call| AskedCall { times: (call.times.0 * least, call.times.1), ..call }),
            );
        }
        calls
    }

    fn calls_for_all(&self, item: &Item<'_>) -> Vec<AskedCall> {
        self.children.calls(item, |child| child == STRONG)
    }

    async fn score_items(&self, items: &[Item<'_>]) -> Vec<Score> {
        let found: Vec<Complexity> = items.iter().map(|item| self.complexity(item)).collect();
        let is_strong = |at: usize| found[at].points >= self.parameters.strong_from;
        let is_audited = |at: usize| !is_strong(at) && self.is_audited(&items[at]);
        let cheap: Vec<usize> = (0..items.len()).filter(|at| !is_strong(*at)).collect();
        let both: Vec<usize> =
            (0..items.len()).filter(|at| is_strong(*at) || is_audited(*at)).collect();
        let (mut by_cheap, mut by_strong) =
            futures::join!(self.scores(CHEAP, items, &cheap), self.scores(STRONG, items, &both));
        let mut scores = Vec::with_capacity(items.len());
        for (at, complexity) in found.into_iter().enumerate() {
            let (cheap, strong) = (by_cheap.remove(&at), by_strong.remove(&at));
            scores.push(self.finish(complexity, cheap, strong));
        }
        scores
    }
}

impl Routed {
    fn complexity(&self, item: &Item<'_>) -> Complexity {
        Complexity::of(item, &self.parameters.domains, self.ambiguity)
    }

    fn is_audited(&self, item: &Item<'_>) -> bool {
        chance("routed", self.parameters.seed, item) < self.parameters.audit
    }

    /// What one judge says of some of the items, by their position.
    async fn scores(
        &self,
        judge: usize,
        items: &[Item<'_>],
        wanted: &[usize],
    ) -> BTreeMap<usize, Score> {
        let asked: Vec<Item<'_>> = wanted.iter().map(|at| items[*at]).collect();
        if asked.is_empty() {
            return BTreeMap::new();
        }
        let scores = self.children.scores_of(&asked, |child| child == judge).await;
        let scores = scores.into_iter().filter_map(|scores| scores.into_iter().flatten().next());
        wanted.iter().copied().zip(scores).collect()
    }

    /// The score of the judge that was chosen, with what the other one said where both were asked.
    fn finish(&self, complexity: Complexity, cheap: Option<Score>, strong: Option<Score>) -> Score {
        let (route, mut score, audit) = match (cheap, strong) {
            (Some(cheap), audit) => (Route::Cheap, cheap, audit),
            (None, Some(strong)) => (Route::Strong, strong, None),
            (None, None) => (Route::Cheap, Score::not_sampled(), None),
        };
        if let Some(again) = audit.as_ref().and_then(|audit| passing_reason(&[audit])) {
            let cost = sum(score.cost, audit.and_then(|audit| audit.cost));
            return Score { cost, ..again };
        }
        let own_cost = full_cost(&score);
        let audited = audit.map(|audit| {
            let seen = Audit {
                probability: self.parameters.audit,
                outcome: audit.outcome,
                value: audit.value,
                full_cost: full_cost(&audit),
            };
            score.cost = sum(score.cost, audit.cost);
            if let (Some(judgement), Some(other)) = (&mut score.judgement, audit.judgement) {
                judgement.replies.extend(other.replies.into_iter().map(|mut reply| {
                    reply.part = Some("audit by the strong judge".to_owned());
                    reply
                }));
            }
            seen
        });
        let mut evidence = match score.evidence.take() {
            Some(Value::Object(evidence)) => evidence,
            Some(other) => Map::from_iter([("judge".to_owned(), other)]),
            None => Map::new(),
        };
        let strong =
            audited.as_ref().map(|audit| json!({ "outcome": audit.outcome, "value": audit.value }));
        let said = json!({ "judge": route, "complexity": complexity, "strong_judge_says": strong });
        evidence.insert("route".to_owned(), said);
        score.evidence = Some(Value::Object(evidence));
        score.path = Some(Box::new(ScorePath::Route(RoutePath {
            route,
            complexity: complexity.points,
            audit: audited,
            full_cost: own_cost,
        })));
        score
    }
}

fn sum(first: Option<NanoDollars>, second: Option<NanoDollars>) -> Option<NanoDollars> {
    match (first, second) {
        (None, None) => None,
        (first, second) => Some(first.unwrap_or_default() + second.unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests;
