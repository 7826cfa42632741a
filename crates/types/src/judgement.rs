//! What a judge was asked and what it said: the telemetry of a score that a model gave.

use serde::{Deserialize, Serialize};

use crate::{ContentHash, JudgeId, NanoDollars};

/// A stored judge, exactly as it was: the name alone means the newest of this name.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct JudgeReference {
    /// The judge.
    pub id: JudgeId,
    /// Its name.
    pub name: String,
}

/// How a judge came to its score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    /// The stored judge; none for one that is written in the evaluation file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge: Option<JudgeReference>,
    /// What was judged.
    pub criterion: String,
    /// How: `g_eval`, `rubric`, `binary`, …
    pub method: String,
    /// The judging model's name.
    pub model: String,
    /// The prompt as it was sent, one message after the other.
    pub prompt: String,
    /// BLAKE3 of the prompt's template.
    pub template: ContentHash,
    /// The pass mark that held, from 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f64>,
    /// Every reply, in the order in which it was asked for.
    pub replies: Vec<JudgeReply>,
}

/// One reply of a judge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JudgeReply {
    /// Which sample it belongs to, counted from 0; a sample that is asked again has several replies.
    pub sample: u32,
    /// What else tells it apart: the order of a pair, a claim, a member of a panel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
    /// The text as it came.
    pub text: String,
    /// The number it gives on the criterion's scale; none where it gives none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// The probability of each number of the scale, where the model told it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub distribution: Vec<(i32, f64)>,
    /// Why it is no judgement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// Tokens of the prompt.
    pub input_tokens: u64,
    /// Tokens of the reply.
    pub output_tokens: u64,
    /// Microseconds the call took.
    pub latency_us: u64,
    /// What it cost; none where no price is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<NanoDollars>,
    /// Served from the response cache.
    #[serde(default)]
    pub cached: bool,
    /// What it had cost when it was made, where it comes from the cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saved: Option<NanoDollars>,
    /// Which of several equivalent deployments answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
}

impl Judgement {
    /// Tokens of all prompts.
    #[must_use]
    pub fn input_tokens(&self) -> u64 {
        self.replies.iter().map(|reply| reply.input_tokens).sum()
    }

    /// Tokens of all replies.
    #[must_use]
    pub fn output_tokens(&self) -> u64 {
        self.replies.iter().map(|reply| reply.output_tokens).sum()
    }

    /// What all replies cost, or had cost when they were made; none where no price is known.
    #[must_use]
    pub fn full_cost(&self) -> Option<NanoDollars> {
        let cost = |reply: &JudgeReply| match (reply.cost, reply.saved) {
            (None, None) => None,
            (cost, saved) => Some(cost.unwrap_or_default() + saved.unwrap_or_default()),
        };
        self.replies.iter().map(cost).sum()
    }

    /// Seconds that all calls took together.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.replies.iter().map(|reply| reply.latency_us as f64 / 1e6).sum()
    }
}
