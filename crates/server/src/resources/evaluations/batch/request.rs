//! What a batch is asked for with.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Json, Response};
use fullbench_engine::{Definitions, InputProblem, MessageTemplates, MetricRules};
use fullbench_store::{RunOrder, RunRecord, StoreError};
use fullbench_types::{Action, Priority, RunId, RunKind, RunOrigin};
use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::status::JobStatus;
use crate::access::Caller;
use crate::api::Endpoint;
use crate::app::App;
use crate::extract::{Body, NewId};
use crate::problem::Problem;
use crate::quotas::room_for_run;
use crate::resources::evaluations::shapes::{Metric, Model};
use crate::resources::evaluations::wanted_metrics;
use crate::resources::webhooks::check_url;
use crate::work::{Wanted, frozen, launch, launched};

/// The model that judges where none is named.
const USUAL_EVALUATOR: &str = "openai:gpt-4o-mini";
/// How many answers are worked on at the same time where nothing is said.
const USUAL_PARALLELISM: u32 = 10;

/// A data set to be evaluated.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewBatch {
    /// What the run is called. Default: the name of the data set with the number of its version.
    #[serde(default)]
    #[schemars(length(min = 1, max = 255))]
    name: Option<String>,
    /// The version of the data set.
    dataset_version_id: Uuid,
    /// Names of scorers, of stored judges or of criteria, or scorers with their parameters. Default: the organization's own.
    #[serde(default)]
    #[schemars(with = "Vec<Metric>", length(max = 64))]
    metrics: Vec<Value>,
    /// The models that answer. Default: the answers that the data has in its field `output`.
    #[serde(default)]
    #[schemars(with = "Vec<Model>", length(max = 64))]
    models: Vec<Value>,
    /// The prompt as a Jinja template over the fields of a case. Default: the case's input.
    #[serde(default)]
    prompt: Option<String>,
    /// The prompt as messages, instead of `prompt`.
    #[serde(default)]
    messages: Option<MessageTemplates>,
    #[serde(default)]
    config: BatchConfig,
    /// Who is told when the batch ends: it gets a POST, signed with the secret at `/v1/organization/webhook-secret`.
    #[serde(default)]
    #[schemars(length(max = 2048))]
    webhook_url: Option<String>,
    #[serde(default)]
    priority: Option<Priority>,
    /// A baseline by its name: the run is a regression run, compared with it.
    #[serde(default)]
    baseline: Option<String>,
    #[serde(default)]
    experiment_id: Option<Uuid>,
    #[serde(default)]
    variant_id: Option<Uuid>,
    /// Anything to find the run by.
    #[serde(default)]
    metadata: Map<String, Value>,
}

/// How a data set is evaluated.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct BatchConfig {
    /// The share of the cases to run, above 0 and up to 1.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1.0), extend("default" = 1.0))]
    sample_rate: Option<f64>,
    /// How the share is drawn.
    #[serde(default)]
    sample_strategy: Strategy,
    /// The field whose values are the strata.
    #[serde(default)]
    stratify_by: Option<String>,
    /// The seed of the sample: the same seed gives the same cases.
    #[serde(default)]
    seed: Option<u64>,
    /// The model that judges: `provider:model`, or an object.
    #[serde(default)]
    #[schemars(with = "Option<Model>")]
    evaluator_model: Option<Value>,
    /// Criteria of your own by metric: a text, or an object with `description`, `scale` and `levels`.
    #[serde(default)]
    custom_rubrics: Map<String, Value>,
    /// Calls to a provider at the same time.
    #[serde(default)]
    #[schemars(range(min = 1, max = 1000), extend("default" = 10))]
    parallelism: Option<u32>,
    /// How often each model answers each case.
    #[serde(default)]
    #[schemars(range(min = 1, max = 10_000), extend("default" = 1))]
    repetitions: Option<u32>,
    /// What the run may spend.
    #[serde(default)]
    #[schemars(range(min = 0.0))]
    budget_usd: Option<f64>,
    /// Conditions that must hold, for example `exact_match.mean >= 0.8`.
    #[serde(default)]
    #[schemars(length(max = 100))]
    gates: Vec<String>,
    /// Whether replies of providers are kept and served.
    #[serde(default)]
    #[schemars(extend("default" = true))]
    cache: Option<bool>,
}

/// How a sample is drawn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "SampleStrategy")]
enum Strategy {
    /// Any cases, each as likely as the other.
    #[default]
    Random,
    /// Of every value of a field, in proportion.
    Stratified,
}

/// A batch that was taken on.
#[derive(Debug, Serialize, JsonSchema)]
struct StartedBatch {
    job_id: Uuid,
    status: JobStatus,
    /// A rough guess.
    estimated_completion: Timestamp,
    /// Units: cases × models × repetitions.
    total_items: u64,
}

pub(super) fn endpoints() -> Vec<Endpoint> {
    let about =
        "Goes into the queue by its priority, and on after a restart of the server by itself.";
    vec![
        Endpoint::post(
            "/v1/evaluations/batch",
            "create_batch_evaluation",
            Action::StartRuns,
            create,
        )
        .refuses(&[402])
        .about("evaluations", "Evaluate a data set", about)
        .takes::<NewBatch>()
        .gives::<StartedBatch>(202, "In the queue")
        .refuses(&[404]),
    ]
}

