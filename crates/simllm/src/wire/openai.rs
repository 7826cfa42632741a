//! OpenAI chat completions.

use std::borrow::Cow;

use fullbench_types::Role;
use hyper::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Completion, Refusal, Wire, event};
use crate::answer::{Answer, Ending};
use crate::logprobs::{ScoredToken, scored_tokens, tokens};
use crate::request::{Format, Request, Text, Texts, Turn};

/// Replies carry a fixed time, so that they are the same whenever they are asked for.
const CREATED: u64 = 1_700_000_000;

#[derive(Deserialize)]
struct Call<'body> {
    #[serde(borrow)]
    model: Cow<'body, str>,
    #[serde(borrow)]
    messages: Vec<Message<'body>>,
    #[serde(default)]
    stream: Option<bool>,
    #[serde(default)]
    stream_options: Option<StreamOptions>,
    #[serde(default)]
    n: Option<u32>,
    #[serde(default)]
    temperature: Option<f64>,
    #[serde(default)]
    seed: Option<i64>,
    #[serde(default)]
    logprobs: Option<bool>,
    #[serde(default)]
    top_logprobs: Option<usize>,
    #[serde(default)]
    max_tokens: Option<u64>,
    #[serde(default)]
    max_completion_tokens: Option<u64>,
    #[serde(default, borrow)]
    stop: Texts<'body>,
    #[serde(default)]
    response_format: Option<Value>,
}

#[derive(Deserialize)]
struct Message<'body> {
    #[serde(borrow)]
    role: Cow<'body, str>,
    #[serde(default, borrow)]
    content: Text<'body>,
}

#[derive(Deserialize)]
struct StreamOptions {
    #[serde(default)]
    include_usage: bool,
}

pub(super) fn parse(body: &[u8]) -> Result<Request<'_>, serde_json::Error> {
    let call: Call<'_> = serde_json::from_slice(body)?;
    let turns = call.messages.into_iter().map(|message| Turn {
        role: match message.role.as_ref() {
            "system" | "developer" => Role::System,
            "assistant" => Role::Assistant,
            _ => Role::User,
        },
        text: message.content.0,
    });
    let logprobs = call.logprobs.unwrap_or(false);
    Ok(Request {
        wire: Wire::OpenAi,
        model: call.model,
        turns: turns.collect(),
        stream: call.stream.unwrap_or(false),
        stream_usage: call.stream_options.is_some_and(|options| options.include_usage),
        choices: call.n.unwrap_or(1).clamp(1, 128),
        temperature: call.temperature.unwrap_or(0.0),
        seed: call.seed,
        top_logprobs: logprobs.then_some(call.top_logprobs.unwrap_or(0).min(20)),
        max_tokens: call.max_completion_tokens.or(call.max_tokens),
        stops: call.stop.0,
        format: call.response_format.map_or(Format::Text, format_of),
    })
}

fn format_of(mut format: Value) -> Format {
    match format["type"].as_str() {
        Some("json_object") => Format::AnyJson,
        Some("json_schema") => Format::Schema(format["json_schema"]["schema"].take()),
        _ => Format::Text,
    }
}

#[derive(Serialize)]
struct Reply<'call> {
    id: String,
    object: &'static str,
    created: u64,
    model: &'call str,
    choices: Vec<Choice<'call>>,
    usage: Usage,
    system_fingerprint: &'static str,
}

#[derive(Serialize)]
struct Choice<'call> {
    index: usize,
    message: Said<'call>,
    logprobs: Option<Value>,
    finish_reason: &'static str,
}

#[derive(Serialize)]
struct Said<'call> {
    role: &'static str,
    content: &'call str,
    refusal: Option<&'static str>,
}

#[derive(Serialize)]
struct Usage {
    prompt_tokens: u64,
    completion_tokens: u64,
    total_tokens: u64,
    prompt_tokens_details: PromptDetails,
    completion_tokens_details: CompletionDetails,
}

#[derive(Serialize)]
struct PromptDetails {
    cached_tokens: u64,
}

#[derive(Serialize)]
struct CompletionDetails {
    reasoning_tokens: u64,
}

pub(super) fn reply(completion: &Completion<'_>) -> Result<Vec<u8>, serde_json::Error> {
    let choices = completion.answers.iter().enumerate().map(|(index, answer)| Choice {
        index,
        message: Said { role: "assistant", content: &answer.text, refusal: None },
        logprobs: completion.request.top_logprobs.map(|top| {
            logprobs_of(&scored_tokens(&answer.text, top, completion.dice.with(index as u64)))
        }),
        finish_reason: finish_reason(answer),
    });
    serde_json::to_vec(&Reply {
        id: id_of(completion),
        object: "chat.completion",
        created: CREATED,
        model: &completion.request.model,
        choices: choices.collect(),
        usage: usage_of(completion),
        system_fingerprint: "fp_simulated",
    })
}

