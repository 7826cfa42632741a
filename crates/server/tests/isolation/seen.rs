//! What is answered, and all that an owner sees.

use std::time::Duration;

use serde_json::Value;

use crate::common::caller::Caller;
use crate::made::Ids;
use crate::operations::{Rule, operations};
use crate::world::Organization;

/// What differs by itself: what is looked at, told and noted goes on.
const MOVING: [&str; 6] = [
    "list_audit_entries",
    "export_audit_log",
    "verify_audit_log",
    "export_organization",
    "list_webhook_deliveries",
    "get_webhook_delivery",
];

/// Status and text of an answer; of one that has no end, what comes within a moment.
pub(crate) async fn answered(request: reqwest::RequestBuilder) -> (u16, String) {
    let mut response = request.send().await.unwrap();
    let status = response.status().as_u16();
    let kind = response.headers().get("content-type").map(|kind| kind.as_bytes().to_vec());
    if !kind.is_some_and(|kind| kind.starts_with(b"text/event-stream")) {
        let bytes = response.bytes().await.unwrap();
        return (status, String::from_utf8_lossy(&bytes).into_owned());
    }
    let mut text = String::new();
    let moment = Duration::from_millis(300);
    while let Ok(Ok(Some(piece))) = tokio::time::timeout(moment, response.chunk()).await {
        text.push_str(std::str::from_utf8(&piece).unwrap());
    }
    (status, text)
}

/// A problem without what was sent and what differs with every request.
pub(crate) fn bare(problem: &str, sent: &Ids) -> String {
    let mut problem: Value = serde_json::from_str(problem).unwrap();
    problem.as_object_mut().unwrap().remove("request_id");
    let mut text = problem.to_string();
    for (name, id) in sent {
        if *name != "version_number" {
            text = text.replace(id.as_str(), "…");
        }
    }
    text
}

/// What an owner sees of everything, by every endpoint that only reads.
pub(crate) async fn everything(organization: &Organization) -> Vec<(String, String)> {
    let owner: &Caller = &organization.owner(false).caller;
    let mut seen = Vec::new();
    for operation in operations() {
        let is_read = operation.method == "GET" && matches!(operation.rule, Rule::Needs(_));
        if !is_read || operation.is_stream || MOVING.contains(&operation.id.as_str()) {
            continue;
        }
        let path = operation.path(&organization.ids);
        let (status, text) = answered(owner.request("GET", &path)).await;
        assert_eq!(status, 200, "{operation}: {text}");
        let text = match serde_json::from_str(&text) {
            Ok(value) => still(value).to_string(),
            Err(_) => text,
        };
        seen.push((operation.to_string(), text));
    }
    assert!(seen.len() > 50, "only {} endpoints were asked", seen.len());
    seen
}

/// Without when something was last used or looked at.
fn still(mut value: Value) -> Value {
    match &mut value {
        Value::Object(fields) => {
            fields.retain(|name, _| !(name.starts_with("last_") && name.ends_with("_at")));
            fields.values_mut().for_each(|value| *value = still(value.take()));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| *item = still(item.take())),
        _ => {}
    }
    value
}

/// Fails where an organization is not as it was.
pub(crate) async fn assert_same(organization: &Organization, before: &[(String, String)]) {
    let now = everything(organization).await;
    for (before, now) in before.iter().zip(&now) {
        assert_eq!(before, now, "something of `{}` was changed", organization.mark);
    }
}
