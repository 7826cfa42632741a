//! Keys of providers that an organization brings: used for its own calls alone, and never seen again.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use common::TestServer;
use common::backend::{self, Place, on_every_backend};
use fullbench_simllm::{Simulator, SimulatorConfig};
use serde_json::{Value, json};

on_every_backend!(calls_of_the_organization_use_its_key, what_is_no_key_is_refused);

const KEY: &str = "sk-own-0123456789-abcd";
const OF_OPENAI: &str = "/v1/provider-keys/openai";

fn model(simulator: &Simulator) -> Value {
    json!({"provider": "openai", "model": "sim-80", "base_url": format!("{}/v1", simulator.url())})
}

/// The status that the execution of a task comes to.
async fn executed(server: &TestServer, simulator: &Simulator, input: &str) -> Value {
    let task = json!({"task": {"input": input}, "model": model(simulator)});
    let (status, execution) = server.post("/v1/executions", task).await;
    assert_eq!(status, 202, "{execution}");
    let path = format!("/v1/executions/{}", execution["execution_id"].as_str().unwrap());
    let is_over =
        |one: &Value| !["queued", "running", "pending"].contains(&one["status"].as_str().unwrap());
    server.wait(&path, is_over).await
}

/// The evaluation of an answer by a judge.
async fn judged(server: &TestServer, simulator: &Simulator, input: &str) -> Value {
    let body = json!({"input": input, "output": "It is 4.", "metrics": ["coherence"],
        "config": {"evaluator_model": model(simulator)}});
    let (status, evaluation) = server.post("/v1/evaluations", body).await;
    assert_eq!(status, 201, "{evaluation}");
    evaluation
}

async fn calls_of_the_organization_use_its_key(place: Place) {
    let config =
        SimulatorConfig { require_key: Some(KEY.to_owned()), ..SimulatorConfig::default() };
    let simulator = Simulator::start(config).unwrap();
    let server = TestServer::start_with_models(place, &simulator.url()).await;
    assert_ne!(executed(&server, &simulator, "1?").await["status"], "completed");
    assert_ne!(judged(&server, &simulator, "1?").await["status"], "completed");

    let base_url = format!("{}/v1/", simulator.url());
    let (status, kept) = server.put(OF_OPENAI, json!({"key": KEY, "base_url": base_url})).await;
    assert_eq!(status, 200, "{kept}");
    assert_eq!((&kept["last_four"], &kept["last_used_at"]), (&json!("abcd"), &Value::Null));
    let done = executed(&server, &simulator, "2?").await;
    assert_eq!(done["status"], "completed", "{done}");
    let evaluation = judged(&server, &simulator, "2?").await;
    assert_eq!(evaluation["status"], "completed", "{evaluation}");
    let (_, shown) = server.get("/v1/provider-keys").await;
    assert!(shown["provider_keys"][0]["last_used_at"].is_string(), "{shown}");

    // Another organization has none, and is not lent this one.
    let other = server.as_other_organization().await;
    assert_eq!(other.get("/v1/provider-keys").await.1, json!({"provider_keys": []}));
    let body = json!({"input": "3?", "output": "4", "metrics": ["coherence"],
        "config": {"evaluator_model": model(&simulator)}});
    let (_, evaluation) = other.post("/v1/evaluations", body).await;
    assert_ne!(evaluation["status"], "completed", "{evaluation}");

    for seen in [&kept, &done, &shown, &server.get("/v1/models").await.1] {
        assert!(!seen.to_string().contains("0123456789"), "{seen}");
    }
    let encoded: String = form_urlencoded::byte_serialize(base_url.as_bytes()).collect();
    let path = format!("{OF_OPENAI}?base_url={encoded}");
    assert_eq!(server.delete(OF_OPENAI).await.0, 404, "that one is for another address");
    assert_eq!(server.delete(&path).await.0, 204);
    assert_ne!(executed(&server, &simulator, "4?").await["status"], "completed");
    assert_ne!(judged(&server, &simulator, "4?").await["status"], "completed");
    if !server.place.is_postgres() {
        for file in std::fs::read_dir(server.place.home()).unwrap() {
            let path = file.unwrap().path();
            let Ok(bytes) = std::fs::read(&path) else { continue };
            let holds = bytes.windows(KEY.len()).any(|window| window == KEY.as_bytes());
            assert!(!holds, "{} holds the key", path.display());
        }
    }
}

async fn what_is_no_key_is_refused(place: Place) {
    let server = TestServer::start(place).await;
    for (path, body, status) in [
        (OF_OPENAI, json!({"key": "short"}), 422),
        (OF_OPENAI, json!({"key": "with a space in it"}), 422),
        (OF_OPENAI, json!({"key": KEY, "base_url": "http://169.254.169.254/"}), 422),
        (OF_OPENAI, json!({"key": KEY, "more": 1}), 422),
        ("/v1/provider-keys/local", json!({"key": KEY}), 404),
        ("/v1/provider-keys/nobody", json!({"key": KEY}), 404),
    ] {
        let (found, problem) = server.put(path, body).await;
        assert_eq!(found, status, "{problem}");
        assert!(!problem.to_string().contains("0123456789"), "{problem}");
    }
    let body = json!({"key": format!(" {KEY}\n"), "base_url": "https://api.openai.com/v1/"});
    let (status, kept) = server.put(OF_OPENAI, body).await;
    assert_eq!((status, &kept["base_url"]), (200, &Value::Null), "that is the provider's own");
    assert_eq!(server.delete(OF_OPENAI).await.0, 204);
    assert_eq!(server.delete(OF_OPENAI).await.0, 404);
}
