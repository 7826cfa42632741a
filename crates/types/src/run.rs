//! What kinds of runs there are, and the states they pass through.

use serde::{Deserialize, Serialize};

/// What a run is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunKind {
    /// One case.
    Single,
    /// A data set.
    Batch,
    /// Part of a benchmark.
    Benchmark,
    /// Part of an experiment.
    AbTest,
    /// Compared with a baseline.
    Regression,
}

impl RunKind {
    /// The stored word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Single => "single",
            Self::Batch => "batch",
            Self::Benchmark => "benchmark",
            Self::AbTest => "ab_test",
            Self::Regression => "regression",
        }
    }
}

/// pending → running ⇄ paused | incomplete; completed, cancelled and failed are final.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// Created, nothing done yet.
    Pending,
    /// A process works on it, or died while working on it.
    Running,
    /// Halted on request.
    Paused,
    /// Stopped with units still to do: interrupted, out of budget, or some units failed.
    Incomplete,
    /// Every unit has its scores.
    Completed,
    /// Given up on request.
    Cancelled,
    /// Cannot go on.
    Failed,
}

impl RunState {
    /// All states.
    pub const ALL: [Self; 7] = [
        Self::Pending,
        Self::Running,
        Self::Paused,
        Self::Incomplete,
        Self::Completed,
        Self::Cancelled,
        Self::Failed,
    ];

    /// The stored word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Incomplete => "incomplete",
            Self::Completed => "completed",
            Self::Cancelled => "cancelled",
            Self::Failed => "failed",
        }
    }

    /// Reads the stored word back.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == word)
    }

    /// No further unit will be done.
    #[must_use]
    pub fn is_final(self) -> bool {
        matches!(self, Self::Completed | Self::Cancelled | Self::Failed)
    }
}
