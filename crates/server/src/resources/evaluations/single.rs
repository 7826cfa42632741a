//! Evaluations of one answer: scored at once, or put into the queue.

use std::time::{Duration, Instant};

use axum::extract::{Extension, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Json, Response};
use fullbench_engine::MetricRules;
use fullbench_store::{
    InlineCase, ResultDetail, RunOrder, RunRecord, ScopedStore, ScoreRecord, StoreError,
};
use fullbench_types::{Action, ContentHash, Generation, Priority, RunId, RunOrigin, RunState};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::metrics::wanted_metrics;
use super::scoring::Single;
use super::view::Evaluation;
use crate::access::Caller;
use crate::api::Endpoint;
use crate::app::App;
use crate::extract::{Body, InProgress, NewId, PathParts};
use crate::problem::{CONFLICT, NOT_FOUND, Problem, found};
use crate::quotas::check_runs;
use crate::work::{enqueue, go_on};

/// How long a synchronous evaluation is waited for unless it says so itself.
pub(crate) const USUAL_TIMEOUT_MS: u64 = 30_000;
/// How long it may be waited for at most.
const MAX_TIMEOUT_MS: u64 = 600_000;
/// The model that judges where none is named.
const USUAL_EVALUATOR: &str = "openai:gpt-4o-mini";

/// An answer to be evaluated.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewEvaluation {
    /// What was asked: text, an object, or a conversation as a list of messages.
    #[schemars(with = "super::shapes::Input")]
    input: Value,
    /// What the model answered.
    output: String,
    /// The accepted answer, or a list of them, of which the best match counts.
    #[serde(default)]
    #[schemars(with = "Option<super::shapes::OneOrMany>")]
    expected_output: Option<Value>,
    /// What the answer should rest on: a text, or a list of passages.
    #[serde(default)]
    #[schemars(with = "Option<super::shapes::OneOrMany>")]
    context: Option<Value>,
    /// Names of scorers, of stored judges or of criteria, or scorers with their parameters. Default: the organization's own.
    #[serde(default)]
    #[schemars(with = "Vec<super::shapes::Metric>", length(max = 64))]
    metrics: Vec<Value>,
    #[serde(default)]
    config: SingleConfig,
    /// Anything to find the evaluation by, such as `model_name`, `model_version` and `prompt_version`.
    #[serde(default)]
    metadata: Map<String, Value>,
}

/// How an answer is evaluated.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SingleConfig {
    /// Wait for the scores; otherwise the evaluation goes into the queue.
    #[serde(default)]
    #[schemars(extend("default" = true))]
    sync: Option<bool>,
    /// The model that judges: `provider:model`, or an object.
    #[serde(default)]
    #[schemars(with = "Option<super::shapes::Model>")]
    evaluator_model: Option<Value>,
    /// Criteria of your own by metric: a text, or an object with `description`, `scale` and `levels`.
    #[serde(default)]
    custom_rubrics: Map<String, Value>,
    /// How long to wait for judges; what is there by then is given, the rest follows later.
    #[serde(default)]
    #[schemars(range(min = 1, max = 600_000), extend("default" = 30_000))]
    timeout_ms: Option<u64>,
    /// How soon an asynchronous evaluation should be done.
    #[serde(default)]
    priority: Option<Priority>,
}

pub(super) fn endpoints() -> Vec<Endpoint> {
    let about = "Scores are there at once, and kept; with `sync: false` the evaluation goes into the queue. When a judge takes \
        longer than `timeout_ms`, the scores that are there are given with the status `partial`, and the rest is added later.";
    vec![
        Endpoint::post("/v1/evaluations", "create_evaluation", Action::StartRuns, create)
            .refuses(&[402])
            .about("evaluations", "Evaluate one answer", about)
            .takes::<NewEvaluation>()
            .gives::<Evaluation>(201, "Scored: completed or partial")
            .gives::<Evaluation>(202, "In the queue")
            .unaudited("an evaluation is a run, which says who made it and when"),
        Endpoint::get("/v1/evaluations/{evaluation_id}", "get_evaluation", Action::ReadRuns, get)
            .about("evaluations", "An evaluation of one answer", "")
            .gives::<Evaluation>(200, "The evaluation"),
        Endpoint::post(
            "/v1/evaluations/{evaluation_id}/resume",
            "resume_evaluation",
            Action::StartRuns,
            resume,
        )
        .about("evaluations", "Ask again for the scores that are missing", "")
        .gives::<Evaluation>(202, "In the queue"),
    ]
}

