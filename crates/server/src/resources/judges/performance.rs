//! What the judgements of a judge show.

use std::collections::BTreeMap;

use fullbench_store::{JudgeKey, JudgeRecord, JudgementFilter, ScopedStore};
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::problem::Problem;

/// The judgements of a judge, summed up.
#[derive(Default, Serialize, JsonSchema)]
pub(super) struct JudgePerformance {
    judge_id: Uuid,
    name: String,
    /// How many judgements there are.
    judgements: u64,
    /// Those with a score.
    scored: u64,
    /// The mean of the scores, from 0 to 1.
    mean: Option<f64>,
    /// Their standard deviation; null for fewer than two.
    spread: Option<f64>,
    passed: u64,
    failed: u64,
    /// The share that passed, of those that passed or failed.
    pass_rate: Option<f64>,
    /// How many have no score, for each reason.
    unscored: BTreeMap<String, u64>,
    /// Mean seconds that the calls of a judgement took together; those from the response cache do not count.
    mean_seconds: Option<f64>,
    /// The 95th percentile of the same.
    p95_seconds: Option<f64>,
    prompt_tokens: u64,
    completion_tokens: u64,
    /// What the judgements with a known cost cost.
    cost_usd: f64,
    /// How many have a known cost.
    priced: u64,
}

impl JudgePerformance {
    /// The numbers of this judge; its predecessors and successors have their own.
    pub(super) async fn read(store: &ScopedStore, judge: &JudgeRecord) -> Result<Self, Problem> {
        let filter =
            JudgementFilter { judge: Some(judge.name.clone()), ..JudgementFilter::default() };
        let all = store.judge_performance(&filter).await?;
        let own = all.into_iter().find(|one| one.judge.key == JudgeKey::Stored(judge.id));
        let none = Self { judge_id: judge.id.0, name: judge.name.clone(), ..Self::default() };
        let Some(own) = own.map(|own| own.performance) else { return Ok(none) };
        Ok(Self {
            judgements: own.judgements,
            scored: own.scored,
            mean: own.mean,
            spread: own.spread,
            passed: own.passed,
            failed: own.failed,
            pass_rate: own.pass_rate(),
            unscored: own
                .unscored
                .iter()
                .map(|(reason, count)| (reason.as_str().to_owned(), *count))
                .collect(),
            mean_seconds: own.mean_seconds,
            p95_seconds: own.p95_seconds,
            prompt_tokens: own.input_tokens,
            completion_tokens: own.output_tokens,
            cost_usd: own.cost.dollars(),
            priced: own.priced,
            ..none
        })
    }
}
