//! Evaluations over HTTP: of one answer, and of a data set.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use common::backend::{self, Place, on_every_backend};
use common::version::version;
use common::{TestServer, answer, with_json};
use fullbench_simllm::{Simulator, SimulatorConfig};
use fullbench_types::{DEFAULT_ORGANIZATION, RunId, RunState};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

on_every_backend!(
    an_answer_is_scored_kept_and_listed,
    a_judge_that_takes_long_gives_a_partial_result_that_is_completed_later,
    late_scores_are_left_to_who_waits_for_them,
    many_answers_to_one_question_come_at_once,
    many_who_judge_by_a_new_criterion_pay_for_its_steps_once,
    an_answer_can_be_scored_by_the_queue,
    an_answer_that_waits_for_a_server_that_is_gone_is_scored_by_another,
    mistakes_are_told_with_their_fields,
    a_request_with_a_key_is_carried_out_once,
    a_batch_runs_is_read_and_exported,
    a_batch_goes_on_after_a_restart_by_itself,
    a_batch_is_cancelled_and_an_incomplete_one_goes_on,
    a_regression_is_told_with_its_reasons,
    another_organization_sees_nothing,
    what_another_process_works_on_is_left_to_it,
    what_names_no_metrics_has_those_of_the_organization,
);

/// Sums, every fifth of which is wrong.
fn sums(count: usize) -> impl Iterator<Item = Value> {
    (0..count).map(|number| {
        let output = if number % 5 == 0 { "no idea".to_owned() } else { (number + 1).to_string() };
        json!({"input": format!("{number}+1?"), "reference": (number + 1).to_string(),
            "output": output, "kind": if number % 2 == 0 { "even" } else { "odd" }})
    })
}

fn simulator(config: SimulatorConfig) -> Simulator {
    Simulator::start(config).unwrap()
}

fn simulated(simulator: &Simulator) -> Value {
    json!({"provider": "openai", "model": "sim-1", "base_url": format!("{}/v1", simulator.url())})
}

async fn an_answer_is_scored_kept_and_listed(place: Place) {
    let server = TestServer::start(place).await;
    let body = json!({"input": "2+2?", "output": "4", "expected_output": ["four", "4"],
        "metrics": ["exact_match", {"type": "contains", "values": ["5"]}, "bleu"],
        "metadata": {"model_name": "m", "prompt_version": "7"}});
    let (status, made) = server.post("/v1/evaluations", body).await;
    assert_eq!((status, &made["status"]), (201, &json!("completed")), "{made}");
    assert_eq!(made["scores"]["exact_match"], 1.0);
    assert_eq!(made["scores"]["contains"], 0.0);
    let id = made["evaluation_id"].as_str().unwrap();
    let (status, kept) = server.get(&format!("/v1/evaluations/{id}")).await;
    assert_eq!((status, &kept["scores"]), (200, &made["scores"]));
    assert_eq!(kept["metadata"], json!({"model_name": "m", "prompt_version": "7"}));
    assert_eq!(kept["latency_ms"], made["latency_ms"]);
    let (_, listed) = server.get("/v1/evaluations?type=single&status=completed").await;
    assert_eq!((&listed["total"], &listed["runs"][0]["run_id"]), (&json!(1), &json!(id)));
    let created = kept["created_at"].as_str().unwrap();
    for (filter, total) in [
        ("type=batch".to_owned(), 0),
        ("status=running".to_owned(), 0),
        (format!("dataset_version_id={}", Uuid::now_v7()), 0),
        (format!("experiment_id={}", Uuid::now_v7()), 0),
        ("created_before=2020-01-01T00:00:00Z".to_owned(), 0),
        ("created_after=2020-01-01T00:00:00Z".to_owned(), 1),
        (format!("created_after={created}"), 0),
        ("offset=1".to_owned(), 1),
    ] {
        let (status, listed) = server.get(&format!("/v1/evaluations?{filter}")).await;
        assert_eq!((status, &listed["total"]), (200, &json!(total)), "{filter}");
    }
}

