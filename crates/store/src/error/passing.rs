//! Which errors pass: the same is worth another try, without anything changed here.

use std::io::ErrorKind;

use sea_orm::sqlx;
use sea_orm::sqlx::error::DatabaseError;
use sea_orm::sqlx::postgres::PgDatabaseError;
use sea_orm::sqlx::sqlite::SqliteError;
use sea_orm::{DbErr, RuntimeErr};

use super::{ConnectionProblem, StoreError};

/// Classes of PostgreSQL's codes: connections, resources, and the system below.
const PASSING_CLASSES: [&str; 3] = ["08", "53", "58"];
/// Codes of PostgreSQL: a standby that is not yet the primary, transactions in each other's way, a lock that is held for long, and
/// a server that stops or starts.
const PASSING_CODES: [&str; 8] =
    ["25006", "40001", "40P01", "55P03", "57P01", "57P02", "57P03", "57P05"];
/// Codes of SQLite: busy, locked, no memory, failed to read or write, no room, cannot be opened.
const PASSING_RESULTS: [u32; 6] = [5, 6, 7, 10, 13, 14];

impl StoreError {
    /// Whether the same may succeed a while later: the database, the objects or the room on the disk were not to be had.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        match self {
            Self::DatabaseDown(_) | Self::Busy | Self::LogInUse | Self::Objects { .. } => true,
            Self::Unconnected { problem, .. } => {
                matches!(problem, ConnectionProblem::Unreachable | ConnectionProblem::Full)
            }
            Self::File { source, .. } => source.kind() == ErrorKind::StorageFull,
            _ => false,
        }
    }
}

/// Whether an error of the database passes.
pub(super) fn passes(error: &DbErr) -> bool {
    matches!(error, DbErr::ConnectionAcquire(_)) || is_lost(error)
}

/// Whether an error says that a connection broke off, or that the server is about to close it or takes none for now.
pub(crate) fn is_lost(error: &DbErr) -> bool {
    let (DbErr::Conn(RuntimeErr::SqlxError(reason))
    | DbErr::Exec(RuntimeErr::SqlxError(reason))
    | DbErr::Query(RuntimeErr::SqlxError(reason))) = error
    else {
        return false;
    };
    match &**reason {
        sqlx::Error::Io(_) | sqlx::Error::PoolClosed | sqlx::Error::WorkerCrashed => true,
        // What closes a connection before the first answer is something in between that cannot reach the server.
        sqlx::Error::Protocol(_) => matches!(error, DbErr::Conn(_)),
        sqlx::Error::Database(refused) => is_refused_for_now(&**refused),
        _ => false,
    }
}

/// Whether the database says that it takes nothing for now.
pub(crate) fn is_refused_for_now(refused: &dyn DatabaseError) -> bool {
    let Some(code) = refused.code() else { return false };
    if refused.try_downcast_ref::<PgDatabaseError>().is_some() {
        return PASSING_CLASSES.iter().any(|class| code.starts_with(class))
            || PASSING_CODES.contains(&&*code);
    }
    // The lower byte says what happened, the others where.
    let is_passing = |result: u32| PASSING_RESULTS.contains(&(result & 0xff));
    refused.try_downcast_ref::<SqliteError>().is_some() && code.parse().is_ok_and(is_passing)
}
