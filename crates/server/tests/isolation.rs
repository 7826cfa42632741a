//! Walks every endpoint of the OpenAPI document with ids of another organization: nothing is read, changed or revealed.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::collections::BTreeMap;

use common::TestServer;
use common::backend::{self, Place, on_every_backend};
use serde_json::{Value, json};
use uuid::Uuid;

on_every_backend!(nobody_reaches_another_organization);

/// A word that is in everything the first organization has.
const SECRET: &str = "zanzibar";

/// Something of everything, made by the owner: what path parameters are called, and what they are.
async fn made(server: &TestServer) -> BTreeMap<&'static str, String> {
    let text = |value: &Value, name: &str| value[name].as_str().unwrap_or_default().to_owned();
    let mut ids = BTreeMap::new();
    let (status, key) = server.post("/v1/api-keys", json!({"name": SECRET})).await;
    assert_eq!(status, 201, "{key}");
    ids.insert("api_key_id", text(&key, "api_key_id"));
    let new = json!({"name": SECRET, "type": "EVALUATION", "description": SECRET});
    let (status, dataset) = server.post("/v1/datasets", new).await;
    assert_eq!(status, 201, "{dataset}");
    let dataset = text(&dataset, "dataset_id");
    let rows =
        format!("{{\"input\": \"{SECRET}?\", \"reference\": \"a\", \"output\": \"{SECRET}\"}}\n");
    let boundary = "X-BOUNDARY";
    let form = format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.jsonl\"\r\n\r\n{rows}\r\n--{boundary}--\r\n"
    );
    let upload = server
        .request("POST", &format!("/v1/datasets/{dataset}/versions"))
        .header("content-type", format!("multipart/form-data; boundary={boundary}"))
        .body(form);
    let (status, version) = common::answer(upload).await;
    assert_eq!(status, 202, "{version}");
    let path = format!("/v1/datasets/{dataset}/versions/1");
    server.wait(&path, |version| version["validation_status"] == "VALID").await;
    let (_, cases) = server.get(&format!("{path}/cases")).await;
    let case = cases["cases"][0].as_object().unwrap();
    let case = case.iter().find(|(name, _)| name.ends_with("case_id")).unwrap().1;
    ids.insert("case_id", case.as_str().unwrap().to_owned());
    ids.insert("dataset_id", dataset);
    ids.insert("version_number", "1".to_owned());
    let body = json!({"input": SECRET, "output": SECRET, "metrics": ["exact_match"]});
    let (_, single) = server.post("/v1/evaluations", body).await;
    ids.insert("evaluation_id", text(&single, "evaluation_id"));
    let body = json!({"name": SECRET, "dataset_version_id": version["version_id"],
        "metrics": ["exact_match"]});
    let (status, batch) = server.post("/v1/evaluations/batch", body).await;
    assert_eq!(status, 202, "{batch}");
    let batch = text(&batch, "job_id");
    let path = format!("/v1/evaluations/batch/{batch}");
    server.wait(&path, |batch| batch["status"] == "completed").await;
    ids.insert("run_id", batch.clone());
    let named = json!({"run_id": batch});
    assert_eq!(server.put("/v1/baselines/the-one", named).await.0, 200);
    ids.insert("baseline_name", "the-one".to_owned());
    ids.insert("job_id", batch);
    let criterion = json!({"name": "own", "task_introduction": SECRET, "evaluation_criteria": "e",
        "scale": {"min": 1, "max": 5}});
    let (status, problem) = server.post("/v1/criteria", criterion).await;
    assert_eq!(status, 201, "{problem}");
    ids.insert("criterion_name", "own".to_owned());
    let document = json!({"actual_output": SECRET});
    let (status, document) = server.post("/v1/documents", document).await;
    assert_eq!(status, 201, "{document}");
    ids.insert("document_id", text(&document, "document_id"));
    let (status, prompt) = server.post("/v1/prompts", json!({"name": SECRET})).await;
    assert_eq!(status, 201, "{prompt}");
    ids.insert("prompt_id", text(&prompt, "prompt_id"));
    ids
}

async fn nobody_reaches_another_organization(place: Place) {
    let server = TestServer::start(place).await;
    let ids = made(&server).await;
    let other = server.as_other_organization().await;
    let before = everything(&server).await;
    let (_, api) = server.get("/openapi.json").await;
    let mut walked = 0;
    for (path, methods) in api["paths"].as_object().unwrap() {
        let mut filled = path.clone();
        let mut is_named = false;
        while let Some((start, rest)) = filled.clone().split_once('{') {
            let (name, rest) = rest.split_once('}').unwrap();
            // Things that this test has none of: any id will do.
            let id = ids.get(name).cloned().unwrap_or_else(|| Uuid::now_v7().to_string());
            filled = format!("{start}{id}{rest}");
            is_named = true;
        }
        for (method, operation) in methods.as_object().unwrap() {
            if operation["security"] == json!([]) {
                continue;
            }
            walked += 1;
            let body = (method != "get" && method != "delete").then(|| json!({}));
            let filled = if filled == "/v1/events" { continue } else { &filled };
            let (status, answer) = other.send(&method.to_uppercase(), filled, body).await;
            let text = answer.to_string();
            assert!(!text.contains(SECRET), "{method} {filled} reveals: {text}");
            // A body that is not right may be refused before anything is looked for.
            let expected: &[u16] =
                if is_named { &[404, 415, 422] } else { &[200, 201, 202, 415, 422] };
            assert!(expected.contains(&status), "{method} {filled}: {status} {text}");
            let anonymous = reqwest::Client::builder().no_proxy().build().unwrap();
            let method = reqwest::Method::from_bytes(method.to_uppercase().as_bytes()).unwrap();
            let refused = anonymous.request(method, format!("{}{filled}", server.url));
            assert_eq!(refused.send().await.unwrap().status(), 401, "{filled}");
        }
    }
    assert!(walked > 60, "only {walked} endpoints were walked");
    assert_eq!(everything(&server).await, before, "nothing was changed");
}

/// What the owner sees.
async fn everything(server: &TestServer) -> Vec<Value> {
    let mut seen = Vec::new();
    for path in [
        "/v1/organization",
        "/v1/datasets",
        "/v1/evaluations",
        "/v1/baselines",
        "/v1/criteria?source=user",
        "/v1/documents",
        "/v1/prompts",
        "/v1/executions",
        "/v1/judges",
        "/v1/models",
    ] {
        let (status, body) = server.get(path).await;
        assert_eq!(status, 200, "{path}: {body}");
        seen.push(body);
    }
    seen
}
