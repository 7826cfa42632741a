//! The summary of a run: for each model and scorer the mean with its interval, counts and bounds.

use std::collections::BTreeMap;
use std::sync::Arc;

use fullbench_llm::{ModelConfig, Provider};
use fullbench_store::{
    BUDGET_NOTES, DatasetVersion, ResultDetail, RunRecord, ScopedStore, StoreError, UnitResult,
};
use fullbench_types::{NanoDollars, UnitKey, UnscoredReason};
use serde::{Deserialize, Serialize};

use super::Word;
use super::accumulate::{Clustered, ModelAccumulator, ModelAccumulators};
use super::diff::{DiffOptions, compare_runs};
use super::gates::{Comparison, GateResult, judge_gates};
use super::grouping::{Clustering, Grouping};
use super::sampled::{CascadeSummary, RouteSummary, SimilarSummary};
use crate::EngineError;
use crate::run::{counted_plan, planned};
use crate::spec::{EvaluationSpec, stored_spec};

/// Results read at a time.
const PAGE: u64 = 4096;

/// A run in numbers.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunReport {
    /// The run's id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Where it stands.
    pub state: Word,
    /// When it was created, UTC.
    pub created_at: String,
    /// When it ended, UTC.
    pub finished_at: Option<String>,
    /// Where its cases came from.
    pub dataset: String,
    /// Hash of its dataset version.
    pub dataset_hash: String,
    /// Hash of its frozen spec.
    pub spec_hash: String,
    /// Cases in the plan.
    pub cases: u64,
    /// How often each model answered each case.
    pub repetitions: u32,
    /// Units in the plan.
    pub planned: u64,
    /// What happened that the user should know.
    pub notes: Vec<String>,
    /// The scorers, in the order of the evaluation file.
    pub scorers: Vec<ScorerInfo>,
    /// The models.
    pub models: Vec<ModelSummary>,
    /// What the intervals are clustered by; none where every value counts by itself.
    pub clustering: Option<Clustering>,
    /// The same by the values of a field.
    pub groups: Option<GroupSummary>,
    /// The gates, judged.
    pub gates: Vec<GateResult>,
    /// What scoring cost in dollars, beside the answers; none where it cost nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scoring_cost_usd: Option<f64>,
}

/// A scorer of a run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ScorerInfo {
    /// Its name.
    pub name: String,
    /// Its type.
    pub kind: String,
    /// How its numbers are made.
    pub signature: String,
}

impl From<fullbench_score::NamedScorer> for ScorerInfo {
    fn from(scorer: fullbench_score::NamedScorer) -> Self {
        Self { name: scorer.name, kind: scorer.kind, signature: scorer.signature }
    }
}

/// The models' numbers for each value of a field.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct GroupSummary {
    /// The field.
    pub by: String,
    /// Its values, with the models.
    pub values: Vec<(String, Vec<ModelSummary>)>,
}

/// One model in numbers.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ModelSummary {
    /// The model's name.
    pub model: String,
    /// Units in the plan.
    pub planned: u64,
    /// Units with an answer.
    pub answered: u64,
    /// Units whose last attempt failed, by reason.
    pub failures: BTreeMap<String, u64>,
    /// Units without a record.
    pub remaining: u64,
    /// Answers served from the cache.
    pub from_cache: u64,
    /// What the answers cost in dollars; none where no price is known.
    pub cost_usd: Option<f64>,
    /// Tokens of all prompts.
    pub input_tokens: u64,
    /// Tokens of all answers.
    pub output_tokens: u64,
    /// Prompt tokens the provider read from its cache.
    pub cached_input_tokens: u64,
    /// Tokens spent on reasoning.
    pub reasoning_tokens: u64,
    /// Calls repeated after a failure.
    pub retries: u64,
    /// Milliseconds to the whole answer.
    pub latency_ms: Option<LatencySummary>,
    /// Milliseconds to the first token.
    pub time_to_first_token_ms: Option<LatencySummary>,
    /// Equal steps of latency with their counts.
    pub latency_histogram: Vec<LatencyStep>,
    /// The scorers.
    pub scores: Vec<ScorerSummary>,
}

/// A step of a latency histogram.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct LatencyStep {
    /// From this many milliseconds.
    pub from: f64,
    /// Up to this many.
    pub to: f64,
    /// How many answers.
    pub count: u64,
}

/// How long something took.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct LatencySummary {
    /// On average.
    pub mean: f64,
    /// Half took at most this long.
    pub p50: f64,
    /// 95 of 100 took at most this long.
    pub p95: f64,
    /// The longest.
    pub max: f64,
}

