//! What differs between two versions of a data set.

use axum::response::Json;
use fullbench_engine::{DatasetDiff, DiffPaging, diff_versions};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{TAG, check_page, reader, valid_version};
use fullbench_types::Action;

use crate::access::Caller;
use crate::api::Endpoint;
use crate::extract::{PathParts, Query};
use crate::problem::Problem;
use crate::work::in_background;

const MAX_LIMIT: u64 = 1000;

/// Which versions to compare.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct DiffQuery {
    /// The number of the left version.
    #[schemars(range(min = 1, max = 2_147_483_647))]
    from: u32,
    /// The number of the right version.
    #[schemars(range(min = 1, max = 2_147_483_647))]
    to: u32,
    /// How many cases of each list to give.
    #[serde(default = "usual_limit")]
    #[schemars(range(min = 1, max = 1000))]
    limit: u64,
    /// How many cases of each list to leave out.
    #[serde(default)]
    #[schemars(range(max = 1_000_000_000))]
    offset: u64,
}

fn usual_limit() -> u64 {
    100
}

/// What differs between two versions.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "DatasetVersionDiff")]
struct Diff {
    /// The number of the left version.
    from: u32,
    /// The number of the right version.
    to: u32,
    #[serde(flatten)]
    diff: DatasetDiff,
    /// Some list has more after these.
    has_more: bool,
}

pub(super) fn endpoints() -> Vec<Endpoint> {
    let about = "Cases belong together by their keys; where rows stand does not matter, nor the order of fields.";
    vec![
        Endpoint::get(
            "/v1/datasets/{dataset_id}/diff",
            "diff_dataset_versions",
            Action::ReadDatasets,
            diff,
        )
        .about(TAG, "What differs between two versions", about)
        .query::<DiffQuery>()
        .gives::<Diff>(200, "Cases that were added, removed, changed or not")
        .refuses(&[409]),
    ]
}

async fn diff(
    caller: Caller,
    PathParts(dataset): PathParts<Uuid>,
    Query(query): Query<DiffQuery>,
) -> Result<Json<Diff>, Problem> {
    let DiffQuery { from, to, limit, offset } = query;
    check_page(limit, MAX_LIMIT, offset)?;
    for (name, number) in [("from", from), ("to", to)] {
        if number == 0 || i32::try_from(number).is_err() {
            return Err(Problem::field(name, "use the number of a version, from 1"));
        }
    }
    let left = valid_version(&caller.store, dataset, from).await?;
    let right = valid_version(&caller.store, dataset, to).await?;
    let mut left = reader(&caller.store, &left).await?;
    let mut right = reader(&caller.store, &right).await?;
    let paging = DiffPaging { offset, limit: limit as usize };
    let diff = in_background(move || diff_versions(&mut left, &mut right, paging)).await??;
    let lists = [&diff.added, &diff.removed, &diff.changed, &diff.unchanged];
    let has_more = lists.iter().any(|list| list.count > offset + limit);
    Ok(Json(Diff { from, to, diff, has_more }))
}