async fn a_judge_that_takes_long_gives_a_partial_result_that_is_completed_later(place: Place) {
    let slow = SimulatorConfig { latency_ms: 700.0, ..SimulatorConfig::default() };
    let simulator = simulator(slow);
    let server = TestServer::start_with_models(place, &simulator.url()).await;
    let body = json!({"input": "Say hello.", "output": "hello", "expected_output": "hello",
        "metrics": ["exact_match", "coherence"],
        "config": {"evaluator_model": simulated(&simulator), "timeout_ms": 200}});
    let (status, made) = server.post("/v1/evaluations", body).await;
    assert_eq!((status, &made["status"]), (201, &json!("partial")), "{made}");
    assert_eq!(
        (&made["scores"]["exact_match"], &made["scores"]["coherence"]),
        (&json!(1.0), &json!(null))
    );
    assert_eq!(made["results"]["coherence"]["reason"], "pending");
    let path = format!("/v1/evaluations/{}", made["evaluation_id"].as_str().unwrap());
    let kept = server.wait(&path, |kept| kept["status"] == "completed").await;
    assert!(kept["scores"]["coherence"].is_number(), "{kept}");
    assert!(kept["cost_usd"].is_number());
}

async fn late_scores_are_left_to_who_waits_for_them(place: Place) {
    let simulator =
        simulator(SimulatorConfig { latency_ms: 3_000.0, ..SimulatorConfig::default() });
    let server = TestServer::start_with_models(place, &simulator.url()).await;
    let body = json!({"input": "Say hello.", "output": "hello", "metrics": ["coherence"],
        "config": {"evaluator_model": simulated(&simulator), "timeout_ms": 1}});
    let (_, made) = server.post("/v1/evaluations", body).await;
    assert_eq!(made["status"], "partial", "{made}");
    let path = format!("/v1/evaluations/{}", made["evaluation_id"].as_str().unwrap());
    // It takes up what nobody works on as soon as it starts.
    let stop = CancellationToken::new();
    let _stopping = stop.clone().drop_guard();
    server.start_another(stop).await;
    let kept = server.wait(&path, |kept| kept["status"] == "completed").await;
    assert!(kept["scores"]["coherence"].is_number(), "{kept}");
    assert_eq!(simulator.stats().repeated_prompts, 0, "the judge was asked once");
}

async fn many_answers_to_one_question_come_at_once(place: Place) {
    let server = TestServer::start(place).await;
    let ask = |number: usize| {
        let body = json!({"input": "2+2?", "output": number.to_string(), "expected_output": "4",
            "metrics": ["exact_match"]});
        server.post("/v1/evaluations", body)
    };
    let answers = futures::future::join_all((0..40).map(ask)).await;
    for (number, (status, made)) in answers.iter().enumerate() {
        assert_eq!(*status, 201, "{made}");
        assert_eq!(made["scores"]["exact_match"], f64::from(u8::from(number == 4)), "{made}");
    }
    assert_eq!(server.get("/v1/evaluations").await.1["total"], 40);
    assert_eq!(server.place.count("dataset_contents").await, 1);
}

async fn many_who_judge_by_a_new_criterion_pay_for_its_steps_once(place: Place) {
    let simulator = simulator(SimulatorConfig { latency_ms: 100.0, ..SimulatorConfig::default() });
    let server = TestServer::start_with_models(place, &simulator.url()).await;
    let ask = |number: usize| {
        // Not all of them by the same set of metrics.
        let metrics =
            if number.is_multiple_of(2) { vec!["coherence"] } else { vec!["coherence", "bleu"] };
        let body = json!({"input": "2+2?", "output": number.to_string(), "expected_output": "4",
            "metrics": metrics, "config": {"evaluator_model": simulated(&simulator)}});
        server.post("/v1/evaluations", body)
    };
    let answers = futures::future::join_all((0..20).map(ask)).await;
    for (status, made) in &answers {
        assert_eq!((*status, &made["status"]), (201, &json!("completed")), "{made}");
    }
    assert_eq!(simulator.stats().calls, 21, "one for the steps, and one for each answer");
}

async fn an_answer_can_be_scored_by_the_queue(place: Place) {
    let simulator = simulator(SimulatorConfig::default());
    let server = TestServer::start_with_models(place, &simulator.url()).await;
    let body = json!({"input": "Say hello.", "output": "hello", "metrics": ["tone"],
        "config": {"sync": false, "evaluator_model": simulated(&simulator),
            "custom_rubrics": {"tone": "Is it kind?"}, "priority": "high"}});
    let (status, made) = server.post("/v1/evaluations", body).await;
    assert_eq!((status, &made["status"]), (202, &json!("pending")), "{made}");
    let path = format!("/v1/evaluations/{}", made["evaluation_id"].as_str().unwrap());
    let kept = server.wait(&path, |kept| kept["status"] == "completed").await;
    assert!(kept["scores"]["tone"].is_number(), "{kept}");
}