async fn create(
    State(app): State<App>,
    caller: Caller,
    NewId(id): NewId,
    in_progress: Option<Extension<InProgress>>,
    Body(new): Body<NewEvaluation>,
) -> Result<Response, Problem> {
    let started = Instant::now();
    check(&new)?;
    // A request that is sent again finds what it began.
    if in_progress.is_some()
        && let Some(run) = found(single_run(&caller.store, id).await)?
    {
        go_on(&app, &caller, &run);
        let status = match run.state {
            RunState::Pending => StatusCode::ACCEPTED,
            _ => StatusCode::CREATED,
        };
        return Ok((status, Json(shown(&caller.store, &run).await?)).into_response());
    }
    let NewEvaluation { input, output, expected_output, context, metrics, config, metadata } = new;
    let metrics = wanted_metrics(&caller, metrics).await?;
    let rules = MetricRules {
        evaluator: Some(config.evaluator_model.unwrap_or_else(|| json!(USUAL_EVALUATOR))),
        rubrics: config.custom_rubrics,
    };
    let set = app.singles().set(&app, &caller.store, &metrics, &rules).await?;
    let mut fields = Map::new();
    fields.insert("input".to_owned(), input);
    if let Some(expected) = expected_output {
        fields.insert("reference".to_owned(), expected);
    }
    if let Some(context) = context {
        fields.insert("context".to_owned(), context);
    }
    let key = ContentHash::of(Value::Object(fields.clone()).to_string().as_bytes());
    let place = app.records().place(caller.quotas, &caller.store).await?;
    let single = Single {
        app,
        store: caller.store,
        set,
        id: RunId(id),
        case: InlineCase { key: key.to_string()[..32].to_owned(), fields },
        generation: Generation::recorded(output),
        order: RunOrder {
            origin: RunOrigin::Evaluation,
            priority: config.priority.unwrap_or(Priority::Normal),
            labels: metadata,
            created_by: Some(caller.name),
            ..RunOrder::default()
        },
        started,
        in_progress: in_progress.map(|Extension(in_progress)| in_progress),
        place: Some(place),
    };
    if config.sync == Some(false) {
        check_runs(caller.quotas, &single.store).await?;
        return single.put_into_queue().await;
    }
    let timeout = Duration::from_millis(config.timeout_ms.unwrap_or(USUAL_TIMEOUT_MS));
    single.score(timeout).await
}

fn check(new: &NewEvaluation) -> Result<(), Problem> {
    if !matches!(new.input, Value::String(_) | Value::Object(_) | Value::Array(_)) {
        return Err(Problem::field("input", "expected text, an object or a list of messages"));
    }
    for (name, value) in [("expected_output", &new.expected_output), ("context", &new.context)] {
        let is_right = value.as_ref().is_none_or(|value| match value {
            Value::String(_) | Value::Null => true,
            Value::Array(texts) => texts.iter().all(Value::is_string),
            _ => false,
        });
        if !is_right {
            return Err(Problem::field(name, "expected a text or a list of texts"));
        }
    }
    if new.config.timeout_ms.is_some_and(|time| !(1..=MAX_TIMEOUT_MS).contains(&time)) {
        let message = format!("use 1 to {MAX_TIMEOUT_MS} milliseconds");
        return Err(Problem::field("config.timeout_ms", message));
    }
    Ok(())
}

async fn get(caller: Caller, PathParts(id): PathParts<Uuid>) -> Result<Json<Evaluation>, Problem> {
    let run = single_run(&caller.store, id).await?;
    Ok(Json(shown(&caller.store, &run).await?))
}

async fn resume(
    State(app): State<App>,
    caller: Caller,
    PathParts(id): PathParts<Uuid>,
) -> Result<Response, Problem> {
    let run = single_run(&caller.store, id).await?;
    if run.state != RunState::Incomplete {
        let detail = format!("the evaluation is {}", run.state);
        return Err(Problem::new(CONFLICT, detail).hint("only an incomplete one can go on"));
    }
    let run = caller.store.set_run_state(run.id, RunState::Pending, &[]).await?;
    enqueue(&app, caller.store.organization(), &run);
    Ok((StatusCode::ACCEPTED, Json(shown(&caller.store, &run).await?)).into_response())
}

/// The evaluation of one answer with this id.
async fn single_run(store: &ScopedStore, id: Uuid) -> Result<RunRecord, Problem> {
    let none = || Problem::new(NOT_FOUND, format!("there is no evaluation `{id}`"));
    match store.run(RunId(id)).await {
        Ok(run) if run.order.origin == RunOrigin::Evaluation => Ok(run),
        Ok(_) => Err(none()),
        Err(StoreError::RunNotFound(_)) => Err(none()),
        Err(error) => Err(error.into()),
    }
}

/// An evaluation as it is kept.
pub(super) async fn shown(store: &ScopedStore, run: &RunRecord) -> Result<Evaluation, Problem> {
    let spec = fullbench_engine::stored_spec(store, run).await?;
    let units = store.results_to_show(run.id, None, 1, ResultDetail::Texts).await?;
    let scores: Vec<ScoreRecord> = units
        .into_iter()
        .flat_map(|unit| {
            let key = unit.key;
            unit.scores.into_iter().map(move |entry| ScoreRecord {
                key,
                scorer: entry.scorer,
                revision: entry.revision,
                score: entry.score,
            })
        })
        .collect();
    let lanes = store.lane_progress(run.id).await?;
    let spent = lanes.iter().map(|lane| lane.spent).sum();
    Ok(Evaluation::of_run(run, &spec, &scores).cost(spent))
}
