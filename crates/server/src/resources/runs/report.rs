//! A run in numbers, as the command line shows it.

use axum::response::{IntoResponse, Json, Response};
use fullbench_engine::summarize;
use fullbench_types::{Action, RunId};
use schemars::JsonSchema;
use serde::Deserialize;
use uuid::Uuid;

use crate::access::Caller;
use crate::api::Endpoint;
use crate::extract::{PathParts, Query};
use crate::problem::Problem;

/// How the numbers are given.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ReportQuery")]
struct ReportQuery {
    /// Also for each value of this field of the cases.
    #[serde(default)]
    #[schemars(length(min = 1, max = 512))]
    by: Option<String>,
}

pub(super) fn endpoints() -> Vec<Endpoint> {
    let about = "Every model and scorer with mean, interval, quantiles, counts and cost, and the gates: what `fullbench show -o \
        json` prints. Read anew each time, so that it is also there while the run goes on.";
    vec![
        Endpoint::get("/v1/runs/{run_id}/report", "get_run_report", Action::ReadRuns, get)
            .about("runs", "A run in numbers", about)
            .query::<ReportQuery>()
            .gives_as(200, "application/json", "The numbers"),
    ]
}

async fn get(
    caller: Caller,
    PathParts(id): PathParts<Uuid>,
    Query(query): Query<ReportQuery>,
) -> Result<Response, Problem> {
    if query.by.as_ref().is_some_and(|by| !(1..=512).contains(&by.chars().count())) {
        return Err(Problem::field("by", "the name of a field has 1 to 512 letters"));
    }
    let run = caller.store.run(RunId(id)).await?;
    let report = summarize(&caller.store, &run, query.by.as_deref()).await?;
    Ok(Json(report).into_response())
}
