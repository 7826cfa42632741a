//! The simulator over real connections: what each wire format looks like, and what faults do.

#![allow(clippy::unwrap_used, missing_docs, unreachable_pub)]

mod http;

use fullbench_simllm::{Simulator, SimulatorConfig};
use http::{Reply, post, send};
use serde_json::{Value, json};

const OPENAI: &str = "/v1/chat/completions";
const ANTHROPIC: &str = "/v1/messages";

fn start(config: SimulatorConfig) -> Simulator {
    Simulator::start(config).unwrap()
}

fn openai(model: &str, question: &str) -> Value {
    json!({"model": model, "messages": [{"role": "user", "content": question}]})
}

fn anthropic(model: &str, question: &str) -> Value {
    json!({"model": model, "max_tokens": 256, "messages": [{"role": "user", "content": question}]})
}

fn gemini(question: &str) -> Value {
    json!({"contents": [{"role": "user", "parts": [{"text": question}]}]})
}

#[test]
fn the_three_formats_give_the_same_answer() {
    let simulator = start(SimulatorConfig::default());
    let url = simulator.url();
    let expected = "17 * 23 = 391. The answer is 391.";
    let reply = post(&url, OPENAI, &openai("sim-100", "17 * 23?")).unwrap().json();
    assert_eq!(reply["choices"][0]["message"]["content"], expected);
    assert_eq!(reply["choices"][0]["finish_reason"], "stop");
    assert_eq!(reply["usage"]["total_tokens"], 6 + 9);
    let reply = post(&url, ANTHROPIC, &anthropic("sim-100", "17 * 23?")).unwrap().json();
    assert_eq!(reply["content"][0]["text"], expected);
    assert_eq!(reply["stop_reason"], "end_turn");
    assert_eq!(reply["usage"]["output_tokens"], 9);
    let reply =
        post(&url, "/v1beta/models/sim-100:generateContent", &gemini("17 * 23?")).unwrap().json();
    assert_eq!(reply["candidates"][0]["content"]["parts"][0]["text"], expected);
    assert_eq!(reply["candidates"][0]["finishReason"], "STOP");
    assert_eq!(reply["usageMetadata"]["promptTokenCount"], 6);
    let seen = simulator.stop();
    assert_eq!((seen.calls, seen.successes, seen.in_flight), (3, 3, 0));
    assert_eq!((seen.distinct_prompts, seen.repeated_prompts), (3, 0));
}

#[test]
fn streams_join_to_the_whole_answer_and_end_with_usage() {
    let simulator = start(SimulatorConfig { latency_ms: 20.0, ..Default::default() });
    let url = simulator.url();
    let expected = "2 + 2 = 4. The answer is 4.";
    let mut request = openai("sim-100", "2 + 2");
    request["stream"] = json!(true);
    request["stream_options"] = json!({"include_usage": true});
    let events = post(&url, OPENAI, &request).unwrap().events();
    let text: String = events
        .iter()
        .filter_map(|event| event["choices"][0]["delta"]["content"].as_str())
        .collect();
    assert_eq!(text, expected);
    assert_eq!(events[events.len() - 2]["usage"]["completion_tokens"], 7);
    assert_eq!(events[events.len() - 1], "[DONE]");

    let mut request = anthropic("sim-100", "2 + 2");
    request["stream"] = json!(true);
    let events = post(&url, ANTHROPIC, &request).unwrap().events();
    let text: String = events.iter().filter_map(|event| event["delta"]["text"].as_str()).collect();
    assert_eq!(text, expected);
    assert_eq!(events[0]["type"], "message_start");
    assert_eq!(events[events.len() - 2]["usage"]["output_tokens"], 7);
    assert_eq!(events[events.len() - 1]["type"], "message_stop");

    let path = "/v1beta/models/sim-100:streamGenerateContent?alt=sse";
    let events = post(&url, path, &gemini("2 + 2")).unwrap().events();
    let part = |event: &Value| {
        event["candidates"][0]["content"]["parts"][0]["text"].as_str().map(str::to_owned)
    };
    assert_eq!(events.iter().filter_map(part).collect::<String>(), expected);
    let last = &events[events.len() - 1];
    assert_eq!(
        (&last["candidates"][0]["finishReason"], &last["usageMetadata"]["candidatesTokenCount"]),
        (&json!("STOP"), &json!(7))
    );
    assert_eq!(simulator.stop().successes, 3);
}

