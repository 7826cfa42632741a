//! Batches of OpenAI: an uploaded file of requests, a batch made of it, and files of results.

use std::collections::HashMap;

use fullbench_types::ProviderBatchId;
use jiff::Timestamp;
use reqwest::StatusCode;
use reqwest::header::HeaderMap;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::batch::{BatchedReply, RemoteBatch, cancelled, expired, without_result};
use super::{Wire, read};
use crate::failure::{error_message, refusal, shorten};
use crate::model::{CallError, FailureClass};

/// The metadata by which a batch is found again.
const MARKER: &str = "fullbench_batch";

/// What makes a batch of an uploaded file.
pub(crate) fn creation(batch: ProviderBatchId, file: &str) -> Value {
    json!({
        "input_file_id": file,
        "endpoint": "/v1/chat/completions",
        "completion_window": "24h",
        "metadata": {MARKER: batch.to_string()},
    })
}

/// A form with a file of requests; the boundary is in none of them.
pub(crate) fn upload(boundary: &str, entries: &[Vec<u8>]) -> Vec<u8> {
    let size: usize = entries.iter().map(|entry| entry.len() + 1).sum();
    let mut form = Vec::with_capacity(size + 512);
    let head = format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"purpose\"\r\n\r\nbatch\r\n\
         --{boundary}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"batch.jsonl\"\r\n\
         Content-Type: application/jsonl\r\n\r\n"
    );
    form.extend_from_slice(head.as_bytes());
    for entry in entries {
        form.extend_from_slice(entry);
        form.push(b'\n');
    }
    form.extend_from_slice(format!("\r\n--{boundary}--\r\n").as_bytes());
    form
}

/// What OpenAI says of a batch.
pub(super) fn read_batch(body: &str) -> Result<RemoteBatch, CallError> {
    Ok(read::<Batch>(body)?.into())
}

/// The result in one line, with the id of its request.
pub(super) fn read_result(line: &str) -> Option<(String, BatchedReply)> {
    let line: ResultLine<'_> = serde_json::from_str(line).ok()?;
    Some((line.custom_id, reply(line.response, line.error.as_ref())))
}

#[derive(Deserialize)]
struct Batch {
    id: String,
    status: String,
    created_at: i64,
    #[serde(default)]
    request_counts: Option<Counts>,
    #[serde(default)]
    metadata: Option<HashMap<String, Value>>,
    #[serde(default)]
    output_file_id: Option<String>,
    #[serde(default)]
    error_file_id: Option<String>,
    #[serde(default)]
    errors: Option<Errors>,
}

#[derive(Default, Deserialize)]
struct Counts {
    #[serde(default)]
    total: u64,
    #[serde(default)]
    completed: u64,
    #[serde(default)]
    failed: u64,
}

#[derive(Default, Deserialize)]
struct Errors {
    #[serde(default)]
    data: Vec<Refused>,
}

#[derive(Deserialize)]
struct Refused {
    code: Option<String>,
    message: Option<String>,
    line: Option<usize>,
}

impl Refused {
    fn call_error(&self) -> CallError {
        let code = self.code.as_deref().unwrap_or_default();
        let said = self.message.as_deref().unwrap_or(code);
        let class = match code {
            _ if code.contains("limit") => FailureClass::RateLimit,
            "model_not_found" => FailureClass::NotFound,
            _ => FailureClass::BadRequest,
        };
        CallError::new(class, format!("the batch was refused: {}", shorten(said)))
    }
}

impl From<Batch> for RemoteBatch {
    fn from(batch: Batch) -> Self {
        let counts = batch.request_counts.unwrap_or_default();
        let is_ended =
            matches!(batch.status.as_str(), "completed" | "failed" | "expired" | "cancelled");
        let errors = batch.errors.unwrap_or_default().data;
        let by_line = errors.iter().filter_map(|error| {
            // Lines are counted from 1.
            Some((error.line?.checked_sub(1)?, error.call_error()))
        });
        let refused: HashMap<usize, CallError> = by_line.collect();
        let missing = match batch.status.as_str() {
            "failed" => match errors.iter().find(|error| error.line.is_none()) {
                Some(error) => error.call_error(),
                None if refused.is_empty() => {
                    CallError::new(FailureClass::BadRequest, "the batch was refused")
                }
                None => CallError::new(
                    FailureClass::Server,
                    "the batch was refused because of other requests in it",
                ),
            },
            "expired" => expired(),
            "cancelled" => cancelled(),
            _ => without_result(),
        };
        let marker = batch.metadata.unwrap_or_default().remove(MARKER);
        let files = [batch.output_file_id, batch.error_file_id];
        Self {
            id: batch.id,
            is_ended,
            requests: counts.total,
            done: counts.completed + counts.failed,
            created: Timestamp::from_second(batch.created_at).unwrap_or_default(),
            marker: marker.and_then(|marker| Some(marker.as_str()?.to_owned())),
            results: files.into_iter().flatten().map(|id| format!("files/{id}/content")).collect(),
            refused,
            missing,
        }
    }
}

#[derive(Deserialize)]
struct ResultLine<'line> {
    custom_id: String,
    #[serde(borrow, default)]
    response: Option<Response<'line>>,
    #[serde(default)]
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Response<'line> {
    status_code: u16,
    #[serde(borrow)]
    body: &'line RawValue,
}

fn reply(response: Option<Response<'_>>, error: Option<&Value>) -> BatchedReply {
    if let Some(response) = response {
        return match StatusCode::from_u16(response.status_code) {
            Ok(status) if status.is_success() => {
                let answer = Wire::OpenAi.parse(response.body.get())?;
                Ok((answer, response.body.get().to_owned()))
            }
            Ok(status) => Err(refusal(status, &HeaderMap::new(), response.body.get())),
            Err(_) => Err(CallError::malformed("the result has no status")),
        };
    }
    let Some(error) = error else { return Err(without_result()) };
    match error.get("code").and_then(Value::as_str).unwrap_or_default() {
        "batch_expired" => Err(expired()),
        "batch_cancelled" => Err(cancelled()),
        _ => {
            let said = error_message(error).unwrap_or_else(|| error.to_string());
            Err(CallError::new(FailureClass::Server, shorten(&said)))
        }
    }
}
