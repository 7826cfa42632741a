//! Documents, and what judges say of them.

use fullbench_simllm::{Simulator, SimulatorConfig};
use serde_json::{Value, json};

use crate::backend::{Place, on_every_backend};
use crate::common::TestServer;
use crate::{created_once, fields, plainness};

on_every_backend!(
    documents_are_kept_and_belong_to_their_organization,
    a_judge_judges_a_document,
    a_judge_is_asked_exactly_as_it_was_made,
    what_cannot_be_judged_says_why,
    judgements_belong_to_their_organization,
);

/// A server with a simulated provider, a criterion, and a judge of it.
async fn judging(place: Place, config: SimulatorConfig) -> (TestServer, Simulator, Value) {
    let simulator = Simulator::start(config).unwrap();
    let server = TestServer::start_with_models(place, &simulator.url()).await;
    server.post("/v1/criteria", plainness()).await;
    let judge = add_judge(&server, &simulator, json!({})).await;
    (server, simulator, judge)
}

async fn add_judge(server: &TestServer, simulator: &Simulator, more: Value) -> Value {
    let mut wanted = json!({ "name": "strict", "criterion": "plainness", "method": "g_eval",
        "model": { "provider": "openai", "model": "sim-80",
            "base_url": format!("{}/v1", simulator.url()),
            "price": { "input": 1.0, "output": 2.0 }, "limits": { "attempts": 1 } },
        "parameters": { "samples": 2 } });
    for (name, value) in more.as_object().unwrap() {
        wanted[name] = value.clone();
    }
    let (status, judge) = server.post("/v1/judges", wanted).await;
    assert_eq!(status, 201, "{judge}");
    judge
}

async fn add_document(server: &TestServer) -> Value {
    let sent = json!({ "input": "What is the capital of France?", "actual_output": "Paris.",
        "metadata": { "source": "form" } });
    let (status, document) = server.post("/v1/documents", sent).await;
    assert_eq!(status, 201, "{document}");
    document
}

async fn documents_are_kept_and_belong_to_their_organization(place: Place) {
    let server = TestServer::start(place).await;
    let sent = json!({ "input": null, "actual_output": "Paris\u{0}.", "expected_output": "Paris",
        "metadata": { "source": ["a", 1, null] } });
    let made = created_once(&server, "/v1/documents", &sent).await;
    assert_eq!(made["metadata"], sent["metadata"]);
    assert_eq!((&made["input"], &made["expected_output"]), (&Value::Null, &json!("Paris")));
    let second = add_document(&server).await;
    let path = format!("/v1/documents/{}", made["document_id"].as_str().unwrap());
    assert_eq!(server.get(&path).await, (200, made.clone()));
    let (_, page) = server.get("/v1/documents?limit=1").await;
    assert_eq!((&page["total"], &page["has_more"]), (&json!(2), &json!(true)));
    assert_eq!(page["documents"][0], second);
    assert_eq!(server.patch(&path, json!({"actual_output": "x"})).await.0, 405);
    for (wrong, field) in [
        (json!({"actual_output": 7}), "actual_output"),
        (json!({"actual_output": "x", "metadata": "x"}), "metadata"),
        (json!({"actual_output": "x", "color": "x"}), "color"),
    ] {
        let (status, problem) = server.post("/v1/documents", wrong).await;
        assert_eq!((status, fields(&problem)), (422, vec![field]), "{problem}");
    }
    assert_eq!(server.post("/v1/documents", json!({})).await.0, 422);
    let other = server.as_other_organization().await;
    assert_eq!(other.get(&path).await.0, 404);
    assert_eq!(other.get("/v1/documents").await.1["total"], json!(0));
    assert_eq!(server.get("/v1/documents/nothing").await.0, 404);
}

