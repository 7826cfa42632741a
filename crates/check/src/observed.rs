//! What the judge gave for a probe.

use fullbench_types::{NanoDollars, UnscoredReason};
use serde::{Deserialize, Serialize};

/// What the judge gave for one probe.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Observed {
    /// The position in the list of probes.
    pub case: usize,
    /// The score from 0 to 1; of pairs 1 where the answer is preferred, 0 where the other is, 0.5 for a tie.
    pub value: Option<f64>,
    /// Why there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unscored: Option<UnscoredReason>,
    /// Of a pair: the winner changed with the order in which the two were shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_flipped: Option<bool>,
    /// Of a flipped pair: what was shown first won both times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_shown_preferred: Option<bool>,
    /// Of a panel: the score of each member.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<Option<f64>>,
    /// How many replies the judge gave.
    #[serde(default)]
    pub replies: u32,
    /// How many of them could not be used, and were asked for again.
    #[serde(default)]
    pub unusable_replies: u32,
    /// Seconds it took; none where it came from the cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// What it cost; none where no price is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<NanoDollars>,
    /// Tokens of the prompts.
    #[serde(default)]
    pub input_tokens: u64,
    /// Tokens of the replies.
    #[serde(default)]
    pub output_tokens: u64,
}
