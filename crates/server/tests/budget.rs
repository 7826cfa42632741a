//! An organization's monthly budget: kept over all its runs and single evaluations together, and told when it is used up.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::time::Duration;

use common::TestServer;
use common::backend::{self, Place, on_every_backend};
use common::version::version;
use fullbench_engine::SentRules;
use fullbench_server::{Limit, PlanLimit, ServerConfig};
use fullbench_simllm::{Simulator, SimulatorConfig};
use fullbench_store::Month;
use fullbench_types::{DEFAULT_ORGANIZATION, NanoDollars, Plan};
use serde_json::{Value, json};
use uuid::Uuid;

on_every_backend!(
    a_month_is_kept_over_all_runs_together,
    no_budget_of_ones_own_is_more_than_the_server_allows,
    who_comes_near_the_servers_limit_is_told,
    embeddings_are_not_asked_for_where_there_is_a_budget,
    a_model_without_a_price_is_not_asked_where_there_is_a_budget,
    an_answer_is_complete_whether_its_scores_could_be_paid_or_not,
    what_was_paid_is_kept_when_the_caller_goes_away,
    what_the_budget_refuses_says_so_and_what_it_cost,
);

/// Two runs at once that would cost more than the month allows: together they stay below it, and what comes after is refused.
async fn a_month_is_kept_over_all_runs_together(place: Place) {
    let simulator = Simulator::start(SimulatorConfig::default()).unwrap();
    let server = TestServer::start_with_models(place, &simulator.url()).await;
    let store = server.store.scoped(DEFAULT_ORGANIZATION);
    let rows = |word: &'static str| {
        (0..60).map(move |number| json!({"input": format!("{word} {number}?"), "reference": "a"}))
    };
    let versions = [version(&store, rows("one")).await, version(&store, rows("two")).await];
    let limit = NanoDollars::from_dollars(0.002);
    set_budget(&server, limit.dollars()).await;
    let batch = |version: Uuid| {
        json!({
            "dataset_version_id": version,
            "models": [priced(&simulator)],
            "prompt": "{{ input }}",
            "metrics": ["exact_match"],
        })
    };
    let mut jobs = Vec::new();
    for version in versions {
        let (status, job) = server.post("/v1/evaluations/batch", batch(version)).await;
        assert_eq!(status, 202, "{job}");
        jobs.push(job["job_id"].as_str().unwrap().to_owned());
    }
    let mut notes = Vec::new();
    for job in jobs {
        let path = format!("/v1/evaluations/batch/{job}");
        let ended = server.wait(&path, |job| job["completed_at"].is_string()).await;
        notes.push(ended.to_string());
    }
    assert!(notes.iter().any(|note| note.contains("budget of $0.002")), "{notes:?}");
    assert!(notes.iter().any(|note| note.contains("budget_exhausted")), "{notes:?}");
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let measured = client.get(format!("{}/metrics", server.url)).send().await.unwrap();
    let measured = measured.text().await.unwrap();
    let refusing =
        format!("fullbench_budget_refusing{{organization=\"{}\"}}", DEFAULT_ORGANIZATION.0);
    assert!(measured.contains(&format!("{refusing} 1")), "{measured}");
    let spent = store.spent_in(Month::now()).await.unwrap();
    assert!(spent > NanoDollars::ZERO && spent <= limit, "{spent} of {limit}");
    set_budget(&server, spent.dollars()).await;
    let (status, problem) = server.post("/v1/evaluations/batch", batch(versions[0])).await;
    assert_eq!((status, &problem["code"]), (402, &json!("out_of_budget")), "{problem}");
    let free = json!({"input": "2+2?", "output": "4", "expected_output": "4",
        "metrics": ["exact_match"]});
    assert_eq!(server.post("/v1/evaluations", free).await.0, 201, "what costs nothing goes on");
}

async fn no_budget_of_ones_own_is_more_than_the_server_allows(place: Place) {
    let simulator = Simulator::start(SimulatorConfig::default()).unwrap();
    let limit = Limit::Month(Some(NanoDollars::ZERO));
    let plan_limits = vec![PlanLimit { plan: Plan::Free, limit }];
    let rules = SentRules { addresses: vec![simulator.url().parse().unwrap()] };
    let config = ServerConfig { rules, plan_limits, ..ServerConfig::default() };
    let server = TestServer::start_with(place, config).await;
    let rich = json!({"settings": {"cost_budget_monthly_usd": 1000.0}});
    assert_eq!(server.patch("/v1/organization", rich).await.0, 200);
    let (_, usage) = server.get("/v1/organization/usage").await;
    assert_eq!(usage["month_usd"]["limit"], 0.0, "{usage}");
    let (status, problem) = server.post("/v1/evaluations", judged(&priced(&simulator))).await;
    assert_eq!((status, &problem["code"]), (402, &json!("out_of_budget")), "{problem}");
    assert_eq!(simulator.stats().calls, 0);
}

