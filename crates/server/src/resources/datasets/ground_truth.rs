//! Answers that were agreed on: only ever added, beside the cases, which stay as they were uploaded.

use axum::http::StatusCode;
use axum::response::Json;
use fullbench_store::{GroundTruthRecord, NewGroundTruth};
use fullbench_types::{Action, GroundTruthSource};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::{TAG, check_page, valid_version};
use crate::access::Caller;
use crate::api::Endpoint;
use crate::extract::{Body, NewId, PathParts, Query};
use crate::problem::Problem;

const MAX_LIMIT: u64 = 1000;
const MAX_ANSWERS: usize = 1000;

/// An answer to be agreed on.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "NewGroundTruth")]
struct Wanted {
    value: Answer,
    /// Who says so.
    source: GroundTruthSource,
    /// How sure they are.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1.0))]
    confidence: Option<f64>,
}

/// What is agreed on: at least one of these.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "GroundTruthValue", extend("minProperties" = 1))]
struct Answer {
    /// The answer.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    answer: Option<String>,
    /// All answers that count as right.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<String>", length(min = 1, max = 1000))]
    acceptable_answers: Option<Vec<String>>,
    /// How an answer is to be judged.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Map<String, Value>")]
    rubric: Option<Map<String, Value>>,
}

/// What is there is not null.
fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    value: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(value).map(Some)
}

/// An agreed answer.
#[derive(Clone, Serialize, JsonSchema)]
struct GroundTruth {
    ground_truth_id: Uuid,
    test_case_id: Uuid,
    /// Its number in the version: of a case the highest counts.
    revision: u64,
    /// An object with `answer`, `acceptable_answers` or `rubric`.
    #[schemars(with = "Map<String, Value>")]
    value: Value,
    source: GroundTruthSource,
    /// How sure they are, from 0 to 1.
    confidence: Option<f64>,
    created_at: Timestamp,
    /// Who stored it.
    created_by: Option<String>,
}

/// What was agreed on for a case.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "GroundTruths")]
struct History {
    /// What counts.
    current: Option<GroundTruth>,
    /// Everything that was ever agreed on, the newest first.
    history: Vec<GroundTruth>,
    /// How many there are in all.
    total: u64,
    /// There are more after these.
    has_more: bool,
}

/// Which part of the history to give.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct HistoryQuery {
    /// How many to give.
    #[serde(default = "usual_limit")]
    #[schemars(range(min = 1, max = 1000))]
    limit: u64,
    /// How many to leave out.
    #[serde(default)]
    #[schemars(range(max = 1_000_000_000))]
    offset: u64,
}

fn usual_limit() -> u64 {
    50
}

pub(super) fn endpoints() -> Vec<Endpoint> {
    let path = "/v1/datasets/{dataset_id}/versions/{version_number}/cases/{case_id}/ground-truth";
    let about = "Evaluations from now on take it in place of the references of the file: `acceptable_answers`, or else `answer`. \
        What was agreed on before stays in the history, and evaluations that used it stay as they are.";
    vec![
        Endpoint::post(path, "add_ground_truth", Action::WriteLabels, add)
            .about(TAG, "Add an agreed answer to a case", about)
            .takes::<Wanted>()
            .gives::<GroundTruth>(201, "The agreed answer"),
        Endpoint::get(path, "get_ground_truth", Action::ReadDatasets, get)
            .about(TAG, "What was agreed on for a case", "")
            .query::<HistoryQuery>()
            .gives::<History>(200, "The current answer and its history")
            .refuses(&[409]),
    ]
}

async fn add(
    caller: Caller,
    NewId(id): NewId,
    PathParts((dataset, number, case)): PathParts<(Uuid, u32, Uuid)>,
    Body(wanted): Body<Wanted>,
) -> Result<(StatusCode, Json<GroundTruth>), Problem> {
    let Wanted { value, source, confidence } = wanted;
    if confidence.is_some_and(|confidence| !(0.0..=1.0).contains(&confidence)) {
        return Err(Problem::field("confidence", "use a number from 0 to 1"));
    }
    let value = checked(value)?;
    let version = valid_version(&caller.store, dataset, number).await?;
    let created_by = Some(caller.name);
    let new = NewGroundTruth { id, case, value, source, confidence, created_by };
    let added = caller.store.add_ground_truth(version.id, new).await?;
    Ok((StatusCode::CREATED, Json(added.into())))
}

/// The parts that are there.
fn checked(value: Answer) -> Result<Value, Problem> {
    let Answer { answer, acceptable_answers, rubric } = value;
    let mut parts = Map::new();
    if let Some(answer) = answer {
        parts.insert("answer".to_owned(), json!(answer));
    }
    if let Some(answers) = acceptable_answers {
        if !(1..=MAX_ANSWERS).contains(&answers.len()) {
            let message = format!("use 1 to {MAX_ANSWERS} answers");
            return Err(Problem::field("value.acceptable_answers", message));
        }
        parts.insert("acceptable_answers".to_owned(), json!(answers));
    }
    if let Some(rubric) = rubric {
        parts.insert("rubric".to_owned(), json!(rubric));
    }
    if parts.is_empty() {
        let problem = Problem::field("value", "there is no answer in it");
        return Err(problem.hint("give `answer`, `acceptable_answers` or `rubric`"));
    }
    Ok(Value::Object(parts))
}

async fn get(
    caller: Caller,
    PathParts((dataset, number, case)): PathParts<(Uuid, u32, Uuid)>,
    Query(query): Query<HistoryQuery>,
) -> Result<Json<History>, Problem> {
    check_page(query.limit, MAX_LIMIT, query.offset)?;
    let version = valid_version(&caller.store, dataset, number).await?;
    let all = caller.store.ground_truths(version.id, case).await?;
    let total = all.len() as u64;
    let mut all = all.into_iter().map(GroundTruth::from).peekable();
    let current = all.peek().cloned();
    let history: Vec<GroundTruth> =
        all.skip(query.offset as usize).take(query.limit as usize).collect();
    let has_more = query.offset + (history.len() as u64) < total;
    Ok(Json(History { current, history, total, has_more }))
}

impl From<GroundTruthRecord> for GroundTruth {
    fn from(record: GroundTruthRecord) -> Self {
        Self {
            ground_truth_id: record.id,
            test_case_id: record.case,
            revision: record.revision,
            value: record.value,
            source: record.source,
            confidence: record.confidence,
            created_at: record.created_at,
            created_by: record.created_by,
        }
    }
}
