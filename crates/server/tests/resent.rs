//! Requests that are sent again with their key, since nobody heard what became of them, find what they began.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::time::Duration;

use common::backend::{self, Place, on_every_backend};
use common::version::version;
use common::{TestServer, answer, with_json};
use fullbench_simllm::{Simulator, SimulatorConfig};
use fullbench_types::DEFAULT_ORGANIZATION;
use serde_json::{Value, json};

on_every_backend!(
    a_run_that_is_worked_on_is_found_and_not_begun_again,
    a_secret_that_nobody_was_told_is_replaced,
);

async fn send(server: &TestServer, path: &str, body: &Value) -> (u16, Value) {
    let request = server.request("POST", path).header("idempotency-key", format!("once {path}"));
    answer(with_json(request, body)).await
}

/// As where the server ended before it kept what it answered.
async fn forget_answers(server: &TestServer) {
    let forget = "UPDATE idempotency_keys SET status = NULL, body = NULL";
    server.place.execute(forget).await.unwrap();
}

async fn a_run_that_is_worked_on_is_found_and_not_begun_again(place: Place) {
    let slow = SimulatorConfig { latency_ms: 3_000.0, ..SimulatorConfig::default() };
    let simulator = Simulator::start(slow).unwrap();
    let server = TestServer::start_with_models(place, &simulator.url()).await;
    let store = server.store.scoped(DEFAULT_ORGANIZATION);
    let version = version(&store, [json!({"input": "a?", "reference": "a"})].into_iter()).await;
    let model = json!({"name": "m", "provider": "openai", "model": "sim-1",
        "base_url": format!("{}/v1", simulator.url())});
    let evaluation = json!({"name": "e", "prompt": "{{ input }}", "models": [model],
        "scorers": ["exact_match"]});
    let asked = [
        (
            "/v1/evaluations/batch",
            json!({"dataset_version_id": version, "metrics": ["exact_match"], "models": [model]}),
            "job_id",
        ),
        ("/v1/runs", json!({"evaluation": evaluation, "dataset_version_id": version}), "run_id"),
        (
            "/v1/executions",
            json!({"task": {"input": "a new text"}, "model": model}),
            "execution_id",
        ),
    ];
    for (calls, (path, body, id)) in (1..).zip(asked) {
        let (status, first) = send(&server, path, &body).await;
        assert_eq!(status, 202, "{path}: {first}");
        while simulator.stats().calls < calls {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        for _ in 0..2 {
            forget_answers(&server).await;
            let (status, again) = send(&server, path, &body).await;
            assert_eq!((status, &again[id]), (202, &first[id]), "{path}: {again}");
        }
    }
    assert_eq!(server.place.count("runs").await, 3);
    assert_eq!(simulator.stats().calls, 3, "each model was asked once");
}

async fn a_secret_that_nobody_was_told_is_replaced(place: Place) {
    let server = TestServer::start(place).await;
    let wanted = json!({"name": "k", "role": "viewer"});
    let anybody = reqwest::Client::builder().no_proxy().build().unwrap();
    let is_open = async |key: &Value| {
        let request = anybody.get(format!("{}/v1/evaluations", server.url));
        answer(request.bearer_auth(key.as_str().unwrap())).await.0
    };
    let (_, lost) = send(&server, "/v1/api-keys", &wanted).await;
    forget_answers(&server).await;
    let (status, made) = send(&server, "/v1/api-keys", &wanted).await;
    assert_eq!((status, &made["api_key_id"]), (201, &lost["api_key_id"]), "{made}");
    assert_eq!(is_open(&lost["key"]).await, 401);
    assert_eq!(is_open(&made["key"]).await, 200);

    let renew = format!("/v1/api-keys/{}/renew", made["api_key_id"].as_str().unwrap());
    let (_, lost) = send(&server, &renew, &json!({})).await;
    forget_answers(&server).await;
    let (status, renewed) = send(&server, &renew, &json!({})).await;
    assert_eq!((status, &renewed["api_key_id"]), (201, &lost["api_key_id"]), "{renewed}");
    assert_eq!(is_open(&lost["key"]).await, 401);
    assert_eq!(is_open(&renewed["key"]).await, 200);

    let invited = json!({"email": "a@example.com", "role": "viewer"});
    let (status, lost) = send(&server, "/v1/invitations", &invited).await;
    assert_eq!(status, 201, "{lost}");
    forget_answers(&server).await;
    let (status, again) = send(&server, "/v1/invitations", &invited).await;
    let id = "invitation_id";
    assert_eq!((status, &again[id]), (201, &lost[id]), "{again}");
    let accept = async |token: &Value| {
        let body = json!({"token": token, "name": "Ann", "password": "correct horse battery"});
        let request = anybody.post(format!("{}/v1/invitations/accept", server.url));
        answer(with_json(request, &body)).await.0
    };
    assert_eq!(accept(&lost["token"]).await, 404);
    assert_eq!(accept(&again["token"]).await, 201);
}
