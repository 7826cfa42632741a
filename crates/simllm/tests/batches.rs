//! The two batch APIs over real connections.

#![allow(clippy::unwrap_used, missing_docs, unreachable_pub)]

mod http;

use std::time::Duration;

use fullbench_simllm::{BatchConfig, Simulator, SimulatorConfig};
use http::{post, send};
use serde_json::{Value, json};

fn start(batch: BatchConfig) -> Simulator {
    Simulator::start(SimulatorConfig { batch, ..SimulatorConfig::default() }).unwrap()
}

fn get(url: &str, path: &str) -> (u16, String) {
    let reply = send(url, "GET", path, "", "").unwrap();
    (reply.status, reply.body)
}

fn get_json(url: &str, path: &str) -> Value {
    serde_json::from_str(&get(url, path).1).unwrap()
}

fn call(model: &str, question: &str) -> Value {
    json!({"model": model, "max_tokens": 100, "messages": [{"role": "user", "content": question}]})
}

/// Uploads a file with these requests and makes a batch of it.
fn submit_openai(url: &str, requests: &[(&str, Value)]) -> Value {
    let lines: String = requests
        .iter()
        .map(|(id, body)| {
            let line = json!({"custom_id": id, "method": "POST", "url": "/v1/chat/completions", "body": body});
            format!("{line}\n")
        })
        .collect();
    let form = format!(
        "--b\r\nContent-Disposition: form-data; name=\"purpose\"\r\n\r\nbatch\r\n--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"f\"\r\n\r\n{lines}\r\n--b--\r\n"
    );
    let header = "content-type: multipart/form-data; boundary=b\r\n";
    let file = send(url, "POST", "/v1/files", header, &form).unwrap().json();
    let batch = json!({"input_file_id": file["id"], "endpoint": "/v1/chat/completions",
                       "completion_window": "24h", "metadata": {"mine": "x"}});
    post(url, "/v1/batches", &batch).unwrap().json()
}

fn submit_anthropic(url: &str, requests: &[(&str, Value)]) -> Value {
    let requests: Vec<Value> =
        requests.iter().map(|(id, params)| json!({"custom_id": id, "params": params})).collect();
    post(url, "/v1/messages/batches", &json!({"requests": requests})).unwrap().json()
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn openai_answers_in_another_order_after_its_time() {
    let simulator = start(BatchConfig { delay_ms: 100, ..BatchConfig::default() });
    let url = simulator.url();
    let batch =
        submit_openai(&url, &[("a", call("sim-100", "2 + 2")), ("b", call("sim-100", "3 + 3"))]);
    assert_eq!(
        (&batch["status"], &batch["metadata"]["mine"]),
        (&json!("in_progress"), &json!("x"))
    );
    let path = format!("/v1/batches/{}", batch["id"].as_str().unwrap());
    while get_json(&url, &path)["status"] != "completed" {
        std::thread::sleep(Duration::from_millis(10));
    }
    let ended = get_json(&url, &path);
    assert_eq!(ended["request_counts"], json!({"total": 2, "completed": 2, "failed": 0}));
    let file = ended["output_file_id"].as_str().unwrap();
    let results = lines(&get(&url, &format!("/v1/files/{file}/content")).1);
    assert_eq!(results[0]["custom_id"], "b");
    let text = &results[1]["response"]["body"]["choices"][0]["message"]["content"];
    assert_eq!(text, "2 + 2 = 4. The answer is 4.");
    let single = post(&url, "/v1/chat/completions", &call("sim-100", "2 + 2")).unwrap().json();
    assert_eq!(results[1]["response"]["body"], single);
    let seen = simulator.stop();
    assert_eq!((seen.batches, seen.batched_requests, seen.calls), (1, 2, 1));
}

#[test]
fn anthropic_answers_and_lists_page_by_page() {
    let simulator = start(BatchConfig::default());
    let url = simulator.url();
    for number in 0..3 {
        submit_anthropic(&url, &[("a", call("sim-100", &format!("{number} + 1")))]);
    }
    let page = get_json(&url, "/v1/messages/batches?limit=2");
    assert_eq!((page["data"].as_array().unwrap().len(), &page["has_more"]), (2, &json!(true)));
    let last = page["last_id"].as_str().unwrap();
    let rest = get_json(&url, &format!("/v1/messages/batches?limit=2&after_id={last}"));
    assert_eq!((rest["data"].as_array().unwrap().len(), &rest["has_more"]), (1, &json!(false)));
    let oldest = &rest["data"][0];
    assert_eq!(oldest["processing_status"], "ended");
    assert_eq!(oldest["request_counts"]["succeeded"], 1);
    let results = lines(&get(&url, oldest["results_url"].as_str().unwrap()).1);
    assert_eq!(
        results[0]["result"]["message"]["content"][0]["text"],
        "0 + 1 = 1. The answer is 1."
    );
}

#[test]
fn faults_are_told_in_the_words_of_each_provider() {
    let simulator = start(BatchConfig { expired: 1.0, ..BatchConfig::default() });
    let url = simulator.url();
    let batch = submit_openai(&url, &[("a", call("echo", "x"))]);
    let file = batch["error_file_id"].as_str().unwrap();
    let results = lines(&get(&url, &format!("/v1/files/{file}/content")).1);
    assert_eq!(results[0]["error"]["code"], "batch_expired");
    let batch = submit_anthropic(&url, &[("a", call("echo", "x")), ("b", call("missing", "x"))]);
    let results = lines(&get(&url, batch["results_url"].as_str().unwrap()).1);
    assert_eq!(results[0]["result"]["error"]["error"]["type"], "not_found_error");
    assert_eq!(results[1]["result"]["type"], "expired");
}

#[test]
fn what_a_provider_refuses_is_refused() {
    let simulator = start(BatchConfig { delay_ms: 60_000, ..BatchConfig::default() });
    let url = simulator.url();
    let mixed = submit_openai(&url, &[("a", call("echo", "x")), ("b", call("text", "x"))]);
    assert_eq!(mixed["error"]["type"], "invalid_request_error", "one model in a batch");
    let wrong_id = submit_anthropic(&url, &[("a b", call("echo", "x"))]);
    assert_eq!(wrong_id["error"]["type"], "invalid_request_error");
    let batch = submit_anthropic(&url, &[("a", call("echo", "x"))]);
    let path = format!("/v1/messages/batches/{}", batch["id"].as_str().unwrap());
    assert_eq!(get(&url, &format!("{path}/results")).0, 404, "it has not ended");
    assert_eq!(
        post(&url, &format!("{path}/cancel"), &json!({})).unwrap().json()["request_counts"]["canceled"],
        1
    );
    assert_eq!(lines(&get(&url, &format!("{path}/results")).1)[0]["result"]["type"], "canceled");
    assert_eq!(get(&url, "/v1/batches/batch_00009").0, 404);
}
