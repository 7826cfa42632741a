//! What can go wrong with an evaluation, and where in the user's files.

use std::fmt;
use std::path::PathBuf;

use fullbench_types::{ErrorCode, NanoDollars};

/// A mistake in the user's input: where, what, and what to do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InputProblem {
    /// The file, as the user named it.
    pub file: Option<PathBuf>,
    /// Line, counted from 1.
    pub line: Option<u64>,
    /// Column, counted from 1.
    pub column: Option<u64>,
    /// The field, as a path: `models[1].temperature`.
    pub field: Option<String>,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl InputProblem {
    /// A problem without a place yet.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), ..Self::default() }
    }

    /// The same problem in a file.
    #[must_use]
    pub fn in_file(self, file: impl Into<PathBuf>) -> Self {
        Self { file: Some(file.into()), ..self }
    }

    /// The same problem on a line.
    #[must_use]
    pub fn at_line(self, line: u64) -> Self {
        Self { line: Some(line), ..self }
    }

    /// The same problem in a field.
    #[must_use]
    pub fn in_field(self, field: impl Into<String>) -> Self {
        Self { field: Some(field.into()), ..self }
    }

    /// The same problem with a hint.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }
}

impl fmt::Display for InputProblem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(formatter, "{}", file.display())?;
            if let Some(line) = self.line {
                write!(formatter, ":{line}")?;
                if let Some(column) = self.column {
                    write!(formatter, ":{column}")?;
                }
            }
            formatter.write_str(": ")?;
        }
        if let Some(field) = &self.field {
            write!(formatter, "`{field}`: ")?;
        }
        formatter.write_str(&self.message)
    }
}

/// An error of the engine.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The user's input is wrong.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Input(Vec<InputProblem>),
    /// The organization has spent what it may in a month.
    #[error("the organization's budget of {limit} a month is used up: {spent} spent")]
    OutOfBudget {
        /// What it may spend.
        limit: NanoDollars,
        /// What it spent.
        spent: NanoDollars,
    },
    /// Embeddings are asked for at a provider where there is a budget.
    #[error("there is a budget, and what embeddings of `{0}` cost is not counted")]
    Uncounted(String),
    /// There is no room for the results of a run.
    #[error("the run would have {units} results, and there is room for {left}")]
    NoRoom {
        /// How many it would have.
        units: u64,
        /// How many it may have.
        left: u64,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] fullbench_store::StoreError),
    /// A model could not be set up.
    #[error(transparent)]
    Model(#[from] fullbench_llm::LlmError),
    /// A stored spec cannot be read.
    #[error("the stored evaluation cannot be read: {0}")]
    StoredSpec(String),
    /// A part of the program ended unexpectedly.
    #[error("{0} ended unexpectedly")]
    Interrupted(&'static str),
}

impl EngineError {
    /// The shared code of this error.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Input(_) | Self::Uncounted(_) => ErrorCode::InvalidInput,
            Self::OutOfBudget { .. } => ErrorCode::RateLimited,
            Self::NoRoom { .. } => ErrorCode::Conflict,
            Self::Store(error) => error.code(),
            Self::Model(error) => error.code(),
            Self::StoredSpec(_) | Self::Interrupted(_) => ErrorCode::Internal,
        }
    }

    /// Whether the same may succeed a while later, without anything changed here.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::Store(error) if error.is_passing())
    }

    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::OutOfBudget { .. } => Some(
                "wait for the next month, or have an admin raise the organization's `cost_budget_monthly_usd`",
            ),
            Self::Uncounted(_) => Some(
                "use a model that runs here, for example `model: all-minilm-l6-v2`, or remove the budget",
            ),
            _ => None,
        }
    }
}

impl From<InputProblem> for EngineError {
    fn from(problem: InputProblem) -> Self {
        Self::Input(vec![problem])
    }
}