/// One scorer on one model in numbers.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ScorerSummary {
    /// The scorer's name.
    pub scorer: String,
    /// Values the mean is made of.
    pub count: u64,
    /// The mean; none without values.
    pub mean: Option<f64>,
    /// Lower end of the 95% interval.
    pub low: Option<f64>,
    /// Upper end of the 95% interval.
    pub high: Option<f64>,
    /// How the interval was made: `wilson`, `t`, `t_clustered` by case, `t_clustered_by_group`, or, where all yes/no values
    /// agree, `wilson_by_case` and `wilson_by_group`; `weighted` for a cascade, `mixed_judges` where
    /// two judges gave the values.
    pub interval: Option<Word>,
    /// How many cases or groups the interval rests on; none where every value counts by itself.
    pub clusters: Option<u64>,
    /// The median.
    pub p50: Option<f64>,
    /// The 95th percentile.
    pub p95: Option<f64>,
    /// Values that reached the threshold.
    pub passed: u64,
    /// Values that did not.
    pub failed: u64,
    /// Values without a threshold.
    pub scored: u64,
    /// Units without a value, by reason.
    pub unscored: BTreeMap<String, u64>,
    /// The mean if every unit without a value had 0.
    pub worst_mean: Option<f64>,
    /// The mean if every unit without a value had 1.
    pub best_mean: Option<f64>,
    /// Counts of 20 equal steps from 0 to 1.
    pub histogram: Vec<u64>,
    /// A cascade's tiers: the mean is an estimate of what the last one would give on all outputs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cascade: Option<CascadeSummary>,
    /// Two judges: the mean mixes what they gave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub routes: Option<RouteSummary>,
    /// What was taken from judgements of similar outputs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub similar: Option<SimilarSummary>,
}

impl ScorerSummary {
    /// Units without a value.
    #[must_use]
    pub fn unscored_count(&self) -> u64 {
        self.unscored.values().sum()
    }
}

/// Sums up all results of a run; `by` also for each value of a field.
pub async fn summarize(
    store: &ScopedStore,
    run: &RunRecord,
    by: Option<&str>,
) -> Result<RunReport, EngineError> {
    let spec = stored_spec(store, run).await?;
    let dataset = Arc::new(store.dataset(&run.dataset).await?);
    let plan = match planned(store, &spec, &dataset).await {
        // Which cases were drawn is not told without their keys, but how many.
        Err(EngineError::Store(StoreError::TextsDeleted)) => counted_plan(&spec, &dataset),
        plan => plan?,
    };
    let scorers = spec.scorers.iter().map(fullbench_score::build).collect::<Result<Vec<_>, _>>();
    let scorers = scorers.map_err(|error| EngineError::StoredSpec(error.message))?;
    let mut grouping = Grouping::new(store, &dataset, by, spec.group.as_deref()).await?;
    let clustered = match &spec.group {
        Some(_) => Clustered::ByGroup,
        None if plan.repetitions > 1 => Clustered::ByCase,
        None => Clustered::No,
    };
    let names: Vec<String> = spec.models.iter().map(ModelConfig::display_name).collect();
    let mut whole = ModelAccumulators::new(&names, &scorers, clustered);
    let mut parts: BTreeMap<String, (u64, ModelAccumulators)> = BTreeMap::new();
    if let Some(grouping) = &mut grouping {
        for (value, cases) in grouping.cases_of_value(&plan)? {
            parts.insert(value, (cases, ModelAccumulators::new(&names, &scorers, clustered)));
        }
    }
    let counted = grouping.is_none()
        && plan.repetitions == 1
        && !scorers.iter().any(|scorer| scorer.scorer.has_paths())
        && count_in_database(store, run, &mut whole.models).await?;
    if !counted {
        whole = ModelAccumulators::new(&names, &scorers, clustered);
        read_results(store, run, |unit| {
            let Some(grouping) = &mut grouping else {
                whole.add(unit, None);
                return Ok(());
            };
            let place = grouping.of(unit.key.case_index)?;
            whole.add(unit, place.cluster);
            let part = place.value.as_ref().and_then(|value| parts.get_mut(value));
            if let Some((_, models)) = part {
                models.add(unit, place.cluster);
            }
            Ok(())
        })
        .await?;
    }
    let open_reason = open_reason(run);
    let models = whole.summaries(plan.lane_units(), open_reason);
    let groups = by.map(|by| GroupSummary {
        by: by.to_owned(),
        values: parts
            .into_iter()
            .map(|(value, (cases, models))| {
                (value, models.summaries(cases * u64::from(plan.repetitions), open_reason))
            })
            .collect(),
    });
    let clustering = match clustered {
        Clustered::No => None,
        Clustered::ByCase => Some(Clustering::by_case(plan.cases.len(), plan.repetitions)),
        Clustered::ByGroup => grouping.as_ref().and_then(Grouping::clustering),
    };
    let spent: NanoDollars = store.lane_progress(run.id).await?.iter().map(|lane| lane.spent).sum();
    let answers: f64 = models.iter().filter_map(|model| model.cost_usd).sum();
    let asks = scorers.iter().any(|scorer| !scorer.scorer.models().is_empty());
    // What was spent is kept by model, answers and scores together.
    let scoring = (spent.dollars() - answers).max(0.0);
    let gates = judge_gates(&spec.gates, &models, &compared(store, run, &spec).await?);
    Ok(RunReport {
        id: run.id.to_string(),
        name: run.name.clone(),
        state: run.state.as_str().into(),
        created_at: run.created_at.to_string(),
        finished_at: run.finished_at.map(|time| time.to_string()),
        dataset: spec.dataset.clone(),
        dataset_hash: run.dataset.to_string(),
        spec_hash: run.spec_hash.to_string(),
        cases: plan.cases.len(),
        repetitions: plan.repetitions,
        planned: plan.units(),
        notes: run.notes.clone(),
        scorers: scorers.into_iter().map(ScorerInfo::from).collect(),
        models,
        clustering,
        groups,
        gates,
        scoring_cost_usd: (asks && scoring > 0.5e-9).then_some(scoring),
    })
}

