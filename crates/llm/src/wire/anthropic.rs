//! Messages of Anthropic.

use fullbench_types::{FinishReason, Message, Role, Usage};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Answer, Choice, StreamParser, error_in_reply, error_in_stream, read, write};
use crate::model::CallError;
use crate::request::GenerationRequest;

/// Anthropic requires a limit; this one is used where none is set.
pub(crate) const DEFAULT_MAX_TOKENS: u32 = 4_096;

#[derive(Serialize)]
struct Body<'request> {
    model: &'request str,
    max_tokens: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<String>,
    messages: Vec<&'request Message>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_k: Option<u32>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    stop_sequences: &'request [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    stream: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<OutputConfig<'request>>,
}

/// Structured output and effort: <https://platform.claude.com/docs/en/build-with-claude/effort>.
#[derive(Serialize)]
struct OutputConfig<'request> {
    #[serde(skip_serializing_if = "Option::is_none")]
    effort: Option<&'request str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<OutputFormat<'request>>,
}

#[derive(Serialize)]
struct OutputFormat<'request> {
    r#type: &'static str,
    schema: &'request Value,
}

/// The body of a request; system messages go where Anthropic wants them.
pub(super) fn body(request: &GenerationRequest) -> Result<Vec<u8>, CallError> {
    let parameters = &request.parameters;
    let system: Vec<&str> = request
        .messages
        .iter()
        .filter(|message| message.role == Role::System)
        .map(|message| message.content.as_str())
        .collect();
    let effort = parameters.reasoning_effort.as_deref();
    let format = parameters
        .json_schema
        .as_ref()
        .map(|schema| OutputFormat { r#type: "json_schema", schema });
    let body = Body {
        model: &request.model,
        max_tokens: parameters.max_tokens.unwrap_or(DEFAULT_MAX_TOKENS),
        system: (!system.is_empty()).then(|| system.join("\n\n")),
        messages: request.messages.iter().filter(|message| message.role != Role::System).collect(),
        temperature: parameters.temperature,
        top_p: parameters.top_p,
        top_k: parameters.top_k,
        stop_sequences: &parameters.stop,
        stream: parameters.stream.then_some(true),
        output_config: (effort.is_some() || format.is_some())
            .then_some(OutputConfig { effort, format }),
    };
    write(&body, &parameters.extra)
}

#[derive(Deserialize)]
struct Reply {
    error: Option<Value>,
    model: Option<String>,
    content: Option<Vec<Block>>,
    stop_reason: Option<String>,
    usage: Option<WireUsage>,
}

#[derive(Deserialize)]
struct Block {
    r#type: String,
    text: Option<String>,
}

#[derive(Default, Deserialize)]
struct WireUsage {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
}

impl WireUsage {
    /// What a later event reports replaces what was there.
    fn update(&mut self, later: Self) {
        let Self {
            input_tokens,
            output_tokens,
            cache_creation_input_tokens,
            cache_read_input_tokens,
        } = later;
        self.input_tokens = input_tokens.or(self.input_tokens);
        self.output_tokens = output_tokens.or(self.output_tokens);
        self.cache_creation_input_tokens =
            cache_creation_input_tokens.or(self.cache_creation_input_tokens);
        self.cache_read_input_tokens = cache_read_input_tokens.or(self.cache_read_input_tokens);
    }

    /// Anthropic counts cached tokens apart; the prompt is all of them together.
    fn total(&self) -> Usage {
        let cached = self.cache_read_input_tokens.unwrap_or_default();
        let written = self.cache_creation_input_tokens.unwrap_or_default();
        Usage {
            input_tokens: self.input_tokens.unwrap_or_default() + cached + written,
            output_tokens: self.output_tokens.unwrap_or_default(),
            cached_input_tokens: cached,
            cache_write_tokens: written,
            reasoning_tokens: 0,
        }
    }
}

/// Reads a reply that came in one piece.
pub(super) fn parse(body: &str) -> Result<Answer, CallError> {
    let reply: Reply = read(body)?;
    if let Some(error) = &reply.error {
        return Err(error_in_reply(error));
    }
    let Some(blocks) = reply.content else {
        return Err(CallError::malformed("the reply has no content"));
    };
    let Some(stop_reason) = reply.stop_reason else {
        return Err(CallError::malformed("the reply has no stop reason"));
    };
    let mut text = String::new();
    for block in blocks.iter().filter(|block| block.r#type == "text") {
        match &block.text {
            Some(part) => text.push_str(part),
            None => return Err(CallError::malformed("a text block has no text")),
        }
    }
    let choice = Choice { text, finish_reason: finish_reason(&stop_reason), logprobs: None };
    Answer::from_choices([choice], reply.usage.map(|usage| usage.total()), reply.model)
}

fn finish_reason(word: &str) -> FinishReason {
    match word {
        "end_turn" | "stop_sequence" => FinishReason::Stop,
        "max_tokens" | "model_context_window_exceeded" => FinishReason::Length,
        "tool_use" => FinishReason::ToolCall,
        "refusal" => FinishReason::ContentFilter,
        _ => FinishReason::Other,
    }
}

#[derive(Deserialize)]
struct StreamEvent {
    r#type: String,
    error: Option<Value>,
    message: Option<MessageStart>,
    content_block: Option<Block>,
    delta: Option<Delta>,
    usage: Option<WireUsage>,
}

#[derive(Deserialize)]
struct MessageStart {
    model: Option<String>,
    usage: Option<WireUsage>,
}

#[derive(Deserialize)]
struct Delta {
    r#type: Option<String>,
    text: Option<String>,
    stop_reason: Option<String>,
}

/// A stream of events that ends with `message_stop`.
#[derive(Default)]
pub(super) struct Stream {
    text: String,
    stop_reason: Option<String>,
    usage: WireUsage,
    model: Option<String>,
    has_started: bool,
    is_done: bool,
}

impl StreamParser for Stream {
    fn event(&mut self, data: &str) -> Result<bool, CallError> {
        let event: StreamEvent = read(data)?;
        if let Some(error) = &event.error {
            return Err(error_in_stream(error));
        }
        let mut has_text = false;
        match event.r#type.as_str() {
            "message_start" => {
                self.has_started = true;
                if let Some(message) = event.message {
                    self.model = message.model;
                    self.usage.update(message.usage.unwrap_or_default());
                }
            }
            "content_block_start" => {
                let block = event.content_block.filter(|block| block.r#type == "text");
                if let Some(text) = block.and_then(|block| block.text) {
                    has_text = !text.is_empty();
                    self.text.push_str(&text);
                }
            }
            "content_block_delta" => {
                let delta =
                    event.delta.filter(|delta| delta.r#type.as_deref() == Some("text_delta"));
                if let Some(text) = delta.and_then(|delta| delta.text) {
                    has_text = !text.is_empty();
                    self.text.push_str(&text);
                }
            }
            "message_delta" => {
                self.usage.update(event.usage.unwrap_or_default());
                if let Some(stop_reason) = event.delta.and_then(|delta| delta.stop_reason) {
                    self.stop_reason = Some(stop_reason);
                }
            }
            "message_stop" => self.is_done = true,
            _ => {}
        }
        Ok(has_text)
    }

    fn is_done(&self) -> bool {
        self.is_done
    }

    fn finish(self: Box<Self>) -> Result<Answer, CallError> {
        if !self.is_done || !self.has_started {
            return Err(CallError::malformed("the stream ended without message_stop"));
        }
        let Some(stop_reason) = self.stop_reason else {
            return Err(CallError::malformed("the stream has no stop reason"));
        };
        let choice =
            Choice { text: self.text, finish_reason: finish_reason(&stop_reason), logprobs: None };
        let usage = self.usage.output_tokens.map(|_| self.usage.total());
        Answer::from_choices([choice], usage, self.model)
    }
}

#[cfg(test)]
#[path = "anthropic_tests.rs"]
mod tests;
