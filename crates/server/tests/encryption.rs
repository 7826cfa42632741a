//! Texts of an organization that encrypts are in no file and no table, read back as they were, and are gone with its key.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;
#[path = "datasets/uploading.rs"]
#[allow(dead_code)]
mod uploading;

use common::backend::{self, Place, on_every_backend};
use common::{TestServer, answer, assert_unmarked, with_json};
use fullbench_simllm::{Simulator, SimulatorConfig};
use fullbench_types::DEFAULT_ORGANIZATION;
use serde_json::{Value, json};
use uploading::{dataset, uploaded};

on_every_backend!(
    sealed_texts_are_kept_nowhere_and_read_back_the_same,
    deleted_keys_take_the_texts_and_leave_the_numbers,
);

/// Everything that a caller made, by paths under which it is read.
struct Made {
    mark: &'static str,
    version: String,
    batch: String,
    run: String,
    single: String,
    document: String,
    prompt: String,
    case: String,
    execution: String,
}

/// Makes one of everything that has texts, each with the mark in it.
async fn everything(server: &TestServer, simulator: &str, mark: &'static str) -> Made {
    let id = dataset(server, &format!("set {}", mark.len())).await;
    let mut rows = String::new();
    for index in 0..40 {
        let output = if index % 4 == 0 { "other" } else { mark };
        let row = json!({"id": format!("case-{index}"), "input": format!("{mark} {index}?"),
            "reference": mark, "output": output, "kind": mark});
        rows.push_str(&format!("{row}\n"));
    }
    let (version, known) = uploaded(server, &id, "a.jsonl", rows.as_bytes(), &[]).await;
    assert_eq!(known["validation_status"], "VALID", "{known}");
    let wrong = format!("{{\"input\": \"x\"}}\n{{\"{mark}\n");
    uploaded(server, &id, "wrong.jsonl", wrong.as_bytes(), &[]).await;
    let (_, cases) = server.get(&format!("{version}/cases?limit=1")).await;
    let case = format!("{version}/cases/{}", cases["cases"][0]["test_case_id"].as_str().unwrap());
    let truth = json!({"value": {"answer": mark}, "source": "EXPERT"});
    let (status, truth) = server.post(&format!("{case}/ground-truth"), truth).await;
    assert_eq!(status, 201, "{truth}");
    let model =
        json!({"provider": "openai", "model": "sim-80", "base_url": format!("{simulator}/v1")});
    let body = json!({"name": "batch", "dataset_version_id": known["version_id"],
        "metrics": ["exact_match", "token_f1"], "metadata": {"team": "a"}});
    let (status, batch) = server.post("/v1/evaluations/batch", body).await;
    assert_eq!(status, 202, "{batch}");
    let run = format!("/v1/runs/{}", batch["job_id"].as_str().unwrap());
    let batch = format!("/v1/evaluations/batch/{}", batch["job_id"].as_str().unwrap());
    server.wait(&batch, |batch| batch["status"] == "completed").await;
    let body = json!({"input": format!("Who? {mark}"), "output": mark, "expected_output": mark,
        "metrics": ["exact_match", "coherence"], "config": {"evaluator_model": model}});
    let request = server.request("POST", "/v1/evaluations").header("idempotency-key", mark.len());
    let (status, single) = answer(with_json(request, &body)).await;
    assert_eq!((status, &single["scores"]["exact_match"]), (201, &json!(1.0)), "{single}");
    let scores = single["scores"].clone();
    let single = format!("/v1/evaluations/{}", single["evaluation_id"].as_str().unwrap());
    assert_eq!(server.get(&single).await.1["scores"], scores, "what is kept is what was given");
    let body =
        json!({"input": mark, "actual_output": format!("ask {mark}"), "metadata": {"by": mark}});
    let (status, document) = server.post("/v1/documents", body).await;
    assert_eq!(status, 201, "{document}");
    let document = format!("/v1/documents/{}", document["document_id"].as_str().unwrap());
    let name = format!("prompt {}", mark.len());
    let (status, prompt) = server.post("/v1/prompts", json!({"name": name})).await;
    assert_eq!(status, 201, "{prompt}");
    let prompt = format!("/v1/prompts/{}/versions", prompt["prompt_id"].as_str().unwrap());
    let body = json!({"template": format!("{mark}: {{{{ input }}}}")});
    let (status, version_of_prompt) = server.post(&prompt, body).await;
    assert_eq!(status, 201, "{version_of_prompt}");
    let body = json!({"task": {"input": format!("say {mark}")}, "model": model});
    let (status, execution) = server.post("/v1/executions", body).await;
    assert!(status == 201 || status == 202, "{execution}");
    let execution = format!("/v1/executions/{}", execution["execution_id"].as_str().unwrap());
    server.wait(&execution, |one| one["status"] == "completed").await;
    Made { mark, version, batch, run, single, document, prompt, case, execution }
}

