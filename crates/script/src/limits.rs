//! What one call may use.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// What one call may use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// How long it may take, from the wall clock.
    pub time: Duration,
    /// How many bytes the engine may hold, its own objects included.
    pub memory: usize,
    /// How many bytes of stack it may use: calls within calls, nested values, nested source text.
    pub stack: usize,
    /// How many bytes of text the returned value may have.
    pub output: usize,
    /// How many bytes of `console.log` are kept; what comes after is dropped.
    pub log: usize,
    /// How many bytes the source may have.
    pub source: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            time: Duration::from_secs(2),
            memory: 64 << 20,
            stack: 1 << 20,
            output: 1 << 20,
            log: 64 << 10,
            source: 1 << 20,
        }
    }
}

impl Limits {
    /// The stack that the engine is told to keep to: never more than a worker has.
    pub(crate) fn engine_stack(&self) -> usize {
        self.stack.clamp(64 << 10, 16 << 20)
    }

    /// The memory that the engine is told to keep to: never too little to start, and never zero, which would
    /// mean no limit.
    pub(crate) fn engine_memory(&self) -> usize {
        self.memory.max(1 << 20)
    }
}
