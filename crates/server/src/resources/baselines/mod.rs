//! Baselines: names for runs that others are compared with.

use axum::http::StatusCode;
use axum::response::Json;
use fullbench_store::Baseline;
use fullbench_types::{Action, RunId};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::access::Caller;
use crate::api::Endpoint;
use crate::audit::AuditNote;
use crate::extract::{Body, PathParts};
use crate::problem::Problem;

/// The run that a baseline is to stand for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewBaseline {
    run_id: Uuid,
}

/// A name, and the run it stands for.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Baseline")]
struct BaselineView {
    name: String,
    run_id: Uuid,
    /// Since when it stands for this run.
    set_at: Timestamp,
}

/// All baselines.
#[derive(Debug, Serialize, JsonSchema)]
struct Baselines {
    /// By name.
    baselines: Vec<BaselineView>,
}

pub(crate) fn endpoints() -> Vec<Endpoint> {
    let set = "A batch that names the baseline is compared with the run that it stands for when the batch begins.";
    vec![
        Endpoint::get("/v1/baselines", "list_baselines", Action::ReadRuns, list)
            .about("baselines", "All baselines", "")
            .gives::<Baselines>(200, "The baselines"),
        Endpoint::get("/v1/baselines/{baseline_name}", "get_baseline", Action::ReadRuns, get)
            .about("baselines", "A baseline", "")
            .gives::<BaselineView>(200, "The baseline"),
        Endpoint::put(
            "/v1/baselines/{baseline_name}",
            "set_baseline",
            Action::ChangeBaselines,
            put,
        )
        .about("baselines", "Let a name stand for a run", set)
        .takes::<NewBaseline>()
        .gives::<BaselineView>(200, "The baseline"),
        Endpoint::delete(
            "/v1/baselines/{baseline_name}",
            "remove_baseline",
            Action::ChangeBaselines,
            remove,
        )
        .about("baselines", "Forget a baseline", "Its run stays.")
        .gives_nothing(204, "It is forgotten"),
    ]
}

async fn list(caller: Caller) -> Result<Json<Baselines>, Problem> {
    let baselines = caller.store.baselines().await?;
    Ok(Json(Baselines { baselines: baselines.into_iter().map(BaselineView::from).collect() }))
}

async fn get(
    caller: Caller,
    PathParts(name): PathParts<String>,
) -> Result<Json<BaselineView>, Problem> {
    Ok(Json(caller.store.baseline(&name).await?.into()))
}

async fn put(
    caller: Caller,
    note: AuditNote,
    PathParts(name): PathParts<String>,
    Body(new): Body<NewBaseline>,
) -> Result<Json<BaselineView>, Problem> {
    if let Ok(before) = caller.store.baseline(&name).await {
        note.before(&BaselineView::from(before));
    }
    let set = caller.store.set_baseline(&name, RunId(new.run_id)).await?;
    let shown = BaselineView::from(set);
    note.after(&shown);
    Ok(Json(shown))
}

async fn remove(
    caller: Caller,
    note: AuditNote,
    PathParts(name): PathParts<String>,
) -> Result<StatusCode, Problem> {
    note.before(&BaselineView::from(caller.store.baseline(&name).await?));
    caller.store.remove_baseline(&name).await?;
    Ok(StatusCode::NO_CONTENT)
}

impl From<Baseline> for BaselineView {
    fn from(baseline: Baseline) -> Self {
        Self { name: baseline.name, run_id: baseline.run.0, set_at: baseline.set_at }
    }
}
