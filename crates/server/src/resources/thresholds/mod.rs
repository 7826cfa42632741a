//! Thresholds: the pass mark of a criterion, and all it ever was.

use axum::http::StatusCode;
use axum::response::Json;
use fullbench_store::ThresholdRecord;
use fullbench_types::Action;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::access::Caller;
use crate::api::Endpoint;
use crate::audit::AuditNote;
use crate::extract::{Body, NewId, PageQuery, PathParts, Query, page, slice};
use crate::problem::Problem;
use crate::resources::criteria::{known_criterion, stored_criterion};

/// Letters of a note, at most.
const MAX_NOTE: usize = 2_000;

/// A pass mark to be set.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewThreshold {
    /// The mark, from 0 to 1: a scale's worst is 0 and its best 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    score: f64,
    /// Why it is set.
    #[serde(default)]
    #[schemars(length(max = 2_000))]
    note: Option<String>,
}

/// A pass mark of a criterion.
#[derive(Serialize, JsonSchema)]
struct Threshold {
    threshold_id: Uuid,
    /// The criterion's name.
    criterion: String,
    /// The revision that counted when it was set; it holds for later ones as well.
    criterion_revision: u32,
    /// The mark, from 0 to 1.
    score: f64,
    /// Why it was set.
    note: Option<String>,
    /// From when on it held.
    created_at: Timestamp,
}

/// Pass marks of a criterion.
#[derive(Serialize, JsonSchema)]
struct Thresholds {
    /// The newest first, which is the one that holds.
    thresholds: Vec<Threshold>,
    /// How many there were in all.
    total: u64,
    /// There are more after these.
    has_more: bool,
}

pub(crate) fn endpoints() -> Vec<Endpoint> {
    let path = "/v1/criteria/{criterion_name}/thresholds";
    let set = "It holds for judgements from now on; those that were made keep the mark they were made by.";
    vec![
        Endpoint::get(path, "list_thresholds", Action::ReadDefinitions, list)
            .about("thresholds", "All pass marks that a criterion had", "The newest first.")
            .query::<PageQuery>()
            .gives::<Thresholds>(200, "A page of pass marks"),
        Endpoint::post(path, "create_threshold", Action::ChangeDefinitions, create)
            .about("thresholds", "Set the pass mark of a criterion", set)
            .takes::<NewThreshold>()
            .gives::<Threshold>(201, "The pass mark"),
    ]
}

async fn list(
    caller: Caller,
    PathParts(name): PathParts<String>,
    Query(query): Query<PageQuery>,
) -> Result<Json<Thresholds>, Problem> {
    let page = page(query.limit, query.offset)?;
    let criterion = known_criterion(&caller.store, &name).await?;
    // A criterion that is not in the store never had one.
    let all = match criterion.id {
        Some(_) => caller.store.threshold_history(&name).await?,
        None => Vec::new(),
    };
    let (shown, total, has_more) = slice(all, page);
    let thresholds = shown.into_iter().map(Threshold::from).collect();
    Ok(Json(Thresholds { thresholds, total, has_more }))
}

async fn create(
    caller: Caller,
    note: AuditNote,
    PathParts(name): PathParts<String>,
    NewId(id): NewId,
    Body(new): Body<NewThreshold>,
) -> Result<(StatusCode, Json<Threshold>), Problem> {
    if !(0.0..=1.0).contains(&new.score) {
        let problem = Problem::field("score", "a threshold is a number from 0 to 1");
        return Err(problem.hint("a scale's worst is 0 and its best 1: 4 of 1 to 5 is 0.75"));
    }
    if new.note.as_ref().is_some_and(|note| note.chars().count() > MAX_NOTE) {
        return Err(Problem::field("note", format!("use at most {MAX_NOTE} letters")));
    }
    stored_criterion(&caller.store, &name).await?;
    if let Some(before) = caller.store.threshold_history(&name).await?.into_iter().next() {
        note.before(&Threshold::from(before));
    }
    let why = new.note.as_deref();
    let record = caller.store.create_threshold(id, &name, new.score, why).await?;
    let shown = Threshold::from(record);
    note.after(&shown);
    Ok((StatusCode::CREATED, Json(shown)))
}

impl From<ThresholdRecord> for Threshold {
    fn from(record: ThresholdRecord) -> Self {
        Self {
            threshold_id: record.id,
            criterion: record.criterion,
            criterion_revision: record.criterion_revision,
            score: record.score,
            note: record.note,
            created_at: record.set_at,
        }
    }
}
