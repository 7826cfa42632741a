//! Cases of a version, page by page: by offset or by cursor, all of them or those that a filter lets through.

use axum::response::Json;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use fullbench_engine::{CaseFilter, InputProblem};
use fullbench_store::{CaseRecord, ScopedStore, VersionRecord};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

use super::{TAG, check_page, valid_version};
use fullbench_types::Action;

use crate::access::Caller;
use crate::api::Endpoint;
use crate::extract::{PathParts, Query};
use crate::problem::Problem;

const MAX_LIMIT: u64 = 1000;
const MAX_FILTER: usize = 4096;
/// Cases whose metadata is read at a time.
const SCANNED: u64 = 5000;

/// Which cases to list.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListQuery {
    /// How many to give.
    #[serde(default = "usual_limit")]
    #[schemars(range(min = 1, max = 1000))]
    limit: u64,
    /// How many to leave out; not together with `cursor`.
    #[serde(default)]
    #[schemars(range(max = 1_000_000_000))]
    offset: Option<u64>,
    /// Go on after a page: its `next_cursor`.
    #[serde(default)]
    #[schemars(length(max = 200))]
    cursor: Option<String>,
    /// Cases whose metadata fulfil this, as JSON: `{"category": "math", "level": {"$gte": 3}}`. There are `$eq`, `$ne`, `$gt`,
    /// `$gte`, `$lt`, `$lte`, `$in`, `$nin`, `$exists`, `$contains`, `$and`, `$or` and `$not`.
    #[serde(default)]
    #[schemars(length(max = 4096), extend("contentMediaType" = "application/json"))]
    filter: Option<String>,
}

fn usual_limit() -> u64 {
    50
}

/// A case.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "TestCase")]
pub(super) struct Case {
    test_case_id: Uuid,
    version_id: Uuid,
    /// Its position in the file, counted from 0.
    row_index: u64,
    /// Its identity across versions.
    case_key: String,
    /// Text, an object, or a conversation.
    input: Value,
    /// The accepted answer that the file has.
    expected_output: Option<String>,
    /// What else is known of it.
    metadata: Map<String, Value>,
    created_at: Timestamp,
}

/// A page of cases.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "TestCases")]
struct Cases {
    /// In the order of the file.
    cases: Vec<Case>,
    /// How many match in all.
    total: u64,
    /// There are more after these.
    has_more: bool,
    /// What to send as `cursor` for those.
    next_cursor: Option<String>,
}

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::get(
            "/v1/datasets/{dataset_id}/versions/{version_number}/cases",
            "list_test_cases",
            Action::ReadDatasets,
            list,
        )
        .about(TAG, "Cases of a version", "In the order of the file, once its rows are valid.")
        .query::<ListQuery>()
        .gives::<Cases>(200, "A page of cases")
        .refuses(&[409]),
        Endpoint::get(
            "/v1/datasets/{dataset_id}/versions/{version_number}/cases/{case_id}",
            "get_test_case",
            Action::ReadDatasets,
            get,
        )
        .about(TAG, "A case", "")
        .gives::<Case>(200, "The case")
        .refuses(&[409]),
    ]
}

async fn list(
    caller: Caller,
    PathParts((dataset, number)): PathParts<(Uuid, u32)>,
    Query(query): Query<ListQuery>,
) -> Result<Json<Cases>, Problem> {
    check_page(query.limit, MAX_LIMIT, query.offset.unwrap_or(0))?;
    let filter = query.filter.as_deref().map(read_filter).transpose()?;
    let version = valid_version(&caller.store, dataset, number).await?;
    let start = match (&query.cursor, query.offset) {
        (Some(_), Some(_)) => {
            return Err(Problem::field("cursor", "use `cursor` or `offset`, not both"));
        }
        (Some(cursor), None) => Start::Row(read_cursor(cursor, &version)?),
        (None, offset) => Start::Offset(offset.unwrap_or(0)),
    };
    let found = match filter {
        Some(filter) => filtered(&caller.store, &version, &filter, start, query.limit).await?,
        None => unfiltered(&caller.store, &version, start, query.limit).await?,
    };
    let Found { records, total, has_more } = found;
    let next = records.last().map(|last| last.row + 1).filter(|_| has_more);
    Ok(Json(Cases {
        cases: records.into_iter().map(Case::from).collect(),
        total,
        has_more,
        next_cursor: next.map(|row| cursor(&version, row)),
    }))
}

