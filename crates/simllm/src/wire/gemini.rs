//! Gemini generateContent.

use std::borrow::Cow;

use fullbench_types::Role;
use hyper::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Completion, Refusal, Wire, event};
use crate::answer::{Answer, Ending};
use crate::logprobs::{scored_tokens, tokens};
use crate::request::{Format, Request, Text, Texts, Turn};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Call<'body> {
    #[serde(borrow)]
    contents: Vec<Content<'body>>,
    #[serde(default, borrow, alias = "system_instruction")]
    system_instruction: Text<'body>,
    #[serde(default, borrow, alias = "generation_config")]
    generation_config: GenerationConfig<'body>,
}

#[derive(Deserialize)]
struct Content<'body> {
    #[serde(default, borrow)]
    role: Option<Cow<'body, str>>,
    #[serde(default, borrow)]
    parts: Text<'body>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct GenerationConfig<'body> {
    temperature: Option<f64>,
    seed: Option<i64>,
    max_output_tokens: Option<u64>,
    #[serde(borrow)]
    stop_sequences: Texts<'body>,
    candidate_count: Option<u32>,
    #[serde(borrow)]
    response_mime_type: Option<Cow<'body, str>>,
    response_schema: Option<Value>,
    response_json_schema: Option<Value>,
    response_logprobs: Option<bool>,
    logprobs: Option<usize>,
}

pub(super) fn parse<'body>(
    body: &'body [u8],
    model: &'body str,
    stream: bool,
) -> Result<Request<'body>, serde_json::Error> {
    let call: Call<'_> = serde_json::from_slice(body)?;
    let mut turns = Vec::with_capacity(call.contents.len() + 1);
    if !call.system_instruction.0.is_empty() {
        turns.push(Turn { role: Role::System, text: call.system_instruction.0 });
    }
    for content in call.contents {
        let role =
            if content.role.as_deref() == Some("model") { Role::Assistant } else { Role::User };
        turns.push(Turn { role, text: content.parts.0 });
    }
    let config = call.generation_config;
    let json = config.response_mime_type.as_deref() == Some("application/json");
    let format = match config.response_json_schema.or(config.response_schema) {
        Some(schema) => Format::Schema(schema),
        None if json => Format::AnyJson,
        None => Format::Text,
    };
    let logprobs = config.response_logprobs.unwrap_or(false);
    Ok(Request {
        wire: Wire::Gemini,
        model: Cow::Borrowed(model),
        turns,
        stream,
        stream_usage: true,
        choices: config.candidate_count.unwrap_or(1).clamp(1, 8),
        temperature: config.temperature.unwrap_or(0.0),
        seed: config.seed,
        top_logprobs: logprobs.then_some(config.logprobs.unwrap_or(0).min(20)),
        max_tokens: config.max_output_tokens,
        stops: config.stop_sequences.0,
        format,
    })
}

pub(super) fn reply(completion: &Completion<'_>) -> Result<Vec<u8>, serde_json::Error> {
    let candidates = completion.answers.iter().enumerate().map(|(index, answer)| {
        let mut candidate = candidate(index, &answer.text, Some(finish_reason(answer)));
        if let Some(top) = completion.request.top_logprobs {
            add_logprobs(&mut candidate, answer, top, completion, index);
        }
        candidate
    });
    serde_json::to_vec(&chunk(completion, candidates.collect(), completion.output_tokens()))
}

pub(super) fn events(completion: &Completion<'_>) -> Vec<Vec<u8>> {
    let mut events = Vec::new();
    for (index, answer) in completion.answers.iter().enumerate() {
        let tokens = tokens(&answer.text);
        let mut push = |candidate: Value, sent: u64| {
            let mut buffer = Vec::with_capacity(256);
            event(&mut buffer, None, &chunk(completion, json!([candidate]), sent));
            events.push(buffer);
        };
        for (place, token) in tokens.iter().enumerate() {
            push(candidate(index, token, None), place as u64 + 1);
        }
        let mut last = candidate(index, "", Some(finish_reason(answer)));
        if let Some(top) = completion.request.top_logprobs {
            add_logprobs(&mut last, answer, top, completion, index);
        }
        push(last, completion.output_tokens());
    }
    events
}

