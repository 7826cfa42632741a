//! A run in short.

use std::collections::{BTreeMap, HashMap};

use fullbench_store::{LaneProgress, RunRecord, ScopedStore};
use fullbench_types::{Priority, RunId, RunKind, RunState};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::problem::Problem;

/// A run in short.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "EvaluationRun")]
pub(crate) struct RunView {
    run_id: Uuid,
    name: String,
    #[serde(rename = "type")]
    kind: RunKind,
    status: RunState,
    priority: Priority,
    dataset_version_id: Option<Uuid>,
    experiment_id: Option<Uuid>,
    variant_id: Option<Uuid>,
    baseline_run_id: Option<Uuid>,
    /// Units of the plan: cases × models × repetitions.
    total_items: u64,
    /// Units that are answered and scored.
    completed_items: u64,
    /// Units whose last attempt failed.
    failed_items: u64,
    /// The mean of each score, once the run is not being worked on; of its first model where there are several.
    summary_scores: BTreeMap<String, Option<f64>>,
    total_cost_usd: f64,
    created_at: Timestamp,
    started_at: Option<Timestamp>,
    completed_at: Option<Timestamp>,
    created_by: Option<String>,
    /// What the user should know.
    notes: Vec<String>,
    metadata: Map<String, Value>,
    /// Its prompts or notes are gone with the key that they were sealed with: its numbers stay.
    texts_deleted: bool,
}

/// Runs in short.
pub(crate) async fn views(
    store: &ScopedStore,
    runs: Vec<RunRecord>,
) -> Result<Vec<RunView>, Problem> {
    let ids: Vec<RunId> = runs.iter().map(|run| run.id).collect();
    let progress = store.progress_of(&ids).await?;
    Ok(runs.into_iter().map(|run| RunView::new(run, &progress)).collect())
}

/// Units that are answered and scored, as far as all before them are recorded: an answer without its scores is not complete.
pub(crate) fn completed_units(progress: &LaneProgress) -> u64 {
    progress.watermark.saturating_sub(progress.failed)
}

/// How far a run has come.
pub(crate) async fn progress_of(store: &ScopedStore, run: RunId) -> Result<LaneProgress, Problem> {
    Ok(store.progress_of(&[run]).await?.remove(&run).unwrap_or_default())
}

impl RunView {
    fn new(run: RunRecord, progress: &HashMap<RunId, LaneProgress>) -> Self {
        let progress = progress.get(&run.id).copied().unwrap_or_default();
        let mut metadata = run.order.labels;
        metadata.retain(|name, _| !name.starts_with('_'));
        Self {
            run_id: run.id.0,
            name: run.name,
            kind: run.kind,
            status: run.state,
            priority: run.order.priority,
            dataset_version_id: run.order.dataset_version,
            experiment_id: run.order.experiment,
            variant_id: run.order.variant,
            baseline_run_id: run.order.baseline.map(|baseline| baseline.0),
            total_items: run.planned_units,
            completed_items: completed_units(&progress),
            failed_items: progress.failed,
            summary_scores: run.summary.as_ref().map(means).unwrap_or_default(),
            total_cost_usd: progress.spent.dollars(),
            created_at: run.created_at,
            started_at: run.started_at,
            completed_at: run.finished_at,
            created_by: run.order.created_by,
            notes: run.notes,
            metadata,
            texts_deleted: run.texts_deleted,
        }
    }
}

/// The means of a report's first model.
fn means(report: &Value) -> BTreeMap<String, Option<f64>> {
    let scores = report["models"][0]["scores"].as_array();
    let mean = |score: &Value| Some((score["scorer"].as_str()?.to_owned(), score["mean"].as_f64()));
    scores.into_iter().flatten().filter_map(mean).collect()
}