pub(super) fn events(completion: &Completion<'_>) -> Vec<Vec<u8>> {
    let request = completion.request;
    let chunk = |choices: Value, usage: Value| {
        let mut data = json!({
            "id": id_of(completion), "object": "chat.completion.chunk", "created": CREATED,
            "model": request.model, "system_fingerprint": "fp_simulated", "choices": choices,
        });
        if request.stream_usage {
            data["usage"] = usage;
        }
        let mut buffer = Vec::with_capacity(256);
        event(&mut buffer, None, &data);
        buffer
    };
    let mut events = Vec::new();
    for (index, answer) in completion.answers.iter().enumerate() {
        let part = |delta: Value, logprobs: Value, reason: Value| {
            let choice = json!({"index": index, "delta": delta, "logprobs": logprobs, "finish_reason": reason});
            chunk(json!([choice]), Value::Null)
        };
        events.push(part(json!({"role": "assistant", "content": ""}), Value::Null, Value::Null));
        match request.top_logprobs {
            Some(top) => {
                for token in scored_tokens(&answer.text, top, completion.dice.with(index as u64)) {
                    let delta = json!({"content": token.token});
                    events.push(part(delta, logprobs_of(&[token]), Value::Null));
                }
            }
            None => {
                for token in tokens(&answer.text) {
                    events.push(part(json!({"content": token}), Value::Null, Value::Null));
                }
            }
        }
        events.push(part(json!({}), Value::Null, finish_reason(answer).into()));
    }
    let mut last = Vec::new();
    if request.stream_usage {
        last = chunk(json!([]), serde_json::to_value(usage_of(completion)).unwrap_or_default());
    }
    last.extend_from_slice(b"data: [DONE]\n\n");
    events.push(last);
    events
}

fn id_of(completion: &Completion<'_>) -> String {
    format!("chatcmpl-{:032x}", completion.key)
}

fn finish_reason(answer: &Answer) -> &'static str {
    if answer.ending == Ending::OutOfTokens { "length" } else { "stop" }
}

fn usage_of(completion: &Completion<'_>) -> Usage {
    let (prompt_tokens, completion_tokens) =
        (completion.request.input_tokens(), completion.output_tokens());
    Usage {
        prompt_tokens,
        completion_tokens,
        total_tokens: prompt_tokens + completion_tokens,
        prompt_tokens_details: PromptDetails { cached_tokens: 0 },
        completion_tokens_details: CompletionDetails { reasoning_tokens: 0 },
    }
}

fn logprobs_of(tokens: &[ScoredToken<'_>]) -> Value {
    let entry = |token: &str, logprob: f64| json!({"token": token, "logprob": logprob, "bytes": token.as_bytes()});
    let content = tokens.iter().map(|token| {
        let mut scored = entry(token.token, token.logprob);
        scored["top_logprobs"] =
            token.top.iter().map(|(token, logprob)| entry(token, *logprob)).collect();
        scored
    });
    json!({"content": content.collect::<Value>(), "refusal": null})
}

pub(super) fn refusal(refusal: &Refusal) -> (StatusCode, Value) {
    let (status, kind, code, message) = match refusal {
        Refusal::RateLimited(_) => (
            StatusCode::TOO_MANY_REQUESTS,
            "requests",
            Some("rate_limit_exceeded"),
            "Rate limit reached for requests. Please try again later.".to_owned(),
        ),
        Refusal::Failed { .. } => (
            StatusCode::INTERNAL_SERVER_ERROR,
            "server_error",
            None,
            "The server had an error while processing your request. Sorry about that!".to_owned(),
        ),
        Refusal::Unauthorized => (
            StatusCode::UNAUTHORIZED,
            "invalid_request_error",
            Some("invalid_api_key"),
            "Incorrect API key provided.".to_owned(),
        ),
        Refusal::ContextTooLong { tokens, limit } => (
            StatusCode::BAD_REQUEST,
            "invalid_request_error",
            Some("context_length_exceeded"),
            format!(
                "This model's maximum context length is {limit} tokens. However, your messages resulted in {tokens} tokens. Please reduce the length of the messages."
            ),
        ),
        Refusal::UnknownModel(model) => (
            StatusCode::NOT_FOUND,
            "invalid_request_error",
            Some("model_not_found"),
            format!("The model `{model}` does not exist or you do not have access to it."),
        ),
        Refusal::Invalid(message) => {
            (StatusCode::BAD_REQUEST, "invalid_request_error", None, message.clone())
        }
    };
    (status, json!({"error": {"message": message, "type": kind, "param": null, "code": code}}))
}
