//! What an organization wants to be taken out of texts is in no file of the store, and changes no score.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use common::TestServer;
use common::backend::{self, Place, on_every_backend};
use fullbench_simllm::{Simulator, SimulatorConfig};
use serde_json::json;

on_every_backend!(what_is_taken_out_is_kept_nowhere_and_scores_are_those_of_the_original);

const ADDRESS: &str = "zanzibar@example.com";

async fn what_is_taken_out_is_kept_nowhere_and_scores_are_those_of_the_original(place: Place) {
    let simulator = Simulator::start(SimulatorConfig::default()).unwrap();
    let server = TestServer::start_with_models(place, &simulator.url()).await;
    let scrub = r#"UPDATE organizations SET settings = '{"scrub": ["email", "key"]}'"#;
    server.place.execute(scrub).await.unwrap();
    let (_, organization) = server.get("/v1/organization").await;
    assert_eq!(organization["settings"]["scrub"], json!(["email", "key"]));

    let model = json!({"provider": "openai", "model": "sim-80", "base_url": format!("{}/v1", simulator.url())});
    let body = json!({"input": format!("Who? {ADDRESS}"), "output": ADDRESS, "expected_output": ADDRESS,
        "metrics": ["exact_match", "coherence"], "config": {"evaluator_model": model}});
    let request = server.request("POST", "/v1/evaluations").header("idempotency-key", "once");
    let (status, evaluation) = common::answer(common::with_json(request, &body)).await;
    assert_eq!(status, 201, "{evaluation}");
    let path = format!("/v1/evaluations/{}", evaluation["evaluation_id"].as_str().unwrap());
    let (_, kept) = server.get(&path).await;
    assert_eq!(evaluation["scores"]["exact_match"], 1.0, "{evaluation}");
    assert_eq!(kept["scores"], evaluation["scores"], "scores are those of the original");
    assert_eq!(evaluation["status"], "completed", "{evaluation}");
    let document = json!({"input": ADDRESS, "actual_output": format!("ask {ADDRESS}"), "metadata": {"by": ADDRESS}});
    let (status, document) = server.post("/v1/documents", document).await;
    assert_eq!(status, 201, "{document}");
    assert_eq!(document["actual_output"], "ask [email]");
    assert!(!document.to_string().contains(ADDRESS), "{document}");
    if !server.place.is_postgres() {
        let found = common::marked(server.place.home(), ADDRESS);
        assert!(found.is_empty(), "{found:?}");
    }
}
