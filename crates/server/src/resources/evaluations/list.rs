//! The list of runs.

use axum::response::Json;
use fullbench_store::RunFilter;
use fullbench_types::{Action, RunKind, RunState};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::access::Caller;
use crate::api::Endpoint;
use crate::extract::{Query, has_more, page, usual_limit};
use crate::problem::Problem;
use crate::resources::runs::{RunView, views};

/// Which runs to list.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListQuery {
    /// How many runs to give.
    #[serde(default = "usual_limit")]
    #[schemars(range(min = 1, max = 100))]
    limit: u64,
    /// How many runs to leave out.
    #[serde(default)]
    #[schemars(range(max = 1_000_000_000))]
    offset: u64,
    /// In this state.
    #[serde(default)]
    status: Option<RunState>,
    /// For this purpose.
    #[serde(rename = "type", default)]
    kind: Option<RunKind>,
    /// Of this version of a data set.
    #[serde(default)]
    dataset_version_id: Option<Uuid>,
    /// Part of this experiment.
    #[serde(default)]
    experiment_id: Option<Uuid>,
    /// Created after this time.
    #[serde(default)]
    created_after: Option<Timestamp>,
    /// Created before this time.
    #[serde(default)]
    created_before: Option<Timestamp>,
}

/// A page of runs.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "EvaluationRuns")]
struct Runs {
    /// The newest first.
    runs: Vec<RunView>,
    /// How many match in all.
    total: u64,
    /// There are more after these.
    has_more: bool,
}

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::get("/v1/evaluations", "list_evaluations", Action::ReadRuns, list)
            .about("evaluations", "Runs of every kind", "The newest first.")
            .query::<ListQuery>()
            .gives::<Runs>(200, "A page of runs"),
    ]
}

async fn list(caller: Caller, Query(query): Query<ListQuery>) -> Result<Json<Runs>, Problem> {
    let filter = RunFilter {
        state: query.status,
        kind: query.kind,
        origin: None,
        dataset_version: query.dataset_version_id,
        experiment: query.experiment_id,
        created_after: query.created_after,
        created_before: query.created_before,
        ..RunFilter::default()
    };
    let page = page(query.limit, query.offset)?;
    let (runs, total) = caller.store.find_runs(&filter, page).await?;
    let runs = views(&caller.store, runs).await?;
    Ok(Json(Runs { runs, total, has_more: has_more(page, total) }))
}