async fn get(
    caller: Caller,
    PathParts((dataset, number, case)): PathParts<(Uuid, u32, Uuid)>,
) -> Result<Json<Case>, Problem> {
    let version = valid_version(&caller.store, dataset, number).await?;
    Ok(Json(caller.store.case_record(version.id, case).await?.into()))
}

/// Where a page begins.
enum Start {
    /// After so many of those that match.
    Offset(u64),
    /// At this row.
    Row(u64),
}

struct Found {
    records: Vec<CaseRecord>,
    total: u64,
    has_more: bool,
}

/// Rows have no gaps: so many left out is that row.
async fn unfiltered(
    store: &ScopedStore,
    version: &VersionRecord,
    start: Start,
    limit: u64,
) -> Result<Found, Problem> {
    let (Start::Offset(row) | Start::Row(row)) = start;
    let records = store.cases_from(version.id, row, limit).await?;
    let total = version.rows.unwrap_or(0);
    let has_more = records.last().is_some_and(|last| last.row + 1 < total);
    Ok(Found { records, total, has_more })
}

/// Looks at the metadata of all cases, and reads those of the page.
async fn filtered(
    store: &ScopedStore,
    version: &VersionRecord,
    filter: &CaseFilter,
    start: Start,
    limit: u64,
) -> Result<Found, Problem> {
    let (mut rows, mut total, mut has_more, mut next) = (Vec::new(), 0, false, 0);
    loop {
        let scanned = store.case_metadata_from(version.id, next, SCANNED).await?;
        let Some((last, _)) = scanned.last() else { break };
        next = last + 1;
        for (row, metadata) in &scanned {
            if !filter.matches(metadata) {
                continue;
            }
            let is_before = match start {
                Start::Offset(offset) => total < offset,
                Start::Row(first) => *row < first,
            };
            total += 1;
            if is_before {
                continue;
            }
            match (rows.len() as u64) < limit {
                true => rows.push(*row),
                false => has_more = true,
            }
        }
        if (scanned.len() as u64) < SCANNED {
            break;
        }
    }
    Ok(Found { records: store.cases_at(version.id, &rows).await?, total, has_more })
}

fn read_filter(text: &str) -> Result<CaseFilter, Problem> {
    if text.chars().count() > MAX_FILTER {
        return Err(Problem::field("filter", format!("use at most {MAX_FILTER} letters")));
    }
    CaseFilter::parse_text(text).map_err(|problem| {
        let field = match &problem.field {
            Some(path) if !path.is_empty() => format!("filter.{path}"),
            _ => "filter".to_owned(),
        };
        Problem::from(vec![InputProblem { field: Some(field), ..problem }])
    })
}

/// The place after a page, for that version alone.
fn cursor(version: &VersionRecord, row: u64) -> String {
    URL_SAFE_NO_PAD.encode(format!("{}:{row}", version.id.simple()))
}

fn read_cursor(cursor: &str, version: &VersionRecord) -> Result<u64, Problem> {
    let bytes = URL_SAFE_NO_PAD.decode(cursor).ok();
    let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default();
    let row = text.split_once(':').and_then(|(id, row)| {
        (id == version.id.simple().to_string()).then(|| row.parse().ok()).flatten()
    });
    row.ok_or_else(|| {
        Problem::field("cursor", "this is no cursor of the version")
            .hint("send `next_cursor` of a page of the same version as it was received")
    })
}

impl From<CaseRecord> for Case {
    fn from(record: CaseRecord) -> Self {
        Self {
            test_case_id: record.id,
            version_id: record.version,
            row_index: record.row,
            case_key: record.key,
            input: record.input,
            expected_output: record.expected_output,
            metadata: record.metadata,
            created_at: record.created_at,
        }
    }
}