async fn a_judge_judges_a_document(place: Place) {
    let (server, _simulator, judge) = judging(place, SimulatorConfig::default()).await;
    let document = add_document(&server).await;
    let wanted = json!({ "judge_id": judge["judge_id"], "document_id": document["document_id"],
        "metadata": { "ticket": 7 } });
    let judged = created_once(&server, "/v1/judgements", &wanted).await;
    assert_eq!(
        (&judged["status"], &judged["evaluation_status"]),
        (&json!("completed"), &Value::Null)
    );
    let score = judged["final_score"].as_f64().unwrap();
    let normalized = judged["final_score_normalized"].as_f64().unwrap();
    assert!(((score - 1.0) / 4.0 - normalized).abs() < 1e-9, "{judged}");
    assert!(judged["prompt_used"].as_str().unwrap().contains("Paris."), "{judged}");
    assert!(!judged["all_responses"].as_array().unwrap().is_empty());
    let tokens = ["prompt_tokens", "completion_tokens", "total_usage_tokens"]
        .map(|name| judged[name].as_u64().unwrap());
    assert!(tokens[0] > 0 && tokens[0] + tokens[1] == tokens[2], "{judged}");
    assert!(judged["cost_usd"].as_f64().unwrap() > 0.0, "{judged}");
    assert_eq!(
        (&judged["metadata"], &judged["error_message"]),
        (&wanted["metadata"], &Value::Null)
    );
    assert!(!judged["completed_at"].is_null() && !judged["started_at"].is_null());
    let path = format!("/v1/judgements/{}", judged["judgement_id"].as_str().unwrap());
    assert_eq!(server.get(&path).await, (200, judged.clone()));

    // With a pass mark it passes or fails.
    for (mark, verdict) in [(0.0, "pass"), (1.0, "fail")] {
        server.post("/v1/criteria/plainness/thresholds", json!({"score": mark})).await;
        let wanted = json!({"judge": "strict", "document_id": document["document_id"]});
        let (status, again) = server.post("/v1/judgements", wanted).await;
        assert_eq!((status, &again["evaluation_status"]), (201, &json!(verdict)), "{again}");
        assert_eq!(again["threshold"], json!(mark));
        assert_eq!(again["final_score"], judged["final_score"]);
    }
    assert_eq!(server.get(&path).await, (200, judged), "what was judged stays as it was");
    let path = format!("/v1/judges/{}/performance", judge["judge_id"].as_str().unwrap());
    let (_, performance) = server.get(&path).await;
    assert_eq!((&performance["judgements"], &performance["scored"]), (&json!(3), &json!(3)));
    assert_eq!(performance["pass_rate"], json!(0.5), "{performance}");
    // A judgement is an evaluation as well.
    assert_eq!(server.get("/v1/evaluations?type=single").await.1["total"], json!(3));
}

async fn a_judge_is_asked_exactly_as_it_was_made(place: Place) {
    let (server, simulator, first) = judging(place, SimulatorConfig::default()).await;
    let more = json!({"successor_of": first["judge_id"], "parameters": {"samples": 4}});
    let second = add_judge(&server, &simulator, more).await;
    let document = add_document(&server).await;
    let judged = async |judge: Value| {
        let mut wanted = judge;
        wanted["document_id"] = document["document_id"].clone();
        let (status, judged) = server.post("/v1/judgements", wanted).await;
        assert_eq!(status, 201, "{judged}");
        judged
    };
    let by_first = judged(json!({"judge_id": first["judge_id"]})).await;
    let by_name = judged(json!({"judge": "strict"})).await;
    assert_eq!(by_first["judge_id"], first["judge_id"]);
    assert_eq!(by_name["judge_id"], second["judge_id"]);
    let samples = |judged: &Value| judged["all_responses"].as_array().unwrap().len();
    assert!(samples(&by_first) < samples(&by_name), "{by_first} {by_name}");

    let total = async |query: String| {
        let (status, page) = server.get(&format!("/v1/judgements?{query}")).await;
        assert_eq!(status, 200, "{page}");
        page["total"].as_u64().unwrap()
    };
    let id = |value: &Value, name: &str| value[name].as_str().unwrap().to_owned();
    let (first, second) = (id(&first, "judge_id"), id(&second, "judge_id"));
    let document = id(&document, "document_id");
    for (query, expected) in [
        (String::new(), 2),
        ("judge=strict".to_owned(), 2),
        (format!("judge_id={first}"), 1),
        (format!("judge_id={second}&judge=strict&document_id={document}"), 1),
        (format!("judge_id={second}&judge=lenient"), 0),
        ("judge=lenient%00".to_owned(), 0),
        (format!("document_id={document}&status=completed"), 2),
        (format!("document_id={first}"), 0),
        ("status=running".to_owned(), 0),
    ] {
        assert_eq!(total(query.clone()).await, expected, "{query}");
    }
    let (_, page) = server.get("/v1/judgements?limit=1").await;
    assert_eq!((&page["has_more"], &page["judgements"][0]), (&json!(true), &by_name));
    assert_eq!(server.get("/v1/judgements?status=lost").await.0, 422);
}

