//! Chat completions of OpenAI, and of xAI, Ollama, vLLM, llama.cpp and every compatible server.

use std::collections::BTreeMap;

use fullbench_types::{FinishReason, Message, TokenLogprob, TopLogprob, Usage};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{
    Answer, Choice, PartialChoice, StreamParser, complete_choices, error_in_reply, error_in_stream,
    read, text_or_explained, write,
};
use crate::config::Provider;
use crate::model::CallError;
use crate::request::{GenerationRequest, Parameters};

#[derive(Serialize)]
struct Body<'request> {
    model: &'request str,
    messages: &'request [Message],
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_k: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    frequency_penalty: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    presence_penalty: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    stop: &'request [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    n: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<&'request str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    logprobs: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_logprobs: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<Value>,
}

/// The body of a request.
pub(super) fn body(request: &GenerationRequest) -> Result<Vec<u8>, CallError> {
    let parameters: &Parameters = &request.parameters;
    // OpenAI's reasoning models refuse `max_tokens`; older compatible servers know nothing else.
    let is_own_address = request.provider.default_base_url() == Some(request.base_url.as_str());
    let knows_completion_tokens =
        is_own_address && matches!(request.provider, Provider::Openai | Provider::Xai);
    let body = Body {
        model: &request.model,
        messages: &request.messages,
        temperature: parameters.temperature,
        top_p: parameters.top_p,
        top_k: parameters.top_k,
        frequency_penalty: parameters.frequency_penalty,
        presence_penalty: parameters.presence_penalty,
        max_tokens: parameters.max_tokens.filter(|_| !knows_completion_tokens),
        max_completion_tokens: parameters.max_tokens.filter(|_| knows_completion_tokens),
        stop: &parameters.stop,
        seed: request.seed(),
        n: parameters.n,
        reasoning_effort: parameters.reasoning_effort.as_deref(),
        logprobs: parameters.top_logprobs.map(|_| true),
        top_logprobs: parameters.top_logprobs.filter(|count| *count > 0),
        stream: parameters.stream.then_some(true),
        stream_options: parameters.stream.then(|| json!({"include_usage": true})),
        response_format: parameters.json_schema.as_ref().map(|schema| {
            json!({
                "type": "json_schema",
                "json_schema": {"name": "answer", "strict": true, "schema": schema},
            })
        }),
    };
    write(&body, &parameters.extra)
}

#[derive(Deserialize)]
struct Completion {
    error: Option<Value>,
    model: Option<String>,
    choices: Option<Vec<CompletionChoice>>,
    usage: Option<CompletionUsage>,
}

#[derive(Deserialize)]
struct CompletionChoice {
    #[serde(default)]
    index: u32,
    message: Option<CompletionMessage>,
    delta: Option<CompletionMessage>,
    finish_reason: Option<String>,
    logprobs: Option<ChoiceLogprobs>,
}

#[derive(Default, Deserialize)]
struct CompletionMessage {
    content: Option<String>,
    refusal: Option<String>,
    tool_calls: Option<Vec<IgnoredAny>>,
}

#[derive(Deserialize)]
struct ChoiceLogprobs {
    content: Option<Vec<WireLogprob>>,
}

#[derive(Deserialize)]
struct WireLogprob {
    token: String,
    logprob: f64,
    #[serde(default)]
    top_logprobs: Vec<WireTopLogprob>,
}

#[derive(Deserialize)]
struct WireTopLogprob {
    token: String,
    logprob: f64,
}

#[derive(Deserialize)]
struct CompletionUsage {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    prompt_tokens_details: Option<PromptDetails>,
    completion_tokens_details: Option<CompletionDetails>,
}

