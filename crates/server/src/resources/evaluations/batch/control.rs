//! Stopping a batch, and going on with it.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Json, Response};
use fullbench_types::{Action, RunState};
use uuid::Uuid;

use super::batch_run;
use super::status::{Batch, shown};
use crate::access::Caller;
use crate::api::Endpoint;
use crate::app::App;
use crate::extract::PathParts;
use crate::problem::{CONFLICT, Problem};
use crate::work::{self, enqueue};

pub(super) fn endpoints() -> Vec<Endpoint> {
    let cancelled = "Calls in flight finish and are kept; a cancelled batch stays as it is.";
    let resumed = "Open units, units that failed and scores that are missing are asked for again.";
    vec![
        Endpoint::post(
            "/v1/evaluations/batch/{job_id}/cancel",
            "cancel_batch_evaluation",
            Action::StartRuns,
            cancel,
        )
        .about("evaluations", "Give a batch up", cancelled)
        .gives::<Batch>(202, "It is cancelled, or will be once its calls in flight have ended"),
        Endpoint::post(
            "/v1/evaluations/batch/{job_id}/resume",
            "resume_batch_evaluation",
            Action::StartRuns,
            resume,
        )
        .about("evaluations", "Go on with a batch that is incomplete", resumed)
        .gives::<Batch>(202, "In the queue"),
    ]
}

async fn cancel(
    State(app): State<App>,
    caller: Caller,
    PathParts(id): PathParts<Uuid>,
) -> Result<Response, Problem> {
    let store = &caller.store;
    let run = batch_run(store, id).await?;
    if run.state == RunState::Cancelled {
        return Ok((StatusCode::ACCEPTED, Json(shown(&app, store, run).await?)).into_response());
    }
    if run.state.is_final() {
        return Err(Problem::new(CONFLICT, format!("the batch is {}", run.state)));
    }
    let run = work::cancel(&app, store, run).await?;
    Ok((StatusCode::ACCEPTED, Json(shown(&app, store, run).await?)).into_response())
}

async fn resume(
    State(app): State<App>,
    caller: Caller,
    PathParts(id): PathParts<Uuid>,
) -> Result<Response, Problem> {
    let store = &caller.store;
    let run = batch_run(store, id).await?;
    if !matches!(run.state, RunState::Incomplete | RunState::Paused) {
        let detail = format!("the batch is {}", run.state);
        return Err(Problem::new(CONFLICT, detail).hint("only an incomplete one can go on"));
    }
    let run = store.set_run_state(run.id, RunState::Pending, &[]).await?;
    enqueue(&app, store.organization(), &run);
    Ok((StatusCode::ACCEPTED, Json(shown(&app, store, run).await?)).into_response())
}
