//! A whole evaluation, as an evaluation file says it.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Json, Response};
use fullbench_store::{RunOrder, RunRecord};
use fullbench_types::{Action, Priority, RunId, RunKind, RunOrigin};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use uuid::Uuid;

use super::view::{RunView, views};
use crate::access::Caller;
use crate::api::Endpoint;
use crate::app::App;
use crate::extract::{Body, NewId};
use crate::problem::Problem;
use crate::quotas::room_for_run;
use crate::resources::webhooks::check_url;
use crate::work::{Wanted, frozen, launch, launched};

/// What of an evaluation file says where its cases are: here the version does.
const OF_CASES: [&str; 5] = ["dataset", "cases", "id", "input", "reference"];

/// An evaluation to be run.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "NewRun")]
struct Asked {
    /// The evaluation, as an evaluation file says it, without its cases and without files.
    evaluation: Map<String, Value>,
    /// The version of the data set.
    dataset_version_id: Uuid,
    #[serde(default)]
    priority: Option<Priority>,
    /// Who is told when the run ends: it gets a POST, signed with the secret at `/v1/organization/webhook-secret`.
    #[serde(default)]
    #[schemars(length(max = 2048))]
    webhook_url: Option<String>,
    /// Anything to find the run by.
    #[serde(default)]
    metadata: Map<String, Value>,
}

pub(super) fn endpoints() -> Vec<Endpoint> {
    let about = "`fullbench --server URL run` sends its evaluation files here. The run is a batch: its status, results and export are \
        at `/v1/evaluations/batch/{job_id}`, with the `run_id` as `job_id`.";
    vec![
        Endpoint::post("/v1/runs", "create_run", Action::StartRuns, create)
            .refuses(&[402])
            .about("runs", "Run an evaluation", about)
            .takes::<Asked>()
            .gives::<RunView>(202, "In the queue")
            .refuses(&[404]),
    ]
}

async fn create(
    State(app): State<App>,
    caller: Caller,
    NewId(id): NewId,
    Body(asked): Body<Asked>,
) -> Result<Response, Problem> {
    let run = match launched(&app, &caller, RunId(id)).await? {
        Some(run) => run,
        None => start(&app, &caller, RunId(id), asked).await?,
    };
    let shown = views(&caller.store, vec![run]).await?.pop();
    Ok((StatusCode::ACCEPTED, Json(shown)).into_response())
}

async fn start(app: &App, caller: &Caller, id: RunId, asked: Asked) -> Result<RunRecord, Problem> {
    let Asked { evaluation, dataset_version_id, priority, webhook_url, metadata } = asked;
    for name in OF_CASES {
        if evaluation.contains_key(name) {
            let field = format!("evaluation.{name}");
            let problem = Problem::field(field, "the cases are those of `dataset_version_id`");
            return Err(problem.hint("leave it out"));
        }
    }
    if let Some(url) = &webhook_url {
        check_url(app, "webhook_url", url)?;
    }
    let wanted = Wanted {
        id,
        kind: Some(RunKind::Batch),
        document: Value::Object(evaluation),
        dataset: frozen(&caller.store, dataset_version_id).await?,
        order: RunOrder {
            origin: RunOrigin::Batch,
            priority: priority.unwrap_or(Priority::Normal),
            dataset_version: Some(dataset_version_id),
            labels: metadata,
            webhook_url,
            created_by: Some(caller.name.clone()),
            ..RunOrder::default()
        },
    };
    let room = room_for_run(app, caller).await?;
    launch(app, caller, room, wanted).await.map_err(|problem| problem.inside("evaluation"))
}