/// What is read of it, without what differs from one to the next.
async fn read(server: &TestServer, made: &Made) -> Vec<Value> {
    let Made { version, batch, run, single, document, prompt, case, execution, .. } = made;
    let mut all = Vec::new();
    for path in [
        version.clone(),
        format!("{version}/cases?limit=100"),
        format!("{}/2", version.rsplit_once('/').unwrap().0),
        case.clone(),
        format!("{case}/ground-truth"),
        format!("{batch}/results?limit=100"),
        format!("{run}/report"),
        single.clone(),
        document.clone(),
        format!("{prompt}/1"),
        execution.clone(),
    ] {
        let (status, body) = server.get(&path).await;
        assert_eq!(status, 200, "{path}: {body}");
        all.push(body);
    }
    for path in
        [format!("{version}/download?format=original"), format!("{batch}/export?format=jsonl")]
    {
        let answer = server.request("GET", &path).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{path}");
        all.push(Value::String(answer.text().await.unwrap()));
    }
    all.iter_mut().for_each(|body| without_particulars(body, made.mark));
    all
}

fn assert_same(one: &[Value], other: &[Value], why: &str) {
    for (one, other) in one.iter().zip(other) {
        assert_eq!(one.to_string(), other.to_string(), "{why}");
    }
}

/// Takes out what is never the same twice, and gives the mark one name.
fn without_particulars(value: &mut Value, mark: &str) {
    match value {
        Value::Object(fields) => {
            let differs = |name: &str| {
                name.ends_with("_id")
                    || name.ends_with("_at")
                    || name.ends_with("_time")
                    || name.contains("_ms")
                    || name.contains("seconds")
                    || name.contains("hash")
                    || name.contains("sha256")
                    || name.contains("bytes")
                    || name.contains("latency")
                    || name.contains("tokens")
                    || ["id", "file_uri", "metrics", "dataset", "cost_usd", "name"].contains(&name)
                    // What a simulated model says depends on each letter of what it is asked.
                    || ["coherence", "response", "overall_score"].contains(&name)
            };
            fields.retain(|name, _| !differs(name));
            fields.values_mut().for_each(|inner| without_particulars(inner, mark));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| without_particulars(item, mark)),
        Value::String(text) => *text = text.replace(mark, "MARK"),
        _ => {}
    }
}

async fn switch(server: &TestServer, on: bool) {
    let change = json!({"settings": {"encrypt_texts": on}});
    let (status, organization) = server.patch("/v1/organization", change).await;
    assert_eq!((status, &organization["settings"]["encrypt_texts"]), (200, &json!(on)));
}

async fn sealed_texts_are_kept_nowhere_and_read_back_the_same(place: Place) {
    let simulator = Simulator::start(SimulatorConfig::default()).unwrap();
    let mut server = TestServer::start_with_models(place, &simulator.url()).await;
    let (_, organization) = server.get("/v1/organization").await;
    assert_eq!(organization["settings"]["encrypt_texts"], false);
    let plain = everything(&server, &simulator.url(), "pomegranate").await;
    switch(&server, true).await;
    let sealed = everything(&server, &simulator.url(), "zanzibarines").await;
    assert_unmarked(&server, sealed.mark).await;
    let as_plain = read(&server, &plain).await;
    assert_same(&as_plain, &read(&server, &sealed).await, "sealed texts and numbers are the same");
    assert_unmarked(&server, sealed.mark).await;
    let repeated = server.request("POST", "/v1/evaluations").header("idempotency-key", 12);
    let body = json!({"input": "other", "output": "other", "metrics": ["exact_match"]});
    assert_eq!(answer(with_json(repeated, &body)).await.0, 422, "another request had the key");

    switch(&server, false).await;
    let later = everything(&server, &simulator.url(), "clementine").await;
    for made in [&plain, &sealed, &later] {
        assert_same(&read(&server, made).await, &as_plain, "all stays readable");
    }
    switch(&server, true).await;
    let told = server.store.seal_texts(DEFAULT_ORGANIZATION, |_, _| {}).await.unwrap();
    assert!(told.rows > 100 && told.files == 4 && told.blobs >= 2, "{told:?}");
    let again = server.store.seal_texts(DEFAULT_ORGANIZATION, |_, _| {}).await.unwrap();
    assert_eq!((again.rows, again.files, again.blobs), (0, 0, 0), "{again:?}");
    for made in [&plain, &sealed, &later] {
        assert_same(&read(&server, made).await, &as_plain, "sealed later");
    }
    server.stop().await;
    for made in [&plain, &sealed, &later] {
        assert_unmarked(&server, made.mark).await;
    }
}

