//! Versions of data sets: what was found in their rows, and where they stand.

use axum::response::Json;
use fullbench_engine::{DatasetSchema, RowProblem};
use fullbench_store::{Page, VersionRecord};
use fullbench_types::{Action, FileFormat, ValidationStatus, VersionStatus};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{TAG, check_page};
use crate::access::Caller;
use crate::api::Endpoint;
use crate::audit::AuditNote;
use crate::extract::{Etagged, IfMatch, PathParts, Query};
use crate::problem::Problem;

const MAX_LIMIT: u64 = 100;
/// Problems of each version that a list shows.
const LISTED_PROBLEMS: usize = 10;

/// Which versions to list.
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
}

fn usual_limit() -> u64 {
    20
}

/// A version of a data set: the file that was uploaded, and what was found in it.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "DatasetVersion")]
struct Version {
    version_id: Uuid,
    dataset_id: Uuid,
    /// 1 for the first.
    version_number: u32,
    /// Published versions never change.
    status: VersionStatus,
    /// What is new in it.
    description: Option<String>,
    /// Names the file; `download?format=original` gives it.
    file_uri: String,
    file_format: FileFormat,
    /// The size of the file.
    file_bytes: u64,
    /// SHA-256 of the file, in hexadecimal digits.
    file_sha256: String,
    /// Rows, once they are counted.
    row_count: Option<u64>,
    /// The columns, once the rows have been looked at.
    schema: Option<DatasetSchema>,
    /// SHA-256 over the names and types of the columns.
    schema_hash: Option<String>,
    /// Whether the rows have been looked at.
    validation_status: ValidationStatus,
    /// The first problems by row and column; a list of versions shows ten of each.
    validation_errors: Vec<RowProblem>,
    /// The problems that were shown are gone with the key that they were sealed with.
    texts_deleted: bool,
    /// How many problems there are.
    error_count: u64,
    /// How many agreed answers were added.
    ground_truth_revision: u64,
    created_at: Timestamp,
    updated_at: Timestamp,
    /// Who uploaded it.
    created_by: Option<String>,
}

/// A page of versions.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "DatasetVersions")]
struct Versions {
    /// The newest first.
    versions: Vec<Version>,
    /// How many there are in all.
    total: u64,
    /// There are more after these.
    has_more: bool,
}

pub(super) fn endpoints() -> Vec<Endpoint> {
    let published = "From now on nothing can change its rows. Only a draft whose rows are all cases can be published; \
        agreed answers can still be added beside it.";
    vec![
        Endpoint::get(
            "/v1/datasets/{dataset_id}/versions",
            "list_dataset_versions",
            Action::ReadDatasets,
            list,
        )
        .about(TAG, "Versions of a data set", "The newest first.")
        .query::<ListQuery>()
        .gives::<Versions>(200, "A page of versions"),
        Endpoint::get(
            "/v1/datasets/{dataset_id}/versions/{version_number}",
            "get_dataset_version",
            Action::ReadDatasets,
            get,
        )
        .about(TAG, "A version of a data set", "With its schema, or with what is wrong.")
        .gives::<Version>(200, "The version")
        .with_etag(),
        Endpoint::post(
            "/v1/datasets/{dataset_id}/versions/{version_number}/publish",
            "publish_dataset_version",
            Action::ChangeDatasets,
            publish,
        )
        .about(TAG, "Publish a version", published)
        .gives::<Version>(200, "The published version")
        .with_etag()
        .if_match(),
        Endpoint::post(
            "/v1/datasets/{dataset_id}/versions/{version_number}/deprecate",
            "deprecate_dataset_version",
            Action::ChangeDatasets,
            deprecate,
        )
        .about(TAG, "Deprecate a published version", "It stays for what was made with it.")
        .gives::<Version>(200, "The deprecated version")
        .with_etag()
        .if_match(),
    ]
}

async fn list(
    caller: Caller,
    PathParts(dataset): PathParts<Uuid>,
    Query(query): Query<ListQuery>,
) -> Result<Json<Versions>, Problem> {
    check_page(query.limit, MAX_LIMIT, query.offset)?;
    let page = Page { offset: query.offset, limit: query.limit };
    let (records, total) = caller.store.versions(dataset, page).await?;
    let has_more = query.offset + (records.len() as u64) < total;
    let mut versions: Vec<Version> = records.into_iter().map(Version::from).collect();
    for version in &mut versions {
        version.validation_errors.truncate(LISTED_PROBLEMS);
    }
    Ok(Json(Versions { versions, total, has_more }))
}

async fn get(
    caller: Caller,
    PathParts((dataset, number)): PathParts<(Uuid, u32)>,
) -> Result<Etagged<Version>, Problem> {
    Ok(shown(caller.store.version_of(dataset, number).await?))
}

async fn publish(
    caller: Caller,
    note: AuditNote,
    PathParts((dataset, number)): PathParts<(Uuid, u32)>,
    IfMatch(seen): IfMatch,
) -> Result<Etagged<Version>, Problem> {
    set_status(&caller, &note, (dataset, number), seen, VersionStatus::Published).await
}

async fn deprecate(
    caller: Caller,
    note: AuditNote,
    PathParts((dataset, number)): PathParts<(Uuid, u32)>,
    IfMatch(seen): IfMatch,
) -> Result<Etagged<Version>, Problem> {
    set_status(&caller, &note, (dataset, number), seen, VersionStatus::Deprecated).await
}

async fn set_status(
    caller: &Caller,
    note: &AuditNote,
    (dataset, number): (Uuid, u32),
    seen: Option<u32>,
    status: VersionStatus,
) -> Result<Etagged<Version>, Problem> {
    let version = caller.store.version_of(dataset, number).await?;
    note.before(&serde_json::json!({"status": version.status}));
    let changed = caller.store.set_version_status(version.id, seen, status).await?;
    note.after(&serde_json::json!({"status": changed.status}));
    Ok(shown(changed))
}

fn shown(record: VersionRecord) -> Etagged<Version> {
    Etagged(record.revision, record.into())
}

impl From<VersionRecord> for Version {
    fn from(record: VersionRecord) -> Self {
        let schema = record.columns.and_then(|columns| serde_json::from_value(columns).ok());
        let errors = record.errors.and_then(|errors| serde_json::from_value(errors).ok());
        Self {
            version_id: record.id,
            dataset_id: record.dataset,
            version_number: record.number,
            status: record.status,
            description: record.description,
            file_uri: record.file_uri,
            file_format: record.file_format,
            file_bytes: record.file_bytes,
            file_sha256: record.file_hash,
            row_count: record.rows,
            schema,
            schema_hash: record.schema_hash,
            validation_status: record.validation,
            validation_errors: errors.unwrap_or_default(),
            texts_deleted: record.texts_deleted,
            error_count: record.error_count,
            ground_truth_revision: record.ground_truth_revision,
            created_at: record.created_at,
            updated_at: record.updated_at,
            created_by: record.created_by,
        }
    }
}
