//! Executions and events over HTTP.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::time::Duration;

use common::backend::{self, Place, on_every_backend};
use common::{TestServer, answer};
use fullbench_engine::SentRules;
use fullbench_server::ServerConfig;
use fullbench_simllm::{Simulator, SimulatorConfig};
use serde_json::{Value, json};

on_every_backend!(
    a_task_is_done_shown_and_scored,
    a_provider_that_fails_is_told,
    the_urgent_is_done_first_and_what_waits_can_be_cancelled,
    events_are_told_in_order_and_again_after_the_last_one_seen,
);

fn simulator(latency_ms: f64) -> Simulator {
    Simulator::start(SimulatorConfig { latency_ms, ..SimulatorConfig::default() }).unwrap()
}

fn task(simulator: &Simulator, input: &str) -> Value {
    let model = json!({"provider": "openai", "model": "sim-1",
        "base_url": format!("{}/v1", simulator.url())});
    json!({"task": {"input": input, "system_prompt": "Be {{ brief }}.", "expected_output": "x"},
        "model": model, "config": {"temperature": 0.0, "max_tokens": 50}})
}

fn path_of(execution: &Value) -> String {
    format!("/v1/executions/{}", execution["execution_id"].as_str().unwrap())
}

async fn a_task_is_done_shown_and_scored(place: Place) {
    let simulator = simulator(0.0);
    let server = TestServer::start_with_models(place, &simulator.url()).await;
    let (status, made) = server.post("/v1/executions", task(&simulator, "Hello?")).await;
    assert_eq!((status, &made["status"]), (202, &json!("pending")), "{made}");
    let path = path_of(&made);
    let done = server.wait(&path, |one| one["status"] == "completed").await;
    assert!(!done["response"]["content"].as_str().unwrap().is_empty(), "{done}");
    assert!(done["response"]["token_usage"]["total_tokens"].as_u64() > Some(0));
    assert_eq!((&done["provider"], &done["model"]), (&json!("openai"), &json!("sim-1")));
    assert!(done["metrics"]["request_latency_ms"].is_number());
    let (status, scored) = server
        .post(
            &format!("{path}/score"),
            json!({"metrics": ["exact_match", {"type": "length", "max": 1000}]}),
        )
        .await;
    assert_eq!(status, 200, "{scored}");
    assert!(scored["criterion_scores"]["exact_match"]["value"].is_number(), "{scored}");
    assert!(scored["overall_score"].is_number());
    let (status, more) =
        server.post(&format!("{path}/score"), json!({"metrics": ["token_f1"]})).await;
    assert_eq!(status, 200, "{more}");
    assert_eq!(more["criterion_scores"].as_object().unwrap().len(), 3, "scores add up");
    assert_eq!(simulator.stats().calls, 1, "the model was asked once");
    let (_, listed) = server.get("/v1/executions?status=completed").await;
    assert_eq!(listed["total"], 1);
    assert_eq!(server.delete(&path).await.0, 409, "it is done");
    let other = server.as_other_organization().await;
    assert_eq!(other.get(&path).await.0, 404);
    assert_eq!(other.delete(&path).await.0, 404);
    let scored = other.post(&format!("{path}/score"), json!({"metrics": ["bleu"]})).await;
    assert_eq!(scored.0, 404);
}

async fn a_provider_that_fails_is_told(place: Place) {
    let config = SimulatorConfig { error: 1.0, ..SimulatorConfig::default() };
    let simulator = Simulator::start(config).unwrap();
    let server = TestServer::start_with_models(place, &simulator.url()).await;
    let mut body = task(&simulator, "Hello?");
    body["retry_policy"] = json!({"max_attempts": 1});
    body["timeout_ms"] = json!(5000);
    let (_, made) = server.post("/v1/executions", body).await;
    let failed = server.wait(&path_of(&made), |one| one["status"] == "failed").await;
    assert_eq!(failed["error"]["code"], "provider_error", "{failed}");
    let unreachable = json!({"task": {"input": "x"}, "model":
        {"provider": "openai", "model": "m", "base_url": "http://169.254.169.254/v1"}});
    let (status, problem) = server.post("/v1/executions", unreachable).await;
    assert_eq!(
        (status, &problem["errors"][0]["field"]),
        (422, &json!("model.base_url")),
        "{problem}"
    );
    let (status, problem) = server.post("/v1/executions", json!({"model": "openai:m"})).await;
    assert_eq!((status, &problem["errors"][0]["field"]), (422, &json!("task")), "{problem}");
}

