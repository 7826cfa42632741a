//! Batches on the wire: how requests stand in them, what a provider says of them, and the results, line by line.

use std::collections::HashMap;

use fullbench_types::ProviderBatchId;
use jiff::Timestamp;
use reqwest::StatusCode;
use reqwest::header::HeaderMap;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::{Answer, Wire, read};
use crate::failure::{error_message, refusal, shorten};
use crate::model::{CallError, FailureClass};

/// The metadata by which a batch is found again at OpenAI.
const MARKER: &str = "fullbench_batch";

/// What came of one request: the answer with the reply as it was, or a failure.
pub(crate) type BatchedReply = Result<(Answer, String), CallError>;

/// The id of a request in its batch: no other batch has it, and every provider takes it.
pub(crate) fn custom_id(batch: ProviderBatchId, position: usize) -> String {
    format!("fb_{batch}_{position}")
}

/// The position of a request in a batch, where the id is one of that batch.
pub(crate) fn position(batch: ProviderBatchId, custom_id: &str) -> Option<usize> {
    let position = custom_id.strip_prefix(&format!("fb_{batch}_"))?;
    let is_plain = position == "0" || !position.starts_with('0');
    position.parse().ok().filter(|_| is_plain && position.bytes().all(|byte| byte.is_ascii_digit()))
}

/// A batch as its provider describes it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RemoteBatch {
    pub(crate) id: String,
    pub(crate) is_ended: bool,
    pub(crate) requests: u64,
    pub(crate) done: u64,
    pub(crate) created: Timestamp,
    /// Our own id, where the provider keeps it.
    pub(crate) marker: Option<String>,
    /// Where the results are, below the base URL.
    pub(crate) results: Vec<String>,
    /// Why requests were not worked on, by their positions.
    pub(crate) refused: HashMap<usize, CallError>,
    /// What became of requests without a result.
    pub(crate) missing: CallError,
}

/// One page of the batches at a provider, newest first.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) batches: Vec<RemoteBatch>,
    /// The path of the next page.
    pub(crate) next: Option<String>,
}

impl Wire {
    /// Where batches are made and listed, below the base URL.
    pub(crate) fn batches_path(self) -> &'static str {
        if self == Self::Anthropic { "messages/batches" } else { "batches" }
    }

    /// One request as it stands in a batch; `body` is that of a call of its own.
    pub(crate) fn batch_entry(self, custom_id: &str, body: &[u8]) -> Vec<u8> {
        let head = match self {
            Self::Anthropic => format!("{{\"custom_id\":\"{custom_id}\",\"params\":"),
            _ => format!(
                "{{\"custom_id\":\"{custom_id}\",\"method\":\"POST\",\"url\":\"/v1/chat/completions\",\"body\":"
            ),
        };
        [head.as_bytes(), body, b"}"].concat()
    }

    /// What a provider says of a batch.
    pub(crate) fn read_batch(self, body: &str) -> Result<RemoteBatch, CallError> {
        match self {
            Self::Anthropic => Ok(read::<MessageBatch>(body)?.into()),
            _ => Ok(read::<OpenAiBatch>(body)?.into()),
        }
    }

    /// What a provider says of all batches.
    pub(crate) fn read_page(self, body: &str) -> Result<Page, CallError> {
        let page: WirePage = read(body)?;
        let mut batches = Vec::with_capacity(page.data.len());
        for batch in page.data {
            batches.push(self.read_batch(batch.get())?);
        }
        let last = batches.last().filter(|_| page.has_more);
        let after = if self == Self::Anthropic { "after_id" } else { "after" };
        let next = last.map(|last| format!("{}&{after}={}", self.first_page(), last.id));
        Ok(Page { batches, next })
    }

    /// The path of the first page of batches.
    pub(crate) fn first_page(self) -> String {
        format!("{}?limit=100", self.batches_path())
    }

    /// The result in one line, with the id of its request; none where the line has no such thing.
    pub(crate) fn read_result(self, line: &str) -> Option<(String, BatchedReply)> {
        match self {
            Self::Anthropic => {
                let line: MessageResult<'_> = serde_json::from_str(line).ok()?;
                Some((line.custom_id, line.result.reply()))
            }
            _ => {
                let line: OpenAiResult<'_> = serde_json::from_str(line).ok()?;
                let reply = openai_reply(line.response, line.error.as_ref());
                Some((line.custom_id, reply))
            }
        }
    }
}

/// What makes a batch of an uploaded file, at OpenAI.
pub(crate) fn openai_creation(batch: ProviderBatchId, file: &str) -> Value {
    json!({
        "input_file_id": file,
        "endpoint": "/v1/chat/completions",
        "completion_window": "24h",
        "metadata": {MARKER: batch.to_string()},
    })
}

