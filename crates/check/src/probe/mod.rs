//! Which probes to put before a judge.

mod format;
mod padding;
mod plan;

use serde::{Deserialize, Serialize};

pub use format::FormatChange;
pub use plan::probes;

/// What a judge takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Judged {
    /// One answer.
    Single,
    /// Two answers, of which it finds the better.
    Pairs,
}

/// What a probe asks of a judge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Probe {
    /// What it says of the answer as it is.
    Base,
    /// Whether it says the same again; not to be served from a cache.
    Retest,
    /// Whether the form of the answer moves it.
    Format {
        /// How the form is changed.
        change: FormatChange,
    },
    /// Whether words that say nothing new move it.
    Padded,
    /// Whether it passes a text that is no answer.
    Attack {
        /// The name in [`attacks`](fullbench_judge::attacks).
        attack: String,
    },
    /// Whether it passes a poor answer that is followed by an attack.
    Injected {
        /// The name in [`attacks`](fullbench_judge::attacks).
        attack: String,
    },
    /// Which of the answers of two examples to the same input it prefers.
    Pair,
    /// For judges of single answers: which of two it would prefer, asked to compare them.
    Compared,
}

/// One answer, or pair of answers, to put before the judge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbeCase {
    /// Unique and readable: `{example}·retest·2`.
    pub id: String,
    /// The example, by its position.
    pub example: usize,
    /// The example whose answer is the other of the pair, by its position.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub with: Option<usize>,
    /// What is asked.
    pub probe: Probe,
    /// The answer to judge.
    pub output: String,
    /// The answer it is compared with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other: Option<String>,
    /// 0, and from 1 on for retests: what tells equal questions apart.
    pub round: u32,
}

/// Which probes to plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProbeOptions {
    /// Where chance starts.
    pub seed: u64,
    /// How many examples are judged again, formatted otherwise, padded, paired with others, and lend their inputs to attacks.
    pub sample: usize,
    /// How often each of them is judged again.
    pub retests: u32,
    /// Whether their form is changed.
    pub formats: bool,
    /// Whether they are padded.
    pub padding: bool,
    /// Whether a judge of single answers is also asked to compare two; a judge of pairs always is.
    pub comparisons: bool,
    /// Whether attacks are made.
    pub attacks: bool,
    /// How many poor answers are followed by an attack.
    pub injections: usize,
    /// The judge's pass mark: answers that people put below are poor.
    pub mark: Option<f64>,
}

impl Default for ProbeOptions {
    fn default() -> Self {
        Self {
            seed: 1,
            sample: 30,
            retests: 2,
            formats: true,
            padding: true,
            comparisons: true,
            attacks: true,
            injections: 24,
            mark: None,
        }
    }
}
