//! Judges: a criterion, a method, a model and parameters. They are never changed; a change makes a successor.

mod new;
mod performance;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Json, Response};
use fullbench_store::{JudgeRecord, StoreError};
use fullbench_types::{Action, JudgeId};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

use crate::access::Caller;
use crate::api::Endpoint;
use crate::app::App;
use crate::extract::{Body, NewId, PageQuery, PathParts, Query, page, slice};
use crate::problem::{CONFLICT, Problem};
use new::WantedJudge;
use performance::JudgePerformance;

/// A judge.
#[derive(Serialize, JsonSchema)]
struct Judge {
    judge_id: Uuid,
    /// Its name, which its predecessors and successors have as well; the newest of them counts.
    name: String,
    /// 1 for the first of its name.
    revision: u32,
    /// The criterion it judges by.
    criterion: String,
    /// The revision of the criterion.
    criterion_revision: u32,
    /// How it judges.
    method: String,
    /// Who serves its model.
    provider: String,
    /// The model's name.
    model: String,
    /// Temperature, samples and whatever else is the judge's own.
    parameters: Value,
    /// What it is for.
    description: Option<String>,
    /// The judge it took the place of.
    successor_of: Option<Uuid>,
    created_at: Timestamp,
}

/// A page of judges.
#[derive(Serialize, JsonSchema)]
struct Judges {
    /// By name, the newest of each.
    judges: Vec<Judge>,
    /// How many there are in all.
    total: u64,
    /// There are more after these.
    has_more: bool,
}

pub(crate) fn endpoints() -> Vec<Endpoint> {
    let made = "With `successor_of` it takes the place of the newest judge of its name; where nothing differs, that one is \
        given as it is. The criterion is the newest revision of its name.";
    let shown = "Over all its judgements, in runs and by themselves.";
    vec![
        Endpoint::get("/v1/judges", "list_judges", Action::ReadDefinitions, list)
            .about("judges", "All judges", "By name, the newest of each.")
            .query::<PageQuery>()
            .gives::<Judges>(200, "A page of judges"),
        Endpoint::post("/v1/judges", "create_judge", Action::ChangeDefinitions, create)
            .about("judges", "Make a judge", made)
            .takes::<WantedJudge>()
            .gives::<Judge>(201, "The judge")
            .gives::<Judge>(200, "The judge as it is, from which nothing differs"),
        Endpoint::get("/v1/judges/{judge_id}", "get_judge", Action::ReadDefinitions, get)
            .about("judges", "A judge", "Whether or not it has a successor.")
            .gives::<Judge>(200, "The judge"),
        Endpoint::get(
            "/v1/judges/{judge_id}/performance",
            "get_judge_performance",
            Action::ReadRuns,
            performance,
        )
        .about("judges", "What the judgements of a judge show", shown)
        .gives::<JudgePerformance>(200, "The numbers"),
    ]
}

async fn list(caller: Caller, Query(query): Query<PageQuery>) -> Result<Json<Judges>, Problem> {
    let page = page(query.limit, query.offset)?;
    let (shown, total, has_more) = slice(caller.store.judges().await?, page);
    let judges = shown.into_iter().map(Judge::from).collect();
    Ok(Json(Judges { judges, total, has_more }))
}

async fn create(
    State(app): State<App>,
    caller: Caller,
    NewId(id): NewId,
    Body(wanted): Body<WantedJudge>,
) -> Result<Response, Problem> {
    let successor_of = wanted.successor_of.map(JudgeId);
    let new = wanted.checked(&app, &caller.store).await?;
    let judge = match successor_of {
        None => caller.store.create_judge(JudgeId(id), &new).await?,
        Some(seen) => {
            let made = caller.store.create_successor(JudgeId(id), &new, seen).await;
            made.map_err(|error| match error {
                StoreError::ChangedMeanwhile { .. } => {
                    let detail = format!("the judge `{seen}` is not the newest of its name");
                    Problem::new(CONFLICT, detail).hint("GET /v1/judges lists the newest")
                }
                other => other.into(),
            })?
        }
    };
    let status = if judge.id.0 == id { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, Json(Judge::from(judge))).into_response())
}

async fn get(caller: Caller, PathParts(id): PathParts<Uuid>) -> Result<Json<Judge>, Problem> {
    Ok(Json(caller.store.judge_of_id(JudgeId(id)).await?.into()))
}

async fn performance(
    caller: Caller,
    PathParts(id): PathParts<Uuid>,
) -> Result<Json<JudgePerformance>, Problem> {
    let judge = caller.store.judge_of_id(JudgeId(id)).await?;
    Ok(Json(JudgePerformance::read(&caller.store, &judge).await?))
}

impl From<JudgeRecord> for Judge {
    fn from(record: JudgeRecord) -> Self {
        Self {
            judge_id: record.id.0,
            name: record.name,
            revision: record.revision,
            criterion: record.criterion,
            criterion_revision: record.criterion_revision,
            method: record.method,
            provider: record.provider,
            model: record.model,
            parameters: record.parameters,
            description: record.description,
            successor_of: record.predecessor.map(|judge| judge.0),
            created_at: record.created_at,
        }
    }
}