/// The alert and the measurement rest on what holds, which is not always what the organization decided.
async fn who_comes_near_the_servers_limit_is_told(place: Place) {
    let dollars = |dollars| Limit::Month(Some(NanoDollars::from_dollars(dollars)));
    let plan_limits = vec![PlanLimit { plan: Plan::Free, limit: dollars(5.0) }];
    let config = ServerConfig {
        plan_limits,
        alert_every: Duration::from_millis(50),
        ..ServerConfig::default()
    };
    let server = TestServer::start_with(place, config).await;
    let rich = json!({"settings": {"cost_budget_monthly_usd": 1000.0}});
    assert_eq!(server.patch("/v1/organization", rich).await.0, 200);
    let sql = format!(
        "INSERT INTO spending (organization_id, month, spent_nanodollars) \
         SELECT id, '{}', 4500000000 FROM organizations",
        Month::now()
    );
    server.place.execute(&sql).await.unwrap();
    let rule = json!({"name": "near", "kind": "spend", "threshold": 0.8});
    let (status, made) = server.post("/v1/alerts", rule).await;
    assert_eq!(status, 201, "{made}");
    let path = format!("/v1/alerts/{}", made["alert_id"].as_str().unwrap());
    let firing = server.wait(&path, |alert| alert["state"] == "firing").await;
    assert_eq!(firing["last_value"], 0.9, "{firing}");
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let text = client.get(format!("{}/metrics", server.url)).send().await.unwrap().text().await;
    let line =
        format!("fullbench_budget_used_ratio{{organization=\"{}\"}} 0.9", DEFAULT_ORGANIZATION.0);
    assert!(text.unwrap().contains(&line));
}

async fn a_model_without_a_price_is_not_asked_where_there_is_a_budget(place: Place) {
    let server = TestServer::start_with_models(place, "http://models.example").await;
    set_budget(&server, 5.0).await;
    let model = json!({"provider": "openai", "model": "unheard-of",
        "base_url": "http://models.example/v1", "max_tokens": 20});
    let (status, problem) = server.post("/v1/evaluations", judged(&model)).await;
    assert_eq!(status, 422, "{problem}");
    assert!(problem.to_string().contains("no price is known"), "{problem}");
}

async fn embeddings_are_not_asked_for_where_there_is_a_budget(place: Place) {
    let config = SimulatorConfig { latency_ms: 3_000.0, ..SimulatorConfig::default() };
    let simulator = Simulator::start(config).unwrap();
    let addresses =
        [simulator.url().as_str(), "http://models.example"].map(|url| url.parse().unwrap());
    let rules = SentRules { addresses: addresses.into() };
    let config = ServerConfig { rules, concurrent_runs: 1, ..ServerConfig::default() };
    let server = TestServer::start_with(place, config).await;
    let task = json!({"task": {"input": "a", "expected_output": "c"}, "model": priced(&simulator)});
    let metric = json!({"type": "semantic_similarity", "model": "openai:e",
        "base_url": "http://models.example/v1"});
    let (_, execution) = server.post("/v1/executions", task).await;
    let execution = format!("/v1/executions/{}", execution["execution_id"].as_str().unwrap());
    // It waits behind the execution, and the budget is there before its turn.
    let store = server.store.scoped(DEFAULT_ORGANIZATION);
    let cases = [json!({"input": "a", "reference": "c", "output": "b"})];
    let batch = json!({"dataset_version_id": version(&store, cases.into_iter()).await,
        "models": ["recorded"], "metrics": [metric]});
    let (status, job) = server.post("/v1/evaluations/batch", batch.clone()).await;
    assert_eq!(status, 202, "{job}");
    set_budget(&server, 5.0).await;
    let path = format!("/v1/evaluations/batch/{}", job["job_id"].as_str().unwrap());
    let ended = server.wait(&path, |job| job["completed_at"].is_string()).await;
    assert_eq!(ended["status"], "incomplete", "it goes on without the budget: {ended}");
    assert!(ended.to_string().contains("is not counted"), "{ended}");

    let refused = |(status, problem): (u16, Value)| {
        assert_eq!(status, 422, "{problem}");
        assert!(problem.to_string().contains("is not counted"), "{problem}");
    };
    refused(server.post("/v1/evaluations/batch", batch).await);
    let single = json!({"input": "a", "output": "b", "expected_output": "c", "metrics": [metric]});
    refused(server.post("/v1/evaluations", single).await);
    server.wait(&execution, |one| one["status"] == "completed").await;
    refused(server.post(&format!("{execution}/score"), json!({"metrics": [metric]})).await);
    let (_, kept) = server.get(&execution).await;
    assert!(!kept.to_string().contains("semantic_similarity"), "nothing is left of it: {kept}");
}

