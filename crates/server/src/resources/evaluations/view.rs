//! An evaluation of one answer, as the API shows it.

use std::collections::BTreeMap;

use fullbench_engine::EvaluationSpec;
use fullbench_store::{RunRecord, ScoreRecord};
use fullbench_types::{NanoDollars, Outcome, RunState, Score, UnscoredReason};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use uuid::Uuid;

/// Where an evaluation of one answer stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum EvaluationStatus {
    /// It waits, or is being worked on.
    Pending,
    /// Some scores are there, others not yet: a judge takes long, or its provider failed.
    Partial,
    /// Every metric has had its say.
    Completed,
    /// It cannot be done.
    Failed,
    /// It was given up on request.
    Cancelled,
}

/// An evaluation of one answer.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Evaluation {
    pub(super) evaluation_id: Uuid,
    pub(super) status: EvaluationStatus,
    /// The score of each metric from 0 to 1, higher is better; null where there is none, for which `results` has the reason.
    pub(super) scores: BTreeMap<String, Option<f64>>,
    /// Why each score is what it is, where the metric says so.
    pub(super) reasoning: BTreeMap<String, String>,
    /// Everything else about each score.
    pub(super) results: BTreeMap<String, MetricResult>,
    /// How long scoring took.
    pub(super) latency_ms: u64,
    /// What scoring cost.
    pub(super) cost_usd: f64,
    pub(super) created_at: Timestamp,
    pub(super) completed_at: Option<Timestamp>,
    /// What was sent beside the answer.
    pub(super) metadata: Map<String, Value>,
}

/// What a metric says of an answer.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct MetricResult {
    /// From 0 to 1, higher is better.
    value: Option<f64>,
    /// On the metric's own scale.
    raw: Option<f64>,
    /// `passed` or `failed` where there is a threshold, `scored` where there is none, `unscored` with a `reason`.
    outcome: String,
    /// Why there is no score.
    reason: Option<String>,
    /// Why the score is what it is.
    reasoning: Option<String>,
    /// What the score rests on.
    evidence: Option<Value>,
    /// How sure the metric is, from 0 to 1.
    confidence: Option<f64>,
    cost_usd: Option<f64>,
    /// It came from the response cache.
    cached: bool,
    /// How the number was made, in one line.
    signature: String,
}

/// A score of an evaluation that is to be shown.
pub(super) struct NamedScore<'score> {
    pub(super) name: &'score str,
    pub(super) signature: &'score str,
    pub(super) score: Option<&'score Score>,
}

impl Evaluation {
    /// The evaluation with these scores; metrics without one are still open.
    pub(super) fn new<'score>(
        id: Uuid,
        created_at: Timestamp,
        scores: impl Iterator<Item = NamedScore<'score>>,
    ) -> Self {
        let mut evaluation = Self {
            evaluation_id: id,
            status: EvaluationStatus::Completed,
            scores: BTreeMap::new(),
            reasoning: BTreeMap::new(),
            results: BTreeMap::new(),
            latency_ms: 0,
            cost_usd: 0.0,
            created_at,
            completed_at: None,
            metadata: Map::new(),
        };
        for NamedScore { name, signature, score } in scores {
            let result = MetricResult::new(score, signature);
            evaluation.scores.insert(name.to_owned(), result.value);
            if let Some(reasoning) = &result.reasoning {
                evaluation.reasoning.insert(name.to_owned(), reasoning.clone());
            }
            if score.is_none_or(is_open) {
                evaluation.status = EvaluationStatus::Partial;
            }
            evaluation.results.insert(name.to_owned(), result);
        }
        evaluation
    }

    /// Says what scoring cost, whether it came to a score or not.
    pub(super) fn cost(mut self, spent: NanoDollars) -> Self {
        self.cost_usd = spent.dollars();
        self
    }

    /// Says that metrics without a score are not under way any more: the budget had no room for them.
    pub(super) fn out_of_budget(&mut self) {
        for result in self.results.values_mut().filter(|result| result.is_pending()) {
            result.reason = Some(UnscoredReason::BudgetExhausted.as_str().to_owned());
        }
    }

    /// A stored evaluation.
    pub(super) fn of_run(run: &RunRecord, spec: &EvaluationSpec, scores: &[ScoreRecord]) -> Self {
        let built: Vec<_> =
            spec.scorers.iter().filter_map(|scorer| fullbench_score::build(scorer).ok()).collect();
        let named = built.iter().map(|scorer| NamedScore {
            name: &scorer.name,
            signature: &scorer.signature,
            score: scores
                .iter()
                .find(|record| record.scorer == scorer.hash.short())
                .map(|record| &record.score),
        });
        let mut evaluation = Self::new(run.id.0, run.created_at, named);
        evaluation.status = match run.state {
            RunState::Pending | RunState::Running if scores.is_empty() => EvaluationStatus::Pending,
            RunState::Failed => EvaluationStatus::Failed,
            RunState::Cancelled => EvaluationStatus::Cancelled,
            RunState::Completed => EvaluationStatus::Completed,
            _ => EvaluationStatus::Partial,
        };
        if run.state == RunState::Incomplete {
            evaluation.out_of_budget();
        }
        evaluation.completed_at = run.finished_at;
        evaluation.metadata = run.order.labels.clone();
        let took = evaluation.metadata.remove(LATENCY).and_then(|took| took.as_u64());
        evaluation.latency_ms = took.unwrap_or_default();
        evaluation
    }
}

/// Where the labels of a run keep how long scoring took.
pub(super) const LATENCY: &str = "_latency_ms";

/// The score was not given because a provider failed, and may still be.
pub(super) fn is_open(score: &Score) -> bool {
    matches!(score.outcome, Outcome::Unscored(UnscoredReason::ProviderError))
}

/// Why there is no score where a metric has not had its say.
const PENDING: &str = "pending";

impl MetricResult {
    fn is_pending(&self) -> bool {
        self.reason.as_deref() == Some(PENDING)
    }

    /// From 0 to 1, where there is a score.
    pub(crate) fn value(&self) -> Option<f64> {
        self.value
    }

    pub(crate) fn new(score: Option<&Score>, signature: &str) -> Self {
        let reason = match score {
            Some(score) => score.outcome.reason().map(|reason| reason.as_str().to_owned()),
            None => Some(PENDING.to_owned()),
        };
        Self {
            value: score.and_then(|score| score.value),
            raw: score.and_then(|score| score.raw),
            outcome: score.map_or("unscored", |score| score.outcome.as_str()).to_owned(),
            reason,
            reasoning: score.and_then(|score| score.reasoning.clone()),
            evidence: score.and_then(|score| score.evidence.clone()),
            confidence: score.and_then(|score| score.confidence),
            cost_usd: score.and_then(|score| score.cost).map(NanoDollars::dollars),
            cached: score.is_some_and(|score| score.cached),
            signature: signature.to_owned(),
        }
    }
}
