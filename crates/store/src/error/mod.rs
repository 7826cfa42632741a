//! What can go wrong with stored things.

mod hints;
pub(crate) mod passing;

use std::fmt;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use fullbench_types::ErrorCode;
use sea_orm::{ConnAcquireErr, DbErr, SqlErr};

use crate::MasterKeyId;

/// A kind of thing that has a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntityKind {
    /// What is judged.
    Criterion,
    /// How it is judged.
    Method,
    /// Who is asked.
    Model,
    /// All of it together.
    Judge,
    /// A tenant.
    Organization,
    /// A person.
    User,
    /// A bearer key.
    ApiKey,
    /// Somebody who is signed in.
    Session,
    /// Somebody who is asked to join.
    Invitation,
    /// Named cases.
    Dataset,
    /// Their state at one time.
    DatasetVersion,
    /// One of them.
    TestCase,
    /// A text to be judged.
    Document,
    /// A named prompt.
    Prompt,
    /// Its text at one time.
    PromptVersion,
    /// Who is told of events.
    Webhook,
    /// An event on its way there.
    Delivery,
    /// A key of a provider.
    ProviderKey,
    /// What is watched, and who is told.
    AlertRule,
    /// The pass mark of a criterion.
    Threshold,
    /// A name of a run.
    Baseline,
    /// An agreed answer of a case.
    GroundTruth,
    /// A scorer of a run that had begun.
    AddedScorer,
}

impl fmt::Display for EntityKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Criterion => "criterion",
            Self::Method => "method",
            Self::Model => "model",
            Self::Judge => "judge",
            Self::Organization => "organization",
            Self::User => "user",
            Self::ApiKey => "API key",
            Self::Session => "session",
            Self::Invitation => "invitation",
            Self::Dataset => "data set",
            Self::DatasetVersion => "version of a data set",
            Self::TestCase => "case",
            Self::Document => "document",
            Self::Prompt => "prompt",
            Self::PromptVersion => "version of a prompt",
            Self::Webhook => "webhook",
            Self::Delivery => "delivery",
            Self::ProviderKey => "key of the provider",
            Self::AlertRule => "rule",
            Self::Threshold => "pass mark",
            Self::Baseline => "baseline",
            Self::GroundTruth => "agreed answer of the case",
            Self::AddedScorer => "scorer added to the run",
        })
    }
}

/// Why there is no connection to a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionProblem {
    /// There is no server, or it does not answer.
    Unreachable,
    /// The server refuses the user or the password.
    Unauthorized,
    /// The server has no such database.
    NoDatabase,
    /// The server has as many connections as it takes.
    Full,
    /// Something else.
    Other,
}