async fn what_cannot_be_judged_says_why(place: Place) {
    let config = SimulatorConfig { fail_after: Some(0), ..SimulatorConfig::default() };
    let (server, simulator, judge) = judging(place, config).await;
    let document = add_document(&server).await;
    let document_id = &document["document_id"];
    let wanted = json!({"judge_id": judge["judge_id"], "document_id": document_id});
    let (status, judged) = server.post("/v1/judgements", wanted.clone()).await;
    assert_eq!((status, &judged["status"]), (201, &json!("incomplete")), "{judged}");
    assert_eq!(judged["evaluation_status"], json!("pending"));
    assert!(!judged["error_message"].is_null(), "{judged}");
    let id = judged["judgement_id"].as_str().unwrap();
    let (status, _) = server.post(&format!("/v1/evaluations/{id}/resume"), json!({})).await;
    assert_eq!(status, 202);

    let more = json!({"name": "compare", "criterion": "accuracy", "method": "reference"});
    let compare = add_judge(&server, &simulator, more).await;
    let wanted = json!({"judge_id": compare["judge_id"], "document_id": document_id});
    let (status, judged) = server.post("/v1/judgements", wanted.clone()).await;
    assert_eq!((status, &judged["status"]), (201, &json!("completed")), "{judged}");
    assert_eq!(
        (&judged["final_score"], &judged["evaluation_status"]),
        (&Value::Null, &Value::Null)
    );
    assert!(!judged["error_message"].is_null(), "{judged}");

    let nobody = json!("0198a000-0000-7000-8000-000000000000");
    for (name, value, field) in [
        ("judge_id", nobody.clone(), "judge_id"),
        ("judge_id", Value::Null, "judge"),
        ("judge", json!("compare"), "judge"),
        ("document_id", nobody, "document_id"),
        ("document_id", json!("x"), "document_id"),
        ("color", json!("x"), "color"),
    ] {
        let mut wrong = wanted.clone();
        wrong[name] = value;
        let (status, problem) = server.post("/v1/judgements", wrong).await;
        assert_eq!((status, fields(&problem)), (422, vec![field]), "{problem}");
    }
    let unknown = json!({"judge": "nobody\u{0}", "document_id": document_id});
    let (status, problem) = server.post("/v1/judgements", unknown).await;
    assert_eq!((status, fields(&problem)), (422, vec!["judge"]), "{problem}");
}

async fn judgements_belong_to_their_organization(place: Place) {
    let (server, _simulator, judge) = judging(place, SimulatorConfig::default()).await;
    let document = add_document(&server).await;
    let wanted = json!({"judge_id": judge["judge_id"], "document_id": document["document_id"]});
    let (_, judged) = server.post("/v1/judgements", wanted.clone()).await;
    let path = format!("/v1/judgements/{}", judged["judgement_id"].as_str().unwrap());
    let other = server.as_other_organization().await;
    assert_eq!(other.get(&path).await.0, 404);
    assert_eq!(other.get("/v1/judgements").await.1["total"], json!(0));
    assert_eq!(other.get("/v1/judgements?judge=strict").await.1["total"], json!(0));
    let (status, problem) = other.post("/v1/judgements", wanted.clone()).await;
    assert_eq!((status, fields(&problem)), (422, vec!["judge_id"]), "{problem}");
    // An evaluation that is no judgement is none.
    let sent =
        json!({"input": "x", "output": "x", "expected_output": "x", "metrics": ["exact_match"]});
    let (_, evaluation) = server.post("/v1/evaluations", sent).await;
    let path = format!("/v1/judgements/{}", evaluation["evaluation_id"].as_str().unwrap());
    assert_eq!(server.get(&path).await.0, 404);
}
