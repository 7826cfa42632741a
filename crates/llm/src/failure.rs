//! Turns a refusal of a provider into a class and a message.

use std::time::Duration;

use jiff::Timestamp;
use reqwest::StatusCode;
use reqwest::header::HeaderMap;
use serde_json::Value;

use crate::model::{CallError, FailureClass};
use crate::rate::{RateHeaders, parse_wait, retry_after};

/// Longest message kept of a provider.
const MESSAGE_CHARACTERS: usize = 600;

/// Phrases by which providers and servers say that a prompt is too long.
const TOO_LONG_PHRASES: [&str; 8] = [
    "context_length_exceeded",
    "maximum context length",
    "context length",
    "prompt is too long",
    "exceed context limit",
    "context size",
    "input token count",
    "request_too_large",
];

/// Phrases by which providers refuse a prompt's content.
const CONTENT_PHRASES: [&str; 3] =
    ["content_filter", "content_policy_violation", "content management policy"];

/// Phrases by which providers say that an account has no credit.
const QUOTA_PHRASES: [&str; 3] =
    ["insufficient_quota", "credit balance is too low", "billing_hard_limit_reached"];

/// What a provider said in the body of a refusal.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct ErrorBody {
    pub(crate) message: Option<String>,
    /// Codes, types and statuses, joined by spaces.
    codes: String,
    retry_after: Option<Duration>,
}

/// The failure that a reply with an unsuccessful status is.
pub(crate) fn refusal(status: StatusCode, headers: &HeaderMap, body: &str) -> CallError {
    let error = read_error_body(body);
    let class = classify(status.as_u16(), &error);
    let said = error.message.as_deref().map(str::trim).filter(|message| !message.is_empty());
    let reason = status.canonical_reason().unwrap_or("an unknown status");
    let message = match said {
        Some(message) => format!("HTTP {}: {}", status.as_u16(), shorten(message)),
        None => format!("HTTP {}: {reason}", status.as_u16()),
    };
    CallError {
        class,
        status: Some(status.as_u16()),
        message,
        retry_after: retry_after(headers).or(error.retry_after),
        rate: RateHeaders::read(headers),
    }
}

fn classify(status: u16, error: &ErrorBody) -> FailureClass {
    let says = |phrases: &[&str]| {
        let message = error.message.as_deref().unwrap_or_default().to_lowercase();
        phrases.iter().any(|phrase| message.contains(phrase) || error.codes.contains(phrase))
    };
    match status {
        402 => FailureClass::Quota,
        400 | 403 | 429 if says(&QUOTA_PHRASES) => FailureClass::Quota,
        400 if says(&["api_key_invalid", "api key not valid", "invalid_api_key"]) => {
            FailureClass::Auth
        }
        401 | 403 => FailureClass::Auth,
        404 => FailureClass::NotFound,
        408 => FailureClass::Timeout,
        409 | 425 | 429 => FailureClass::RateLimit,
        413 => FailureClass::ContextTooLong,
        // llama.cpp takes a text for embeddings that is too long for a failure of its own.
        500 if says(&["too large to process"]) => FailureClass::ContextTooLong,
        400 | 422 if says(&TOO_LONG_PHRASES) => FailureClass::ContextTooLong,
        400 | 422 if says(&CONTENT_PHRASES) => FailureClass::ContentFilter,
        300..400 => FailureClass::NotFound,
        500.. => FailureClass::Server,
        _ => FailureClass::BadRequest,
    }
}

/// The class of an error that comes inside a stream which began well, by its type.
pub(crate) fn classify_stream_error(error: &Value) -> FailureClass {
    let word = |key: &str| error.get(key).and_then(Value::as_str).unwrap_or_default();
    let codes = format!("{} {} {}", word("type"), word("code"), word("status"));
    if codes.contains("rate_limit") || codes.contains("RESOURCE_EXHAUSTED") {
        return FailureClass::RateLimit;
    }
    let server = ["overloaded", "api_error", "server_error", "UNAVAILABLE", "INTERNAL"];
    if server.iter().any(|word| codes.contains(word)) {
        return FailureClass::Server;
    }
    FailureClass::Malformed
}

/// Reads the error bodies of OpenAI, Anthropic, Gemini, Ollama and FastAPI servers; nothing where it is none of them.
pub(crate) fn read_error_body(body: &str) -> ErrorBody {
    let Ok(value) = serde_json::from_str::<Value>(body) else {
        return ErrorBody { message: plain_text(body), ..ErrorBody::default() };
    };
    // Gemini wraps the errors of streams in a list.
    let value = value.get(0).unwrap_or(&value);
    let error = value.get("error").unwrap_or(value);
    let words = ["code", "type", "status"].map(|key| error.get(key).and_then(Value::as_str));
    let details = error.get("details").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let reasons = details.iter().map(|detail| detail.get("reason").and_then(Value::as_str));
    let codes: Vec<&str> = words.into_iter().chain(reasons).flatten().collect();
    let delay = details.iter().find_map(|detail| detail.get("retryDelay")?.as_str());
    ErrorBody {
        message: error_message(error),
        codes: codes.join(" ").to_lowercase(),
        retry_after: delay.and_then(|delay| parse_wait(delay, Timestamp::UNIX_EPOCH)),
    }
}

