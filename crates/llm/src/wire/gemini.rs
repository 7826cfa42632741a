//! generateContent of Google Gemini.

use std::collections::BTreeMap;

use fullbench_types::{FinishReason, Message, Role, TokenLogprob, TopLogprob, Usage};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    Answer, Choice, PartialChoice, StreamParser, complete_choices, error_in_reply, error_in_stream,
    read, text_or_explained, write,
};
use crate::config::ModelConfig;
use crate::model::CallError;
use crate::request::{GenerationRequest, Parameters};

/// Where a model's requests go; the key is never part of it.
pub(super) fn endpoint(base_url: &str, config: &ModelConfig) -> String {
    let model = config.model.as_deref().unwrap_or_default();
    let path = if model.contains('/') { model.to_owned() } else { format!("models/{model}") };
    let method = if config.stream { "streamGenerateContent?alt=sse" } else { "generateContent" };
    format!("{base_url}/{path}:{method}")
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'request> {
    contents: Vec<Content<'request>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system_instruction: Option<Content<'request>>,
    generation_config: GenerationConfig<'request>,
}

#[derive(Serialize)]
struct Content<'request> {
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
    parts: Vec<Part<'request>>,
}

#[derive(Serialize)]
struct Part<'request> {
    text: &'request str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GenerationConfig<'request> {
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
    max_output_tokens: Option<u32>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    stop_sequences: &'request [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    candidate_count: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_logprobs: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    logprobs: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_mime_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_json_schema: Option<&'request Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_config: Option<ThinkingConfig<'request>>,
}

/// Gemini 2.5 takes a budget of tokens, later models a level: <https://ai.google.dev/gemini-api/docs/thinking>.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum ThinkingConfig<'request> {
    ThinkingLevel(&'request str),
    ThinkingBudget(u32),
}

/// The body of a request.
pub(super) fn body(request: &GenerationRequest) -> Result<Vec<u8>, CallError> {
    let parameters: &Parameters = &request.parameters;
    let (system, conversation): (Vec<&Message>, Vec<&Message>) =
        request.messages.iter().partition(|message| message.role == Role::System);
    let schema = parameters.json_schema.as_ref();
    let body = Body {
        contents: conversation.into_iter().map(content).collect(),
        system_instruction: (!system.is_empty()).then(|| Content {
            role: None,
            parts: system.into_iter().map(|message| Part { text: &message.content }).collect(),
        }),
        generation_config: GenerationConfig {
            temperature: parameters.temperature,
            top_p: parameters.top_p,
            top_k: parameters.top_k,
            frequency_penalty: parameters.frequency_penalty,
            presence_penalty: parameters.presence_penalty,
            max_output_tokens: parameters.max_tokens,
            stop_sequences: &parameters.stop,
            seed: request.seed(),
            candidate_count: parameters.n,
            response_logprobs: parameters.top_logprobs.map(|_| true),
            logprobs: parameters.top_logprobs.filter(|count| *count > 0),
            response_mime_type: schema.map(|_| "application/json"),
            response_json_schema: schema,
            thinking_config: parameters
                .reasoning_effort
                .as_deref()
                .map(|effort| thinking_config(&request.model, effort)),
        },
    };
    write(&body, &parameters.extra)
}

fn content(message: &Message) -> Content<'_> {
    let role = if message.role == Role::Assistant { "model" } else { "user" };
    Content { role: Some(role), parts: vec![Part { text: &message.content }] }
}

