//! Payloads as OpenAI and compatible servers send them.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::sync::Arc;

use fullbench_types::{DEFAULT_ORGANIZATION, Role};

use super::*;
use crate::model::FailureClass;

fn request(base_url: &str, parameters: Parameters) -> GenerationRequest {
    GenerationRequest {
        organization: DEFAULT_ORGANIZATION,
        provider: Provider::Openai,
        base_url: base_url.to_owned(),
        model: "gpt-4o-mini".to_owned(),
        revision: None,
        messages: vec![Message::new(Role::System, "Be brief."), Message::new(Role::User, "Hi")],
        parameters: Arc::new(parameters),
        repetition: 1,
        sample: 0,
    }
}

fn written(request: &GenerationRequest) -> Value {
    serde_json::from_slice(&body(request).unwrap()).unwrap()
}

const OPENAI: &str = "https://api.openai.com/v1";

#[test]
fn a_plain_request_has_only_what_was_asked_for() {
    let expected = json!({
        "model": "gpt-4o-mini",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Hi"},
        ],
    });
    assert_eq!(written(&request(OPENAI, Parameters::default())), expected);
}

#[test]
fn every_parameter_reaches_the_provider() {
    let parameters = Parameters {
        temperature: Some(0.5),
        top_p: Some(0.9),
        top_k: Some(40),
        frequency_penalty: Some(0.1),
        presence_penalty: Some(0.2),
        max_tokens: Some(64),
        stop: vec!["END".to_owned()],
        seed: Some(7),
        n: Some(2),
        reasoning_effort: Some("low".to_owned()),
        top_logprobs: Some(3),
        stream: true,
        json_schema: Some(json!({"type": "object"})),
        choices: Vec::new(),
        extra: json!({"service_tier": "flex", "stream_options": {"x": 1}})
            .as_object()
            .unwrap()
            .clone(),
    };
    let body = written(&request(OPENAI, parameters.clone()));
    for (key, value) in [
        ("temperature", json!(0.5)),
        ("top_p", json!(0.9)),
        ("top_k", json!(40)),
        ("frequency_penalty", json!(0.1)),
        ("presence_penalty", json!(0.2)),
        ("max_completion_tokens", json!(64)),
        ("stop", json!(["END"])),
        ("seed", json!(8)),
        ("n", json!(2)),
        ("reasoning_effort", json!("low")),
        ("logprobs", json!(true)),
        ("top_logprobs", json!(3)),
        ("stream", json!(true)),
        ("stream_options", json!({"include_usage": true, "x": 1})),
        ("service_tier", json!("flex")),
    ] {
        assert_eq!(body[key], value, "{key}");
    }
    assert_eq!(body["response_format"]["json_schema"]["schema"], json!({"type": "object"}));
    assert_eq!(body["response_format"]["json_schema"]["strict"], json!(true));
    assert_eq!(body.get("max_tokens"), None);
    let elsewhere = written(&request("http://127.0.0.1:8000/v1", parameters));
    assert_eq!(elsewhere["max_tokens"], json!(64));
    assert_eq!(elsewhere.get("max_completion_tokens"), None);
}

const REPLY: &str = r#"{
  "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "gpt-4o-mini-2024-07-18",
  "choices": [
    {"index": 1, "message": {"role": "assistant", "content": "second"}, "finish_reason": "length"},
    {"index": 0, "message": {"role": "assistant", "content": "  Paris\n", "refusal": null},
     "logprobs": {"content": [{"token": "Paris", "logprob": -0.1, "bytes": [80],
       "top_logprobs": [{"token": "Paris", "logprob": -0.1, "bytes": null}, {"token": "Rome", "logprob": -3.0}]}], "refusal": null},
     "finish_reason": "stop"}],
  "usage": {"prompt_tokens": 100, "completion_tokens": 40, "total_tokens": 140,
    "prompt_tokens_details": {"cached_tokens": 64, "audio_tokens": 0},
    "completion_tokens_details": {"reasoning_tokens": 30, "audio_tokens": 0}},
  "system_fingerprint": "fp_1"
}"#;

#[test]
fn a_reply_keeps_its_text_to_the_last_space() {
    let answer = parse(REPLY).unwrap();
    assert_eq!(answer.text, "  Paris\n");
    assert_eq!(answer.alternatives, ["second"]);
    assert_eq!(answer.finish_reason, FinishReason::Stop);
    assert_eq!(answer.reported_model.as_deref(), Some("gpt-4o-mini-2024-07-18"));
    let usage = answer.usage.unwrap();
    assert_eq!((usage.input_tokens, usage.output_tokens), (100, 40));
    assert_eq!((usage.cached_input_tokens, usage.reasoning_tokens), (64, 30));
    let logprobs = answer.logprobs.unwrap();
    assert_eq!(logprobs[0].token, "Paris");
    assert_eq!(logprobs[0].top[1], TopLogprob { token: "Rome".to_owned(), logprob: -3.0 });
}

