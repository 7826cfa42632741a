//! Payloads as Gemini sends them.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::sync::Arc;

use fullbench_types::DEFAULT_ORGANIZATION;
use serde_json::json;

use super::*;
use crate::config::Provider;
use crate::model::FailureClass;

fn written(model: &str, parameters: Parameters) -> Value {
    let request = GenerationRequest {
        organization: DEFAULT_ORGANIZATION,
        provider: Provider::Gemini,
        base_url: String::new(),
        model: model.to_owned(),
        revision: None,
        messages: vec![
            Message::new(Role::System, "Be brief."),
            Message::new(Role::User, "Hi"),
            Message::new(Role::Assistant, "Hello"),
        ],
        parameters: Arc::new(parameters),
        repetition: 3,
        sample: 0,
    };
    serde_json::from_slice(&body(&request).unwrap()).unwrap()
}

#[test]
fn the_model_is_in_the_address_and_the_key_is_not() {
    let mut config = ModelConfig::parse("gemini:gemini-2.5-flash").unwrap();
    assert_eq!(
        endpoint("http://host", &config),
        "http://host/models/gemini-2.5-flash:generateContent"
    );
    config.stream = true;
    let streaming = "http://host/models/gemini-2.5-flash:streamGenerateContent?alt=sse";
    assert_eq!(endpoint("http://host", &config), streaming);
    config.model = Some("tunedModels/mine".to_owned());
    assert!(endpoint("http://host", &config).starts_with("http://host/tunedModels/mine:"));
}

#[test]
fn messages_take_geminis_shape() {
    let expected = json!({
        "contents": [
            {"role": "user", "parts": [{"text": "Hi"}]},
            {"role": "model", "parts": [{"text": "Hello"}]},
        ],
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "generationConfig": {},
    });
    assert_eq!(written("gemini-2.5-flash", Parameters::default()), expected);
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
        extra: json!({"generationConfig": {"mediaResolution": "LOW"}}).as_object().unwrap().clone(),
    };
    let body = written("gemini-2.5-flash", parameters.clone());
    let expected = json!({
        "temperature": 0.5, "topP": 0.9, "topK": 40, "frequencyPenalty": 0.1, "presencePenalty": 0.2,
        "maxOutputTokens": 64, "stopSequences": ["END"], "seed": 10, "candidateCount": 2,
        "responseLogprobs": true, "logprobs": 3, "responseMimeType": "application/json",
        "responseJsonSchema": {"type": "object"}, "thinkingConfig": {"thinkingBudget": 1024},
        "mediaResolution": "LOW",
    });
    assert_eq!(body["generationConfig"], expected);
    let later = written("gemini-3-flash", parameters);
    assert_eq!(later["generationConfig"]["thinkingConfig"], json!({"thinkingLevel": "low"}));
}

const REPLY: &str = r#"{"candidates":[{"content":{"parts":[{"text":"hm","thought":true},{"text":" Par"},{"text":"is"}],"role":"model"},
"finishReason":"STOP","index":0,"avgLogprobs":-0.1,
"logprobsResult":{"topCandidates":[{"candidates":[{"token":"Par","tokenId":1,"logProbability":-0.1},{"token":"Ro","logProbability":-2.0}]}],"chosenCandidates":[{"token":"Par","tokenId":1,"logProbability":-0.1}]}}],
"usageMetadata":{"promptTokenCount":12,"candidatesTokenCount":3,"totalTokenCount":35,"thoughtsTokenCount":20,"cachedContentTokenCount":8},
"modelVersion":"gemini-2.5-flash","responseId":"x"}"#;

#[test]
fn a_reply_keeps_its_text_and_counts_thoughts_as_output() {
    let answer = parse(REPLY).unwrap();
    assert_eq!(answer.text, " Paris");
    assert_eq!(answer.finish_reason, FinishReason::Stop);
    assert_eq!(answer.reported_model.as_deref(), Some("gemini-2.5-flash"));
    let usage = answer.usage.unwrap();
    assert_eq!((usage.input_tokens, usage.output_tokens), (12, 23));
    assert_eq!((usage.reasoning_tokens, usage.cached_input_tokens), (20, 8));
    let logprobs = answer.logprobs.unwrap();
    assert_eq!((logprobs[0].token.as_str(), logprobs[0].logprob), ("Par", -0.1));
    assert_eq!(logprobs[0].top[1].token, "Ro");
}

#[test]
fn a_withheld_answer_is_an_answer_that_says_so() {
    let blocked =
        r#"{"promptFeedback":{"blockReason":"SAFETY"},"usageMetadata":{"promptTokenCount":4}}"#;
    let answer = parse(blocked).unwrap();
    assert_eq!((answer.text.as_str(), answer.finish_reason), ("", FinishReason::ContentFilter));
    let safety = r#"{"candidates":[{"finishReason":"SAFETY"}]}"#;
    assert_eq!(parse(safety).unwrap().finish_reason, FinishReason::ContentFilter);
    let length = r#"{"candidates":[{"content":{"role":"model"},"finishReason":"MAX_TOKENS"}]}"#;
    assert_eq!(parse(length).unwrap().finish_reason, FinishReason::Length);
}

#[test]
fn replies_that_are_no_answer_are_malformed() {
    for body in [
        "{}",
        &REPLY[..REPLY.len() / 2],
        r#"{"candidates":[]}"#,
        r#"{"candidates":[{"finishReason":"STOP"}]}"#,
        r#"{"candidates":[{"content":{"parts":[{"text":5}]},"finishReason":"STOP"}]}"#,
        r#"{"error":{"code":500,"message":"x","status":"INTERNAL"}}"#,
    ] {
        assert_eq!(parse(body).unwrap_err().class, FailureClass::Malformed, "{body}");
    }
}

fn stream(events: &[&str]) -> Result<Answer, CallError> {
    let mut stream = Box::<Stream>::default();
    for event in events {
        stream.event(event)?;
    }
    stream.finish()
}

#[test]
fn a_stream_gives_the_same_answer_and_needs_its_finish_reason() {
    let events = [
        r#"{"candidates":[{"content":{"parts":[{"text":" Par"}],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":4},"modelVersion":"gemini-2.5-flash"}"#,
        r#"{"candidates":[{"content":{"parts":[{"text":"is"}],"role":"model"},"index":0}]}"#,
        r#"{"candidates":[{"content":{"parts":[{"text":""}],"role":"model"},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":4,"candidatesTokenCount":2}}"#,
    ];
    let answer = stream(&events).unwrap();
    assert_eq!((answer.text.as_str(), answer.finish_reason), (" Paris", FinishReason::Stop));
    assert_eq!(answer.usage.unwrap().output_tokens, 2);
    for length in 0..events.len() {
        assert_eq!(stream(&events[..length]).unwrap_err().class, FailureClass::Malformed);
    }
    let overload = r#"{"error":{"code":503,"message":"busy","status":"UNAVAILABLE"}}"#;
    assert_eq!(stream(&[events[0], overload]).unwrap_err().class, FailureClass::Server);
}
