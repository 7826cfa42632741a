//! What a model answered, with its telemetry, or why it did not.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ErrorCode, FailureReason, NanoDollars};

/// Why the model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    /// It was done, or met a stop sequence.
    Stop,
    /// It reached the limit of tokens: the text is cut off.
    Length,
    /// The provider withheld or cut the answer.
    ContentFilter,
    /// It asked to call a tool.
    ToolCall,
    /// The provider said something else, or nothing.
    Other,
    /// The answer was already in the data.
    Recorded,
}

impl FinishReason {
    /// The stored word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stop => "stop",
            Self::Length => "length",
            Self::ContentFilter => "content_filter",
            Self::ToolCall => "tool_call",
            Self::Other => "other",
            Self::Recorded => "recorded",
        }
    }

    /// Reads the stored word back; an unknown one is `Other`.
    #[must_use]
    pub fn from_word(word: &str) -> Self {
        match word {
            "stop" => Self::Stop,
            "length" => Self::Length,
            "content_filter" => Self::ContentFilter,
            "tool_call" => Self::ToolCall,
            "recorded" => Self::Recorded,
            _ => Self::Other,
        }
    }
}

/// Tokens of one call as the provider counted them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// All tokens of the prompt, cached ones included.
    pub input_tokens: u64,
    /// All tokens of the answer, reasoning included.
    pub output_tokens: u64,
    /// Prompt tokens the provider read from its own cache.
    pub cached_input_tokens: u64,
    /// Prompt tokens the provider wrote to its own cache.
    pub cache_write_tokens: u64,
    /// Tokens spent on reasoning that is not part of the text.
    pub reasoning_tokens: u64,
}

/// One token of the answer with its log-probability.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TokenLogprob {
    /// The token's text.
    pub token: String,
    /// Natural logarithm of its probability.
    pub logprob: f64,
    /// The most likely tokens at this place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub top: Vec<TopLogprob>,
}

/// An alternative token with its log-probability.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TopLogprob {
    /// The token's text.
    pub token: String,
    /// Natural logarithm of its probability.
    pub logprob: f64,
}

/// One of the answers a model was to choose from, with its probability.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChoiceProbability {
    /// The answer, as it was given to choose.
    pub choice: String,
    /// Natural logarithm of the probability that the model's answer begins with it.
    pub logprob: f64,
    /// Its share of the probability of all choices.
    pub probability: f64,
}

/// One answer of one model to one case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Generation {
    /// The text exactly as the provider sent it.
    pub text: String,
    /// Further choices when `n` asked for more than one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub alternatives: Vec<String>,
    /// Why the model stopped.
    pub finish_reason: FinishReason,
    /// Tokens, as the provider counted them; none where it did not.
    pub usage: Option<Usage>,
    /// Microseconds from sending the successful request to its last byte.
    pub latency_us: u64,
    /// Microseconds to the first token, when the answer was streamed.
    pub time_to_first_token_us: Option<u64>,
    /// Microseconds spent waiting for a free place and between attempts.
    pub queue_us: u64,
    /// What the call cost, from estimated tokens where the provider sent no usage; none where the model has no known price.
    pub cost: Option<NanoDollars>,
    /// Calls made for this answer, the successful one included; 0 from the cache.
    pub attempts: u32,
    /// Served from the response cache.
    pub cached: bool,
    /// What it had cost when it was made, where it comes from the cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saved: Option<NanoDollars>,
    /// Which of several equivalent deployments answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
    /// Log-probabilities, where they were asked for and given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logprobs: Option<Vec<TokenLogprob>>,
    /// The probability of each answer it was to choose from, in the order they were given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choices: Option<Vec<ChoiceProbability>>,
    /// The model name the provider reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reported_model: Option<String>,
    /// The provider's reply as it came, JSON text; none for recorded answers and models run in this process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<String>,
}

impl Generation {
    /// An answer that was already in the data: it took no time and cost nothing.
    #[must_use]
    pub fn recorded(text: String) -> Self {
        Self {
            text,
            alternatives: Vec::new(),
            finish_reason: FinishReason::Recorded,
            usage: None,
            latency_us: 0,
            time_to_first_token_us: None,
            queue_us: 0,
            cost: None,
            attempts: 0,
            cached: false,
            saved: None,
            endpoint: None,
            logprobs: None,
            choices: None,
            reported_model: None,
            raw: None,
        }
    }
}

/// Why a unit has no answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnitFailure {
    /// The class of the failure.
    pub reason: FailureReason,
    /// What the provider or the network said, free of secrets.
    pub message: String,
    /// Calls made.
    pub attempts: u32,
    /// What kind of thing went wrong, which says on whose side; unknown for failures of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<ErrorCode>,
}
