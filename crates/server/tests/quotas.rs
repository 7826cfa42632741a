//! How much an organization may have of that which grows.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use common::backend::{self, Place, on_every_backend};
use common::version::version;
use common::{TestServer, answer};
use fullbench_server::{Quotas, ServerConfig, ServingConfig};
use fullbench_types::DEFAULT_ORGANIZATION;
use serde_json::{Value, json};

on_every_backend!(
    files_are_stored_up_to_the_quota,
    files_at_the_same_time_share_the_quota,
    runs_wait_up_to_the_quota,
    results_and_documents_are_kept_up_to_the_quota,
    streams_are_read_up_to_three_quarters_of_the_connections,
);

fn config(stored_bytes: Option<u64>, open_runs: Option<u64>) -> ServerConfig {
    let quotas = Quotas { stored_bytes, open_runs, ..Quotas::default() };
    ServerConfig { quotas, ..ServerConfig::default() }
}

async fn upload(server: &TestServer, dataset: &str, rows: usize) -> (u16, Value) {
    let rows = "{\"input\": \"a\"}\n".repeat(rows);
    let form = format!(
        "--X\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.jsonl\"\r\n\r\n{rows}\r\n--X--\r\n"
    );
    let request = server
        .request("POST", &format!("/v1/datasets/{dataset}/versions"))
        .header("content-type", "multipart/form-data; boundary=X")
        .body(form);
    answer(request).await
}

async fn files_are_stored_up_to_the_quota(place: Place) {
    let server = TestServer::start_with(place, config(Some(300), None)).await;
    let new = json!({"name": "d", "type": "EVALUATION"});
    let dataset = server.post("/v1/datasets", new).await.1["dataset_id"].clone();
    let dataset = dataset.as_str().unwrap();
    assert_eq!(upload(&server, dataset, 10).await.0, 202);
    let (status, problem) = upload(&server, dataset, 11).await;
    assert_eq!((status, &problem["code"]), (403, &json!("quota_exceeded")), "{problem}");
    assert!(problem["detail"].as_str().unwrap().contains("150 are left"), "{problem}");
    assert_eq!(upload(&server, dataset, 10).await.0, 202);
    let (status, problem) = upload(&server, dataset, 1).await;
    assert_eq!((status, &problem["code"]), (403, &json!("quota_exceeded")), "{problem}");
    let (_, usage) = server.get("/v1/organization/usage").await;
    assert_eq!(usage["stored_bytes"], json!({"used": 300, "limit": 300}), "{usage}");
    assert_eq!(usage["open_runs"], json!({"used": 0, "limit": null}), "{usage}");
    let other = server.as_other_organization().await;
    let (_, usage) = other.get("/v1/organization/usage").await;
    assert_eq!(usage["stored_bytes"]["used"], 0, "each has its own: {usage}");
    let path = format!("/v1/datasets/{dataset}");
    let valid = |version: &Value| version["validation_status"] != "PENDING";
    server.wait(&format!("{path}/versions/1"), valid).await;
    server.wait(&format!("{path}/versions/2"), valid).await;
    assert_eq!(server.delete(&path).await.0, 204);
    let (_, usage) = server.get("/v1/organization/usage").await;
    assert_eq!(usage["stored_bytes"]["used"], 0, "{usage}");
}

async fn files_at_the_same_time_share_the_quota(place: Place) {
    let server = TestServer::start_with(place, config(Some(300), None)).await;
    let new = json!({"name": "d", "type": "EVALUATION"});
    let dataset = server.post("/v1/datasets", new).await.1["dataset_id"].clone();
    let dataset = dataset.as_str().unwrap();
    let uploads = (0..6).map(|_| upload(&server, dataset, 10));
    let mut statuses: Vec<u16> =
        futures::future::join_all(uploads).await.into_iter().map(|(status, _)| status).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [202, 202, 403, 403, 403, 403]);
    let (_, usage) = server.get("/v1/organization/usage").await;
    assert_eq!(usage["stored_bytes"], json!({"used": 300, "limit": 300}), "{usage}");
}

