//! Embeddings over real connections: the same vectors whenever they are asked for, and the faults of every call.

#![allow(clippy::unwrap_used, missing_docs, unreachable_pub)]

mod http;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use fullbench_simllm::{Simulator, SimulatorConfig};
use http::{Reply, post, send};
use serde_json::{Value, json};

const PATH: &str = "/v1/embeddings";

fn start(config: SimulatorConfig) -> Simulator {
    Simulator::start(config).unwrap()
}

fn ask(simulator: &Simulator, texts: &[&str]) -> Option<Reply> {
    post(&simulator.url(), PATH, &json!({"model": "m", "input": texts}))
}

/// The entry with an index.
fn entry(reply: &Value, index: usize) -> &Value {
    let data = reply["data"].as_array().unwrap();
    data.iter().find(|item| item["index"] == index).unwrap()
}

#[test]
fn a_text_has_the_same_vector_wherever_it_stands() {
    let simulator = start(SimulatorConfig::default());
    let reply = ask(&simulator, &["one", "two", "one"]).unwrap().json();
    assert_eq!(reply["object"], "list");
    assert_eq!(entry(&reply, 0)["embedding"], entry(&reply, 2)["embedding"]);
    assert_ne!(entry(&reply, 0)["embedding"], entry(&reply, 1)["embedding"]);
    assert_eq!(entry(&reply, 0)["embedding"].as_array().unwrap().len(), 384);
    assert_eq!(reply["usage"], json!({"prompt_tokens": 3, "total_tokens": 3}));
    let alone = ask(&simulator, &["two"]).unwrap().json();
    assert_eq!(entry(&alone, 0)["embedding"], entry(&reply, 1)["embedding"]);
}

#[test]
fn dimensions_and_encoding_are_those_asked_for() {
    let simulator = start(SimulatorConfig::default());
    let mut request = json!({"model": "m", "input": "one text", "dimensions": 8});
    let floats = post(&simulator.url(), PATH, &request).unwrap().json();
    let floats: Vec<f32> = serde_json::from_value(entry(&floats, 0)["embedding"].clone()).unwrap();
    assert_eq!(floats.len(), 8);
    request["encoding_format"] = json!("base64");
    let encoded = post(&simulator.url(), PATH, &request).unwrap().json();
    let bytes = BASE64_STANDARD.decode(entry(&encoded, 0)["embedding"].as_str().unwrap()).unwrap();
    let decoded: Vec<f32> =
        bytes.as_chunks::<4>().0.iter().map(|value| f32::from_le_bytes(*value)).collect();
    assert_eq!(decoded, floats);
}

#[test]
fn every_fault_comes_and_is_counted() {
    let off = SimulatorConfig::default;
    let limited = start(SimulatorConfig { rate_limit: 1.0, retry_after_ms: 250, ..off() });
    let reply = ask(&limited, &["text"]).unwrap();
    assert_eq!((reply.status, reply.header("retry-after-ms")), (429, Some("250")));
    assert_eq!(limited.stop().faults.rate_limited, 1);

    let failing = start(SimulatorConfig { error: 1.0, ..off() });
    assert_eq!(ask(&failing, &["text"]).unwrap().status, 500);
    assert_eq!(failing.stop().faults.errors, 1);

    let dropping = start(SimulatorConfig { drop: 1.0, ..off() });
    assert!(ask(&dropping, &["text"]).is_none());
    assert_eq!(dropping.stop().faults.dropped, 1);

    let stalling = start(SimulatorConfig { stall: 1.0, stall_ms: 5, ..off() });
    assert_eq!(ask(&stalling, &["text"]).unwrap().status, 200);
    assert_eq!(stalling.stop().faults.stalled, 1);

    let truncating = start(SimulatorConfig { truncate: 1.0, ..off() });
    let half = ask(&truncating, &["text"]).unwrap().body;
    assert!(serde_json::from_str::<Value>(&half).is_err());
    assert_eq!(truncating.stop().faults.truncated, 1);

    let locked = start(SimulatorConfig { require_key: Some("sk-right".to_owned()), ..off() });
    assert_eq!(ask(&locked, &["text"]).unwrap().status, 401);
    let key = "authorization: Bearer sk-right\r\n";
    let body = json!({"model": "m", "input": "text"}).to_string();
    assert_eq!(send(&locked.url(), "POST", PATH, key, &body).unwrap().status, 200);
    let seen = locked.stop();
    assert_eq!((seen.calls, seen.successes, seen.faults.unauthorized), (2, 1, 1));
}

#[test]
fn malformed_replies_are_never_what_was_asked_for() {
    let simulator = start(SimulatorConfig { malform: 1.0, ..SimulatorConfig::default() });
    let mut shapes = std::collections::BTreeSet::new();
    for number in 0..40 {
        let reply = ask(&simulator, &[&format!("text {number}"), "other"]).unwrap();
        assert_eq!(reply.status, 200);
        let Ok(value) = serde_json::from_str::<Value>(&reply.body) else { continue };
        let Some(data) = value["data"].as_array() else { continue };
        let shape: Vec<(u64, usize)> = data
            .iter()
            .map(|item| {
                let length = item["embedding"].as_array().unwrap().len();
                (item["index"].as_u64().unwrap(), length)
            })
            .collect();
        assert_ne!(shape, [(1, 384), (0, 384)]);
        shapes.insert(shape);
    }
    assert_eq!(shapes.len(), 3, "{shapes:?}");
    assert_eq!(simulator.stop().faults.malformed, 40);
}

#[test]
fn refusals_do_not_depend_on_chance() {
    let simulator =
        start(SimulatorConfig { max_context_tokens: Some(10), ..SimulatorConfig::default() });
    assert_eq!(ask(&simulator, &["short", "short"]).unwrap().status, 200);
    assert_eq!(ask(&simulator, &["short", &"long ".repeat(20)]).unwrap().status, 400);
    assert_eq!(ask(&simulator, &[""]).unwrap().status, 400);
    let missing = post(&simulator.url(), PATH, &json!({"model": "missing", "input": "text"}));
    assert_eq!(missing.unwrap().status, 404);
    let faults = simulator.stop().faults;
    assert_eq!((faults.context_too_long, faults.invalid), (1, 2));
}