#[derive(Deserialize)]
struct PromptDetails {
    cached_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct CompletionDetails {
    reasoning_tokens: Option<u64>,
}

/// Reads a reply that came in one piece.
pub(super) fn parse(body: &str) -> Result<Answer, CallError> {
    let completion: Completion = read(body)?;
    if let Some(error) = &completion.error {
        return Err(error_in_reply(error));
    }
    let mut choices = completion.choices.unwrap_or_default();
    choices.sort_by_key(|choice| choice.index);
    let mut complete = Vec::with_capacity(choices.len());
    for choice in choices {
        complete.push(complete_choice(choice)?);
    }
    Answer::from_choices(complete, completion.usage.and_then(usage), completion.model)
}

fn complete_choice(choice: CompletionChoice) -> Result<Choice, CallError> {
    let Some(message) = choice.message else {
        return Err(CallError::malformed("a choice has no message"));
    };
    let asks_for_tool = message.tool_calls.is_some_and(|calls| !calls.is_empty());
    let said = match choice.finish_reason.as_deref() {
        _ if message.refusal.is_some() => FinishReason::ContentFilter,
        None if asks_for_tool => FinishReason::ToolCall,
        word => word.map_or(FinishReason::Other, finish_reason),
    };
    let text = message.content.or(message.refusal);
    let text = if asks_for_tool { text.or_else(|| Some(String::new())) } else { text };
    let text = text_or_explained(text, said)?;
    Ok(Choice { text, finish_reason: said, logprobs: choice.logprobs.and_then(logprobs) })
}

fn finish_reason(word: &str) -> FinishReason {
    match word {
        "stop" => FinishReason::Stop,
        "length" => FinishReason::Length,
        "content_filter" => FinishReason::ContentFilter,
        "tool_calls" | "function_call" => FinishReason::ToolCall,
        _ => FinishReason::Other,
    }
}

/// The tokens, where the server counts them.
fn usage(usage: CompletionUsage) -> Option<Usage> {
    Some(Usage {
        input_tokens: usage.prompt_tokens?,
        output_tokens: usage.completion_tokens.unwrap_or_default(),
        cached_input_tokens: usage
            .prompt_tokens_details
            .and_then(|details| details.cached_tokens)
            .unwrap_or_default(),
        cache_write_tokens: 0,
        reasoning_tokens: usage
            .completion_tokens_details
            .and_then(|details| details.reasoning_tokens)
            .unwrap_or_default(),
    })
}

fn logprobs(logprobs: ChoiceLogprobs) -> Option<Vec<TokenLogprob>> {
    let top = |top: WireTopLogprob| TopLogprob { token: top.token, logprob: top.logprob };
    let token = |token: WireLogprob| TokenLogprob {
        token: token.token,
        logprob: token.logprob,
        top: token.top_logprobs.into_iter().map(top).collect(),
    };
    Some(logprobs.content?.into_iter().map(token).collect())
}

/// A stream of chunks that ends with `[DONE]`.
#[derive(Default)]
pub(super) struct Stream {
    choices: BTreeMap<u32, PartialChoice>,
    usage: Option<Usage>,
    model: Option<String>,
    is_done: bool,
}

impl StreamParser for Stream {
    fn event(&mut self, data: &str) -> Result<bool, CallError> {
        if data.trim() == "[DONE]" {
            self.is_done = true;
            return Ok(false);
        }
        let chunk: Completion = read(data)?;
        if let Some(error) = &chunk.error {
            return Err(error_in_stream(error));
        }
        if chunk.model.is_some() {
            self.model = chunk.model;
        }
        if let Some(tokens) = chunk.usage.and_then(usage) {
            self.usage = Some(tokens);
        }
        let mut has_text = false;
        for choice in chunk.choices.unwrap_or_default() {
            let partial = self.choices.entry(choice.index).or_default();
            let delta = choice.delta.unwrap_or_default();
            if let Some(content) = &delta.content {
                has_text |= partial.push(content);
            }
            if let Some(word) = choice.finish_reason {
                let refused = partial.finish_reason == Some(FinishReason::ContentFilter);
                partial.finish_reason =
                    Some(if refused { FinishReason::ContentFilter } else { finish_reason(&word) });
            }
            if let Some(refusal) = &delta.refusal {
                has_text |= partial.push(refusal);
                partial.finish_reason = Some(FinishReason::ContentFilter);
            }
            partial.push_logprobs(choice.logprobs.and_then(logprobs));
        }
        Ok(has_text)
    }

    fn is_done(&self) -> bool {
        self.is_done
    }

    fn finish(self: Box<Self>) -> Result<Answer, CallError> {
        if !self.is_done {
            return Err(CallError::malformed("the stream ended without [DONE]"));
        }
        Answer::from_choices(complete_choices(self.choices)?, self.usage, self.model)
    }
}

#[cfg(test)]
#[path = "openai_tests.rs"]
mod tests;
