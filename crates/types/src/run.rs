//! What kinds of runs there are, and the states they pass through.

use crate::words::words;

words! {
    /// What a run is for.
    RunKind {
        /// One case.
        Single = "single",
        /// A data set.
        Batch = "batch",
        /// Part of a benchmark.
        Benchmark = "benchmark",
        /// Part of an experiment.
        AbTest = "ab_test",
        /// Compared with a baseline.
        Regression = "regression",
    }
}

words! {
    /// pending → running ⇄ paused | incomplete; completed, cancelled and failed are final.
    RunState {
        /// Created, nothing done yet.
        Pending = "pending",
        /// A process works on it, or died while working on it.
        Running = "running",
        /// Halted on request.
        Paused = "paused",
        /// Stopped with units still to do: interrupted, out of budget, or some units failed.
        Incomplete = "incomplete",
        /// Every unit has its scores.
        Completed = "completed",
        /// Given up on request.
        Cancelled = "cancelled",
        /// Cannot go on.
        Failed = "failed",
    }
}

impl RunState {
    /// No further unit will be done.
    #[must_use]
    pub fn is_final(self) -> bool {
        matches!(self, Self::Completed | Self::Cancelled | Self::Failed)
    }
}
