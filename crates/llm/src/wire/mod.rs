//! The wire formats: requests and replies as pure functions, without any HTTP.

mod anthropic;
pub(crate) mod batch;
pub(crate) mod batch_anthropic;
pub(crate) mod batch_openai;
pub(crate) mod embeddings;
mod gemini;
mod openai;
pub(crate) mod sse;

use std::collections::BTreeMap;

use fullbench_types::{FinishReason, Generation, TokenLogprob, Usage};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue, InvalidHeaderValue};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::config::{ModelConfig, Provider};
use crate::failure::{classify_stream_error, error_message, shorten};
use crate::model::CallError;
use crate::request::GenerationRequest;
use crate::secret::Secret;

/// One of the formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wire {
    /// Chat completions of OpenAI and everything compatible.
    OpenAi,
    /// Messages of Anthropic.
    Anthropic,
    /// generateContent of Gemini.
    Gemini,
}

impl Wire {
    /// The format of a provider; none where nothing is sent.
    pub(crate) fn of(provider: Provider) -> Option<Self> {
        match provider {
            Provider::Openai | Provider::Xai | Provider::Ollama => Some(Self::OpenAi),
            Provider::Anthropic => Some(Self::Anthropic),
            Provider::Gemini => Some(Self::Gemini),
            Provider::Local | Provider::Recorded => None,
        }
    }

    /// Where a model's requests go.
    pub(crate) fn endpoint(self, config: &ModelConfig) -> String {
        let base_url = config.effective_base_url();
        match self {
            Self::OpenAi => format!("{base_url}/chat/completions"),
            Self::Anthropic => format!("{base_url}/messages"),
            Self::Gemini => gemini::endpoint(base_url, config),
        }
    }

    /// The headers of every request; the key is marked as sensitive.
    pub(crate) fn headers(self, key: Option<&Secret>) -> Result<HeaderMap, InvalidHeaderValue> {
        let mut headers = HeaderMap::new();
        headers.insert("content-type", HeaderValue::from_static("application/json"));
        if self == Self::Anthropic {
            headers.insert("anthropic-version", HeaderValue::from_static("2023-06-01"));
        }
        if let Some(key) = key {
            let (name, value) = match self {
                Self::OpenAi => ("authorization", format!("Bearer {}", key.reveal())),
                Self::Anthropic => ("x-api-key", key.reveal().to_owned()),
                Self::Gemini => ("x-goog-api-key", key.reveal().to_owned()),
            };
            let mut value = HeaderValue::from_str(&value)?;
            value.set_sensitive(true);
            headers.insert(HeaderName::from_static(name), value);
        }
        Ok(headers)
    }

    /// The body of a request.
    pub(crate) fn body(self, request: &GenerationRequest) -> Result<Vec<u8>, CallError> {
        match self {
            Self::OpenAi => openai::body(request),
            Self::Anthropic => anthropic::body(request),
            Self::Gemini => gemini::body(request),
        }
    }

    /// Reads a reply that came in one piece.
    pub(crate) fn parse(self, body: &str) -> Result<Answer, CallError> {
        match self {
            Self::OpenAi => openai::parse(body),
            Self::Anthropic => anthropic::parse(body),
            Self::Gemini => gemini::parse(body),
        }
    }

    /// A reader of a reply that comes as a stream.
    pub(crate) fn stream(self) -> Box<dyn StreamParser> {
        match self {
            Self::OpenAi => Box::<openai::Stream>::default(),
            Self::Anthropic => Box::<anthropic::Stream>::default(),
            Self::Gemini => Box::<gemini::Stream>::default(),
        }
    }
}

/// Reads the events of one stream.
pub(crate) trait StreamParser: Send {
    /// Takes the data of one event; true when it carried text of the answer.
    fn event(&mut self, data: &str) -> Result<bool, CallError>;

    /// Whether the end marker was seen: nothing that follows matters.
    fn is_done(&self) -> bool;

    /// The answer, or a failure when the stream ended before its end.
    fn finish(self: Box<Self>) -> Result<Answer, CallError>;
}

/// An answer as a wire format gives it, without timing and cost.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answer {
    pub(crate) text: String,
    pub(crate) alternatives: Vec<String>,
    pub(crate) finish_reason: FinishReason,
    pub(crate) usage: Option<Usage>,
    pub(crate) logprobs: Option<Vec<TokenLogprob>>,
    pub(crate) reported_model: Option<String>,
}

