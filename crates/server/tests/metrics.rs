//! Measurements: what happens is in them, nothing that organizations keep is, and they are for who runs the server alone.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use common::TestServer;
use common::backend::{self, Place, on_every_backend};
use common::version::version;
use fullbench_llm::Secret;
use fullbench_server::ServerConfig;
use fullbench_simllm::{Simulator, SimulatorConfig};
use fullbench_types::DEFAULT_ORGANIZATION;
use serde_json::json;

on_every_backend!(
    what_happens_is_measured,
    a_run_that_another_server_has_was_not_waited_for,
    a_budget_that_is_gone_is_no_number,
);

/// What is in the inputs, outputs and names of the organization.
const SECRET: &str = "zanzibar";

async fn what_happens_is_measured(place: Place) {
    let simulator = Simulator::start(SimulatorConfig::default()).unwrap();
    let server = TestServer::start_with_models(place, &simulator.url()).await;
    let store = server.store.scoped(DEFAULT_ORGANIZATION);
    let rows =
        (0..5).map(|number| json!({"input": format!("{SECRET} {number}?"), "reference": "a"}));
    let version = version(&store, rows).await;
    let batch = json!({
        "name": SECRET,
        "dataset_version_id": version,
        "models": [{"provider": "openai", "model": "sim-80",
            "base_url": format!("{}/v1", simulator.url())}],
        "prompt": "{{ input }}",
        "metrics": ["exact_match"],
    });
    let (status, job) = server.post("/v1/evaluations/batch", batch).await;
    assert_eq!(status, 202, "{job}");
    let path = format!("/v1/evaluations/batch/{}", job["job_id"].as_str().unwrap());
    server.wait(&path, |job| job["status"] == "completed").await;
    server.get(&format!("/v1/nothing/{SECRET}")).await;
    let text = scraped(&server, None).await.1;
    for line in [
        "fullbench_http_requests_total{route=\"/v1/evaluations/batch\",method=\"POST\",status=\"202\"}",
        "fullbench_http_request_seconds_bucket{route=\"/v1/evaluations/batch/{job_id}\"",
        "fullbench_http_requests_total{route=\"none\",method=\"GET\",status=\"404\"}",
        "fullbench_provider_calls_total{provider=\"openai\",model=\"openai:sim-80\",outcome=\"answered\"}",
        "fullbench_provider_call_seconds_sum{provider=\"openai\"",
        "fullbench_cost_nanodollars_total{provider=\"openai\"}",
        "fullbench_score_bucket{scorer=\"exact_match\",le=\"0.5\"}",
        "fullbench_scores_total{scorer=\"exact_match\",outcome=",
        "fullbench_queue_wait_seconds_count{priority=\"normal\"}",
        "fullbench_queue_depth{priority=\"critical\"} 0",
        "fullbench_runs_ended_total{state=\"completed\"}",
        "fullbench_database_up 1",
        "fullbench_alert_notifications_total{channel=\"slack\",status=\"failed\"} 0",
        "fullbench_alert_evaluations_total{result=\"failed\"} 0",
        "fullbench_webhook_tries_total{result=\"failed\"} 0",
        "fullbench_runs_ended_total{state=\"failed\"} 0",
        "process_start_time_seconds",
        "process_resident_memory_bytes",
        "# HELP fullbench_provider_calls_total Calls of providers, by how they ended",
        "# HELP process_open_fds ",
    ] {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
    assert!(!text.contains(SECRET), "{text}");
}

/// The number of a line that begins so; `NaN` where there is none.
fn number(text: &str, line: &str) -> f64 {
    let found = text.lines().find_map(|found| found.strip_prefix(line));
    found.and_then(|number| number.trim().parse().ok()).unwrap_or(f64::NAN)
}

async fn a_run_that_another_server_has_was_not_waited_for(place: Place) {
    let simulator = Simulator::start(SimulatorConfig::default()).unwrap();
    let rules = fullbench_engine::SentRules { addresses: vec![simulator.url().parse().unwrap()] };
    let config = ServerConfig { rules, concurrent_runs: 1, ..ServerConfig::default() };
    // Measurements are of the whole process: the databases do not share a priority.
    let priority = if place.is_postgres() { "low" } else { "high" };
    let mut server = TestServer::start_with(place, config).await;
    let store = server.store.scoped(DEFAULT_ORGANIZATION);
    let rows = (0..2).map(|number| json!({"input": format!("{number}?"), "reference": "a"}));
    let version = version(&store, rows).await;
    let batch = || {
        json!({"dataset_version_id": version, "priority": priority, "prompt": "{{ input }}",
            "metrics": ["exact_match"], "models": [{"provider": "openai", "model": "sim-80",
                "base_url": format!("{}/v1", simulator.url())}]})
    };
    let run = async |server: &TestServer| {
        let (status, job) = server.post("/v1/evaluations/batch", batch()).await;
        assert_eq!(status, 202, "{job}");
        let id = job["job_id"].as_str().unwrap().to_owned();
        let path = format!("/v1/evaluations/batch/{id}");
        server.wait(&path, |job| job["status"] == "completed").await;
        id
    };
    let id = run(&server).await;
    server.stop().await;
    // Another server has it, and it was asked for 1,000 seconds ago.
    let held = store.lock_run(id.parse().unwrap()).await.unwrap();
    let sql =
        "UPDATE runs SET state = 'pending', started_at = NULL, created_at = created_at - 1000000";
    server.place.execute(sql).await.unwrap();
    let waits = format!("fullbench_queue_wait_seconds_count{{priority=\"{priority}\"}}");
    let waited = format!("fullbench_queue_wait_seconds_sum{{priority=\"{priority}\"}}");
    let depth = format!("fullbench_queue_depth{{priority=\"{priority}\"}}");
    server.restart().await;
    // There is one place: who comes later is worked on after the held one was tried.
    run(&server).await;
    let mut text = String::new();
    for _ in 0..100 {
        text = scraped(&server, None).await.1;
        // Servers of other tests tell the depth of their own databases.
        if number(&text, &depth) == 1.0 {
            break;
        }
    }
    assert_eq!(number(&text, &depth), 1.0, "it waits, as the database has it");
    assert_eq!(number(&text, &waits), 2.0, "nobody began it a second time");
    drop(held);
    server.restart().await;
    server.wait(&format!("/v1/evaluations/batch/{id}"), |job| job["status"] == "completed").await;
    let text = scraped(&server, None).await.1;
    assert_eq!(number(&text, &waits), 3.0);
    assert!(number(&text, &waited) > 1000.0, "since it was asked for: {text}");
}

async fn a_budget_that_is_gone_is_no_number(place: Place) {
    let server = TestServer::start(place).await;
    let other = server.as_other_organization().await;
    let line = format!("fullbench_budget_used_ratio{{organization=\"{}\"}}", other.organization.0);
    let set = async |dollars: serde_json::Value| {
        let settings = json!({"settings": {"cost_budget_monthly_usd": dollars}});
        let (status, changed) = other.patch("/v1/organization", settings).await;
        assert_eq!(status, 200, "{changed}");
    };
    set(json!(10.0)).await;
    assert_eq!(number(&scraped(&server, None).await.1, &line), 0.0);
    set(json!(null)).await;
    let text = scraped(&server, None).await.1;
    assert!(text.contains(&format!("{line} NaN")), "{text}");
    set(json!(10.0)).await;
    assert_eq!(number(&scraped(&server, None).await.1, &line), 0.0);
}

#[tokio::test]
async fn with_a_token_nobody_else_reads_them() {
    let token = "the-token-of-the-operator";
    let config =
        ServerConfig { metrics_token: Some(Secret::new(token)), ..ServerConfig::default() };
    let server = TestServer::start_with(Place::sqlite(), config).await;
    assert_eq!(scraped(&server, None).await.0, 401);
    assert_eq!(scraped(&server, Some("another")).await.0, 401);
    assert_eq!(scraped(&server, Some(&server.key)).await.0, 401, "keys of organizations do not");
    assert_eq!(scraped(&server, Some(token)).await.0, 200);
}

/// A page of another site has its own name lead to this machine, and asks in the browser of who sits at it.
#[tokio::test]
async fn a_name_that_leads_here_does_not_read_them() {
    let server = TestServer::start(Place::sqlite()).await;
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    for (host, expected) in [
        ("evil.example.com", 403),
        ("127.0.0.1.evil.example.com:80", 403),
        ("localhost:9000", 200),
        ("[::1]", 200),
        ("127.0.0.1:1", 200),
    ] {
        let request = client.get(format!("{}/metrics", server.url)).header("host", host);
        assert_eq!(request.send().await.unwrap().status(), expected, "{host}");
    }
}

/// A variable that is set to nothing, or a file that is empty, opens nothing.
#[tokio::test]
async fn a_blank_token_is_none() {
    for blank in ["", " \n"] {
        let metrics_token = Some(Secret::new(blank));
        let config = ServerConfig { metrics_token, ..ServerConfig::default() };
        let server = TestServer::start_with(Place::sqlite(), config).await;
        assert_eq!(scraped(&server, None).await.0, 200, "as the machine itself");
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        for header in [None, Some("Bearer "), Some("Bearer")] {
            let mut request = client.get(format!("{}/metrics", server.url));
            request = request.header("host", "bench.example.com");
            if let Some(header) = header {
                request = request.header("authorization", header);
            }
            assert_eq!(request.send().await.unwrap().status(), 403, "{blank:?} {header:?}");
        }
    }
}

async fn scraped(server: &TestServer, token: Option<&str>) -> (u16, String) {
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let mut request = client.get(format!("{}/metrics", server.url));
    if let Some(token) = token {
        request = request.bearer_auth(token);
    }
    let response = request.send().await.unwrap();
    (response.status().as_u16(), response.text().await.unwrap())
}