async fn deleted_keys_take_the_texts_and_leave_the_numbers(place: Place) {
    let simulator = Simulator::start(SimulatorConfig::default()).unwrap();
    let mut server = TestServer::start_with_models(place, &simulator.url()).await;
    switch(&server, true).await;
    let made = everything(&server, &simulator.url(), "zanzibarines").await;
    let report = server.get(&format!("{}/report", made.run)).await.1;
    let (_, results) = server.get(&format!("{}/results?limit=100", made.batch)).await;
    let (_, summary) = server.get(&made.batch).await;
    server.store.scoped(DEFAULT_ORGANIZATION).delete_keys().await.unwrap();
    server.restart().await;

    let Made { version, batch, run, single, document, prompt, case, execution, .. } = &made;
    let (status, after) = server.get(&format!("{run}/report")).await;
    assert_eq!((status, &after["models"]), (200, &report["models"]), "{after}");
    let (status, after) = server.get(batch).await;
    assert_eq!((status, &after["summary_scores"]), (200, &summary["summary_scores"]), "{after}");
    let (status, listed) = server.get("/v1/evaluations").await;
    assert_eq!(status, 200, "{listed}");
    let (status, after) = server.get(&format!("{batch}/results?limit=100")).await;
    assert_eq!(status, 200, "{after}");
    let before = results["results"].as_array().unwrap();
    for (one, was) in after["results"].as_array().unwrap().iter().zip(before) {
        assert_eq!((&one["output"], &one["texts_deleted"]), (&Value::Null, &json!(true)), "{one}");
        assert_eq!(one["scores"]["exact_match"]["value"], was["scores"]["exact_match"]["value"]);
    }
    let (status, one) = server.get(single).await;
    assert_eq!((status, &one["scores"]["exact_match"]), (200, &json!(1.0)), "{one}");
    let (status, one) = server.get(execution).await;
    assert_eq!(
        (status, &one["response"], &one["texts_deleted"]),
        (200, &Value::Null, &json!(true))
    );
    let (status, listed) = server.get("/v1/documents").await;
    let one = &listed["documents"][0];
    assert_eq!((status, &one["actual_output"]), (200, &Value::Null), "{listed}");
    assert_eq!((&one["input"], &one["texts_deleted"]), (&Value::Null, &json!(true)), "{listed}");
    let (status, listed) = server.get(prompt).await;
    assert_eq!((status, &listed["versions"][0]["texts_deleted"]), (200, &json!(true)), "{listed}");
    let (status, invalid) = server.get(&format!("{}/2", version.rsplit_once('/').unwrap().0)).await;
    assert_eq!((status, &invalid["texts_deleted"]), (200, &json!(true)), "{invalid}");
    for path in [
        document.clone(),
        format!("{prompt}/1"),
        case.clone(),
        format!("{version}/cases"),
        format!("{case}/ground-truth"),
        format!("{version}/download?format=original"),
        format!("{version}/download?format=csv"),
        format!("{batch}/export?format=jsonl"),
    ] {
        let (status, problem) = server.get(&path).await;
        assert_eq!((status, &problem["code"]), (410, &json!("texts_deleted")), "{path}: {problem}");
    }
    let (_, known) = server.get(version).await;
    let body = json!({"dataset_version_id": known["version_id"], "metrics": ["exact_match"]});
    let (status, problem) = server.post("/v1/evaluations/batch", body).await;
    assert_eq!((status, &problem["code"]), (410, &json!("texts_deleted")), "{problem}");

    let exported = server.request("GET", "/v1/organization/export").send().await.unwrap();
    assert_eq!(exported.status(), 200);
    let anew = everything(&server, &simulator.url(), "clementine").await;
    read(&server, &anew).await;
}