#[test]
fn replies_that_are_no_answer_are_malformed_and_never_empty_text() {
    for body in [
        "",
        "{}",
        "null",
        "[]",
        "<html>",
        &REPLY[..REPLY.len() / 2],
        r#"{"choices": []}"#,
        r#"{"choices": null}"#,
        r#"{"choices": [{}]}"#,
        r#"{"choices": [{"message": {}, "finish_reason": "stop"}]}"#,
        r#"{"choices": [{"message": {"content": null}, "finish_reason": "stop"}]}"#,
        r#"{"choices": [{"message": {"content": 5}, "finish_reason": "stop"}]}"#,
        r#"{"choices": "none"}"#,
        r#"{"error": {"message": "overloaded", "code": 502}}"#,
        r#"{"choices": [{"message": {"content": "x"}}], "usage": "none"}"#,
    ] {
        assert_eq!(parse(body).unwrap_err().class, FailureClass::Malformed, "{body}");
    }
}

#[test]
fn an_empty_answer_that_the_provider_explains_is_kept() {
    let empty = |reason: &str| {
        let body = format!(
            r#"{{"choices": [{{"message": {{"content": null}}, "finish_reason": "{reason}"}}]}}"#
        );
        parse(&body).unwrap().finish_reason
    };
    assert_eq!(empty("length"), FinishReason::Length);
    assert_eq!(empty("content_filter"), FinishReason::ContentFilter);
    assert_eq!(empty("tool_calls"), FinishReason::ToolCall);
    let refusal = r#"{"choices": [{"message": {"content": null, "refusal": "I cannot."}, "finish_reason": "stop"}]}"#;
    let answer = parse(refusal).unwrap();
    assert_eq!(
        (answer.text.as_str(), answer.finish_reason),
        ("I cannot.", FinishReason::ContentFilter)
    );
    let uncounted =
        r#"{"choices": [{"message": {"content": "x"}, "finish_reason": "stop"}], "usage": {}}"#;
    assert_eq!(parse(uncounted).unwrap().usage, None);
    let blank = r#"{"choices": [{"message": {"content": ""}, "finish_reason": "stop"}]}"#;
    assert_eq!(parse(blank).unwrap().text, "");
}

fn stream(events: &[&str]) -> Result<Answer, CallError> {
    let mut stream = Box::<Stream>::default();
    for event in events {
        stream.event(event)?;
    }
    stream.finish()
}

const CHUNKS: [&str; 5] = [
    r#"{"id":"1","object":"chat.completion.chunk","model":"gpt-4o-mini-2024-07-18","choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}],"usage":null}"#,
    r#"{"choices":[{"index":0,"delta":{"content":" Pa"},"logprobs":{"content":[{"token":" Pa","logprob":-0.5,"top_logprobs":[]}]},"finish_reason":null}]}"#,
    r#"{"choices":[{"index":0,"delta":{"content":"ris"},"finish_reason":null},{"index":1,"delta":{"content":"Rome"},"finish_reason":"stop"}]}"#,
    r#"{"choices":[{"index":0,"delta":{},"finish_reason":"length"}]}"#,
    r#"{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":2,"total_tokens":7}}"#,
];

#[test]
fn a_stream_gives_the_same_answer_as_one_piece() {
    let mut parser = Stream::default();
    assert!(!parser.event(CHUNKS[0]).unwrap(), "an empty delta is no first token");
    assert!(parser.event(CHUNKS[1]).unwrap());
    let mut events = CHUNKS.to_vec();
    events.push("[DONE]");
    let answer = stream(&events).unwrap();
    assert_eq!(answer.text, " Paris");
    assert_eq!(answer.alternatives, ["Rome"]);
    assert_eq!(answer.finish_reason, FinishReason::Length);
    assert_eq!(answer.usage.unwrap().output_tokens, 2);
    assert_eq!(answer.logprobs.unwrap()[0].logprob, -0.5);
    assert_eq!(answer.reported_model.as_deref(), Some("gpt-4o-mini-2024-07-18"));
}

#[test]
fn a_stream_that_breaks_off_is_malformed() {
    for length in 0..=CHUNKS.len() {
        let error = stream(&CHUNKS[..length]).unwrap_err();
        assert_eq!(error.class, FailureClass::Malformed, "after {length} chunks");
    }
    assert!(stream(&["[DONE]"]).is_err());
    assert!(stream(&[CHUNKS[0], CHUNKS[1], "[DONE]"]).is_err(), "no finish reason");
    assert!(stream(&["{broken"]).is_err());
}

#[test]
fn an_error_inside_a_stream_is_classified() {
    let class = |event: &str| stream(&[CHUNKS[0], event]).unwrap_err().class;
    assert_eq!(class(r#"{"error":{"message":"x","type":"server_error"}}"#), FailureClass::Server);
    assert_eq!(
        class(r#"{"error":{"message":"x","code":"rate_limit_exceeded"}}"#),
        FailureClass::RateLimit
    );
    assert_eq!(class(r#"{"error":{"message":"x"}}"#), FailureClass::Malformed);
}