/// The run compared with each baseline that a gate names.
async fn compared(
    store: &ScopedStore,
    run: &RunRecord,
    spec: &EvaluationSpec,
) -> Result<BTreeMap<String, Comparison>, EngineError> {
    let mut comparisons = BTreeMap::new();
    for (name, id) in &spec.baselines {
        let comparison = match store.run(*id).await {
            Ok(baseline) => {
                let options = DiffOptions { margin: None, changes: 0 };
                Ok(compare_runs(store, &baseline, run, options).await?)
            }
            Err(StoreError::RunNotFound(id)) => Err(format!("its run {id} is gone")),
            Err(other) => return Err(other.into()),
        };
        comparisons.insert(name.clone(), comparison);
    }
    Ok(comparisons)
}

/// Lets the database count, where neither the order nor the case of a result matters; false when it cannot.
async fn count_in_database(
    store: &ScopedStore,
    run: &RunRecord,
    models: &mut [ModelAccumulator],
) -> Result<bool, EngineError> {
    let Some(scores) = store.score_counts(run.id).await? else { return Ok(false) };
    for units in store.generation_counts(run.id).await? {
        if let Some(model) = models.get_mut(units.model_index as usize) {
            model.add_generations(&units);
        }
    }
    for scores in &scores {
        if let Some(model) = models.get_mut(scores.model_index as usize) {
            model.add_scores(scores);
        }
    }
    for times in store.answer_times(run.id).await? {
        if let Some(model) = models.get_mut(times.model_index as usize) {
            times.latencies.iter().for_each(|time| model.add_latency(*time, 1));
            times.first_tokens.iter().for_each(|time| model.add_first_token(*time, 1));
        }
    }
    Ok(true)
}

/// Reads every result in the order of cases.
pub(super) async fn read_results(
    store: &ScopedStore,
    run: &RunRecord,
    mut take: impl FnMut(&UnitResult) -> Result<(), EngineError>,
) -> Result<(), EngineError> {
    let mut after: Option<UnitKey> = None;
    loop {
        let page = store.results_after(run.id, after, PAGE, ResultDetail::Numbers).await?;
        let Some(last) = page.last() else { return Ok(()) };
        after = Some(last.key);
        page.iter().try_for_each(&mut take)?;
    }
}

/// Why units without a record have none.
fn open_reason(run: &RunRecord) -> UnscoredReason {
    let out_of_budget = run.notes.iter().any(|note| note.starts_with(BUDGET_NOTES));
    if out_of_budget { UnscoredReason::BudgetExhausted } else { UnscoredReason::Cancelled }
}

/// The fields shown as metadata: those the evaluation names, else every field that is nothing else.
#[must_use]
pub fn metadata_fields(spec: &EvaluationSpec, dataset: &DatasetVersion) -> Vec<String> {
    if let Some(metadata) = &spec.metadata {
        return metadata.clone();
    }
    let mapping = &dataset.mapping;
    let recorded = spec.models.iter().filter(|model| model.provider == Provider::Recorded);
    let answers: Vec<&str> =
        recorded.map(|model| top_field(model.field.as_deref().unwrap_or("output"))).collect();
    let is_other = |name: &&String| {
        mapping.input.as_ref() != Some(*name)
            && !mapping.references.contains(name)
            && *name != "id"
            && !answers.contains(&name.as_str())
    };
    dataset.fields.iter().filter(is_other).cloned().collect()
}

fn top_field(path: &str) -> &str {
    path.split('.').next().unwrap_or(path)
}
