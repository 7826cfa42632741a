//! Errors for people: a message, a hint, an exit code; never a backtrace.

use std::io::Write;

use fullbench_analysis::AnalysisError;
use fullbench_engine::EngineError;
use fullbench_store::StoreError;
use fullbench_types::ErrorCode;

use crate::output::visible;

/// How the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// All is well.
    Fine = 0,
    /// A gate failed, or a check found something to do.
    GateFailed = 1,
    /// The user's input is wrong.
    WrongInput = 2,
    /// The run is incomplete.
    Incomplete = 3,
}

/// Something went wrong.
#[derive(Debug)]
pub(crate) struct CliError {
    problems: Vec<(String, Option<String>)>,
    code: ErrorCode,
    closed_pipe: bool,
}

impl CliError {
    /// The user's input is wrong.
    pub(crate) fn input(message: impl Into<String>, hint: Option<String>) -> Self {
        Self::inputs(vec![(message.into(), hint)])
    }

    /// The user's input is wrong in several ways.
    pub(crate) fn inputs(problems: Vec<(String, Option<String>)>) -> Self {
        Self { problems, code: ErrorCode::InvalidInput, closed_pipe: false }
    }

    /// Several checks found the user's input wrong.
    pub(crate) fn combined(errors: Vec<Self>) -> Self {
        Self::inputs(errors.into_iter().flat_map(|error| error.problems).collect())
    }

    /// The machine or the program failed.
    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self {
            problems: vec![(message.into(), None)],
            code: ErrorCode::Internal,
            closed_pipe: false,
        }
    }

    /// Writes the messages to stderr.
    pub(crate) fn print(&self) {
        let mut stderr = std::io::stderr().lock();
        for (message, hint) in &self.problems {
            let _ = writeln!(stderr, "error: {}", visible(message));
            if let Some(hint) = hint {
                let _ = writeln!(stderr, "  hint: {hint}");
            }
        }
    }

    /// Nobody reads the output any more; what was done is done.
    pub(crate) fn is_closed_pipe(&self) -> bool {
        self.closed_pipe
    }

    /// The exit code.
    pub(crate) fn exit(&self) -> Exit {
        if self.closed_pipe {
            return Exit::Fine;
        }
        match self.code {
            ErrorCode::InvalidInput
            | ErrorCode::NotFound
            | ErrorCode::Conflict
            | ErrorCode::Unauthorized => Exit::WrongInput,
            ErrorCode::RateLimited
            | ErrorCode::Timeout
            | ErrorCode::Unavailable
            | ErrorCode::Internal => Exit::Incomplete,
        }
    }
}

impl From<EngineError> for CliError {
    fn from(error: EngineError) -> Self {
        let code = error.code();
        let problems = match error {
            EngineError::Input(problems) => {
                problems.into_iter().map(|problem| (problem.to_string(), problem.hint)).collect()
            }
            EngineError::Store(error) => return error.into(),
            EngineError::Model(error) => vec![(error.to_string(), error.hint())],
            other => vec![(other.to_string(), other.hint().map(str::to_owned))],
        };
        Self { problems, code, closed_pipe: false }
    }
}

impl From<AnalysisError> for CliError {
    fn from(error: AnalysisError) -> Self {
        let hint = error.hint().map(str::to_owned);
        Self { code: error.code(), problems: vec![(error.to_string(), hint)], closed_pipe: false }
    }
}

impl From<StoreError> for CliError {
    fn from(error: StoreError) -> Self {
        let hint = error.hint().map(str::to_owned);
        Self { code: error.code(), problems: vec![(error.to_string(), hint)], closed_pipe: false }
    }
}

impl From<std::io::Error> for CliError {
    fn from(error: std::io::Error) -> Self {
        if error.kind() == std::io::ErrorKind::BrokenPipe {
            return Self { problems: Vec::new(), code: ErrorCode::Internal, closed_pipe: true };
        }
        Self::internal(format!("the output cannot be written: {error}"))
    }
}

impl From<serde_json::Error> for CliError {
    fn from(error: serde_json::Error) -> Self {
        match error.io_error_kind() {
            Some(kind) => std::io::Error::from(kind).into(),
            None => Self::internal(format!("the output cannot be written: {error}")),
        }
    }
}

impl From<csv::Error> for CliError {
    fn from(error: csv::Error) -> Self {
        let message = format!("the output cannot be written: {error}");
        match error.into_kind() {
            csv::ErrorKind::Io(error) => error.into(),
            _ => Self::internal(message),
        }
    }
}
