//! What can go wrong before the first call.

use fullbench_types::ErrorCode;

use crate::config::ConfigError;

/// A model that cannot be called.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum LlmError {
    /// Its configuration is wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// Its key is not in the environment.
    #[error("`{model}` needs a key: the environment variable {variable} is not set")]
    MissingKey {
        /// The model.
        model: String,
        /// The variable.
        variable: String,
    },
    /// Its key cannot be sent: it has characters that no header may have.
    #[error("the key in {variable} has characters that cannot be sent")]
    UnusableKey {
        /// The variable.
        variable: String,
    },
    /// Its answers are in the data: there is nothing to call.
    #[error("`{model}` is recorded: its answers are in the data and nothing is called")]
    Recorded {
        /// The model.
        model: String,
    },
    /// It runs in this process: its weights must be loaded first.
    #[error("`{model}` runs in this process, and its weights are not loaded")]
    Local {
        /// The model.
        model: String,
    },
    /// The HTTP client could not be made.
    #[error("cannot prepare HTTP calls: {0}")]
    Client(String),
}

impl LlmError {
    /// The shared code.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Config(_) | Self::Recorded { .. } => ErrorCode::InvalidInput,
            Self::MissingKey { .. } | Self::UnusableKey { .. } => ErrorCode::Unauthorized,
            Self::Local { .. } | Self::Client(_) => ErrorCode::Internal,
        }
    }

    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Config(error) => error.hint.clone(),
            Self::MissingKey { variable, .. } => Some(format!("export {variable}=…")),
            Self::UnusableKey { variable } => {
                Some(format!("check {variable} for line breaks and stray characters"))
            }
            Self::Local { .. } => {
                Some("load it with `fullbench_local` and use `Gateway::custom_model`".to_owned())
            }
            Self::Recorded { .. } | Self::Client(_) => None,
        }
    }
}