async fn an_answer_that_waits_for_a_server_that_is_gone_is_scored_by_another(place: Place) {
    let server = TestServer::start(place).await;
    let body = json!({"input": "a", "output": "b", "metrics": ["bleu"], "expected_output": "b",
        "config": {"sync": false, "priority": "high"}});
    let (_, made) = server.post("/v1/evaluations", body).await;
    let path = format!("/v1/evaluations/{}", made["evaluation_id"].as_str().unwrap());
    server.wait(&path, |kept| kept["status"] == "completed").await;
    // As another server left it, before its turn came.
    server.place.execute("UPDATE runs SET state = 'pending', finished_at = NULL").await.unwrap();
    server.wait(&path, |kept| kept["status"] == "completed").await;
}

async fn mistakes_are_told_with_their_fields(place: Place) {
    let server = TestServer::start(place).await;
    let right = json!({"input": "a", "output": "b", "metrics": ["exact_match"]});
    let with = |name: &str, value: Value| {
        let mut body = right.clone();
        body[name] = value;
        body
    };
    for (body, field) in [
        (with("metrics", json!(["exactmatch"])), "metrics[0]"),
        (with("metrics", json!([{"type": "regex", "patterns": ["("]}])), "metrics[0].patterns[0]"),
        (with("metrics", json!([{"type": "command", "command": ["id"]}])), "metrics[0].type"),
        (with("input", json!(7)), "input"),
        (with("expected_output", json!([1])), "expected_output"),
        (with("config", json!({"timeout_ms": 0})), "config.timeout_ms"),
        (with("config", json!({"snyc": true})), "config.snyc"),
        (with("outputs", json!("x")), "outputs"),
    ] {
        let (status, problem) = server.post("/v1/evaluations", body.clone()).await;
        assert_eq!((status, &problem["code"]), (422, &json!("invalid_input")), "{body}: {problem}");
        assert_eq!(problem["errors"][0]["field"], field, "{problem}");
        assert!(problem["request_id"].is_string());
    }
    let malformed = server.request("POST", "/v1/evaluations");
    let malformed = malformed.header("content-type", "application/json").body("{\"input\": ");
    assert_eq!(answer(malformed).await.0, 400);
    let untyped = server.request("POST", "/v1/evaluations").body("{}");
    assert_eq!(answer(untyped).await.0, 415);
    assert_eq!(server.get("/v1/evaluations/nothing").await.0, 404);
    assert_eq!(server.delete("/v1/evaluations").await.0, 405);
    assert_eq!(server.get("/v1/nothing").await.0, 404);
    assert_eq!(server.get("/v1/evaluations").await.1["total"], 0, "nothing is half-created");
}

async fn a_request_with_a_key_is_carried_out_once(place: Place) {
    let server = TestServer::start(place).await;
    let body =
        json!({"input": "a", "output": "a", "expected_output": "a", "metrics": ["exact_match"]});
    let send = |body: &Value, key: &str| {
        let request = server.request("POST", "/v1/evaluations").header("idempotency-key", key);
        answer(with_json(request, body))
    };
    let (status, first) = send(&body, "one").await;
    assert_eq!(status, 201);
    assert_eq!(send(&body, "one").await, (201, first));
    let mut other = body.clone();
    other["output"] = json!("b");
    assert_eq!(send(&other, "one").await.1["code"], "idempotency_key_reused");
    let wrong = json!({"input": "a", "output": "a", "metrics": ["nothing"]});
    assert_eq!(send(&wrong, "two").await.0, 422);
    assert_eq!(send(&body, "two").await.0, 201, "a refused request may be corrected");
    assert_eq!(server.get("/v1/evaluations").await.1["total"], 2);
}

