//! Data sets themselves: names, what they are for, tags.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Json, Response};
use fullbench_store::{DatasetChange, DatasetRecord, NewDataset, Page};
use fullbench_types::{Action, DatasetKind};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{TAG, check_page, check_text};
use crate::access::Caller;
use crate::api::Endpoint;
use crate::app::App;
use crate::audit::AuditNote;
use crate::extract::{Body, Etagged, IfMatch, NewId, PathParts, Query, given};
use crate::problem::Problem;

const MAX_LIMIT: u64 = 100;
const MAX_NAME: usize = 255;
const MAX_DESCRIPTION: usize = 10_000;
const MAX_TAGS: usize = 64;
const MAX_TAG: usize = 64;

/// A data set to be made.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "NewDataset")]
struct Wanted {
    /// A name that no other of the organization has.
    #[schemars(length(min = 1, max = 255), regex(pattern = r"\S"))]
    name: String,
    /// What it is about.
    #[serde(default)]
    #[schemars(length(max = 10_000))]
    description: Option<String>,
    /// What it is for.
    #[serde(rename = "type")]
    kind: DatasetKind,
    /// Words to find it by.
    #[serde(default)]
    #[schemars(length(max = 64), inner(length(min = 1, max = 64), regex(pattern = r"\S")))]
    tags: Vec<String>,
}

/// What of a data set to change; what is left out stays as it is.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "DatasetChange")]
struct Change {
    /// Another name.
    #[serde(default)]
    #[schemars(length(min = 1, max = 255), regex(pattern = r"\S"))]
    name: Option<String>,
    /// Another description; null takes it away.
    #[serde(default, deserialize_with = "given")]
    #[schemars(with = "Option<String>", length(max = 10_000))]
    description: Option<Option<String>>,
    /// Other tags.
    #[serde(default)]
    #[schemars(length(max = 64), inner(length(min = 1, max = 64), regex(pattern = r"\S")))]
    tags: Option<Vec<String>>,
}

/// Which data sets to list.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListQuery {
    /// How many to give.
    #[serde(default = "usual_limit")]
    #[schemars(range(min = 1, max = 100))]
    limit: u64,
    /// How many to leave out.
    #[serde(default)]
    #[schemars(range(max = 1_000_000_000))]
    offset: u64,
    /// With this name.
    #[serde(default)]
    #[schemars(length(max = 255))]
    name: Option<String>,
    /// For this purpose.
    #[serde(rename = "type", default)]
    kind: Option<DatasetKind>,
}

fn usual_limit() -> u64 {
    20
}

/// A named data set; its cases are in its versions.
#[derive(Serialize, JsonSchema)]
struct Dataset {
    dataset_id: Uuid,
    name: String,
    /// What it is about.
    description: Option<String>,
    /// What it is for.
    #[serde(rename = "type")]
    kind: DatasetKind,
    /// Words to find it by.
    tags: Vec<String>,
    created_at: Timestamp,
    updated_at: Timestamp,
    /// Who made it.
    created_by: Option<String>,
}

/// A page of data sets.
#[derive(Serialize, JsonSchema)]
struct Datasets {
    /// The newest first.
    datasets: Vec<Dataset>,
    /// How many match in all.
    total: u64,
    /// There are more after these.
    has_more: bool,
}

pub(super) fn endpoints() -> Vec<Endpoint> {
    let one = "/v1/datasets/{dataset_id}";
    let gone = "Goes with its versions, cases and files, all runs on them, and their results. One with a published version, or with a run \
        that goes on, is refused: deprecate the one, cancel the other first.";
    vec![
        Endpoint::post("/v1/datasets", "create_dataset", Action::ChangeDatasets, create)
            .about(TAG, "Make a data set", "Its cases are uploaded as versions.")
            .takes::<Wanted>()
            .gives::<Dataset>(201, "The data set")
            .with_etag(),
        Endpoint::get("/v1/datasets", "list_datasets", Action::ReadDatasets, list)
            .about(TAG, "All data sets", "The newest first.")
            .query::<ListQuery>()
            .gives::<Datasets>(200, "A page of data sets"),
        Endpoint::get(one, "get_dataset", Action::ReadDatasets, get)
            .about(TAG, "A data set", "")
            .gives::<Dataset>(200, "The data set")
            .with_etag(),
        Endpoint::patch(one, "change_dataset", Action::ChangeDatasets, change)
            .about(TAG, "Change the name, description or tags", "")
            .takes::<Change>()
            .gives::<Dataset>(200, "The changed data set")
            .with_etag()
            .if_match(),
        Endpoint::delete(one, "delete_dataset", Action::DeleteDatasets, remove)
            .about(TAG, "Remove a data set", gone)
            .gives_nothing(204, "It is gone")
            .if_match()
            .refuses(&[409]),
    ]
}