async fn runs_wait_up_to_the_quota(place: Place) {
    // Nobody answers there, so that the first run goes on and the second waits.
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let rules = fullbench_engine::SentRules { addresses: vec![url.parse().unwrap()] };
    let config = ServerConfig { rules, concurrent_runs: 1, ..config(None, Some(2)) };
    let server = TestServer::start_with(place, config).await;
    let store = server.store.scoped(DEFAULT_ORGANIZATION);
    let version = version(&store, [json!({"input": "a?", "reference": "a"})].into_iter()).await;
    let start = async |key: &str| {
        let batch = json!({"name": "b", "dataset_version_id": version, "prompt": "{{ input }}",
            "models": [{"provider": "openai", "model": "m", "base_url": url}],
            "metrics": ["exact_match"]});
        let request = server.request("POST", "/v1/evaluations/batch");
        let request = request.header("idempotency-key", key);
        answer(common::with_json(request, &batch)).await
    };
    assert_eq!(start("a").await.0, 202);
    let (status, waiting) = start("b").await;
    assert_eq!(status, 202, "{waiting}");
    let (status, problem) = start("c").await;
    assert_eq!((status, &problem["code"]), (403, &json!("quota_exceeded")), "{problem}");
    assert_eq!(start("a").await.0, 202, "the same again is none more");
    let single = json!({"input": "a", "output": "a", "metrics": ["exact_match"],
        "config": {"sync": false}});
    let (status, problem) = server.post("/v1/evaluations", single).await;
    assert_eq!((status, &problem["code"]), (403, &json!("quota_exceeded")), "{problem}");
    let (_, usage) = server.get("/v1/organization/usage").await;
    assert_eq!(usage["open_runs"], json!({"used": 2, "limit": 2}), "{usage}");
    let path = format!("/v1/evaluations/batch/{}/cancel", waiting["job_id"].as_str().unwrap());
    let (status, cancelled) = server.post(&path, json!({})).await;
    assert!(status == 200 || status == 202, "{status} {cancelled}");
    server.wait("/v1/organization/usage", |usage| usage["open_runs"]["used"] == 1).await;
    assert_eq!(start("c").await.0, 202);
}

async fn results_and_documents_are_kept_up_to_the_quota(place: Place) {
    let quotas = Quotas { records: Some(4), ..Quotas::default() };
    let config = ServerConfig { quotas, ..ServerConfig::default() };
    let server = TestServer::start_with(place, config).await;
    let store = server.store.scoped(DEFAULT_ORGANIZATION);
    let case = json!({"input": "a?", "reference": "a", "output": "a"});
    let version = version(&store, [case.clone(), case].into_iter()).await;
    let send = async |path: &str, key: &str, body: &Value| {
        let request = server.request("POST", path).header("idempotency-key", key);
        let (status, answer) = answer(common::with_json(request, body)).await;
        (status, answer["code"].as_str().unwrap_or_default().to_owned())
    };
    let (made, queued) = ((201, String::new()), (202, String::new()));
    let full = (403, "quota_exceeded".to_owned());
    let document = json!({"actual_output": "a"});
    assert_eq!(send("/v1/documents", "document", &document).await, made);
    let batch = json!({"name": "b", "dataset_version_id": version, "metrics": ["exact_match"],
        "models": [{"name": "m", "provider": "recorded", "field": "output"}]});
    assert_eq!(send("/v1/evaluations/batch", "batch", &batch).await, queued);
    assert_eq!(
        send("/v1/evaluations/batch", "larger", &batch).await,
        full,
        "there is room for one"
    );
    let single =
        json!({"input": "a", "output": "a", "expected_output": "a", "metrics": ["exact_match"]});
    assert_eq!(send("/v1/evaluations", "single", &single).await, made);
    let waiting =
        json!({"input": "a", "output": "a", "metrics": ["exact_match"], "config": {"sync": false}});
    let execution = json!({"task": {"input": "a new text"}, "model": "openai:gpt-4o-mini"});
    let contents = server.place.count("dataset_contents").await;
    for (path, body) in [
        ("/v1/evaluations", &single),
        ("/v1/evaluations", &waiting),
        ("/v1/documents", &document),
        ("/v1/executions", &execution),
    ] {
        assert_eq!(send(path, "another", body).await, full, "{path}");
    }
    assert_eq!(server.place.count("dataset_contents").await, contents, "no text of them is left");
    // As where the server was killed before it kept its answers.
    let forgotten = "UPDATE idempotency_keys SET status = NULL, body = NULL";
    server.place.execute(forgotten).await.unwrap();
    assert_eq!(send("/v1/documents", "document", &document).await, made, "it is there");
    assert_eq!(send("/v1/evaluations", "single", &single).await, made, "it is there");
    assert_eq!(send("/v1/evaluations/batch", "batch", &batch).await, queued, "it is there");
    let (_, usage) = server.get("/v1/organization/usage").await;
    assert_eq!(usage["records"], json!({"used": 4, "limit": 4}), "{usage}");
    let other = server.as_other_organization().await;
    assert_eq!(other.post("/v1/documents", document).await.0, 201, "each has its own");
}

async fn streams_are_read_up_to_three_quarters_of_the_connections(place: Place) {
    let serving = ServingConfig { max_connections: 8, ..ServingConfig::default() };
    let server =
        TestServer::start_with(place, ServerConfig { serving, ..config(None, None) }).await;
    let other = server.as_other_organization().await;
    let open = async || server.request("GET", "/v1/events").send().await.unwrap();
    let mut streams = Vec::new();
    for _ in 0..6 {
        streams.push(open().await);
    }
    assert!(streams.iter().all(|stream| stream.status() == 200));
    let refused = open().await;
    assert_eq!(refused.status(), 429);
    assert!(refused.headers().contains_key("retry-after"));
    assert_eq!(other.get("/v1/datasets").await.0, 200, "there is room for others");
    drop((streams.pop(), refused));
    while open().await.status() != 200 {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}
