//! A database that is away for a while: who asks is told to come again, and what was being worked on goes on once it is back.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::time::Duration;

use common::TestServer;
use common::backend::Place;
use common::version::version;
use common::wire::Wire;
use fullbench_simllm::{Simulator, SimulatorConfig};
use fullbench_store::Month;
use fullbench_types::{DEFAULT_ORGANIZATION, NanoDollars, RunId};
use serde_json::{Value, json};

/// A server whose wire to PostgreSQL can be cut; none without PostgreSQL.
async fn server_on_a_wire(simulator: &Simulator) -> Option<(TestServer, Wire)> {
    let mut place = Place::postgres().await?;
    let url = place.url();
    let (address, database) = url.rsplit_once('/').unwrap();
    let (host, port) = address.rsplit_once(':').unwrap();
    let wire = Wire::to(port.parse().unwrap()).await;
    place.location.database = format!("{host}:{}/{database}", wire.port).parse().unwrap();
    Some((TestServer::start_with_models(place, &simulator.url()).await, wire))
}

fn simulator(latency_ms: f64) -> Simulator {
    Simulator::start(SimulatorConfig { latency_ms, ..SimulatorConfig::default() }).unwrap()
}

fn model(simulator: &Simulator) -> Value {
    json!({"provider": "openai", "model": "sim-80", "base_url": format!("{}/v1", simulator.url()),
        "price": {"input": 1.0, "output": 1.0}})
}

#[tokio::test]
async fn a_run_goes_on_after_the_database_was_away() {
    let simulator = simulator(200.0);
    let Some((server, wire)) = server_on_a_wire(&simulator).await else { return };
    let store = server.store.scoped(DEFAULT_ORGANIZATION);
    let rows = (0..200).map(|number| json!({"input": format!("{number}?"), "reference": "a"}));
    let batch = json!({"dataset_version_id": version(&store, rows).await, "models": [model(&simulator)],
        "prompt": "{{ input }}", "metrics": ["exact_match"]});
    let (status, job) = server.post("/v1/evaluations/batch", batch).await;
    assert_eq!(status, 202, "{job}");
    let path = format!("/v1/evaluations/batch/{}", job["job_id"].as_str().unwrap());
    server.wait(&path, |batch| batch["progress"]["completed"].as_u64() > Some(5)).await;
    wire.cut();
    let refused = server.request("GET", &path).send().await.unwrap();
    assert_eq!(refused.status().as_u16(), 503);
    assert!(refused.headers().contains_key("retry-after"));
    let problem: Value = serde_json::from_str(&refused.text().await.unwrap()).unwrap();
    assert_eq!(problem["code"], "unavailable", "{problem}");
    assert!(!problem.to_string().contains("password"), "{problem}");
    wire.mend();
    let done = server.wait(&path, |batch| batch["completed_at"].is_string()).await;
    assert_eq!(done["status"], "completed", "{done}");
    assert_eq!(done["progress"], json!({"total": 200, "completed": 200, "failed": 0}));
    let (status, results) = server.get(&format!("{path}/results?limit=200")).await;
    assert_eq!((status, results["results"].as_array().unwrap().len()), (200, 200), "{results}");
    assert_eq!(simulator.stats().repeated_prompts, 0, "nothing was paid twice");
    let run = RunId(job["job_id"].as_str().unwrap().parse().unwrap());
    let lanes = store.lane_progress(run).await.unwrap();
    let spent: NanoDollars = lanes.iter().map(|lane| lane.spent).sum();
    let costs = results["results"].as_array().unwrap().iter();
    let paid: f64 = costs.map(|result| result["cost_usd"].as_f64().unwrap()).sum();
    assert!(paid > 0.0 && (spent.dollars() - paid).abs() < 1e-9, "{spent} of {paid}");
    assert_eq!(store.spent_in(Month::now()).await.unwrap(), spent, "the month knows all of it");
}

#[tokio::test]
async fn late_scores_are_kept_once_the_database_is_back() {
    let simulator = simulator(700.0);
    let Some((server, wire)) = server_on_a_wire(&simulator).await else { return };
    let body = json!({"input": "Say hello.", "output": "hello", "metrics": ["coherence"],
        "config": {"evaluator_model": model(&simulator), "timeout_ms": 200}});
    let (status, made) = server.post("/v1/evaluations", body).await;
    assert_eq!((status, &made["status"]), (201, &json!("partial")), "{made}");
    wire.cut();
    tokio::time::sleep(Duration::from_secs(2)).await;
    wire.mend();
    let path = format!("/v1/evaluations/{}", made["evaluation_id"].as_str().unwrap());
    let kept = server.wait(&path, |kept| kept["status"] == "completed").await;
    assert!(kept["scores"]["coherence"].is_number(), "{kept}");
    assert_eq!(simulator.stats().repeated_prompts, 0, "nobody asked the judge again");
}

#[tokio::test]
async fn what_a_judge_was_paid_for_is_kept_once_the_database_is_back() {
    let simulator = simulator(700.0);
    let Some((server, wire)) = server_on_a_wire(&simulator).await else { return };
    let body = json!({"input": "Say hello.", "output": "hello", "metrics": ["coherence"],
        "config": {"evaluator_model": model(&simulator)}});
    let ask = || {
        let request = server.request("POST", "/v1/evaluations").header("idempotency-key", "once");
        common::with_json(request, &body)
    };
    let asking = tokio::spawn(ask().send());
    while simulator.stats().calls == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    wire.cut();
    assert_eq!(asking.await.unwrap().unwrap().status().as_u16(), 503);
    let (status, problem) = common::answer(ask()).await;
    assert_eq!((status, &problem["code"]), (409, &json!("request_in_progress")), "{problem}");
    wire.mend();
    let kept = server.wait("/v1/evaluations", |all| all["total"] == 1).await;
    assert_eq!(kept["runs"][0]["status"], "completed", "{kept}");
    let again = async || {
        loop {
            let (status, answer) = common::answer(ask()).await;
            if answer["code"] != "request_in_progress" {
                return (status, answer);
            }
        }
    };
    let (status, found) = again().await;
    assert_eq!(status, 201, "{found}");
    assert_eq!(found["evaluation_id"], kept["runs"][0]["run_id"], "{found} {kept}");
    assert_eq!(simulator.stats().repeated_prompts, 0, "nobody asked the judge again");
    let spent = server.store.scoped(DEFAULT_ORGANIZATION).spent_in(Month::now()).await.unwrap();
    assert!(spent > NanoDollars::ZERO);
}

/// Prometheus waits for twenty seconds, and would see nothing at all of the server after that.
#[tokio::test]
async fn measurements_say_that_the_database_is_away() {
    let simulator = simulator(1.0);
    let Some((server, wire)) = server_on_a_wire(&simulator).await else { return };
    wire.cut();
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let asked = client.get(format!("{}/metrics", server.url)).timeout(Duration::from_secs(20));
    let text = asked.send().await.unwrap().text().await.unwrap();
    assert!(text.contains("fullbench_database_up 0"), "{text}");
    wire.mend();
    let text = client.get(format!("{}/metrics", server.url)).send().await.unwrap();
    assert!(text.text().await.unwrap().contains("fullbench_database_up 1"));
}