/// Budgets as in Google's own mapping of OpenAI's efforts: <https://ai.google.dev/gemini-api/docs/openai>.
fn thinking_config<'request>(model: &str, effort: &'request str) -> ThinkingConfig<'request> {
    let budget = match effort {
        "none" => Some(0),
        "minimal" | "low" => Some(1_024),
        "medium" => Some(8_192),
        "high" => Some(24_576),
        _ => None,
    };
    match budget {
        Some(budget) if model.contains("gemini-2.5") || budget == 0 => {
            ThinkingConfig::ThinkingBudget(budget)
        }
        _ => ThinkingConfig::ThinkingLevel(effort),
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Reply {
    error: Option<Value>,
    candidates: Option<Vec<Candidate>>,
    prompt_feedback: Option<PromptFeedback>,
    usage_metadata: Option<UsageMetadata>,
    model_version: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate {
    #[serde(default)]
    index: u32,
    content: Option<CandidateContent>,
    finish_reason: Option<String>,
    logprobs_result: Option<LogprobsResult>,
}

#[derive(Deserialize)]
struct CandidateContent {
    parts: Option<Vec<CandidatePart>>,
}

#[derive(Deserialize)]
struct CandidatePart {
    text: Option<String>,
    #[serde(default)]
    thought: bool,
    #[serde(rename = "functionCall")]
    function_call: Option<serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PromptFeedback {
    block_reason: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LogprobsResult {
    #[serde(default)]
    top_candidates: Vec<TopCandidates>,
    #[serde(default)]
    chosen_candidates: Vec<TokenCandidate>,
}

#[derive(Deserialize)]
struct TopCandidates {
    #[serde(default)]
    candidates: Vec<TokenCandidate>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TokenCandidate {
    #[serde(default)]
    token: String,
    #[serde(default)]
    log_probability: f64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct UsageMetadata {
    #[serde(default)]
    prompt_token_count: u64,
    #[serde(default)]
    candidates_token_count: u64,
    #[serde(default)]
    thoughts_token_count: u64,
    #[serde(default)]
    cached_content_token_count: u64,
}

/// Reads a reply that came in one piece: a stream of one event.
pub(super) fn parse(body: &str) -> Result<Answer, CallError> {
    let reply: Reply = read(body)?;
    if let Some(error) = &reply.error {
        return Err(error_in_reply(error));
    }
    let mut stream = Stream::default();
    stream.take(reply);
    for choice in stream.choices.values_mut() {
        choice.finish_reason.get_or_insert(FinishReason::Other);
    }
    stream.answer()
}

fn finish_reason(word: &str) -> FinishReason {
    match word {
        "STOP" => FinishReason::Stop,
        "MAX_TOKENS" => FinishReason::Length,
        "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" | "LANGUAGE"
        | "IMAGE_SAFETY" => FinishReason::ContentFilter,
        _ => FinishReason::Other,
    }
}

fn usage(metadata: &UsageMetadata) -> Usage {
    Usage {
        input_tokens: metadata.prompt_token_count,
        output_tokens: metadata.candidates_token_count + metadata.thoughts_token_count,
        cached_input_tokens: metadata.cached_content_token_count,
        cache_write_tokens: 0,
        reasoning_tokens: metadata.thoughts_token_count,
    }
}

fn logprobs(result: LogprobsResult) -> Vec<TokenLogprob> {
    let mut tops = result.top_candidates.into_iter();
    let mut tokens = Vec::with_capacity(result.chosen_candidates.len());
    for chosen in result.chosen_candidates {
        let alternatives = tops.next().map(|top| top.candidates).unwrap_or_default();
        let alternatives = alternatives
            .into_iter()
            .map(|top| TopLogprob { token: top.token, logprob: top.log_probability });
        tokens.push(TokenLogprob {
            token: chosen.token,
            logprob: chosen.log_probability,
            top: alternatives.collect(),
        });
    }
    tokens
}

/// A stream of partial replies; the one with a finish reason ends a candidate.
#[derive(Default)]
pub(super) struct Stream {
    choices: BTreeMap<u32, PartialChoice>,
    usage: Option<Usage>,
    model: Option<String>,
    is_blocked: bool,
}

impl Stream {
    /// Adds a partial reply; true when it carried text of the answer.
    fn take(&mut self, reply: Reply) -> bool {
        if reply.model_version.is_some() {
            self.model = reply.model_version;
        }
        if let Some(metadata) = &reply.usage_metadata {
            self.usage = Some(usage(metadata));
        }
        self.is_blocked |=
            reply.prompt_feedback.is_some_and(|feedback| feedback.block_reason.is_some());
        let mut has_text = false;
        for candidate in reply.candidates.unwrap_or_default() {
            let choice = self.choices.entry(candidate.index).or_default();
            if let Some(word) = &candidate.finish_reason {
                choice.finish_reason = Some(finish_reason(word));
            }
            for part in candidate.content.and_then(|content| content.parts).unwrap_or_default() {
                if part.function_call.is_some() {
                    choice.finish_reason = Some(FinishReason::ToolCall);
                }
                if let Some(text) = part.text.filter(|_| !part.thought) {
                    has_text |= choice.push(&text);
                }
            }
            choice.push_logprobs(candidate.logprobs_result.map(logprobs));
        }
        has_text
    }

    fn answer(self) -> Result<Answer, CallError> {
        if self.choices.is_empty() && self.is_blocked {
            let finish_reason = FinishReason::ContentFilter;
            let text = text_or_explained(None, finish_reason)?;
            let blocked = Choice { text, finish_reason, logprobs: None };
            return Answer::from_choices([blocked], self.usage, self.model);
        }
        Answer::from_choices(complete_choices(self.choices)?, self.usage, self.model)
    }
}

impl StreamParser for Stream {
    fn event(&mut self, data: &str) -> Result<bool, CallError> {
        let reply: Reply = read(data)?;
        if let Some(error) = &reply.error {
            return Err(error_in_stream(error));
        }
        Ok(self.take(reply))
    }

    /// The format has no end marker: the stream ends with its connection.
    fn is_done(&self) -> bool {
        false
    }

    fn finish(self: Box<Self>) -> Result<Answer, CallError> {
        self.answer()
    }
}

#[cfg(test)]
#[path = "gemini_tests.rs"]
mod tests;