impl Answer {
    /// The first choice is the answer, the others are alternatives.
    fn from_choices(
        choices: impl IntoIterator<Item = Choice>,
        usage: Option<Usage>,
        reported_model: Option<String>,
    ) -> Result<Self, CallError> {
        let mut choices = choices.into_iter();
        let Some(first) = choices.next() else {
            return Err(CallError::malformed("the reply has no choices"));
        };
        Ok(Self {
            text: first.text,
            alternatives: choices.map(|choice| choice.text).collect(),
            finish_reason: first.finish_reason,
            usage,
            logprobs: first.logprobs,
            reported_model,
        })
    }

    /// The answer as one successful call.
    pub(crate) fn into_generation(
        self,
        latency_us: u64,
        time_to_first_token_us: Option<u64>,
        raw: Option<String>,
    ) -> Generation {
        Generation {
            text: self.text,
            alternatives: self.alternatives,
            finish_reason: self.finish_reason,
            usage: self.usage,
            latency_us,
            time_to_first_token_us,
            queue_us: 0,
            cost: None,
            attempts: 1,
            cached: false,
            saved: None,
            endpoint: None,
            logprobs: self.logprobs,
            choices: None,
            reported_model: self.reported_model,
            raw,
        }
    }
}

/// One complete choice.
#[derive(Debug)]
struct Choice {
    text: String,
    finish_reason: FinishReason,
    logprobs: Option<Vec<TokenLogprob>>,
}

/// A choice that a stream is building.
#[derive(Debug, Default)]
struct PartialChoice {
    text: Option<String>,
    finish_reason: Option<FinishReason>,
    logprobs: Option<Vec<TokenLogprob>>,
}

impl PartialChoice {
    /// Adds text; true when there was any.
    fn push(&mut self, text: &str) -> bool {
        self.text.get_or_insert_default().push_str(text);
        !text.is_empty()
    }

    fn push_logprobs(&mut self, logprobs: Option<Vec<TokenLogprob>>) {
        if let Some(logprobs) = logprobs {
            self.logprobs.get_or_insert_default().extend(logprobs);
        }
    }

    fn complete(self) -> Result<Choice, CallError> {
        let Some(finish_reason) = self.finish_reason else {
            return Err(CallError::malformed("the stream ended before the answer did"));
        };
        let text = text_or_explained(self.text, finish_reason)?;
        Ok(Choice { text, finish_reason, logprobs: self.logprobs })
    }
}

/// The choices of a stream in the order of their index.
fn complete_choices(choices: BTreeMap<u32, PartialChoice>) -> Result<Vec<Choice>, CallError> {
    choices.into_values().map(PartialChoice::complete).collect()
}

/// The text of an answer; there may be none only when the finish reason says why.
fn text_or_explained(
    text: Option<String>,
    finish_reason: FinishReason,
) -> Result<String, CallError> {
    match (text, finish_reason) {
        (Some(text), _) => Ok(text),
        (None, FinishReason::Length | FinishReason::ContentFilter | FinishReason::ToolCall) => {
            Ok(String::new())
        }
        (None, _) => Err(CallError::malformed("the reply has no text")),
    }
}

/// Reads JSON of a known shape; anything else is malformed.
fn read<T: DeserializeOwned>(json: &str) -> Result<T, CallError> {
    serde_json::from_str(json)
        .map_err(|error| CallError::malformed(format!("the reply is not valid: {error}")))
}

/// A reply that carries an error although its status was a success.
fn error_in_reply(error: &Value) -> CallError {
    let said = error_message(error).unwrap_or_else(|| error.to_string());
    CallError::malformed(format!("the reply is an error: {}", shorten(&said)))
}

/// An error that comes inside a stream.
fn error_in_stream(error: &Value) -> CallError {
    CallError { class: classify_stream_error(error), ..error_in_reply(error) }
}

/// A body as bytes, with the provider's own parameters merged in last.
fn write(body: &impl Serialize, extra: &Map<String, Value>) -> Result<Vec<u8>, CallError> {
    let unwritable = |error: serde_json::Error| {
        CallError::new(
            crate::model::FailureClass::BadRequest,
            format!("the request cannot be written as JSON: {error}"),
        )
    };
    if extra.is_empty() {
        return serde_json::to_vec(body).map_err(unwritable);
    }
    let mut value = serde_json::to_value(body).map_err(unwritable)?;
    if let Value::Object(map) = &mut value {
        merge(map, extra);
    }
    serde_json::to_vec(&value).map_err(unwritable)
}

/// Puts entries into a map; objects on both sides are merged, anything else is replaced.
fn merge(map: &mut Map<String, Value>, extra: &Map<String, Value>) {
    for (key, value) in extra {
        match (map.get_mut(key), value) {
            (Some(Value::Object(inner)), Value::Object(extra)) => merge(inner, extra),
            _ => {
                map.insert(key.clone(), value.clone());
            }
        }
    }
}
