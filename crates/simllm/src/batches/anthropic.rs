//! Message batches of Anthropic.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::{Batch, BatchReply, Kept, Outcome, invalid, missing};
use crate::gate::Gate;
use crate::wire::Wire;

/// Longest id that is taken.
const LONGEST_ID: usize = 64;

#[derive(Deserialize)]
struct Creation<'text> {
    #[serde(borrow)]
    requests: Vec<Entry<'text>>,
}

#[derive(Deserialize)]
struct Entry<'text> {
    custom_id: String,
    #[serde(borrow)]
    params: &'text RawValue,
}

pub(super) fn create(kept: &mut Kept, gate: &Gate, body: &[u8]) -> BatchReply {
    let creation: Creation<'_> = match serde_json::from_slice(body) {
        Ok(creation) => creation,
        Err(error) => return invalid(Wire::Anthropic, &error.to_string()),
    };
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
    let mut requests = Vec::with_capacity(creation.requests.len());
    for entry in creation.requests {
        let id = entry.custom_id;
        if id.is_empty() || id.len() > LONGEST_ID || !id.chars().all(is_plain) {
            return invalid(Wire::Anthropic, "custom_id must match ^[a-zA-Z0-9_-]{1,64}$");
        }
        requests.push((id, entry.params.get().as_bytes().to_vec()));
    }
    kept.take(gate, Wire::Anthropic, &requests, Value::Null)
}

pub(super) fn written(batch: &Batch) -> Value {
    let is_ended = batch.is_ended();
    let told = |count: usize| if is_ended { count } else { 0 };
    let answered = batch.count(|outcome| matches!(outcome, Outcome::Answered(_)));
    let expired = batch.count(|outcome| matches!(outcome, Outcome::Expired));
    let errored = batch.requests.saturating_sub(answered + expired);
    let counts = if batch.cancelled {
        json!({"processing": 0, "succeeded": 0, "errored": 0, "expired": 0, "canceled": batch.requests})
    } else {
        json!({"processing": if is_ended { 0 } else { batch.requests }, "canceled": 0,
               "succeeded": told(batch.requests - expired - errored), "errored": told(errored),
               "expired": told(expired)})
    };
    let created = jiff::Timestamp::try_from(batch.created).unwrap_or_default();
    json!({
        "id": batch.id, "type": "message_batch", "created_at": created.to_string(),
        "processing_status": if is_ended { "ended" } else { "in_progress" },
        "request_counts": counts,
        "results_url": is_ended.then(|| format!("/v1/messages/batches/{}/results", batch.id)),
    })
}

pub(super) fn results(kept: &Kept, id: &str) -> BatchReply {
    let Some(batch) = kept.find(Wire::Anthropic, id).filter(|batch| batch.is_ended()) else {
        return missing(Wire::Anthropic, id);
    };
    let mut lines = String::new();
    for (custom_id, outcome) in &batch.results {
        let result = match outcome {
            _ if batch.cancelled => json!({"type": "canceled"}),
            Outcome::Answered(message) => json!({"type": "succeeded", "message": message}),
            Outcome::Refused(_, body) => json!({"type": "errored", "error": body}),
            Outcome::Expired => json!({"type": "expired"}),
        };
        lines.push_str(&json!({"custom_id": custom_id, "result": result}).to_string());
        lines.push('\n');
    }
    lines.push_str(&"{\"custom_id\": \n".repeat(batch.garbled));
    BatchReply::Lines(lines)
}
