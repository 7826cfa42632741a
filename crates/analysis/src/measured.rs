//! A number, or why there is none.

use fullbench_stats::Undefined;
use serde::Serialize;

/// A value, or `{"undefined": reason}`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Measured<T> {
    /// The value.
    Value(T),
    /// There is none.
    Undefined {
        /// Why.
        undefined: String,
    },
}

impl<T> Measured<T> {
    /// No value, for a reason.
    pub fn undefined(reason: impl Into<String>) -> Self {
        Self::Undefined { undefined: reason.into() }
    }

    /// The value, if there is one.
    pub fn value(&self) -> Option<&T> {
        match self {
            Self::Value(value) => Some(value),
            Self::Undefined { .. } => None,
        }
    }

    /// Why there is none.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Value(_) => None,
            Self::Undefined { undefined } => Some(undefined),
        }
    }
}

impl<T> From<Result<T, Undefined>> for Measured<T> {
    fn from(result: Result<T, Undefined>) -> Self {
        match result {
            Ok(value) => Self::Value(value),
            Err(reason) => Self::undefined(reason.to_string()),
        }
    }
}
