//! Forms with files, and data sets to upload them to.

use reqwest::RequestBuilder;
use serde_json::{Value, json};

use crate::common::{TestServer, answer};

const BOUNDARY: &str = "the-boundary-of-a-test";

/// A form of fields and a file.
pub(crate) fn form(fields: &[(&str, &str)], file: Option<(&str, &[u8])>) -> Vec<u8> {
    let mut body = Vec::new();
    for (name, text) in fields {
        let part = format!(
            "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{text}\r\n"
        );
        body.extend_from_slice(part.as_bytes());
    }
    if let Some((name, content)) = file {
        let head = format!(
            "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\
             Content-Type: application/octet-stream\r\n\r\n"
        );
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(content);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(format!("--{BOUNDARY}--\r\n").as_bytes());
    body
}

/// A request that uploads a form.
pub(crate) fn upload(client: &TestServer, dataset: &str, form: Vec<u8>) -> RequestBuilder {
    client
        .request("POST", &format!("/v1/datasets/{dataset}/versions"))
        .header("content-type", format!("multipart/form-data; boundary={BOUNDARY}"))
        .body(form)
}

/// A data set of this name, by its id.
pub(crate) async fn dataset(client: &TestServer, name: &str) -> String {
    let (status, made) =
        client.post("/v1/datasets", json!({"name": name, "type": "EVALUATION"})).await;
    assert_eq!(status, 201, "{made}");
    made["dataset_id"].as_str().unwrap().to_owned()
}

/// Uploads a file and waits until its rows were looked at: the path of the version, and what is known of it.
pub(crate) async fn uploaded(
    client: &TestServer,
    dataset: &str,
    name: &str,
    content: &[u8],
    fields: &[(&str, &str)],
) -> (String, Value) {
    let sent = answer(upload(client, dataset, form(fields, Some((name, content))))).await;
    let (status, accepted) = sent;
    assert_eq!(status, 202, "{accepted}");
    assert_eq!(accepted["status"], "validating");
    let path = format!("/v1/datasets/{dataset}/versions/{}", accepted["version_number"]);
    let version = client.wait(&path, |version| version["validation_status"] != "PENDING").await;
    (path, version)
}

/// JSON Lines.
pub(crate) fn lines(rows: &[Value]) -> Vec<u8> {
    rows.iter().flat_map(|row| format!("{row}\n").into_bytes()).collect()
}

/// A valid version of so many cases with metadata to filter by: the path of the version.
pub(crate) async fn numbered(client: &TestServer, dataset: &str, count: usize) -> String {
    let rows: Vec<Value> = (0..count)
        .map(|number| {
            let category = ["math", "law", "art"][number % 3];
            json!({"id": format!("case-{number}"), "input": format!("question {number}"),
                "expected_output": number.to_string(), "category": category, "level": number % 7})
        })
        .collect();
    let (path, version) = uploaded(client, dataset, "cases.jsonl", &lines(&rows), &[]).await;
    assert_eq!(version["validation_status"], "VALID", "{version}");
    path
}
