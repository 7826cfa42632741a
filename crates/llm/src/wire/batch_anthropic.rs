//! Message batches of Anthropic.

use std::collections::HashMap;

use jiff::Timestamp;
use reqwest::StatusCode;
use reqwest::header::HeaderMap;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::batch::{BatchedReply, RemoteBatch, cancelled, expired, without_result};
use super::{Wire, read};
use crate::failure::refusal;
use crate::model::CallError;

/// A batch of requests, in one body.
pub(crate) fn creation(entries: &[Vec<u8>]) -> Vec<u8> {
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

/// What Anthropic says of a batch.
pub(super) fn read_batch(body: &str) -> Result<RemoteBatch, CallError> {
    Ok(read::<Batch>(body)?.into())
}

/// The result in one line, with the id of its request.
pub(super) fn read_result(line: &str) -> Option<(String, BatchedReply)> {
    let line: ResultLine<'_> = serde_json::from_str(line).ok()?;
    Some((line.custom_id, line.result.reply()))
}

#[derive(Deserialize)]
struct Batch {
    id: String,
    processing_status: String,
    created_at: Timestamp,
    request_counts: Counts,
}

#[derive(Deserialize)]
struct Counts {
    processing: u64,
    succeeded: u64,
    errored: u64,
    canceled: u64,
    expired: u64,
}

impl From<Batch> for RemoteBatch {
    fn from(batch: Batch) -> Self {
        let Counts { processing, succeeded, errored, canceled, expired } = batch.request_counts;
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

#[derive(Deserialize)]
struct ResultLine<'line> {
    custom_id: String,
    #[serde(borrow)]
    result: Outcome<'line>,
}

#[derive(Deserialize)]
struct Outcome<'line> {
    r#type: String,
    #[serde(borrow, default)]
    message: Option<&'line RawValue>,
    #[serde(default)]
    error: Option<Value>,
}

impl Outcome<'_> {
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
