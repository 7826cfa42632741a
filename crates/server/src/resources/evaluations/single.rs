//! Evaluations of one answer: scored at once, or put into the queue.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Json, Response};
use fullbench_engine::MetricRules;
use fullbench_store::{
    DatasetVersion, InlineCase, NewRun, ResultDetail, RunOrder, RunRecord, ScopedStore,
    ScoreRecord, SingleRun, StoreError,
};
use fullbench_types::{
    Action, ContentHash, Generation, Priority, RunId, RunKind, RunOrigin, RunState,
};
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tracing::Instrument;
use uuid::Uuid;

use super::view::{Evaluation, EvaluationStatus, LATENCY, NamedScore, is_open};
use crate::access::Caller;
use crate::api::Endpoint;
use crate::app::App;
use crate::extract::{Body, NewId, PathParts};
use crate::problem::{CONFLICT, NOT_FOUND, Problem};
use crate::quotas::check_runs;
use crate::work::{AnswerSet, case_mapping, enqueue, until_answered};

/// Metrics of one evaluation, at most.
const MAX_METRICS: usize = 64;
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
        .refuses(&[402])
        .about("evaluations", "Ask again for the scores that are missing", "")
        .gives::<Evaluation>(202, "In the queue"),
    ]
}

async fn create(
    State(app): State<App>,
    caller: Caller,
    NewId(id): NewId,
    Body(new): Body<NewEvaluation>,
) -> Result<Response, Problem> {
    let started = Instant::now();
    check(&new)?;
    let NewEvaluation { input, output, expected_output, context, mut metrics, config, metadata } =
        new;
    if metrics.is_empty() {
        let settings = caller.store.organization_record().await?.settings;
        metrics = settings.default_evaluators.into_iter().map(Value::String).collect();
    }
    if metrics.is_empty() {
        let problem = Problem::field(
            "metrics",
            "there are no metrics, and the organization has none of its own",
        );
        return Err(problem.hint("name some, for example [\"exact_match\", \"coherence\"]"));
    }
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
    let mut single = Single {
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
    };
    if config.sync == Some(false) {
        check_runs(caller.quotas, &single.store, single.id).await?;
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
    if new.metrics.len() > MAX_METRICS {
        return Err(Problem::field("metrics", format!("at most {MAX_METRICS} metrics")));
    }
    if new.config.timeout_ms.is_some_and(|time| !(1..=MAX_TIMEOUT_MS).contains(&time)) {
        let message = format!("use 1 to {MAX_TIMEOUT_MS} milliseconds");
        return Err(Problem::field("config.timeout_ms", message));
    }
    Ok(())
}

/// An answer on its way to its scores.
pub(crate) struct Single {
    pub(crate) app: App,
    pub(crate) store: ScopedStore,
    pub(crate) set: Arc<AnswerSet>,
    pub(crate) id: RunId,
    pub(crate) case: InlineCase,
    pub(crate) generation: Generation,
    pub(crate) order: RunOrder,
    pub(crate) started: Instant,
}

impl Single {
    /// Keeps it for the workers.
    async fn put_into_queue(self) -> Result<Response, Problem> {
        let record = self.record(RunState::Pending, Vec::new());
        self.app.writer().write(self.store.clone(), record).await?;
        let run = self.store.run(self.id).await?;
        enqueue(&self.app, self.store.organization(), &run);
        let shown = shown(&self.store, &run).await?;
        Ok((StatusCode::ACCEPTED, Json(shown)).into_response())
    }

    /// Scores it, and keeps and gives what there is when the time is over.
    pub(crate) async fn score(&mut self, timeout: Duration) -> Result<Response, Problem> {
        let version = case_mapping();
        let case = version.case(0, self.case.key.clone(), self.case.fields.clone());
        let count = self.set.scorers.scorers().len();
        let mut scores: Vec<Option<ScoreRecord>> = vec![None; count];
        if !self.set.scorers.ask_models() {
            for (index, score) in scores.iter_mut().enumerate() {
                *score = self.set.scorers.score(index, &case, &self.generation).await;
            }
            return self.finish(scores).await;
        }
        let mut running: FuturesUnordered<_> = (0..count)
            .map(|index| {
                let set = self.set.clone();
                let (case, generation) = (case.clone(), self.generation.clone());
                let scoring =
                    async move { (index, set.scorers.score(index, &case, &generation).await) };
                tokio::spawn(scoring.in_current_span())
            })
            .collect();
        let deadline = tokio::time::sleep(timeout);
        tokio::pin!(deadline);
        loop {
            tokio::select! {
                done = running.next() => match done {
                    Some(Ok((index, score))) => scores[index] = score,
                    Some(Err(_)) => {}
                    None => return self.finish(scores).await,
                },
                () = &mut deadline => break,
            }
        }
        // What is there is kept now; the rest is added when it comes.
        let partial = self.finish(scores).await?;
        self.app.tasks().clone().spawn(add_later(
            self.app.clone(),
            self.store.clone(),
            self.id,
            running,
        ));
        Ok(partial)
    }

    /// Keeps the scores, and shows them.
    async fn finish(&mut self, scores: Vec<Option<ScoreRecord>>) -> Result<Response, Problem> {
        let took = self.started.elapsed().as_millis() as u64;
        let evaluation = {
            let scorers = self.set.scorers.scorers().iter().zip(&scores);
            let named = scorers.map(|(scorer, score)| NamedScore {
                name: &scorer.name,
                signature: &scorer.signature,
                score: score.as_ref().map(|record| &record.score),
            });
            Evaluation::new(self.id.0, Timestamp::now(), named)
        };
        let missing = scores.iter().any(Option::is_none);
        let open = scores.iter().flatten().any(|record| is_open(&record.score));
        let state = match (missing, open) {
            (true, _) => RunState::Running,
            (false, true) => RunState::Incomplete,
            (false, false) => RunState::Completed,
        };
        let metadata = self.order.labels.clone();
        self.order.labels.insert(LATENCY.to_owned(), json!(took));
        let record = self.record(state, scores.into_iter().flatten().collect());
        self.app.writer().write(self.store.clone(), record).await?;
        let completed = evaluation.status == EvaluationStatus::Completed;
        let evaluation = Evaluation {
            latency_ms: took,
            completed_at: completed.then(Timestamp::now),
            metadata,
            ..evaluation
        };
        Ok((StatusCode::CREATED, Json(evaluation)).into_response())
    }

    fn record(&self, state: RunState, scores: Vec<ScoreRecord>) -> SingleRun {
        let content =
            DatasetVersion::of_cases("request".to_owned(), case_mapping(), vec![self.case.clone()]);
        SingleRun {
            run: NewRun {
                id: self.id,
                name: "evaluation".to_owned(),
                kind: RunKind::Single,
                spec: self.set.spec.clone(),
                dataset: content.hash,
                planned_units: 1,
                version: self.app.config().version.clone(),
                order: self.order.clone(),
            },
            content,
            state,
            generation: self.generation.clone(),
            scores,
        }
    }
}

type Scoring = FuturesUnordered<tokio::task::JoinHandle<(usize, Option<ScoreRecord>)>>;

/// Adds scores that came after the time was over. A kill before that leaves the run to the next server.
async fn add_later(app: App, store: ScopedStore, id: RunId, mut running: Scoring) {
    let mut late = Vec::new();
    while let Some(done) = running.next().await {
        late.extend(done.ok().and_then(|(_, score)| score));
    }
    let ended = async {
        keep_late(&app, &store, id, &late).await?;
        // The worker sees what is still open, and ends the run.
        let run = until_answered(&app, || store.run(id)).await?;
        enqueue(&app, store.organization(), &run);
        Ok::<_, StoreError>(())
    };
    if let Err(error) = ended.await {
        tracing::error!(run = %id, %error, "late scores could not be kept");
    }
}

/// Keeps late scores, and what they cost.
async fn keep_late(
    app: &App,
    store: &ScopedStore,
    id: RunId,
    late: &[ScoreRecord],
) -> Result<(), StoreError> {
    let mut lanes = until_answered(app, || store.lane_progress(id)).await?;
    for lane in &mut lanes {
        lane.spent += late.iter().filter_map(|record| record.score.cost).sum();
    }
    let scores: Vec<&ScoreRecord> = late.iter().collect();
    // A commit that is made twice, because nobody heard of the first, changes no score; the month may count its cost twice.
    let recorder = store.recorder(id);
    until_answered(app, || recorder.commit(&[], &scores, &lanes)).await
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

async fn shown(store: &ScopedStore, run: &RunRecord) -> Result<Evaluation, Problem> {
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
    Ok(Evaluation::of_run(run, &spec, &scores))
}
