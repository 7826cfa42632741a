//! Executions: one task for one model, in the queue by its urgency, and scored when asked for.

mod request;
mod score;
mod view;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Json, Response};
use fullbench_store::{RunFilter, RunRecord, ScopedStore, StoreError};
use fullbench_types::{Action, RunId, RunOrigin, RunState};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::access::Caller;
use crate::api::Endpoint;
use crate::app::App;
use crate::extract::{Body, NewId, PathParts, Query, has_more, page, usual_limit};
use crate::problem::{CONFLICT, NOT_FOUND, Problem};
use crate::quotas::room_for_run;
use crate::work::{self, launch, launched};

use request::NewExecution;
use view::{Execution, shown};

/// Which executions to list.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListQuery {
    /// How many executions to give.
    #[serde(default = "usual_limit")]
    #[schemars(range(min = 1, max = 100))]
    limit: u64,
    /// How many executions to leave out.
    #[serde(default)]
    #[schemars(range(max = 1_000_000_000))]
    offset: u64,
    /// In this state.
    #[serde(default)]
    status: Option<RunState>,
}

/// A page of executions.
#[derive(Debug, Serialize, JsonSchema)]
struct Executions {
    /// The newest first.
    executions: Vec<Execution>,
    total: u64,
    has_more: bool,
}

pub(crate) fn endpoints() -> Vec<Endpoint> {
    let about = "The most urgent is done first; nothing waits for longer than its priority allows: a minute for `high`, five for \
        `normal`, thirty for `low`.";
    let mut endpoints = vec![
        Endpoint::post("/v1/executions", "create_execution", Action::StartRuns, create)
            .refuses(&[402])
            .about("executions", "Have a model do a task", about)
            .takes::<NewExecution>()
            .gives::<Execution>(202, "In the queue")
            .refuses(&[404]),
        Endpoint::get("/v1/executions", "list_executions", Action::ReadRuns, list)
            .about("executions", "Executions", "The newest first.")
            .query::<ListQuery>()
            .gives::<Executions>(200, "A page of executions"),
        Endpoint::get("/v1/executions/{execution_id}", "get_execution", Action::ReadRuns, get)
            .about("executions", "An execution", "")
            .gives::<Execution>(200, "The execution"),
        Endpoint::delete(
            "/v1/executions/{execution_id}",
            "cancel_execution",
            Action::StartRuns,
            cancel,
        )
        .about("executions", "Give an execution up", "A call in flight ends, and is kept.")
        .gives_nothing(204, "It is cancelled, or will be once its call has ended")
        .refuses(&[409]),
    ];
    endpoints.extend(score::endpoints());
    endpoints
}

async fn create(
    State(app): State<App>,
    caller: Caller,
    NewId(id): NewId,
    Body(new): Body<NewExecution>,
) -> Result<Response, Problem> {
    let run = match launched(&app, &caller, RunId(id)).await? {
        Some(run) => run,
        None => {
            let room = room_for_run(&app, &caller).await?;
            let wanted = new.wanted(&caller, RunId(id)).await?;
            launch(&app, &caller, room, wanted).await.map_err(|problem| {
                problem.renamed("scorers", "metrics").renamed("models[0]", "model")
            })?
        }
    };
    Ok((StatusCode::ACCEPTED, Json(shown(&caller.store, &run).await?)).into_response())
}

async fn list(caller: Caller, Query(query): Query<ListQuery>) -> Result<Json<Executions>, Problem> {
    let filter = RunFilter {
        state: query.status,
        origin: Some(RunOrigin::Execution),
        ..RunFilter::default()
    };
    let page = page(query.limit, query.offset)?;
    let (runs, total) = caller.store.find_runs(&filter, page).await?;
    let mut executions = Vec::with_capacity(runs.len());
    for run in &runs {
        executions.push(shown(&caller.store, run).await?);
    }
    let has_more = has_more(page, total);
    Ok(Json(Executions { executions, total, has_more }))
}

async fn get(caller: Caller, PathParts(id): PathParts<Uuid>) -> Result<Json<Execution>, Problem> {
    let run = execution_run(&caller.store, id).await?;
    Ok(Json(shown(&caller.store, &run).await?))
}

async fn cancel(
    State(app): State<App>,
    caller: Caller,
    PathParts(id): PathParts<Uuid>,
) -> Result<StatusCode, Problem> {
    let run = execution_run(&caller.store, id).await?;
    if run.state == RunState::Cancelled {
        return Ok(StatusCode::NO_CONTENT);
    }
    if run.state.is_final() {
        return Err(Problem::new(CONFLICT, format!("the execution is {}", run.state)));
    }
    work::cancel(&app, &caller.store, run).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The execution of this id.
async fn execution_run(store: &ScopedStore, id: Uuid) -> Result<RunRecord, Problem> {
    match store.run(RunId(id)).await {
        Ok(run) if run.order.origin == RunOrigin::Execution => Ok(run),
        Ok(_) | Err(StoreError::RunNotFound(_)) => {
            Err(Problem::new(NOT_FOUND, format!("there is no execution `{id}`")))
        }
        Err(error) => Err(error.into()),
    }
}
