//! What can be wrong with a file or a question, for people.

use std::path::PathBuf;

use fullbench_stats::Undefined;
use fullbench_types::ErrorCode;

/// An error of an analysis: what is wrong, where, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum AnalysisError {
    /// Something in a file is wrong.
    #[error("{}{}{message}", place(.file, *.line), .field.as_ref().map(|field| format!("`{field}`: ")).unwrap_or_default())]
    Input {
        /// The file, as the user named it.
        file: PathBuf,
        /// The line, counted from 1.
        line: Option<u64>,
        /// The column.
        field: Option<String>,
        /// What is wrong.
        message: String,
        /// What to do about it.
        hint: Option<String>,
    },
    /// The question itself makes no sense: an option, or two that contradict each other.
    #[error("{message}")]
    Question {
        /// What is wrong.
        message: String,
        /// What to do about it.
        hint: Option<String>,
    },
    /// The data do not allow the number to be computed.
    #[error("{what} is undefined: {reason}")]
    Undefined {
        /// The number that was asked for.
        what: &'static str,
        /// Why it does not exist.
        reason: Undefined,
        /// What to do about it.
        hint: Option<String>,
    },
}

impl AnalysisError {
    /// The shared code of this error.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        ErrorCode::InvalidInput
    }

    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::Input { hint, .. }
            | Self::Question { hint, .. }
            | Self::Undefined { hint, .. } => hint.as_deref(),
        }
    }

    /// A question that makes no sense.
    pub fn question(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Question { message: message.into(), hint: Some(hint.into()) }
    }

    /// A number that does not exist.
    pub fn undefined(what: &'static str, reason: Undefined, hint: impl Into<String>) -> Self {
        Self::Undefined { what, reason, hint: Some(hint.into()) }
    }
}

fn place(file: &std::path::Path, line: Option<u64>) -> String {
    match line {
        Some(line) => format!("{}:{line}: ", file.display()),
        None => format!("{}: ", file.display()),
    }
}