async fn the_urgent_is_done_first_and_what_waits_can_be_cancelled(place: Place) {
    let simulator = simulator(400.0);
    let rules = SentRules { addresses: vec![simulator.url().parse().unwrap()] };
    let config = ServerConfig { rules, concurrent_runs: 1, ..ServerConfig::default() };
    let server = TestServer::start_with(place, config).await;
    let mut made = Vec::new();
    for (input, priority) in [
        ("first", "normal"),
        ("b", "low"),
        ("c", "normal"),
        ("d", "critical"),
        ("e", "high"),
        ("f", "low"),
    ] {
        let mut body = task(&simulator, input);
        body["priority"] = json!(priority);
        let (status, one) = server.post("/v1/executions", body).await;
        assert_eq!(status, 202, "{one}");
        if made.is_empty() {
            server.wait(&path_of(&one), |one| one["status"] == "running").await;
        }
        made.push(path_of(&one));
    }
    assert_eq!(server.delete(&made[5]).await.0, 204);
    assert_eq!(server.get(&made[5]).await.1["status"], "cancelled");
    let mut started = Vec::new();
    for path in &made[..5] {
        let done = server.wait(path, |one| one["status"] == "completed").await;
        started.push(done["start_time"].as_str().unwrap().to_owned());
    }
    let mut order: Vec<usize> = (0..5).collect();
    order.sort_by_key(|index| &started[*index]);
    assert_eq!(order, [0, 3, 4, 2, 1], "critical, high, normal, low");
    assert_eq!(simulator.stats().calls, 5, "the cancelled one was never asked for");
}

/// Opens a stream of events, and reads it until one of this kind.
async fn events_until(request: reqwest::RequestBuilder, kind: &str) -> Vec<(u64, String, Value)> {
    read_until(request.send().await.unwrap(), kind).await
}

/// Events of a stream until one of this kind: their ids and kinds.
async fn read_until(mut response: reqwest::Response, kind: &str) -> Vec<(u64, String, Value)> {
    assert_eq!(response.status().as_u16(), 200);
    let (mut text, mut events) = (String::new(), Vec::new());
    loop {
        let chunk = tokio::time::timeout(Duration::from_secs(20), response.chunk());
        let chunk = chunk.await.unwrap().unwrap().expect("the stream ended early");
        text.push_str(std::str::from_utf8(&chunk).unwrap());
        while let Some((event, rest)) = text.clone().split_once("\n\n") {
            text = rest.to_owned();
            let line = |name: &str| {
                event.lines().find_map(|line| line.strip_prefix(name)).map(str::to_owned)
            };
            let (Some(id), Some(data)) = (line("id: "), line("data: ")) else { continue };
            let found = line("event: ").unwrap();
            events.push((id.parse().unwrap(), found.clone(), serde_json::from_str(&data).unwrap()));
            if found == kind {
                return events;
            }
        }
    }
}

async fn events_are_told_in_order_and_again_after_the_last_one_seen(place: Place) {
    let simulator = simulator(50.0);
    let mut server = TestServer::start_with_models(place, &simulator.url()).await;
    // It tells what comes after it was opened.
    let all = server.request("GET", "/v1/events").send().await.unwrap();
    let watching = tokio::spawn(read_until(all, "run.completed"));
    let (_, made) = server.post("/v1/executions", task(&simulator, "Hello?")).await;
    let id = made["execution_id"].as_str().unwrap();
    let path = format!("/v1/runs/{id}/events");
    let of_run = events_until(server.request("GET", &path), "run.completed").await;
    let kinds: Vec<&str> = of_run.iter().map(|event| event.1.as_str()).collect();
    assert_eq!(kinds, ["run.started", "run.results", "run.completed"]);
    let results = &of_run[1].2["data"]["results"];
    assert_eq!(results[0]["model"], "openai:sim-1", "{results}");
    assert_eq!(of_run[2].2["run_id"], id);
    let of_all = watching.await.unwrap();
    assert_eq!(of_all, of_run, "the organization's stream has the same events with the same ids");
    let after =
        |number: u64| server.request("GET", &path).header("last-event-id", number.to_string());
    assert_eq!(events_until(after(of_run[0].0), "run.completed").await, of_run[1..]);
    server.restart().await;
    let after =
        server.request("GET", "/v1/events").header("last-event-id", of_run[1].0.to_string());
    assert_eq!(events_until(after, "run.completed").await, of_run[2..], "also after a restart");
    let wrong = server.request("GET", "/v1/events").header("last-event-id", "x");
    assert_eq!(answer(wrong).await.0, 422);
    let other = server.as_other_organization().await;
    assert_eq!(other.get(&path).await.0, 404);
}
