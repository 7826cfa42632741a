//! The results of a batch, page by page.

use axum::response::Json;
use fullbench_types::{Action, UnitKey};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::batch_run;
use crate::access::Caller;
use crate::api::Endpoint;
use crate::extract::{PathParts, Query};
use crate::problem::Problem;
use crate::resources::runs::{ResultView, RunReader};

/// The most results of a page.
const MAX_LIMIT: u64 = 1000;

/// Which results to give.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ResultsQuery {
    /// How many results to give.
    #[serde(default = "usual_limit")]
    #[schemars(range(min = 1, max = 1000))]
    limit: u64,
    /// The `next_cursor` of the page before.
    #[serde(default)]
    #[schemars(length(max = 64))]
    cursor: Option<String>,
}

fn usual_limit() -> u64 {
    50
}

/// A page of results.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "EvaluationResults")]
struct Results {
    /// By case, model and repetition.
    results: Vec<ResultView>,
    /// There may be more after these.
    has_more: bool,
    /// What to ask for them with.
    next_cursor: Option<String>,
}

pub(super) fn endpoints() -> Vec<Endpoint> {
    let about = "In the order of cases; results that come later appear at their place.";
    vec![
        Endpoint::get(
            "/v1/evaluations/batch/{job_id}/results",
            "list_batch_results",
            Action::ReadRuns,
            list,
        )
        .about("evaluations", "The results of a batch", about)
        .query::<ResultsQuery>()
        .gives::<Results>(200, "A page of results"),
    ]
}

async fn list(
    caller: Caller,
    PathParts(id): PathParts<Uuid>,
    Query(query): Query<ResultsQuery>,
) -> Result<Json<Results>, Problem> {
    if !(1..=MAX_LIMIT).contains(&query.limit) {
        return Err(Problem::field("limit", format!("use 1 to {MAX_LIMIT}")));
    }
    let after = match &query.cursor {
        Some(cursor) => Some(unit_of(cursor).ok_or_else(|| {
            Problem::field("cursor", "this is no cursor of a page of results")
                .hint("send the `next_cursor` of the page before as it was")
        })?),
        None => None,
    };
    let run = batch_run(&caller.store, id).await?;
    let reader = RunReader::open(&caller.store, &run).await?;
    let units = reader.page(after, query.limit).await?;
    let has_more = units.len() as u64 == query.limit;
    let last = units.last().map(|unit| cursor_of(unit.key));
    Ok(Json(Results {
        results: units.iter().map(|unit| reader.view(unit)).collect(),
        has_more,
        next_cursor: last.filter(|_| has_more),
    }))
}

fn cursor_of(key: UnitKey) -> String {
    format!("{:x}-{:x}-{:x}", key.case_index, key.model_index, key.repetition)
}

fn unit_of(cursor: &str) -> Option<UnitKey> {
    let mut parts = cursor.split('-');
    let case = u64::from_str_radix(parts.next()?, 16).ok()?;
    let model = u32::from_str_radix(parts.next()?, 16).ok()?;
    let repetition = u32::from_str_radix(parts.next()?, 16).ok()?;
    let fits = i64::try_from(case).is_ok()
        && i32::try_from(model).is_ok()
        && i32::try_from(repetition).is_ok();
    let key = UnitKey { case_index: case, model_index: model, repetition };
    (fits && parts.next().is_none()).then_some(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_reads_back_and_nothing_else_does() {
        let key = UnitKey { case_index: 70_000, model_index: 3, repetition: 12 };
        assert_eq!(unit_of(&cursor_of(key)), Some(key));
        for wrong in ["", "1", "1-2", "1-2-3-4", "x-1-1", "ffffffffffffffff-0-0", "0-ffffffff-0"] {
            assert_eq!(unit_of(wrong), None, "{wrong}");
        }
    }
}