/// A form with a file of requests, for OpenAI; the boundary is in none of them.
pub(crate) fn openai_upload(boundary: &str, entries: &[Vec<u8>]) -> Vec<u8> {
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

/// A batch of requests for Anthropic, in one body.
pub(crate) fn anthropic_creation(entries: &[Vec<u8>]) -> Vec<u8> {
    let size: usize = entries.iter().map(|entry| entry.len() + 1).sum();
    let mut body = Vec::with_capacity(size + 32);
    body.extend_from_slice(b"{\"requests\":[");
    for (index, entry) in entries.iter().enumerate() {
        if index > 0 {
            body.push(b',');
        }
        body.extend_from_slice(entry);
    }
    body.extend_from_slice(b"]}");
    body
}

/// The id of a file or batch that was made.
pub(crate) fn made_id(body: &str) -> Result<String, CallError> {
    #[derive(Deserialize)]
    struct Made {
        id: String,
    }
    Ok(read::<Made>(body)?.id)
}

#[derive(Deserialize)]
struct WirePage {
    data: Vec<Box<RawValue>>,
    #[serde(default)]
    has_more: bool,
}

#[derive(Deserialize)]
struct OpenAiBatch {
    id: String,
    status: String,
    created_at: i64,
    #[serde(default)]
    request_counts: Option<OpenAiCounts>,
    #[serde(default)]
    metadata: Option<HashMap<String, Value>>,
    #[serde(default)]
    output_file_id: Option<String>,
    #[serde(default)]
    error_file_id: Option<String>,
    #[serde(default)]
    errors: Option<OpenAiErrors>,
}

#[derive(Default, Deserialize)]
struct OpenAiCounts {
    #[serde(default)]
    total: u64,
    #[serde(default)]
    completed: u64,
    #[serde(default)]
    failed: u64,
}

#[derive(Default, Deserialize)]
struct OpenAiErrors {
    #[serde(default)]
    data: Vec<OpenAiError>,
}

#[derive(Deserialize)]
struct OpenAiError {
    code: Option<String>,
    message: Option<String>,
    line: Option<usize>,
}

impl OpenAiError {
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

impl From<OpenAiBatch> for RemoteBatch {
    fn from(batch: OpenAiBatch) -> Self {
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
struct MessageBatch {
    id: String,
    processing_status: String,
    created_at: Timestamp,
    request_counts: MessageCounts,
}

#[derive(Deserialize)]
struct MessageCounts {
    processing: u64,
    succeeded: u64,
    errored: u64,
    canceled: u64,
    expired: u64,
}

impl From<MessageBatch> for RemoteBatch {
    fn from(batch: MessageBatch) -> Self {
        let MessageCounts { processing, succeeded, errored, canceled, expired } =
            batch.request_counts;
        let done = succeeded + errored + canceled + expired;
        let is_ended = batch.processing_status == "ended";
        let results = is_ended.then(|| format!("messages/batches/{}/results", batch.id));
        Self {
            id: batch.id,
            is_ended,
            requests: processing + done,
            done,
            created: batch.created_at,
            marker: None,
            results: results.into_iter().collect(),
            refused: HashMap::new(),
            missing: without_result(),
        }
    }
}

fn without_result() -> CallError {
    CallError::malformed("the batch ended without a result for the request")
}

fn expired() -> CallError {
    let message = "the request was not worked on before its batch expired";
    CallError::new(FailureClass::Timeout, message)
}

fn cancelled() -> CallError {
    CallError::new(FailureClass::Server, "the batch was cancelled at the provider")
}

#[derive(Deserialize)]
struct OpenAiResult<'line> {
    custom_id: String,
    #[serde(borrow, default)]
    response: Option<OpenAiResponse<'line>>,
    #[serde(default)]
    error: Option<Value>,
}

#[derive(Deserialize)]
struct OpenAiResponse<'line> {
    status_code: u16,
    #[serde(borrow)]
    body: &'line RawValue,
}

fn openai_reply(response: Option<OpenAiResponse<'_>>, error: Option<&Value>) -> BatchedReply {
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

#[derive(Deserialize)]
struct MessageResult<'line> {
    custom_id: String,
    #[serde(borrow)]
    result: MessageOutcome<'line>,
}

#[derive(Deserialize)]
struct MessageOutcome<'line> {
    r#type: String,
    #[serde(borrow, default)]
    message: Option<&'line RawValue>,
    #[serde(default)]
    error: Option<Value>,
}

impl MessageOutcome<'_> {
    fn reply(self) -> BatchedReply {
        match (self.r#type.as_str(), self.message, self.error) {
            ("succeeded", Some(message), _) => {
                Ok((Wire::Anthropic.parse(message.get())?, message.get().to_owned()))
            }
            ("errored", _, Some(error)) => Err(message_error(&error)),
            ("expired", ..) => Err(expired()),
            ("canceled", ..) => Err(cancelled()),
            _ => Err(without_result()),
        }
    }
}

/// The failure that a call of its own would have been.
fn message_error(error: &Value) -> CallError {
    // The error stands in a reply of its own, as that of a call does, or alone.
    let inner = error.get("error").unwrap_or(error);
    let status = match inner.get("type").and_then(Value::as_str).unwrap_or_default() {
        "invalid_request_error" => StatusCode::BAD_REQUEST,
        "authentication_error" => StatusCode::UNAUTHORIZED,
        "billing_error" => StatusCode::PAYMENT_REQUIRED,
        "permission_error" => StatusCode::FORBIDDEN,
        "not_found_error" => StatusCode::NOT_FOUND,
        "request_too_large" => StatusCode::PAYLOAD_TOO_LARGE,
        "rate_limit_error" => StatusCode::TOO_MANY_REQUESTS,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    };
    refusal(status, &HeaderMap::new(), &json!({"error": inner}).to_string())
}

#[cfg(test)]
#[path = "batch_tests.rs"]
mod tests;
