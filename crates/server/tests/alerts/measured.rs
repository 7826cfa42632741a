//! Rules over results that a server made.

use fullbench_simllm::{Simulator, SimulatorConfig};
use serde_json::json;

use crate::backend::{Place, on_every_backend};
use crate::common::TestServer;
use crate::fixture::{config, make, stands, start};

on_every_backend!(
    a_scorer_is_found_by_its_name_and_compared_with_itself,
    answers_of_models_are_measured,
);

/// Evaluates answers, so many of them right; they are an hour older each time after.
async fn evaluate(server: &TestServer, right: usize, wrong: usize) {
    let older = "UPDATE generations SET recorded_at = recorded_at - 3600000";
    server.place.execute(older).await.unwrap();
    for output in std::iter::repeat_n("4", right).chain(std::iter::repeat_n("5", wrong)) {
        let body = json!({"input": "2+2?", "output": output, "expected_output": "4",
            "metrics": ["exact_match", {"type": "token_f1", "name": "mine"}]});
        let (status, made) = server.post("/v1/evaluations", body).await;
        assert_eq!(status, 201, "{made}");
    }
}

async fn a_scorer_is_found_by_its_name_and_compared_with_itself(place: Place) {
    let server = start(place, config(None, &[])).await;
    let rule = |name: &str, scorer: &str| {
        json!({"name": name, "kind": "score_drop", "threshold": 0.25, "minimum_count": 4,
            "filter": {"scorer": scorer}})
    };
    evaluate(&server, 4, 0).await;
    let path = make(&server, rule("one", "exact_match")).await;
    let own = make(&server, rule("two", "mine")).await;
    let unknown = make(&server, rule("three", "bleu")).await;
    let looked = |alert: &serde_json::Value| alert["last_evaluated_at"].is_string();
    let alert = server.wait(&path, looked).await;
    assert_eq!(alert["state"], "no_data", "there is nothing to compare with: {alert}");
    evaluate(&server, 1, 4).await;
    // It may have been looked at while only four of them were there.
    let all = |alert: &serde_json::Value| alert["state"] == "firing" && alert["last_count"] == 5;
    let fired = server.wait(&path, all).await;
    // 1 before; (1 + 4 · 0) / 5 now.
    assert_eq!(fired["last_value"], 0.8, "{fired}");
    let subject = fired["last_subject"].as_str().unwrap().to_owned();
    assert!(subject.starts_with("exact_match ") && subject.len() == 20, "{subject}");
    let other = stands(&server, &own, "firing").await;
    assert!(other["last_subject"].as_str().unwrap().starts_with("mine "), "{other}");
    assert_eq!(server.get(&unknown).await.1["state"], "no_data");
}

async fn answers_of_models_are_measured(place: Place) {
    let simulator = Simulator::start(SimulatorConfig::default()).unwrap();
    let rules = fullbench_engine::SentRules { addresses: vec![simulator.url().parse().unwrap()] };
    let config = fullbench_server::ServerConfig { rules, ..config(None, &[]) };
    let server = start(place, config).await;
    for _ in 0..3 {
        let model = json!({"provider": "openai", "model": "sim-80", "name": "mine",
            "base_url": format!("{}/v1", simulator.url())});
        let task = json!({"task": {"input": "Name a city."}, "model": model});
        let (status, execution) = server.post("/v1/executions", task).await;
        assert_eq!(status, 202, "{execution}");
        let path = format!("/v1/executions/{}", execution["execution_id"].as_str().unwrap());
        server.wait(&path, |one| one["status"] == "completed").await;
    }
    for (kind, threshold, state) in [
        ("error_rate", 0.0, "ok"),
        ("provider_errors", 0.0, "ok"),
        ("latency", 0.0, "firing"),
        ("queue_time", 2_000_000.0, "ok"),
    ] {
        let mut rule =
            json!({"name": kind, "kind": kind, "threshold": threshold, "minimum_count": 1});
        if kind != "queue_time" {
            rule["filter"] = json!({"provider": "openai", "model": "mine"});
        }
        let path = make(&server, rule).await;
        let alert = stands(&server, &path, state).await;
        assert!(alert["last_value"].is_number(), "{alert}");
    }
    let metrics = server.request("GET", "/metrics").send().await.unwrap().text().await.unwrap();
    for line in [
        "fullbench_alerts_firing{kind=\"latency\"} 1",
        "fullbench_alerts_firing{kind=\"spend\"} 0",
        "fullbench_alert_evaluations_total{result=\"measured\"}",
    ] {
        assert!(metrics.contains(line), "{line} is not in\n{metrics}");
    }
}
