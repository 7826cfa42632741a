//! What can be wrong with a judge before it is asked.

use fullbench_llm::ConfigError;
use fullbench_types::ErrorCode;

use crate::criteria::CriterionError;
use crate::prompts::PromptError;

/// A judge that cannot work.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JudgeError {
    /// Its criterion is wrong.
    #[error("the criterion's {0}")]
    Criterion(CriterionError),
    /// There is no built-in criterion of this name.
    #[error("there is no criterion `{name}`; the built-in ones are {known}")]
    UnknownCriterion {
        /// The name.
        name: String,
        /// The names there are.
        known: String,
    },
    /// A prompt of the user is wrong.
    #[error(transparent)]
    Prompt(#[from] PromptError),
    /// Its model is wrong.
    #[error("the judge's model: {0}")]
    Model(ConfigError),
    /// A setting is wrong.
    #[error("`{field}`: {message}")]
    Setting {
        /// The setting.
        field: String,
        /// What is wrong with it.
        message: String,
        /// What to do about it.
        hint: String,
    },
    /// A file of recorded replies cannot be read.
    #[error("line {line} of the recorded replies: {message}")]
    Recorded {
        /// The line, counted from 1.
        line: usize,
        /// What is wrong with it.
        message: String,
    },
}

impl JudgeError {
    pub(crate) fn setting(
        field: impl Into<String>,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self::Setting { field: field.into(), message: message.into(), hint: hint.into() }
    }

    /// The setting that is wrong, where it is one.
    #[must_use]
    pub fn field(&self) -> Option<String> {
        match self {
            Self::Criterion(error) => Some(format!("criterion.{}", error.field)),
            Self::UnknownCriterion { .. } => Some("criterion".to_owned()),
            Self::Prompt(error) => Some(format!("prompts.{}.{}", error.prompt, error.part)),
            Self::Model(error) => Some(format!("model.{}", error.field)),
            Self::Setting { field, .. } => Some(field.clone()),
            Self::Recorded { .. } => None,
        }
    }

    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Criterion(error) => Some(error.hint.clone()),
            Self::UnknownCriterion { .. } => {
                Some("name a built-in criterion, or write one in its place".to_owned())
            }
            Self::Prompt(error) => Some(error.hint.clone()),
            Self::Model(error) => error.hint.clone(),
            Self::Setting { hint, .. } => Some(hint.clone()),
            Self::Recorded { .. } => Some(
                r#"write one JSON object on each line: {"id": "case-1", "replies": ["…", "…"]}"#
                    .to_owned(),
            ),
        }
    }

    /// The shared code.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        ErrorCode::InvalidInput
    }
}