async fn a_batch_runs_is_read_and_exported(place: Place) {
    let server = TestServer::start(place).await;
    let store = server.store.scoped(DEFAULT_ORGANIZATION);
    let version = version(&store, sums(200)).await;
    let body = json!({"name": "sums", "dataset_version_id": version,
        "metrics": ["exact_match", "token_f1"],
        "config": {"gates": ["exact_match.mean >= 0.9"]}, "metadata": {"team": "a"}});
    let (status, made) = server.post("/v1/evaluations/batch", body).await;
    assert_eq!((status, &made["total_items"]), (202, &json!(200)), "{made}");
    let path = format!("/v1/evaluations/batch/{}", made["job_id"].as_str().unwrap());
    let done = server.wait(&path, |batch| batch["status"] == "completed").await;
    assert_eq!(done["progress"], json!({"total": 200, "completed": 200, "failed": 0}));
    let numbers = &done["summary_scores"]["exact_match"];
    assert_eq!(
        (&numbers["mean"], &numbers["p50"], &numbers["count"]),
        (&json!(0.8), &json!(1.0), &json!(200))
    );
    assert!(numbers["low"].as_f64().unwrap() < 0.8 && numbers["high"].as_f64().unwrap() > 0.8);
    assert_eq!(done["gates"][0]["passed"], false);
    assert_eq!(done["metadata"], json!({"team": "a"}));
    let (mut cursor, mut keys) = (String::new(), Vec::new());
    loop {
        let (status, page) = server.get(&format!("{path}/results?limit=70{cursor}")).await;
        assert_eq!(status, 200, "{page}");
        let results = page["results"].as_array().unwrap();
        keys.extend(results.iter().map(|one| one["case_key"].as_str().unwrap().to_owned()));
        let Some(next) = page["next_cursor"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    assert_eq!(keys.len(), 200);
    let export = server.request("GET", &format!("{path}/export?format=jsonl"));
    let text = export.send().await.unwrap().text().await.unwrap();
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((rows.len(), &rows[0]["output"]), (200, &json!("no idea")));
    assert_eq!((&rows[1]["exact_match.value"], &rows[1]["input"]), (&json!(1.0), &json!("1+1?")));
    let export = server.request("GET", &format!("{path}/export?format=csv"));
    let text = export.send().await.unwrap().text().await.unwrap();
    assert_eq!(text.lines().count(), 201);
    let export = server.request("GET", &format!("{path}/export?format=parquet"));
    let bytes = export.send().await.unwrap().bytes().await.unwrap();
    assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
    let sampled = json!({"dataset_version_id": version, "metrics": ["exact_match"],
        "config": {"sample_rate": 0.1, "sample_strategy": "stratified", "stratify_by": "kind",
            "seed": 7}});
    let (status, made) = server.post("/v1/evaluations/batch", sampled).await;
    assert_eq!((status, &made["total_items"]), (202, &json!(20)), "{made}");
}

async fn a_batch_goes_on_after_a_restart_by_itself(place: Place) {
    let slow = SimulatorConfig { latency_ms: 60.0, ..SimulatorConfig::default() };
    let simulator = simulator(slow);
    let mut server = TestServer::start_with_models(place, &simulator.url()).await;
    let store = server.store.scoped(DEFAULT_ORGANIZATION);
    let version = version(&store, sums(60)).await;
    let body = json!({"dataset_version_id": version, "metrics": ["exact_match"],
        "models": [simulated(&simulator)], "config": {"parallelism": 2}});
    let (status, made) = server.post("/v1/evaluations/batch", body).await;
    assert_eq!(status, 202, "{made}");
    let path = format!("/v1/evaluations/batch/{}", made["job_id"].as_str().unwrap());
    server.wait(&path, |batch| batch["progress"]["completed"].as_u64() > Some(5)).await;
    server.restart().await;
    let done = server.wait(&path, |batch| batch["status"] == "completed").await;
    assert_eq!(done["progress"], json!({"total": 60, "completed": 60, "failed": 0}));
    assert_eq!(simulator.stats().calls, 60, "no answer was asked for twice");
}

async fn a_batch_is_cancelled_and_an_incomplete_one_goes_on(place: Place) {
    let slow = SimulatorConfig { latency_ms: 100.0, ..SimulatorConfig::default() };
    let simulator = simulator(slow);
    let server = TestServer::start_with_models(place, &simulator.url()).await;
    let store = server.store.scoped(DEFAULT_ORGANIZATION);
    let version = version(&store, sums(100)).await;
    let mut body = json!({"dataset_version_id": version, "metrics": ["exact_match"],
        "models": [simulated(&simulator)], "config": {"parallelism": 1}});
    let (_, made) = server.post("/v1/evaluations/batch", body.clone()).await;
    let path = format!("/v1/evaluations/batch/{}", made["job_id"].as_str().unwrap());
    server.wait(&path, |batch| batch["progress"]["completed"].as_u64() > Some(1)).await;
    let (status, _) = server.post(&format!("{path}/cancel"), json!({})).await;
    assert_eq!(status, 202);
    let ended = server.wait(&path, |batch| batch["status"] == "cancelled").await;
    assert!(ended["progress"]["completed"].as_u64() < Some(100));
    assert_eq!(server.post(&format!("{path}/resume"), json!({})).await.0, 409);
    body["config"] = json!({"budget_usd": 0.0});
    body["models"][0]["price"] = json!({"input": 1000.0, "output": 1000.0});
    let (status, made) = server.post("/v1/evaluations/batch", body).await;
    assert_eq!(status, 202, "{made}");
    let path = format!("/v1/evaluations/batch/{}", made["job_id"].as_str().unwrap());
    let stopped = server.wait(&path, |batch| batch["status"] == "incomplete").await;
    assert!(stopped["notes"][0].as_str().unwrap().contains("budget"), "{stopped}");
    assert_eq!(server.post(&format!("{path}/resume"), json!({})).await.0, 202);
    server.wait(&path, |batch| batch["status"] == "incomplete").await;
}

async fn a_regression_is_told_with_its_reasons(place: Place) {
    let server = TestServer::start(place).await;
    let store = server.store.scoped(DEFAULT_ORGANIZATION);
    let good = version(&store, sums(200)).await;
    let worse = sums(200).enumerate().map(|(index, mut row)| {
        if index % 2 == 0 {
            row["output"] = json!("no idea");
        }
        row
    });
    let worse = version(&store, worse).await;
    let start = async |version: Uuid, baseline: Option<&str>| {
        let body = json!({"dataset_version_id": version, "metrics": ["exact_match"],
            "baseline": baseline, "config": {"gates": ["exact_match.mean >= 0.3"]}});
        let (status, made) = server.post("/v1/evaluations/batch", body).await;
        assert_eq!(status, 202, "{made}");
        made["job_id"].as_str().unwrap().to_owned()
    };
    let judge = async |id: &str| {
        let path = format!("/v1/evaluations/batch/{id}/verdict?wait_seconds=60");
        let (status, verdict) = server.get(&path).await;
        assert_eq!(status, 200, "{verdict}");
        verdict
    };
    let first = start(good, None).await;
    let verdict = judge(&first).await;
    assert_eq!((&verdict["passed"], &verdict["comparison"]), (&json!(true), &json!(null)));
    let (status, _) = server.put("/v1/baselines/main", json!({"run_id": first})).await;
    assert_eq!(status, 200);
    assert_eq!(server.get("/v1/baselines").await.1["baselines"][0]["run_id"], first);
    let same = judge(&start(good, Some("main")).await).await;
    assert_eq!(same["passed"], true, "{same}");
    assert_eq!(same["comparison"]["scores"][0]["verdict"], "identical");
    let second = start(worse, Some("main")).await;
    let verdict = judge(&second).await;
    assert_eq!((&verdict["passed"], &verdict["status"]), (&json!(false), &json!("completed")));
    let reason = verdict["reasons"][0].as_str().unwrap();
    assert!(reason.contains("exact_match") && reason.contains("worse"), "{reason}");
    assert_eq!(verdict["comparison"]["scores"][0]["verdict"], "worse");
    assert!(verdict["comparison"]["scores"][0]["adjusted_p_value"].as_f64() < Some(0.001));
    let run = server.get("/v1/evaluations?type=regression").await.1;
    assert_eq!(run["total"], 2);
    let (status, compared) =
        server.get(&format!("/v1/evaluations/batch/{second}/comparison?with=main")).await;
    assert_eq!((status, &compared["before"]), (200, &json!(first)));
    assert_eq!(server.get(&format!("/v1/evaluations/batch/{first}/comparison")).await.0, 409);
    let (status, problem) = server
        .post(
            "/v1/evaluations/batch",
            json!({"dataset_version_id": good,
            "metrics": ["exact_match"], "baseline": "nothing"}),
        )
        .await;
    assert_eq!((status, &problem["errors"][0]["field"]), (422, &json!("baseline")));
    let other = server.as_other_organization().await;
    assert_eq!(other.get("/v1/baselines/main").await.0, 404);
    assert_eq!(other.delete("/v1/baselines/main").await.0, 404);
    assert_eq!(server.delete("/v1/baselines/main").await.0, 204);
}

async fn another_organization_sees_nothing(place: Place) {
    let server = TestServer::start(place).await;
    let store = server.store.scoped(DEFAULT_ORGANIZATION);
    let version = version(&store, sums(3)).await;
    let body = json!({"input": "a", "output": "a", "metrics": ["exact_match"]});
    let (_, single) = server.post("/v1/evaluations", body).await;
    let body = json!({"dataset_version_id": version, "metrics": ["exact_match"]});
    let (_, batch) = server.post("/v1/evaluations/batch", body.clone()).await;
    let other = server.as_other_organization().await;
    let single = single["evaluation_id"].as_str().unwrap();
    let batch = batch["job_id"].as_str().unwrap();
    for path in [
        format!("/v1/evaluations/{single}"),
        format!("/v1/evaluations/batch/{batch}"),
        format!("/v1/evaluations/batch/{batch}/results"),
        format!("/v1/evaluations/batch/{batch}/export"),
        format!("/v1/runs/{batch}/events"),
    ] {
        assert_eq!(other.get(&path).await.0, 404, "{path}");
    }
    for path in [
        format!("/v1/evaluations/{single}/resume"),
        format!("/v1/evaluations/batch/{batch}/cancel"),
        format!("/v1/evaluations/batch/{batch}/resume"),
    ] {
        assert_eq!(other.post(&path, json!({})).await.0, 404, "{path}");
    }
    assert_eq!(other.post("/v1/evaluations/batch", body).await.0, 404);
    assert_eq!(other.get("/v1/evaluations").await.1["total"], 0);
}

async fn what_another_process_works_on_is_left_to_it(place: Place) {
    let server = TestServer::start(place).await;
    let store = server.store.scoped(DEFAULT_ORGANIZATION);
    let version = version(&store, sums(20)).await;
    let body = json!({"dataset_version_id": version, "metrics": ["exact_match"]});
    let (_, batch) = server.post("/v1/evaluations/batch", body).await;
    let path = format!("/v1/evaluations/batch/{}", batch["job_id"].as_str().unwrap());
    let done = server.wait(&path, |batch| batch["status"] == "completed").await;
    let run = RunId(batch["job_id"].as_str().unwrap().parse().unwrap());

    // Another process begins anew with it, as `fullbench rescore` does.
    let other = server.place.open().await.scoped(DEFAULT_ORGANIZATION);
    let lock = other.lock_run(run).await.unwrap();
    other.set_run_state(run, RunState::Running, &[]).await.unwrap();
    let (status, problem) = server.post(&format!("{path}/cancel"), json!({})).await;
    assert_eq!((status, &problem["code"]), (409, &json!("conflict")), "{problem}");
    drop(lock);
    other.set_run_state(run, RunState::Completed, &[]).await.unwrap();
    let (_, again) = server.get(&path).await;
    assert_eq!(again["summary_scores"], done["summary_scores"], "the numbers are read anew");
    assert_eq!(store.run(run).await.unwrap().summary, None);
    let (status, problem) = server.post("/v1/evaluations/batch", json!(["name", version])).await;
    assert_eq!((status, &problem["code"]), (422, &json!("invalid_input")), "{problem}");
}

async fn what_names_no_metrics_has_those_of_the_organization(place: Place) {
    let server = TestServer::start(place).await;
    let store = server.store.scoped(DEFAULT_ORGANIZATION);
    let batch = json!({"dataset_version_id": version(&store, sums(10)).await});
    let (status, problem) = server.post("/v1/evaluations/batch", batch.clone()).await;
    assert_eq!((status, &problem["errors"][0]["field"]), (422, &json!("metrics")), "{problem}");
    let settings = json!({"settings": {"default_evaluators": ["exact_match"]}});
    assert_eq!(server.patch("/v1/organization", settings).await.0, 200);
    let (status, job) = server.post("/v1/evaluations/batch", batch).await;
    assert_eq!(status, 202, "{job}");
    let path = format!("/v1/evaluations/batch/{}", job["job_id"].as_str().unwrap());
    server.wait(&path, |batch| batch["status"] == "completed").await;
    let (_, results) = server.get(&format!("{path}/results?limit=10")).await;
    assert_eq!(results["results"][1]["scores"]["exact_match"]["value"], 1.0, "{results}");
    let single = json!({"input": "2+2?", "output": "4", "expected_output": "4"});
    let (status, single) = server.post("/v1/evaluations", single).await;
    assert_eq!((status, &single["scores"]["exact_match"]), (201, &json!(1.0)), "{single}");
}