async fn an_answer_is_complete_whether_its_scores_could_be_paid_or_not(place: Place) {
    let simulator = Simulator::start(SimulatorConfig::default()).unwrap();
    let server = TestServer::start_with_models(place, &simulator.url()).await;
    let task = json!({"task": {"input": "Say hello.", "expected_output": "hello"},
        "model": priced(&simulator)});
    let (_, execution) = server.post("/v1/executions", task).await;
    let path = format!("/v1/executions/{}", execution["execution_id"].as_str().unwrap());
    server.wait(&path, |one| one["status"] == "completed").await;
    // Something is left, but not enough for a judge.
    set_budget(&server, 0.000_1).await;
    let score = async |body: Value| {
        let (status, scored) = server.post(&format!("{path}/score"), body).await;
        assert_eq!(status, 200, "{scored}");
        scored["criterion_scores"].clone()
    };
    let judge = json!({"metrics": ["coherence"], "evaluator_model": priced(&simulator)});
    let scores = score(judge.clone()).await;
    assert!(!scores["coherence"]["value"].is_number(), "{scores}");
    assert_eq!(server.get(&path).await.1["status"], "completed");
    let completed = server.get("/v1/executions?status=completed").await.1;
    assert_eq!(completed["total"], 1, "{completed}");
    assert_eq!(server.delete(&path).await.0, 409, "it is not cancelled any more");
    let scores = score(json!({"metrics": ["exact_match"]})).await;
    assert!(scores["exact_match"]["value"].is_number(), "{scores}");
    assert!(!scores["coherence"]["value"].is_number(), "{scores}");
    set_budget(&server, 5.0).await;
    let scores = score(judge).await;
    assert!(scores["coherence"]["value"].is_number(), "{scores}");
}

async fn what_the_budget_refuses_says_so_and_what_it_cost(place: Place) {
    let simulator = Simulator::start(SimulatorConfig::default()).unwrap();
    let server = TestServer::start_with_models(place, &simulator.url()).await;
    set_budget(&server, 0.01).await;
    let ask = |number: usize| {
        let body = json!({"input": format!("{number}?"), "output": "a", "expected_output": "a",
            "metrics": ["exact_match", "coherence"],
            "config": {"evaluator_model": priced(&simulator)}});
        server.post("/v1/evaluations", body)
    };
    let answers = futures::future::join_all((0..40).map(ask)).await;
    let mut refused = Vec::new();
    let mut cost = 0.0;
    for (status, made) in answers.iter().filter(|(status, _)| *status != 402) {
        assert_eq!(*status, 201, "{made}");
        let path = format!("/v1/evaluations/{}", made["evaluation_id"].as_str().unwrap());
        let kept = server.get(&path).await.1;
        assert_eq!((&kept["cost_usd"], &kept["status"]), (&made["cost_usd"], &made["status"]));
        cost += kept["cost_usd"].as_f64().unwrap();
        if made["status"] == "partial" {
            for shown in [made, &kept] {
                assert_eq!(shown["results"]["coherence"]["reason"], "budget_exhausted", "{shown}");
                assert_eq!(shown["scores"]["exact_match"], 1.0, "{shown}");
            }
            refused.push(path);
        }
    }
    let spent = server.get("/v1/organization/usage").await.1["month_usd"]["used"].clone();
    assert!((cost - spent.as_f64().unwrap()).abs() < 1e-9, "{cost} {spent}");
    assert!(!refused.is_empty(), "{answers:?}");
    set_budget(&server, 5.0).await;
    let (status, again) = server.post(&format!("{}/resume", refused[0]), json!({})).await;
    assert_eq!(status, 202, "{again}");
    let kept = server.wait(&refused[0], |kept| kept["status"] == "completed").await;
    assert!(kept["scores"]["coherence"].is_number(), "{kept}");
}

async fn what_was_paid_is_kept_when_the_caller_goes_away(place: Place) {
    let config = SimulatorConfig { latency_ms: 3_000.0, ..SimulatorConfig::default() };
    let simulator = Simulator::start(config).unwrap();
    let server = TestServer::start_with_models(place, &simulator.url()).await;
    let request = server.request("POST", "/v1/evaluations");
    let request = common::with_json(request, &judged(&priced(&simulator)));
    let asking = tokio::spawn(request.send());
    while simulator.stats().calls == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(!asking.is_finished());
    asking.abort();
    server.wait("/v1/evaluations", |all| all["total"] == 1).await;
    let spent = server.store.scoped(DEFAULT_ORGANIZATION).spent_in(Month::now()).await.unwrap();
    assert!(spent > NanoDollars::ZERO);
}

/// An answer that a model is to judge.
fn judged(model: &Value) -> Value {
    json!({"input": "Say hello.", "output": "hello", "metrics": ["coherence"],
        "config": {"evaluator_model": model}})
}

/// A model with a price: ten dollars a million tokens.
fn priced(simulator: &Simulator) -> Value {
    json!({"provider": "openai", "model": "sim-80", "base_url": format!("{}/v1", simulator.url()),
        "price": {"input": 1.0, "output": 1.0}, "max_tokens": 20})
}

async fn set_budget(server: &TestServer, dollars: f64) {
    let sql =
        format!("UPDATE organizations SET settings = '{{\"cost_budget_monthly_usd\": {dollars}}}'");
    server.place.execute(&sql).await.unwrap();
}