fn candidate(index: usize, text: &str, finish_reason: Option<&str>) -> Value {
    let mut candidate =
        json!({"content": {"parts": [{"text": text}], "role": "model"}, "index": index});
    if let Some(reason) = finish_reason {
        candidate["finishReason"] = reason.into();
    }
    candidate
}

fn chunk(completion: &Completion<'_>, candidates: Value, output_tokens: u64) -> Value {
    let input_tokens = completion.request.input_tokens();
    json!({
        "candidates": candidates,
        "usageMetadata": {
            "promptTokenCount": input_tokens,
            "candidatesTokenCount": output_tokens,
            "totalTokenCount": input_tokens + output_tokens,
        },
        "modelVersion": completion.request.model,
        "responseId": format!("{:032x}", completion.key),
    })
}

fn add_logprobs(
    candidate: &mut Value,
    answer: &Answer,
    top: usize,
    completion: &Completion<'_>,
    index: usize,
) {
    let entry = |token: &str, logprob: f64| json!({"token": token, "tokenId": blake3::hash(token.as_bytes()).as_bytes()[0], "logProbability": logprob});
    let tokens = scored_tokens(&answer.text, top, completion.dice.with(index as u64));
    let total: f64 = tokens.iter().map(|token| token.logprob).sum();
    candidate["avgLogprobs"] = json!(total / tokens.len().max(1) as f64);
    let chosen = tokens.iter().map(|token| entry(token.token, token.logprob));
    let alternatives = tokens.iter().map(|token| {
        json!({"candidates": token.top.iter().map(|(token, logprob)| entry(token, *logprob)).collect::<Value>()})
    });
    candidate["logprobsResult"] = json!({"topCandidates": alternatives.collect::<Value>(), "chosenCandidates": chosen.collect::<Value>()});
}

fn finish_reason(answer: &Answer) -> &'static str {
    if answer.ending == Ending::OutOfTokens { "MAX_TOKENS" } else { "STOP" }
}

pub(super) fn refusal(refusal: &Refusal) -> (StatusCode, Value) {
    let mut details = json!([]);
    let (status, word, message) = match refusal {
        Refusal::RateLimited(wait) => {
            let delay = format!("{}s", wait.as_secs_f64());
            details =
                json!([{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}]);
            (
                StatusCode::TOO_MANY_REQUESTS,
                "RESOURCE_EXHAUSTED",
                "You exceeded your current quota.".to_owned(),
            )
        }
        Refusal::Failed { overloaded: true } => (
            StatusCode::SERVICE_UNAVAILABLE,
            "UNAVAILABLE",
            "The model is overloaded. Please try again later.".to_owned(),
        ),
        Refusal::Failed { overloaded: false } => (
            StatusCode::INTERNAL_SERVER_ERROR,
            "INTERNAL",
            "An internal error has occurred.".to_owned(),
        ),
        Refusal::Unauthorized => (
            StatusCode::UNAUTHORIZED,
            "UNAUTHENTICATED",
            "API key not valid. Please pass a valid API key.".to_owned(),
        ),
        Refusal::ContextTooLong { tokens, limit } => (
            StatusCode::BAD_REQUEST,
            "INVALID_ARGUMENT",
            format!(
                "The input token count ({tokens}) exceeds the maximum number of tokens allowed ({limit})."
            ),
        ),
        Refusal::UnknownModel(model) => (
            StatusCode::NOT_FOUND,
            "NOT_FOUND",
            format!("models/{model} is not found for API version v1beta."),
        ),
        Refusal::Invalid(message) => (StatusCode::BAD_REQUEST, "INVALID_ARGUMENT", message.clone()),
    };
    let error =
        json!({"code": status.as_u16(), "message": message, "status": word, "details": details});
    (status, json!({"error": error}))
}
