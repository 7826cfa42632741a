//! Files and batches of OpenAI.

use std::time::UNIX_EPOCH;

use hyper::StatusCode;
use hyper::header::CONTENT_TYPE;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::{Batch, BatchReply, Kept, Outcome, invalid, missing, multipart};
use crate::gate::{Caller, Gate};
use crate::wire::Wire;

const ENDPOINT: &str = "/v1/chat/completions";

#[derive(Deserialize)]
struct Line<'text> {
    custom_id: String,
    method: String,
    url: String,
    #[serde(borrow)]
    body: &'text RawValue,
}

#[derive(Deserialize)]
struct Model {
    model: String,
}

#[derive(Deserialize)]
struct Creation {
    input_file_id: String,
    endpoint: String,
    completion_window: String,
    #[serde(default)]
    metadata: Value,
}

pub(super) fn upload(kept: &mut Kept, caller: &Caller<'_>, body: &[u8]) -> BatchReply {
    let content_type = caller.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let content_type = content_type.unwrap_or_default();
    if multipart::field(content_type, body, "purpose") != Some(b"batch") {
        return invalid(Wire::OpenAi, "the purpose must be `batch`");
    }
    let Some(file) = multipart::field(content_type, body, "file") else {
        return invalid(Wire::OpenAi, "the form has no file");
    };
    let id = format!("file-{:05}", kept.files.len() + 1);
    kept.files.insert(id.clone(), file.to_vec());
    let reply = json!({"id": id, "object": "file", "bytes": file.len(), "purpose": "batch"});
    BatchReply::Json(StatusCode::OK, reply)
}

pub(super) fn create(kept: &mut Kept, gate: &Gate, body: &[u8]) -> BatchReply {
    let creation: Creation = match serde_json::from_slice(body) {
        Ok(creation) => creation,
        Err(error) => return invalid(Wire::OpenAi, &error.to_string()),
    };
    if creation.endpoint != ENDPOINT || creation.completion_window != "24h" {
        return invalid(Wire::OpenAi, "unknown endpoint or completion window");
    }
    let Some(file) = kept.files.get(&creation.input_file_id).cloned() else {
        return invalid(Wire::OpenAi, "there is no such file");
    };
    let mut requests = Vec::new();
    let mut models = Vec::new();
    for line in file.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let line: Line<'_> = match serde_json::from_slice(line) {
            Ok(line) => line,
            Err(error) => return invalid(Wire::OpenAi, &error.to_string()),
        };
        if line.method != "POST" || line.url != ENDPOINT {
            return invalid(Wire::OpenAi, "a line has another method or url");
        }
        if let Ok(model) = serde_json::from_str::<Model>(line.body.get()) {
            models.push(model.model);
        }
        requests.push((line.custom_id, line.body.get().as_bytes().to_vec()));
    }
    models.dedup();
    if models.len() > 1 {
        return invalid(Wire::OpenAi, "a batch has requests to one model only");
    }
    kept.take(gate, Wire::OpenAi, &requests, creation.metadata)
}

pub(super) fn written(batch: &Batch) -> Value {
    let status = match (&batch.refused, batch.cancelled, batch.is_ended()) {
        (Some(_), ..) => "failed",
        (None, true, _) => "cancelled",
        (None, false, true) => "completed",
        (None, false, false) => "in_progress",
    };
    let answered = batch.count(|outcome| matches!(outcome, Outcome::Answered(_)));
    let is_told = batch.is_ended() && batch.refused.is_none() && !batch.cancelled;
    let has_errors = batch.results.len() > answered;
    let errors = batch.refused.as_ref().map(|(code, message)| {
        json!({"object": "list", "data": [{"code": code, "message": message, "line": null, "param": null}]})
    });
    let created = batch.created.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    json!({
        "id": batch.id, "object": "batch", "endpoint": ENDPOINT, "status": status,
        "errors": errors, "completion_window": "24h", "created_at": created,
        "output_file_id": is_told.then(|| format!("{}-output", batch.id)),
        "error_file_id": (is_told && has_errors).then(|| format!("{}-errors", batch.id)),
        "request_counts": {
            "total": batch.requests,
            "completed": if is_told { answered } else { 0 },
            "failed": if is_told { batch.results.len() - answered } else { 0 },
        },
        "metadata": batch.metadata,
    })
}

/// The results of a batch that went well, or those that did not.
pub(super) fn file(kept: &Kept, id: &str) -> BatchReply {
    let Some((batch, kind)) = id.rsplit_once('-') else { return missing(Wire::OpenAi, id) };
    let Some(batch) = kept.find(Wire::OpenAi, batch).filter(|batch| batch.is_ended()) else {
        return missing(Wire::OpenAi, id);
    };
    let wants_answers = kind == "output";
    let mut lines = String::new();
    for (custom_id, outcome) in &batch.results {
        let (response, error) = match outcome {
            Outcome::Answered(body) => {
                (json!({"status_code": 200, "request_id": "sim", "body": body}), Value::Null)
            }
            Outcome::Refused(status, body) => {
                (json!({"status_code": status, "request_id": "sim", "body": body}), Value::Null)
            }
            Outcome::Expired => (
                Value::Null,
                json!({"code": "batch_expired", "message": "This request could not be executed before the completion window expired."}),
            ),
        };
        if matches!(outcome, Outcome::Answered(_)) == wants_answers {
            let line = json!({"id": "batch_req_sim", "custom_id": custom_id,
                              "response": response, "error": error});
            lines.push_str(&line.to_string());
            lines.push('\n');
        }
    }
    if wants_answers {
        lines.push_str(&"{\"id\": \"batch_req_sim\", \"custom_id\": \n".repeat(batch.garbled));
    }
    BatchReply::Lines(lines)
}