async fn create(
    State(app): State<App>,
    caller: Caller,
    NewId(id): NewId,
    Body(new): Body<NewBatch>,
) -> Result<Response, Problem> {
    check(&app, &new)?;
    let parallelism = new.config.parallelism.unwrap_or(USUAL_PARALLELISM);
    let asks = !new.models.is_empty();
    let run = match launched(&app, &caller, RunId(id)).await? {
        Some(run) => run,
        None => start(&app, &caller, RunId(id), new).await?,
    };
    let seconds = match asks {
        true => run.planned_units as f64 * 2.0 / f64::from(parallelism),
        false => run.planned_units as f64 / 5_000.0,
    };
    let duration = SignedDuration::try_from_secs_f64(seconds.clamp(1.0, 1e8)).unwrap_or_default();
    let started = StartedBatch {
        job_id: run.id.0,
        status: JobStatus::of(run.state),
        estimated_completion: run.created_at + duration,
        total_items: run.planned_units,
    };
    Ok((StatusCode::ACCEPTED, Json(started)).into_response())
}

async fn start(
    app: &App,
    caller: &Caller,
    id: RunId,
    mut new: NewBatch,
) -> Result<RunRecord, Problem> {
    let store = &caller.store;
    new.metrics = wanted_metrics(caller, new.metrics).await?;
    let dataset = frozen(store, new.dataset_version_id).await?;
    if new.name.is_none() {
        let version = store.version(new.dataset_version_id).await?;
        let name = store.dataset_record(version.dataset).await?.name;
        new.name = Some(format!("{name} v{}", version.number));
    }
    let baseline = match &new.baseline {
        Some(name) => Some(store.baseline(name).await.map_err(|error| match error {
            StoreError::BaselineNotFound(_) => {
                Problem::field("baseline", format!("there is no baseline `{name}`"))
            }
            other => other.into(),
        })?),
        None => None,
    };
    let rules = MetricRules {
        evaluator: Some(
            new.config.evaluator_model.clone().unwrap_or_else(|| json!(USUAL_EVALUATOR)),
        ),
        rubrics: new.config.custom_rubrics.clone(),
    };
    let definitions = Definitions::read(store).await?;
    let mut scorers = Vec::new();
    for (index, metric) in new.metrics.iter().enumerate() {
        scorers.push(rules.scorer(metric, &definitions).map_err(|problem| {
            let field = problem.field.clone().unwrap_or_else(|| format!("metrics[{index}]"));
            Problem::from(vec![InputProblem { field: Some(field), ..problem }])
        })?);
    }
    let parallelism = new.config.parallelism.unwrap_or(USUAL_PARALLELISM);
    let document = document(&new, json!(scorers), dataset.cases, parallelism);
    let wanted = Wanted {
        id,
        kind: Some(if baseline.is_some() { RunKind::Regression } else { RunKind::Batch }),
        document,
        dataset,
        order: RunOrder {
            origin: RunOrigin::Batch,
            priority: new.priority.unwrap_or(Priority::Normal),
            dataset_version: Some(new.dataset_version_id),
            baseline: baseline.map(|baseline| baseline.run),
            experiment: new.experiment_id,
            variant: new.variant_id,
            labels: new.metadata,
            webhook_url: new.webhook_url,
            created_by: Some(caller.name.clone()),
            ..RunOrder::default()
        },
    };
    let room = room_for_run(app, caller).await?;
    launch(app, caller, room, wanted).await.map_err(|problem| {
        // The engine speaks of an evaluation file.
        problem
            .renamed("scorers", "metrics")
            .renamed("gates", "config.gates")
            .renamed("repetitions", "config.repetitions")
            .renamed("limits.concurrency", "config.parallelism")
    })
}

fn check(app: &App, new: &NewBatch) -> Result<(), Problem> {
    let config = &new.config;
    if config.sample_rate.is_some_and(|rate| !(rate > 0.0 && rate <= 1.0)) {
        return Err(Problem::field("config.sample_rate", "use a share above 0 and up to 1"));
    }
    if config.parallelism.is_some_and(|places| !(1..=1000).contains(&places)) {
        return Err(Problem::field("config.parallelism", "use 1 to 1000"));
    }
    if new.models.len() > 64 {
        return Err(Problem::field("models", "name at most 64 models"));
    }
    if new.name.as_ref().is_some_and(|name| name.is_empty() || name.chars().count() > 255) {
        return Err(Problem::field("name", "a name has 1 to 255 letters"));
    }
    match &new.webhook_url {
        Some(url) => check_url(app, "webhook_url", url),
        None => Ok(()),
    }
}

/// The batch as an evaluation file says it.
fn document(new: &NewBatch, scorers: Value, cases: u64, parallelism: u32) -> Value {
    let config = &new.config;
    let mut document = json!({
        "models": if new.models.is_empty() { json!(["recorded"]) } else { json!(new.models) },
        "scorers": scorers,
        "repetitions": config.repetitions.unwrap_or(1),
        "limits": { "concurrency": parallelism },
        "gates": config.gates,
        "cache": config.cache.unwrap_or(true),
    });
    let mut add = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            document[name] = value;
        }
    };
    add("name", new.name.as_ref().map(|name| json!(name)));
    add("prompt", new.prompt.as_ref().map(|prompt| json!(as_template(prompt))));
    add("messages", new.messages.as_ref().map(|messages| json!(messages)));
    add("budget", config.budget_usd.map(|usd| json!({ "usd": usd })));
    let rate = config.sample_rate.unwrap_or(1.0);
    if rate < 1.0 {
        let size = ((cases as f64 * rate).ceil() as u64).max(1);
        let mut sample = json!({ "size": size, "strategy": config.sample_strategy,
            "seed": config.seed.unwrap_or(0) });
        if let Some(by) = &config.stratify_by {
            sample["by"] = json!(by);
        }
        add("sample", Some(sample));
    }
    document
}

/// A prompt that was sent is always the template itself, never the name of a file.
fn as_template(prompt: &str) -> String {
    match prompt.contains("{{") || prompt.contains("{%") || prompt.contains('\n') {
        true => prompt.to_owned(),
        false => format!("{prompt}\n"),
    }
}