/// An error of the store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database refused.
    #[error("the database failed: {0}")]
    Database(#[source] DbErr),
    /// The database cannot be used for now: it is being started again, cannot be reached, or has no room.
    #[error("the database cannot be used for now: {0}")]
    DatabaseDown(#[source] DbErr),
    /// All connections to the database were in use for too long.
    #[error("the database failed: no connection became free in time")]
    Busy,
    /// Something reads the write-ahead log of SQLite, so that what was removed could not be taken out of it.
    #[error(
        "what was removed is still in the write-ahead log of the database, which somebody reads"
    )]
    LogInUse,
    /// A URL that names no database. It may hold a password, so it is not repeated.
    #[error("the URL of the database is wrong: {0}")]
    DatabaseUrl(String),
    /// The server of the database does not let us in.
    #[error("{database} cannot be connected to: {reason}")]
    Unconnected {
        /// The URL without its password.
        database: String,
        /// What is wrong.
        problem: ConnectionProblem,
        /// What was said.
        reason: String,
    },
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
    /// A URL that names no place for objects.
    #[error("the URL of the objects, `{url}`, is wrong: {problem}")]
    ObjectsUrl {
        /// The URL.
        url: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The place of the objects could not be read or written.
    #[error("{place}: {reason}")]
    Objects {
        /// The object, or the place of all.
        place: String,
        /// Why.
        reason: String,
    },
    /// There is no such file among the objects.
    #[error("there is no file `{0}`")]
    FileNotFound(String),
    /// A file cannot be kept under this name.
    #[error("`{0}` is no name for a file")]
    FileName(String),
    /// What was to be kept broke off.
    #[error("the content of `{file}` broke off: {reason}")]
    FileBrokeOff {
        /// The name it was to have.
        file: String,
        /// Why.
        reason: String,
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
    /// There is no criterion, method, model or judge of this name.
    #[error("there is no {kind} `{name}`")]
    NameNotFound {
        /// What was looked for.
        kind: EntityKind,
        /// Its name.
        name: String,
    },
    /// Another has the name.
    #[error("there is already a {kind} `{name}`")]
    NameTaken {
        /// What was to be added.
        kind: EntityKind,
        /// Its name.
        name: String,
    },
    /// It says more than one may.
    #[error("a {kind} has {limit} bytes at most")]
    TooLong {
        /// What was to be added.
        kind: EntityKind,
        /// How many bytes it may have.
        limit: usize,
    },
    /// There are as many as there may be.
    #[error("there are {limit} {kind}s already")]
    TooMany {
        /// What was to be added.
        kind: EntityKind,
        /// How many there may be.
        limit: u64,
    },
    /// A name that cannot be typed or told apart.
    #[error("`{name}` is no name for a {kind}")]
    NameInvalid {
        /// What was to be named.
        kind: EntityKind,
        /// The name.
        name: String,
    },
    /// It is never changed.
    #[error("the {kind} `{name}` cannot be changed: {reason}")]
    Immutable {
        /// What was to be changed.
        kind: EntityKind,
        /// Its name.
        name: String,
        /// Why not.
        reason: &'static str,
    },
    /// It is being worked with.
    #[error("the {kind} `{name}` is in use: a run on it goes on")]
    InUse {
        /// What was to be removed.
        kind: EntityKind,
        /// Its name.
        name: String,
    },
    /// What is to be removed is being read.
    #[error("a version of a data set is being looked through")]
    BeingValidated,
    /// What a row belongs to is not there any more.
    #[error("what this belongs to was removed meanwhile")]
    ReferenceGone(#[source] DbErr),
    /// Files would be larger together than they may.
    #[error("files may have {quota} bytes together, of which {left} are left")]
    NoRoom {
        /// Bytes that they may have.
        quota: u64,
        /// Bytes that are left.
        left: u64,
    },
    /// Another process changed it at the same time.
    #[error("the {kind} `{name}` was changed by another process at the same time")]
    ChangedMeanwhile {
        /// What was to be changed.
        kind: EntityKind,
        /// Its name.
        name: String,
    },
    /// An organization without an owner could never be changed again.
    #[error("`{0}` is the last owner of the organization who can sign in")]
    LastOwner(String),
    /// A criterion that no judge could apply.
    #[error("the criterion `{name}`: {problem}")]
    CriterionInvalid {
        /// Its name.
        name: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A pass mark that no value can be compared with.
    #[error("a threshold is a number from 0 to 1, not {0}")]
    ThresholdInvalid(f64),
    /// Another process works on the run.
    #[error("run {0} is being worked on by another process")]
    RunLocked(String),
    /// The database was written by a newer version.
    #[error("{database} was made by a newer version of fullbench (migration `{migration}`)")]
    NewerDatabase {
        /// The database file, or the URL without its password.
        database: String,
        /// The first migration this version does not know.
        migration: String,
    },
    /// There is nothing to back up.
    #[error("there is nothing in {0} yet")]
    NothingStored(String),
    /// A backup goes only where nothing is.
    #[error("{0} has data in it already, and a backup is restored into an empty database")]
    NotEmpty(String),
    /// The tables are newer than those of the backup.
    #[error("{0} has newer tables than the backup")]
    NewerTables(String),
    /// A backup that cannot be used.
    #[error("the backup {file} cannot be used: {problem}", file = file.display())]
    Backup {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// There is a file where one is to be written.
    #[error("there is already a file {path}", path = .0.display())]
    FileExists(PathBuf),
    /// A file cannot be written there.
    #[error("{path} cannot be written: {reason}", path = path.display())]
    Unwritten {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The file with the master keys cannot be used.
    #[error("{path} cannot be used: {problem}", path = path.display())]
    KeyFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// A master key is not at hand.
    #[error("the master key {0} is not here, and keys of the database are wrapped with it")]
    MasterKeyUnknown(MasterKeyId),
    /// What something was sealed with is gone for good.
    #[error(
        "this was sealed with a key of the organization that was deleted since, and cannot be read any more"
    )]
    KeysDeleted,
    /// Texts are gone with the keys that they were sealed with.
    #[error(
        "the texts were sealed with a key of the organization that was deleted since: they are gone, and nothing can be made of them any more"
    )]
    TextsDeleted,
    /// Stored content is damaged.
    #[error("stored data is damaged: {0}")]
    Damaged(String),
}

impl StoreError {
    /// The shared code of this error.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::RunNotFound(_)
            | Self::BaselineNotFound(_)
            | Self::NameNotFound { .. }
            | Self::NothingStored(_)
            | Self::FileNotFound(_) => ErrorCode::NotFound,
            Self::RunAmbiguous { .. }
            | Self::Unopened { .. }
            | Self::DatabaseUrl(_)
            | Self::ObjectsUrl { .. }
            | Self::FileName(_)
            | Self::FileBrokeOff { .. }
            | Self::Backup { .. }
            | Self::Unwritten { .. }
            | Self::BaselineIsRun(_)
            | Self::BaselineName(_)
            | Self::NameInvalid { .. }
            | Self::TooLong { .. }
            | Self::CriterionInvalid { .. }
            | Self::ThresholdInvalid(_) => ErrorCode::InvalidInput,
            Self::RunLocked(_)
            | Self::NewerDatabase { .. }
            | Self::NotEmpty(_)
            | Self::NewerTables(_)
            | Self::FileExists(_)
            | Self::NameTaken { .. }
            | Self::TooMany { .. }
            | Self::Immutable { .. }
            | Self::InUse { .. }
            | Self::BeingValidated
            | Self::ReferenceGone(_)
            | Self::LastOwner(_)
            | Self::NoRoom { .. }
            | Self::ChangedMeanwhile { .. }
            | Self::KeysDeleted
            | Self::TextsDeleted => ErrorCode::Conflict,
            Self::Unconnected { problem, .. } => match problem {
                ConnectionProblem::Unreachable | ConnectionProblem::Full => ErrorCode::Unavailable,
                ConnectionProblem::Unauthorized => ErrorCode::Unauthorized,
                ConnectionProblem::NoDatabase | ConnectionProblem::Other => ErrorCode::InvalidInput,
            },
            Self::DatabaseDown(_)
            | Self::Busy
            | Self::LogInUse
            | Self::Objects { .. }
            | Self::KeyFile { .. }
            | Self::MasterKeyUnknown(_) => ErrorCode::Unavailable,
            Self::File { source, .. } if source.kind() == ErrorKind::StorageFull => {
                ErrorCode::Unavailable
            }
            Self::Database(_) | Self::File { .. } | Self::Damaged(_) => ErrorCode::Internal,
        }
    }

    /// What to say instead when the database refuses a row because its key is there already.
    pub(crate) fn when_taken(otherwise: impl FnOnce() -> Self) -> impl FnOnce(DbErr) -> Self {
        move |error| match error.sql_err() {
            Some(SqlErr::UniqueConstraintViolation(_)) => otherwise(),
            _ => error.into(),
        }
    }

    /// A file error with its path.
    pub(crate) fn file(path: &Path) -> impl FnOnce(std::io::Error) -> Self + '_ {
        move |source| Self::File { path: path.to_owned(), source }
    }
}

impl From<DbErr> for StoreError {
    fn from(error: DbErr) -> Self {
        match (error.sql_err(), error) {
            (Some(SqlErr::ForeignKeyConstraintViolation(_)), error) => Self::ReferenceGone(error),
            (_, DbErr::ConnectionAcquire(ConnAcquireErr::Timeout)) => Self::Busy,
            (_, other) if passing::passes(&other) => Self::DatabaseDown(other),
            (_, other) => Self::Database(other),
        }
    }
}
