//! Questions to what judges gave: performance, agreement, difficulty, the effect of thresholds, failures, cost.
//!
//! Judgements are the scores that carry how a judge came to them. Each question reads them once, as a stream, into
//! accumulators; texts of prompts and replies are skipped. The highest revision of a score counts, but money that an earlier
//! one cost is spent as well.

mod costs;
mod documents;
mod failures;
mod performance;
mod rows;
mod thresholds;

pub use costs::DailyCost;
pub use documents::{DocumentDifficulty, DocumentScore, DocumentScores, JudgedDocument};
pub use failures::{FailurePattern, message_pattern};
pub use performance::{JudgePerformance, ModelPerformance, Performance};
pub use thresholds::ThresholdEffect;

use std::fmt;

use fullbench_types::{JudgeId, RunId};
use jiff::Timestamp;

/// Which judgements a question is about: those for which everything that is given holds.
#[derive(Debug, Clone, Default)]
pub struct JudgementFilter {
    /// Of this run.
    pub run: Option<RunId>,
    /// By the stored judge of this name and its predecessors, or by those whose label it is.
    pub judge: Option<String>,
    /// By this criterion.
    pub criterion: Option<String>,
    /// Recorded at this time or later.
    pub from: Option<Timestamp>,
    /// Recorded before this time.
    pub until: Option<Timestamp>,
}

/// What makes a judge one and the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum JudgeKey {
    /// A stored judge.
    Stored(JudgeId),
    /// One written in an evaluation file: the first 16 bytes of its scorer's hash.
    Inline([u8; 16]),
}

/// Who judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgedBy {
    /// What tells the judge apart.
    pub key: JudgeKey,
    /// The stored judge's name.
    pub name: Option<String>,
    /// What was judged.
    pub criterion: String,
    /// How.
    pub method: String,
    /// The judging model's name.
    pub model: String,
}

/// Its name, or what it is made of; judges that differ in parameters alone read the same.
impl fmt::Display for JudgedBy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => formatter.write_str(name),
            None => write!(formatter, "{}/{}/{}", self.criterion, self.method, self.model),
        }
    }
}

impl JudgedBy {
    /// How judges are ordered: by what they are called, then by what tells them apart.
    fn position(&self) -> (String, JudgeKey) {
        (self.to_string(), self.key)
    }
}
