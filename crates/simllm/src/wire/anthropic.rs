//! Anthropic messages.

use std::borrow::Cow;

use fullbench_types::Role;
use hyper::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Completion, Refusal, Wire, event};
use crate::answer::{Answer, Ending};
use crate::logprobs::tokens;
use crate::request::{Format, Request, Text, Texts, Turn};

#[derive(Deserialize)]
struct Call<'body> {
    #[serde(borrow)]
    model: Cow<'body, str>,
    max_tokens: u64,
    #[serde(default, borrow)]
    system: Text<'body>,
    #[serde(borrow)]
    messages: Vec<Message<'body>>,
    #[serde(default)]
    stream: Option<bool>,
    #[serde(default)]
    temperature: Option<f64>,
    #[serde(default, borrow)]
    stop_sequences: Texts<'body>,
    #[serde(default)]
    output_config: Option<OutputConfig>,
    #[serde(default)]
    output_format: Option<Value>,
}

#[derive(Deserialize)]
struct Message<'body> {
    #[serde(borrow)]
    role: Cow<'body, str>,
    #[serde(default, borrow)]
    content: Text<'body>,
}

#[derive(Deserialize)]
struct OutputConfig {
    #[serde(default)]
    format: Option<Value>,
}

pub(super) fn parse(body: &[u8]) -> Result<Request<'_>, serde_json::Error> {
    let call: Call<'_> = serde_json::from_slice(body)?;
    let mut turns = Vec::with_capacity(call.messages.len() + 1);
    if !call.system.0.is_empty() {
        turns.push(Turn { role: Role::System, text: call.system.0 });
    }
    for message in call.messages {
        let role = if message.role == "assistant" { Role::Assistant } else { Role::User };
        turns.push(Turn { role, text: message.content.0 });
    }
    let format = call.output_config.and_then(|config| config.format).or(call.output_format);
    Ok(Request {
        wire: Wire::Anthropic,
        model: call.model,
        turns,
        stream: call.stream.unwrap_or(false),
        stream_usage: true,
        choices: 1,
        temperature: call.temperature.unwrap_or(0.0),
        seed: None,
        top_logprobs: None,
        max_tokens: Some(call.max_tokens),
        stops: call.stop_sequences.0,
        format: format.map_or(Format::Text, |mut format| Format::Schema(format["schema"].take())),
    })
}

#[derive(Serialize)]
struct Reply<'call> {
    id: String,
    r#type: &'static str,
    role: &'static str,
    model: &'call str,
    content: [Block<'call>; 1],
    stop_reason: &'static str,
    stop_sequence: Option<&'call str>,
    usage: Usage,
}

#[derive(Serialize)]
struct Block<'call> {
    r#type: &'static str,
    text: &'call str,
}

#[derive(Serialize)]
struct Usage {
    input_tokens: u64,
    cache_creation_input_tokens: u64,
    cache_read_input_tokens: u64,
    output_tokens: u64,
}

pub(super) fn reply(completion: &Completion<'_>) -> Result<Vec<u8>, serde_json::Error> {
    let answer = completion.answers.first();
    serde_json::to_vec(&Reply {
        id: id_of(completion),
        r#type: "message",
        role: "assistant",
        model: &completion.request.model,
        content: [Block { r#type: "text", text: answer.map_or("", |answer| &answer.text) }],
        stop_reason: answer.map_or("end_turn", stop_reason),
        stop_sequence: answer.and_then(stop_sequence),
        usage: Usage {
            input_tokens: completion.request.input_tokens(),
            cache_creation_input_tokens: 0,
            cache_read_input_tokens: 0,
            output_tokens: completion.output_tokens(),
        },
    })
}

pub(super) fn events(completion: &Completion<'_>) -> Vec<Vec<u8>> {
    let Some(answer) = completion.answers.first() else { return Vec::new() };
    let mut events = Vec::new();
    let start = json!({"type": "message_start", "message": {
        "id": id_of(completion), "type": "message", "role": "assistant", "model": completion.request.model,
        "content": [], "stop_reason": null, "stop_sequence": null,
        "usage": {"input_tokens": completion.request.input_tokens(), "cache_creation_input_tokens": 0,
                  "cache_read_input_tokens": 0, "output_tokens": 1},
    }});
    let mut opening = Vec::new();
    event(&mut opening, Some("message_start"), &start);
    let block = json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}});
    event(&mut opening, Some("content_block_start"), &block);
    event(&mut opening, Some("ping"), &json!({"type": "ping"}));
    events.push(opening);
    for token in tokens(&answer.text) {
        let delta = json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": token}});
        let mut buffer = Vec::with_capacity(128);
        event(&mut buffer, Some("content_block_delta"), &delta);
        events.push(buffer);
    }
    let mut closing = Vec::new();
    event(
        &mut closing,
        Some("content_block_stop"),
        &json!({"type": "content_block_stop", "index": 0}),
    );
    let delta = json!({
        "type": "message_delta",
        "delta": {"stop_reason": stop_reason(answer), "stop_sequence": stop_sequence(answer)},
        "usage": {"output_tokens": completion.output_tokens()},
    });
    event(&mut closing, Some("message_delta"), &delta);
    event(&mut closing, Some("message_stop"), &json!({"type": "message_stop"}));
    events.push(closing);
    events
}

fn id_of(completion: &Completion<'_>) -> String {
    format!("msg_{:032x}", completion.key)
}

fn stop_reason(answer: &Answer) -> &'static str {
    match answer.ending {
        Ending::Done => "end_turn",
        Ending::MetStop(_) => "stop_sequence",
        Ending::OutOfTokens => "max_tokens",
    }
}

fn stop_sequence(answer: &Answer) -> Option<&str> {
    match &answer.ending {
        Ending::MetStop(stop) => Some(stop),
        _ => None,
    }
}

/// The status Anthropic gives when it is overloaded.
fn overloaded() -> StatusCode {
    StatusCode::from_u16(529).unwrap_or(StatusCode::SERVICE_UNAVAILABLE)
}

pub(super) fn refusal(refusal: &Refusal) -> (StatusCode, Value) {
    let (status, kind, message) = match refusal {
        Refusal::RateLimited(_) => (
            StatusCode::TOO_MANY_REQUESTS,
            "rate_limit_error",
            "This request would exceed your organization's rate limit.".to_owned(),
        ),
        Refusal::Failed { overloaded: true } => {
            (overloaded(), "overloaded_error", "Overloaded".to_owned())
        }
        Refusal::Failed { overloaded: false } => {
            (StatusCode::INTERNAL_SERVER_ERROR, "api_error", "Internal server error".to_owned())
        }
        Refusal::Unauthorized => {
            (StatusCode::UNAUTHORIZED, "authentication_error", "invalid x-api-key".to_owned())
        }
        Refusal::ContextTooLong { tokens, limit } => (
            StatusCode::BAD_REQUEST,
            "invalid_request_error",
            format!("prompt is too long: {tokens} tokens > {limit} maximum"),
        ),
        Refusal::UnknownModel(model) => {
            (StatusCode::NOT_FOUND, "not_found_error", format!("model: {model}"))
        }
        Refusal::Invalid(message) => {
            (StatusCode::BAD_REQUEST, "invalid_request_error", message.clone())
        }
    };
    (
        status,
        json!({"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_simulated"}),
    )
}