#[test]
fn log_probabilities_and_json_come_when_asked_for() {
    let simulator = start(SimulatorConfig::default());
    let url = simulator.url();
    let mut request = openai("sim-100", "2 + 2");
    request["logprobs"] = json!(true);
    request["top_logprobs"] = json!(2);
    request["n"] = json!(2);
    let reply = post(&url, OPENAI, &request).unwrap().json();
    let tokens = reply["choices"][0]["logprobs"]["content"].as_array().unwrap();
    let text: String = tokens.iter().filter_map(|token| token["token"].as_str()).collect();
    assert_eq!(reply["choices"][0]["message"]["content"], text);
    assert_eq!(tokens[0]["top_logprobs"].as_array().unwrap().len(), 2);
    assert_eq!(reply["choices"].as_array().unwrap().len(), 2);

    let mut request = gemini("2 + 2");
    request["generationConfig"] = json!({"responseLogprobs": true, "logprobs": 3});
    let reply = post(&url, "/v1beta/models/sim-100:generateContent", &request).unwrap().json();
    let result = &reply["candidates"][0]["logprobsResult"];
    assert!(result["chosenCandidates"][0]["logProbability"].as_f64().unwrap() < 0.0);
    assert_eq!(result["topCandidates"][0]["candidates"].as_array().unwrap().len(), 3);

    let schema = json!({"type": "object", "properties": {"answer": {"type": "integer"}}, "required": ["answer"]});
    let mut request = openai("sim-100", "6 × 7");
    request["response_format"] =
        json!({"type": "json_schema", "json_schema": {"name": "a", "schema": schema}});
    let reply = post(&url, OPENAI, &request).unwrap().json();
    assert_eq!(reply["choices"][0]["message"]["content"], r#"{"answer":42}"#);
    let mut request = anthropic("sim-100", "6 × 7");
    request["output_config"] = json!({"format": {"type": "json_schema", "schema": schema}});
    let reply = post(&url, ANTHROPIC, &request).unwrap().json();
    assert_eq!(reply["content"][0]["text"], r#"{"answer":42}"#);
}

/// Asks until there is a valid reply; gives the answer and the number of attempts.
fn persist(url: &str, question: &str) -> (String, usize) {
    for attempt in 1..100 {
        let reply = post(url, OPENAI, &openai("sim-60", question));
        let Some(Reply { status: 200, body, .. }) = reply else { continue };
        let Ok(json) = serde_json::from_str::<Value>(&body) else { continue };
        let Some(text) = json["choices"][0]["message"]["content"].as_str() else { continue };
        return (text.to_owned(), attempt);
    }
    panic!("{question} was never answered");
}

#[test]
fn faults_come_again_in_the_same_places_and_do_not_change_answers() {
    let faulty = SimulatorConfig {
        seed: 5,
        rate_limit: 0.2,
        error: 0.1,
        drop: 0.1,
        truncate: 0.1,
        malform: 0.1,
        ..Default::default()
    };
    let clean = SimulatorConfig { seed: 5, ..Default::default() };
    let (first, second, clean) = (start(faulty.clone()), start(faulty), start(clean));
    for number in 0..100 {
        let question = format!("{number} + 17");
        let answered = persist(&first.url(), &question);
        assert_eq!(persist(&clean.url(), &question), (answered.0.clone(), 1));
    }
    for number in (0..100).rev() {
        persist(&second.url(), &format!("{number} + 17"));
    }
    let (first, second, clean) = (first.stop(), second.stop(), clean.stop());
    assert_eq!(first.faults, second.faults);
    assert_eq!((first.calls, first.successes), (second.calls, 100));
    assert_eq!(first.repeats_after_success, 0);
    assert_eq!(first.repeated_prompts, first.calls - 100);
    for count in [
        first.faults.rate_limited,
        first.faults.errors,
        first.faults.dropped,
        first.faults.truncated,
        first.faults.malformed,
    ] {
        assert!(count > 0, "{first:?}");
    }
    assert_eq!(clean.calls, 100);
}

#[test]
fn refusals_have_the_shape_of_their_format() {
    let limited =
        start(SimulatorConfig { rate_limit: 1.0, retry_after_ms: 1_500, ..Default::default() });
    let reply = post(&limited.url(), OPENAI, &openai("sim-60", "1 + 1")).unwrap();
    assert_eq!(
        (reply.status, reply.header("retry-after"), reply.header("retry-after-ms")),
        (429, Some("2"), Some("1500"))
    );
    let reply =
        post(&limited.url(), "/v1beta/models/m:generateContent", &gemini("1")).unwrap().json();
    assert_eq!(reply["error"]["details"][0]["retryDelay"], "1.5s");

    let small = start(SimulatorConfig { max_context_tokens: Some(10), ..Default::default() });
    let long = "word ".repeat(40);
    let reply = post(&small.url(), OPENAI, &openai("m", &long)).unwrap();
    assert_eq!(
        (reply.status, &reply.json()["error"]["code"]),
        (400, &json!("context_length_exceeded"))
    );
    let reply = post(&small.url(), ANTHROPIC, &anthropic("m", &long)).unwrap();
    assert_eq!(reply.json()["error"]["message"], "prompt is too long: 54 tokens > 10 maximum");
    let reply = post(&small.url(), "/v1beta/models/m:generateContent", &gemini(&long)).unwrap();
    assert_eq!(reply.json()["error"]["status"], "INVALID_ARGUMENT");
    assert_eq!(small.stop().faults.context_too_long, 3);

    let failing = start(SimulatorConfig { error: 1.0, ..Default::default() });
    let statuses: Vec<_> = (0..20)
        .map(|_| post(&failing.url(), ANTHROPIC, &anthropic("m", "x")).unwrap().status)
        .collect();
    assert!(statuses.contains(&529) && statuses.contains(&500));

    let plain = start(SimulatorConfig::default());
    assert_eq!(post(&plain.url(), OPENAI, &openai("missing", "x")).unwrap().status, 404);
    assert_eq!(post(&plain.url(), OPENAI, &json!({"model": "m"})).unwrap().status, 400);
    assert_eq!(post(&plain.url(), "/v1/nothing", &json!({})).unwrap().status, 404);
}

#[test]
fn keys_are_required_where_configured_and_fail_after_the_set_number() {
    let simulator =
        start(SimulatorConfig { require_key: Some("secret".into()), ..Default::default() });
    let url = simulator.url();
    let body = openai("echo", "hello").to_string();
    assert_eq!(send(&url, "POST", OPENAI, "", &body).unwrap().status, 401);
    assert_eq!(
        send(&url, "POST", OPENAI, "authorization: Bearer secret\r\n", &body).unwrap().status,
        200
    );
    let body = anthropic("echo", "hello").to_string();
    assert_eq!(send(&url, "POST", ANTHROPIC, "x-api-key: secret\r\n", &body).unwrap().status, 200);
    let path = "/v1beta/models/echo:generateContent?key=secret";
    assert_eq!(send(&url, "POST", path, "", &gemini("hello").to_string()).unwrap().status, 200);
    assert_eq!(send(&url, "GET", "/v1/models", "", "").unwrap().status, 401);
    assert_eq!(simulator.stop().faults.unauthorized, 1);

    let ending = start(SimulatorConfig { fail_after: Some(2), ..Default::default() });
    let statuses = [1, 2, 3].map(|number| {
        post(&ending.url(), OPENAI, &openai("echo", &format!("{number}"))).unwrap().status
    });
    assert_eq!(statuses, [200, 200, 401]);
}

#[test]
fn the_limit_of_requests_per_minute_is_real() {
    let simulator = start(SimulatorConfig { requests_per_minute: Some(60), ..Default::default() });
    let first = post(&simulator.url(), OPENAI, &openai("echo", "1")).unwrap();
    let second = post(&simulator.url(), OPENAI, &openai("echo", "2")).unwrap();
    assert_eq!((first.status, second.status), (200, 429));
    assert!(second.header("retry-after-ms").unwrap().parse::<u64>().unwrap() <= 1_000);
    assert_eq!(simulator.stop().faults.over_limit, 1);
}

#[test]
fn statistics_and_reset_are_served_over_http() {
    let simulator = start(SimulatorConfig::default());
    let url = simulator.url();
    for _ in 0..3 {
        post(&url, OPENAI, &openai("echo", "same")).unwrap();
    }
    let seen = send(&url, "GET", "/stats", "", "").unwrap().json();
    assert_eq!(
        (&seen["calls"], &seen["repeats_after_success"], &seen["distinct_prompts"]),
        (&json!(3), &json!(2), &json!(1))
    );
    assert!(seen["peak_in_flight"].as_u64().unwrap() >= 1);
    post(&url, "/reset", &json!({})).unwrap();
    assert_eq!(send(&url, "GET", "/stats", "", "").unwrap().json()["calls"], 0);
    let models = send(&url, "GET", "/v1/models", "", "").unwrap().json();
    assert_eq!(models["data"][0]["id"], "sim-100");
}

#[tokio::test]
async fn it_runs_beside_an_asynchronous_test_and_frees_its_port() {
    let simulator = start(SimulatorConfig { stall: 1.0, stall_ms: 5, ..Default::default() });
    let (url, port) = (simulator.url(), simulator.port());
    let asked = tokio::task::spawn_blocking(move || {
        post(&url, OPENAI, &openai("echo", "hi")).unwrap().status
    });
    assert_eq!(asked.await.unwrap(), 200);
    assert_eq!(simulator.stop().faults.stalled, 1);
    assert!(
        start(SimulatorConfig { port, ..Default::default() }).url().ends_with(&port.to_string())
    );
}
