//! Who judges what over HTTP: criteria, thresholds, methods, models, judges, documents, judgements; and prompts.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "../common/mod.rs"]
mod common;
mod criteria;
mod judgements;
mod judges;
mod prompts;

use common::{TestServer, answer, backend, with_json};
use serde_json::{Value, json};

/// A request with one more header.
async fn send(
    server: &TestServer,
    method: &str,
    path: &str,
    header: (&str, &str),
    body: &Value,
) -> (u16, Value) {
    let request = server.request(method, path).header(header.0, header.1);
    answer(with_json(request, body)).await
}

/// A request that creates something, sent twice with the same key: both answers are the same.
async fn created_once(server: &TestServer, path: &str, body: &Value) -> Value {
    let key = ("idempotency-key", path);
    let (status, first) = send(server, "POST", path, key, body).await;
    assert_eq!(status, 201, "{path}: {first}");
    let (status, second) = send(server, "POST", path, key, body).await;
    assert_eq!((status, &second), (201, &first), "{path}");
    first
}

/// The fields that a refusal names.
fn fields(problem: &Value) -> Vec<&str> {
    let errors = problem["errors"].as_array().map(Vec::as_slice).unwrap_or_default();
    errors.iter().filter_map(|error| error["field"].as_str()).collect()
}

fn plainness() -> Value {
    json!({
        "name": "plainness",
        "task_introduction": "You judge answers to questions.",
        "evaluation_criteria": "Is the answer clear?",
        "scale": { "min": 1, "max": 5 },
        "levels": [{ "score": 1, "description": "Muddled." }, { "score": 5, "description": "Clear." }],
    })
}
