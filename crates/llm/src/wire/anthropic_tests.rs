//! Payloads as Anthropic sends them.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::sync::Arc;

use fullbench_types::DEFAULT_ORGANIZATION;
use serde_json::json;

use super::*;
use crate::config::Provider;
use crate::model::FailureClass;
use crate::request::Parameters;

fn written(parameters: Parameters) -> Value {
    let request = GenerationRequest {
        organization: DEFAULT_ORGANIZATION,
        provider: Provider::Anthropic,
        base_url: "https://api.anthropic.com/v1".to_owned(),
        model: "claude-haiku-4-5".to_owned(),
        revision: None,
        messages: vec![
            Message::new(Role::System, "Be brief."),
            Message::new(Role::User, "Hi"),
            Message::new(Role::Assistant, "Hello"),
            Message::new(Role::User, "Bye"),
        ],
        parameters: Arc::new(parameters),
        repetition: 0,
        sample: 0,
    };
    serde_json::from_slice(&body(&request).unwrap()).unwrap()
}

#[test]
fn system_messages_and_the_required_limit_go_where_anthropic_wants_them() {
    let expected = json!({
        "model": "claude-haiku-4-5",
        "max_tokens": 4096,
        "system": "Be brief.",
        "messages": [
            {"role": "user", "content": "Hi"},
            {"role": "assistant", "content": "Hello"},
            {"role": "user", "content": "Bye"},
        ],
    });
    assert_eq!(written(Parameters::default()), expected);
}

#[test]
fn every_parameter_reaches_the_provider() {
    let body = written(Parameters {
        temperature: Some(0.5),
        top_p: Some(0.9),
        top_k: Some(40),
        max_tokens: Some(64),
        stop: vec!["END".to_owned()],
        reasoning_effort: Some("low".to_owned()),
        stream: true,
        json_schema: Some(json!({"type": "object"})),
        extra: json!({"thinking": {"type": "adaptive"}}).as_object().unwrap().clone(),
        ..Parameters::default()
    });
    for (key, value) in [
        ("temperature", json!(0.5)),
        ("top_p", json!(0.9)),
        ("top_k", json!(40)),
        ("max_tokens", json!(64)),
        ("stop_sequences", json!(["END"])),
        ("stream", json!(true)),
        ("thinking", json!({"type": "adaptive"})),
        (
            "output_config",
            json!({"effort": "low", "format": {"type": "json_schema", "schema": {"type": "object"}}}),
        ),
    ] {
        assert_eq!(body[key], value, "{key}");
    }
}

const REPLY: &str = r#"{"id":"msg_1","type":"message","role":"assistant","model":"claude-haiku-4-5-20251001",
"content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":" Par"},{"type":"text","text":"is "}],
"stop_reason":"end_turn","stop_sequence":null,
"usage":{"input_tokens":10,"cache_creation_input_tokens":20,"cache_read_input_tokens":30,"output_tokens":7,"service_tier":"standard"}}"#;

#[test]
fn a_reply_keeps_its_text_and_counts_cached_tokens_into_the_prompt() {
    let answer = parse(REPLY).unwrap();
    assert_eq!(answer.text, " Paris ");
    assert_eq!(answer.finish_reason, FinishReason::Stop);
    assert_eq!(answer.reported_model.as_deref(), Some("claude-haiku-4-5-20251001"));
    let expected = Usage {
        input_tokens: 60,
        output_tokens: 7,
        cached_input_tokens: 30,
        cache_write_tokens: 20,
        reasoning_tokens: 0,
    };
    assert_eq!(answer.usage, Some(expected));
}

#[test]
fn stop_reasons_are_told_apart() {
    for (word, expected) in [
        ("end_turn", FinishReason::Stop),
        ("stop_sequence", FinishReason::Stop),
        ("max_tokens", FinishReason::Length),
        ("tool_use", FinishReason::ToolCall),
        ("refusal", FinishReason::ContentFilter),
        ("pause_turn", FinishReason::Other),
    ] {
        let body = REPLY.replace("end_turn", word);
        assert_eq!(parse(&body).unwrap().finish_reason, expected, "{word}");
    }
}

#[test]
fn replies_that_are_no_answer_are_malformed() {
    for body in [
        "{}",
        &REPLY[..REPLY.len() / 2],
        r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
        r#"{"content":"text","stop_reason":"end_turn"}"#,
        r#"{"content":[{"type":"text"}],"stop_reason":"end_turn"}"#,
        r#"{"content":[{"type":"text","text":"x"}]}"#,
        r#"{"stop_reason":"end_turn"}"#,
    ] {
        assert_eq!(parse(body).unwrap_err().class, FailureClass::Malformed, "{body}");
    }
}

const EVENTS: [&str; 9] = [
    r#"{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","content":[],"model":"claude-haiku-4-5-20251001","stop_reason":null,"usage":{"input_tokens":25,"cache_read_input_tokens":5,"output_tokens":1}}}"#,
    r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
    r#"{"type":"ping"}"#,
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}"#,
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" Par"}}"#,
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"is"}}"#,
    r#"{"type":"content_block_stop","index":0}"#,
    r#"{"type":"message_delta","delta":{"stop_reason":"max_tokens","stop_sequence":null},"usage":{"output_tokens":15}}"#,
    r#"{"type":"message_stop"}"#,
];

fn stream(events: &[&str]) -> Result<Answer, CallError> {
    let mut stream = Box::<Stream>::default();
    for event in events {
        stream.event(event)?;
    }
    stream.finish()
}

#[test]
fn a_stream_gives_the_same_answer_as_one_piece() {
    let answer = stream(&EVENTS).unwrap();
    assert_eq!(answer.text, " Paris");
    assert_eq!(answer.finish_reason, FinishReason::Length);
    let usage = answer.usage.unwrap();
    assert_eq!((usage.input_tokens, usage.output_tokens, usage.cached_input_tokens), (30, 15, 5));
    let mut parser = Stream::default();
    let firsts: Vec<bool> = EVENTS.iter().map(|event| parser.event(event).unwrap()).collect();
    assert_eq!(firsts.iter().position(|first| *first), Some(4), "thinking is no first token");
}

#[test]
fn a_stream_that_breaks_off_is_malformed() {
    for length in 0..EVENTS.len() {
        let error = stream(&EVENTS[..length]).unwrap_err();
        assert_eq!(error.class, FailureClass::Malformed, "after {length} events");
    }
    assert!(stream(&[EVENTS[8]]).is_err(), "the end alone is no answer");
}

#[test]
fn an_overload_inside_a_stream_is_the_servers() {
    let overload = r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
    let error = stream(&[EVENTS[0], overload]).unwrap_err();
    assert_eq!(error.class, FailureClass::Server);
    assert!(error.message.contains("Overloaded"));
}
