//! The three wire formats: how requests are read and how replies, events and errors are written.

mod anthropic;
mod gemini;
mod openai;

use std::time::Duration;

use hyper::StatusCode;
use serde_json::Value;

use crate::answer::Answer;
use crate::dice::{Dice, PromptKey};
use crate::request::Request;

/// A wire format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wire {
    OpenAi = 1,
    Anthropic,
    Gemini,
}

/// A complete answer to a request, before it is written.
#[derive(Debug)]
pub(crate) struct Completion<'call> {
    pub(crate) request: &'call Request<'call>,
    pub(crate) key: PromptKey,
    pub(crate) answers: Vec<Answer>,
    pub(crate) dice: Dice,
}

impl Completion<'_> {
    fn output_tokens(&self) -> u64 {
        self.answers.iter().map(|answer| answer.tokens).sum()
    }
}

/// Why a call is refused.
#[derive(Debug, Clone)]
pub(crate) enum Refusal {
    RateLimited(Duration),
    Failed { overloaded: bool },
    Unauthorized,
    ContextTooLong { tokens: u64, limit: u64 },
    UnknownModel(String),
    Invalid(String),
}

impl Wire {
    /// Reads a request; Gemini has the model and the wish to stream in its path.
    pub(crate) fn parse<'body>(
        self,
        body: &'body [u8],
        model: Option<&'body str>,
        stream: bool,
    ) -> Result<Request<'body>, serde_json::Error> {
        match self {
            Self::OpenAi => openai::parse(body),
            Self::Anthropic => anthropic::parse(body),
            Self::Gemini => gemini::parse(body, model.unwrap_or_default(), stream),
        }
    }

    /// The whole reply as JSON.
    pub(crate) fn reply(self, completion: &Completion<'_>) -> Result<Vec<u8>, serde_json::Error> {
        match self {
            Self::OpenAi => openai::reply(completion),
            Self::Anthropic => anthropic::reply(completion),
            Self::Gemini => gemini::reply(completion),
        }
    }

    /// The reply as server-sent events, one entry for each moment of sending.
    pub(crate) fn events(self, completion: &Completion<'_>) -> Vec<Vec<u8>> {
        match self {
            Self::OpenAi => openai::events(completion),
            Self::Anthropic => anthropic::events(completion),
            Self::Gemini => gemini::events(completion),
        }
    }

    /// Status and body of a refusal.
    pub(crate) fn refusal(self, refusal: &Refusal) -> (StatusCode, Value) {
        match self {
            Self::OpenAi => openai::refusal(refusal),
            Self::Anthropic => anthropic::refusal(refusal),
            Self::Gemini => gemini::refusal(refusal),
        }
    }

    /// A body that no client of this format may take for a reply, with its content type.
    pub(crate) fn malformed(self, variant: u64) -> (&'static str, &'static str) {
        match (variant % 3, self) {
            (0, _) => ("text/html", "<html><body><h1>502 Bad Gateway</h1></body></html>"),
            (1, _) => ("application/json", "{\"id\": \"sim\", \"object\": "),
            (_, Self::OpenAi) => {
                ("application/json", r#"{"object":"chat.completion","choices":"none"}"#)
            }
            (_, Self::Anthropic) => ("application/json", r#"{"type":"message","content":"none"}"#),
            (_, Self::Gemini) => ("application/json", r#"{"candidates":"none"}"#),
        }
    }
}

/// One server-sent event, named or not.
fn event(buffer: &mut Vec<u8>, name: Option<&str>, data: &Value) {
    if let Some(name) = name {
        buffer.extend_from_slice(b"event: ");
        buffer.extend_from_slice(name.as_bytes());
        buffer.push(b'\n');
    }
    buffer.extend_from_slice(b"data: ");
    buffer.extend_from_slice(data.to_string().as_bytes());
    buffer.extend_from_slice(b"\n\n");
}
