//! How far a batch is, and what its numbers are so far.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::response::Json;
use fullbench_store::{RunRecord, ScopedStore};
use fullbench_types::{Action, RunState};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use uuid::Uuid;

use super::batch_run;
use crate::access::Caller;
use crate::api::Endpoint;
use crate::app::App;
use crate::extract::PathParts;
use crate::problem::Problem;
use crate::resources::runs::{completed_units, progress_of};

/// Where a batch stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum JobStatus {
    /// It waits.
    Queued,
    /// It is being worked on.
    Running,
    /// It is halted.
    Paused,
    /// Some units or scores are missing: `resume` asks for them again.
    Incomplete,
    /// Everything is there.
    Completed,
    /// It was given up on request.
    Cancelled,
    /// It cannot be done.
    Failed,
}

impl JobStatus {
    pub(super) fn of(state: RunState) -> Self {
        match state {
            RunState::Pending => Self::Queued,
            RunState::Running => Self::Running,
            RunState::Paused => Self::Paused,
            RunState::Incomplete => Self::Incomplete,
            RunState::Completed => Self::Completed,
            RunState::Cancelled => Self::Cancelled,
            RunState::Failed => Self::Failed,
        }
    }
}

/// A batch with its progress and its numbers.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "BatchEvaluation")]
pub(super) struct Batch {
    pub(super) job_id: Uuid,
    name: String,
    pub(super) status: JobStatus,
    progress: BatchProgress,
    /// The numbers of each score; of the first model where there are several.
    summary_scores: BTreeMap<String, ScoreNumbers>,
    /// The numbers of every model.
    models: Vec<ModelNumbers>,
    /// The conditions of the batch, judged.
    pub(super) gates: Vec<Gate>,
    total_cost_usd: f64,
    dataset_version_id: Option<Uuid>,
    baseline_run_id: Option<Uuid>,
    created_at: Timestamp,
    started_at: Option<Timestamp>,
    completed_at: Option<Timestamp>,
    /// What the user should know.
    notes: Vec<String>,
    metadata: Map<String, Value>,
}

/// How far a batch is, in units.
#[derive(Debug, Serialize, JsonSchema)]
struct BatchProgress {
    total: u64,
    completed: u64,
    failed: u64,
}

/// The numbers of a model.
#[derive(Debug, Serialize, JsonSchema)]
struct ModelNumbers {
    model: String,
    scores: BTreeMap<String, ScoreNumbers>,
}

/// The numbers of a score.
#[derive(Debug, Clone, Serialize, JsonSchema)]
struct ScoreNumbers {
    mean: Option<f64>,
    /// Lower end of the 95% interval of the mean.
    low: Option<f64>,
    /// Upper end of the 95% interval of the mean.
    high: Option<f64>,
    /// How the interval was made.
    interval: Option<String>,
    p50: Option<f64>,
    p95: Option<f64>,
    /// Values that the mean is made of.
    count: u64,
    passed: u64,
    failed: u64,
    /// Units without a value, by reason.
    unscored: BTreeMap<String, u64>,
    /// The mean if every unit without a value had 0.
    worst_mean: Option<f64>,
    /// The mean if every unit without a value had 1.
    best_mean: Option<f64>,
}

/// A condition, judged.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Gate {
    /// The condition.
    pub(super) gate: String,
    /// The model it was judged for.
    pub(super) model: String,
    pub(super) passed: bool,
    /// It holds only because the data do not show the opposite: what they leave open.
    warning: Option<String>,
    /// The numbers it rests on, or why it cannot be judged.
    pub(super) detail: String,
}

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::get(
            "/v1/evaluations/batch/{job_id}",
            "get_batch_evaluation",
            Action::ReadRuns,
            get,
        )
        .about("evaluations", "How far a batch is, and its numbers", "")
        .gives::<Batch>(200, "The batch"),
    ]
}

async fn get(
    State(app): State<App>,
    caller: Caller,
    PathParts(id): PathParts<Uuid>,
) -> Result<Json<Batch>, Problem> {
    let run = batch_run(&caller.store, id).await?;
    Ok(Json(shown(&app, &caller.store, run).await?))
}

/// A batch as it is now.
pub(super) async fn shown(
    app: &App,
    store: &ScopedStore,
    run: RunRecord,
) -> Result<Batch, Problem> {
    let progress = progress_of(store, run.id).await?;
    let report = match &run.summary {
        Some(report) if !matches!(run.state, RunState::Pending | RunState::Running) => {
            Arc::new(report.clone())
        }
        _ => app.reports().of(store, &run).await?,
    };
    let models: Vec<ModelNumbers> =
        report["models"].as_array().into_iter().flatten().map(ModelNumbers::of).collect();
    let gates = report["gates"].as_array().into_iter().flatten().map(Gate::of).collect();
    Ok(Batch {
        job_id: run.id.0,
        status: JobStatus::of(run.state),
        progress: BatchProgress {
            total: run.planned_units,
            completed: completed_units(&progress),
            failed: progress.failed,
        },
        summary_scores: models.first().map(|model| model.scores.clone()).unwrap_or_default(),
        models,
        gates,
        total_cost_usd: progress.spent.dollars(),
        dataset_version_id: run.order.dataset_version,
        baseline_run_id: run.order.baseline.map(|baseline| baseline.0),
        created_at: run.created_at,
        started_at: run.started_at,
        completed_at: run.finished_at,
        name: run.name,
        notes: run.notes,
        metadata: run.order.labels,
    })
}

impl ModelNumbers {
    fn of(model: &Value) -> Self {
        let scores = model["scores"].as_array().into_iter().flatten();
        let named = scores.filter_map(|score| {
            Some((score["scorer"].as_str()?.to_owned(), ScoreNumbers::of(score)))
        });
        Self { model: text(&model["model"]), scores: named.collect() }
    }
}

impl ScoreNumbers {
    fn of(score: &Value) -> Self {
        let counts = score["unscored"].as_object().into_iter().flatten();
        Self {
            mean: score["mean"].as_f64(),
            low: score["low"].as_f64(),
            high: score["high"].as_f64(),
            interval: score["interval"].as_str().map(str::to_owned),
            p50: score["p50"].as_f64(),
            p95: score["p95"].as_f64(),
            count: score["count"].as_u64().unwrap_or_default(),
            passed: score["passed"].as_u64().unwrap_or_default(),
            failed: score["failed"].as_u64().unwrap_or_default(),
            unscored: counts
                .map(|(reason, count)| (reason.clone(), count.as_u64().unwrap_or_default()))
                .collect(),
            worst_mean: score["worst_mean"].as_f64(),
            best_mean: score["best_mean"].as_f64(),
        }
    }
}

impl Gate {
    fn of(gate: &Value) -> Self {
        Self {
            gate: text(&gate["expression"]),
            model: text(&gate["model"]),
            passed: gate["passed"].as_bool().unwrap_or_default(),
            warning: gate["warning"].as_str().map(str::to_owned),
            detail: text(&gate["detail"]),
        }
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