/// The text of an error, whatever its shape.
pub(crate) fn error_message(error: &Value) -> Option<String> {
    if let Some(text) = error.as_str() {
        return Some(text.to_owned());
    }
    let said = ["message", "detail", "error"].into_iter().find_map(|key| error.get(key))?;
    Some(said.as_str().map_or_else(|| said.to_string(), str::to_owned))
}

/// The body itself, unless it is a web page.
fn plain_text(body: &str) -> Option<String> {
    let text = body.trim();
    (!text.is_empty() && !text.starts_with('<')).then(|| text.to_owned())
}

/// The beginning of a long text.
pub(crate) fn shorten(text: &str) -> String {
    match text.char_indices().nth(MESSAGE_CHARACTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;

    fn class(status: u16, body: &str) -> FailureClass {
        refusal(StatusCode::from_u16(status).unwrap(), &HeaderMap::new(), body).class
    }

    #[test]
    fn statuses_decide_what_is_tried_again() {
        for (status, expected) in [
            (400, FailureClass::BadRequest),
            (401, FailureClass::Auth),
            (402, FailureClass::Quota),
            (403, FailureClass::Auth),
            (404, FailureClass::NotFound),
            (408, FailureClass::Timeout),
            (409, FailureClass::RateLimit),
            (413, FailureClass::ContextTooLong),
            (422, FailureClass::BadRequest),
            (425, FailureClass::RateLimit),
            (429, FailureClass::RateLimit),
            (500, FailureClass::Server),
            (503, FailureClass::Server),
            (529, FailureClass::Server),
            (307, FailureClass::NotFound),
        ] {
            assert_eq!(class(status, ""), expected, "{status}");
        }
    }

    #[test]
    fn a_prompt_that_is_too_long_is_told_apart_at_every_provider() {
        for body in [
            r#"{"error":{"message":"This model's maximum context length is 8192 tokens.","type":"invalid_request_error","code":"context_length_exceeded"}}"#,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}"#,
            r#"{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}"#,
            r#"{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}"#,
        ] {
            assert_eq!(class(400, body), FailureClass::ContextTooLong, "{body}");
        }
    }

    #[test]
    fn a_text_that_llama_cpp_cannot_embed_is_not_tried_again() {
        let body = r#"{"error":{"code":500,"message":"input (601 tokens) is too large to process. increase the physical batch size (current batch size: 512)","type":"server_error"}}"#;
        assert_eq!(class(500, body), FailureClass::ContextTooLong);
    }

    #[test]
    fn an_account_without_credit_is_not_tried_again() {
        let body = r#"{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}"#;
        assert_eq!(class(429, body), FailureClass::Quota);
        assert!(!class(429, body).is_retryable());
        let anthropic = r#"{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low"}}"#;
        assert_eq!(class(400, anthropic), FailureClass::Quota);
    }

    #[test]
    fn geminis_wrong_key_and_delay_are_understood() {
        let key = r#"{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID"}]}}"#;
        assert_eq!(class(400, key), FailureClass::Auth);
        let busy = r#"[{"error":{"code":429,"message":"Resource exhausted","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34s"}]}}]"#;
        let error = refusal(StatusCode::TOO_MANY_REQUESTS, &HeaderMap::new(), busy);
        assert_eq!(error.class, FailureClass::RateLimit);
        assert_eq!(error.retry_after, Some(Duration::from_secs(34)));
        assert_eq!(error.message, "HTTP 429: Resource exhausted");
    }

    #[test]
    fn messages_come_from_every_shape_of_body() {
        let message =
            |body: &str| refusal(StatusCode::BAD_REQUEST, &HeaderMap::new(), body).message;
        assert_eq!(message(r#"{"error":"model is required"}"#), "HTTP 400: model is required");
        assert_eq!(message(r#"{"detail":"no"}"#), "HTTP 400: no");
        assert_eq!(message("plain words"), "HTTP 400: plain words");
        assert_eq!(message("<html>…</html>"), "HTTP 400: Bad Request");
        assert!(message(&"é".repeat(5_000)).len() < 1_300);
        assert_eq!(message("[]"), "HTTP 400: Bad Request");
    }
}