async fn create(
    caller: Caller,
    note: AuditNote,
    NewId(id): NewId,
    Body(wanted): Body<Wanted>,
) -> Result<Response, Problem> {
    check(Some(&wanted.name), wanted.description.as_deref(), &wanted.tags)?;
    let Wanted { name, description, kind, tags } = wanted;
    let new = NewDataset { id, name, description, kind, tags, created_by: Some(caller.name) };
    let record = caller.store.create_dataset(new).await?;
    note.after(&Dataset::from(record.clone()));
    Ok((StatusCode::CREATED, shown(record)).into_response())
}

async fn list(caller: Caller, Query(query): Query<ListQuery>) -> Result<Json<Datasets>, Problem> {
    check_page(query.limit, MAX_LIMIT, query.offset)?;
    if let Some(name) = &query.name {
        check_text("name", name, 0, MAX_NAME)?;
    }
    let page = Page { offset: query.offset, limit: query.limit };
    let found = caller.store.dataset_records(query.kind, query.name.as_deref(), page).await?;
    let (records, total) = found;
    let has_more = query.offset + (records.len() as u64) < total;
    Ok(Json(Datasets {
        datasets: records.into_iter().map(Dataset::from).collect(),
        total,
        has_more,
    }))
}

async fn get(caller: Caller, PathParts(id): PathParts<Uuid>) -> Result<Etagged<Dataset>, Problem> {
    Ok(shown(caller.store.dataset_record(id).await?))
}

async fn change(
    caller: Caller,
    note: AuditNote,
    PathParts(id): PathParts<Uuid>,
    IfMatch(seen): IfMatch,
    Body(change): Body<Change>,
) -> Result<Etagged<Dataset>, Problem> {
    let Change { name, description, tags } = change;
    let text = description.as_ref().and_then(Option::as_deref);
    check(name.as_deref(), text, tags.as_deref().unwrap_or_default())?;
    let change = DatasetChange { name, description, tags };
    note.before(&Dataset::from(caller.store.dataset_record(id).await?));
    let changed = caller.store.change_dataset(id, seen, change).await?;
    note.after(&Dataset::from(changed.clone()));
    Ok(shown(changed))
}

async fn remove(
    State(app): State<App>,
    caller: Caller,
    note: AuditNote,
    PathParts(id): PathParts<Uuid>,
    IfMatch(seen): IfMatch,
) -> Result<StatusCode, Problem> {
    note.before(&Dataset::from(caller.store.dataset_record(id).await?));
    let removed = app.store().remove_dataset(&caller.store, id, seen).await?;
    note.after(&removed);
    Ok(StatusCode::NO_CONTENT)
}

fn check(name: Option<&str>, description: Option<&str>, tags: &[String]) -> Result<(), Problem> {
    if let Some(name) = name {
        check_text("name", name, 1, MAX_NAME)?;
    }
    check_text("description", description.unwrap_or_default(), 0, MAX_DESCRIPTION)?;
    if tags.len() > MAX_TAGS {
        return Err(Problem::field("tags", format!("use at most {MAX_TAGS} tags")));
    }
    for (index, tag) in tags.iter().enumerate() {
        check_text(&format!("tags[{index}]"), tag, 1, MAX_TAG)?;
    }
    Ok(())
}

fn shown(record: DatasetRecord) -> Etagged<Dataset> {
    Etagged(record.revision, record.into())
}

impl From<DatasetRecord> for Dataset {
    fn from(record: DatasetRecord) -> Self {
        Self {
            dataset_id: record.id,
            name: record.name,
            description: record.description,
            kind: record.kind,
            tags: record.tags,
            created_at: record.created_at,
            updated_at: record.updated_at,
            created_by: record.created_by,
        }
    }
}
