//! What can go wrong with stored things.

use std::path::{Path, PathBuf};

use fullbench_types::ErrorCode;

/// An error of the store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database refused.
    #[error("the database failed: {0}")]
    Database(#[from] sea_orm::DbErr),
    /// The database file cannot be opened.
    #[error("{path} cannot be opened: {reason}", path = path.display())]
    Unopened {
        /// The database file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A file could not be read or written.
    #[error("{path}: {source}", path = path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// There is no such run.
    #[error("there is no run `{0}`")]
    RunNotFound(String),
    /// Several runs begin with these letters.
    #[error("`{prefix}` is the beginning of {count} runs")]
    RunAmbiguous {
        /// What was asked for.
        prefix: String,
        /// How many match.
        count: usize,
    },
    /// There is no such baseline.
    #[error("there is no baseline `{0}`")]
    BaselineNotFound(String),
    /// A baseline cannot be called this, because a run is.
    #[error("a baseline cannot be called `{0}`: that already finds a run")]
    BaselineIsRun(String),
    /// A name that cannot be typed or told apart.
    #[error("`{0}` is no name for a baseline")]
    BaselineName(String),
    /// Another process works on the run.
    #[error("run {0} is being worked on by another process")]
    RunLocked(String),
    /// The database was written by a newer version.
    #[error("{path} was made by a newer version of fullbench (migration `{migration}`)", path = path.display())]
    NewerDatabase {
        /// The database file.
        path: PathBuf,
        /// The first migration this version does not know.
        migration: String,
    },
    /// Stored content is damaged.
    #[error("stored data is damaged: {0}")]
    Damaged(String),
}

impl StoreError {
    /// The shared code of this error.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::RunNotFound(_) | Self::BaselineNotFound(_) => ErrorCode::NotFound,
            Self::RunAmbiguous { .. }
            | Self::Unopened { .. }
            | Self::BaselineIsRun(_)
            | Self::BaselineName(_) => ErrorCode::InvalidInput,
            Self::RunLocked(_) | Self::NewerDatabase { .. } => ErrorCode::Conflict,
            Self::Database(_) | Self::File { .. } | Self::Damaged(_) => ErrorCode::Internal,
        }
    }

    /// What the user can do about it.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::RunNotFound(_) => Some(
                "`fullbench list` shows the runs there are, `fullbench baseline list` the baselines",
            ),
            Self::RunAmbiguous { .. } => Some("give more letters of the id"),
            Self::BaselineNotFound(_) => {
                Some("`fullbench baseline list` shows the baselines there are")
            }
            Self::BaselineIsRun(_) => {
                Some("choose a name that no run has and that is not part of an id")
            }
            Self::BaselineName(_) => Some("use up to 100 letters without spaces"),
            Self::RunLocked(_) => Some("wait for it to end, or stop it with Ctrl-C"),
            Self::NewerDatabase { .. } => {
                Some("update fullbench, or use another folder with FULLBENCH_HOME")
            }
            Self::Unopened { .. } => {
                Some("check that the folder can be written, or name another with --home")
            }
            _ => None,
        }
    }

    /// A file error with its path.
    pub(crate) fn file(path: &Path) -> impl FnOnce(std::io::Error) -> Self + '_ {
        move |source| Self::File { path: path.to_owned(), source }
    }
}
