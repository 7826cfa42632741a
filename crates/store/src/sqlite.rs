//! SQLite: the database file in the folder of a store, and that of the response cache.

use std::path::{Path, PathBuf};
use std::time::Duration;

use sea_orm::sqlx::ConnectOptions;
use sea_orm::sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous,
};
use sea_orm::{
    ConnectionTrait, DatabaseConnection, DbBackend, SqlxSqliteConnector, Statement,
    TransactionTrait,
};
use sea_orm_migration::MigratorTrait;

use crate::migration::{Migrator, refuse_newer};
use crate::{StoreError, lock};

/// How long a statement waits for another process that is writing.
const BUSY_TIMEOUT: Duration = Duration::from_secs(30);

/// How often it is tried to empty the write-ahead log, each time for as long as a statement waits, and the pause between.
const EMPTYING_TRIES: usize = 2;
const EMPTYING_PAUSE: Duration = Duration::from_millis(100);

/// Rows handed over from the database's thread at a time.
const ROW_BUFFER: usize = 1024;
const WHOLE_ROW_BUFFER: usize = 16;

/// The database file of a folder.
pub(crate) fn file(home: &Path) -> PathBuf {
    home.join("fullbench.db")
}

/// What tells the database file of a folder from a copy of it.
#[cfg(unix)]
pub(crate) fn identity(home: &Path) -> String {
    use std::os::unix::fs::MetadataExt;
    file(home).metadata().map_or_else(|_| home.display().to_string(), |file| file.ino().to_string())
}

/// What tells the database file of a folder from a copy of it.
#[cfg(not(unix))]
pub(crate) fn identity(home: &Path) -> String {
    home.display().to_string()
}

/// Opens the database of a folder, making and migrating what is missing; says which migrations were.
pub(crate) async fn open(home: &Path) -> Result<(DatabaseConnection, Vec<String>), StoreError> {
    let path = file(home);
    let _alone = lock::while_opening(home).await?;
    let database = connect(&path, SqliteSynchronous::Full).await?;
    let pending = refuse_newer(&database, || path.display().to_string()).await?;
    // All or nothing: a kill half way through would leave tables that the next start finds in its way.
    let transaction = database.begin().await?;
    Migrator::up(&transaction, None).await?;
    transaction.commit().await?;
    Ok((database, pending))
}

/// An empty database in memory, with the first migrations only.
pub(crate) async fn in_memory(migrations: usize) -> Result<DatabaseConnection, StoreError> {
    let options = SqliteConnectOptions::new().in_memory(true).disable_statement_logging();
    // It is gone with its one connection.
    let pool = SqlitePoolOptions::new().max_connections(1).idle_timeout(None).max_lifetime(None);
    let pool = pool.connect_with(options).await.map_err(|error| StoreError::Unopened {
        path: ":memory:".into(),
        reason: error.to_string(),
    })?;
    let database = SqlxSqliteConnector::from_sqlx_sqlite_pool(pool);
    Migrator::up(&database, u32::try_from(migrations).ok()).await?;
    Ok(database)
}

/// Connects to an SQLite file in WAL mode, making it when missing.
pub(crate) async fn connect(
    path: &Path,
    synchronous: SqliteSynchronous,
) -> Result<DatabaseConnection, StoreError> {
    connect_with(path, synchronous, ROW_BUFFER).await
}

/// Connects to an SQLite file to read whole tables: few of their rows, which may be large, are in memory at a time.
pub(crate) async fn connect_to_read(path: &Path) -> Result<DatabaseConnection, StoreError> {
    connect_with(path, SqliteSynchronous::Full, WHOLE_ROW_BUFFER).await
}

/// Leaves nothing of removed rows in the files of a database: neither in free pages nor in the write-ahead log.
pub(crate) async fn forget_removed(database: &impl ConnectionTrait) -> Result<(), StoreError> {
    database.execute_unprepared("VACUUM").await?;
    empty_log(database).await
}

/// Leaves nothing of removed rows in the write-ahead log. It cannot be emptied while somebody reads what is in it: they are
/// waited for, and after a while it is told.
pub(crate) async fn empty_log(database: &impl ConnectionTrait) -> Result<(), StoreError> {
    for _ in 0..EMPTYING_TRIES {
        let sql = "PRAGMA wal_checkpoint(TRUNCATE)";
        let row = database.query_one_raw(Statement::from_string(DbBackend::Sqlite, sql)).await?;
        // That it was not done is told in the first column, and is no error.
        let is_busy = row.map(|row| row.try_get_by_index::<i32>(0)).transpose()?;
        if is_busy.unwrap_or(0) == 0 {
            return Ok(());
        }
        tokio::time::sleep(EMPTYING_PAUSE).await;
    }
    Err(StoreError::LogInUse)
}

async fn connect_with(
    path: &Path,
    synchronous: SqliteSynchronous,
    row_buffer: usize,
) -> Result<DatabaseConnection, StoreError> {
    let options = SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(synchronous)
        .foreign_keys(true)
        .busy_timeout(BUSY_TIMEOUT)
        .pragma("wal_autocheckpoint", "16000")
        .pragma("cache_size", "-8000")
        .row_buffer_size(row_buffer)
        .disable_statement_logging();
    let pool = SqlitePoolOptions::new().max_connections(4).connect_with(options).await;
    let pool = pool.map_err(|error| StoreError::Unopened {
        path: path.to_owned(),
        reason: error.to_string(),
    })?;
    Ok(SqlxSqliteConnector::from_sqlx_sqlite_pool(pool))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[tokio::test]
    async fn a_log_that_somebody_reads_is_told_to_be_there_still() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("fullbench.db");
        let options = SqliteConnectOptions::new()
            .filename(&path)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .busy_timeout(Duration::from_millis(10));
        let pool = SqlitePoolOptions::new().max_connections(2).connect_with(options).await.unwrap();
        let database = SqlxSqliteConnector::from_sqlx_sqlite_pool(pool);
        database.execute_unprepared("CREATE TABLE texts (text TEXT)").await.unwrap();
        let reading = database.begin().await.unwrap();
        let sql = Statement::from_string(DbBackend::Sqlite, "SELECT * FROM texts");
        reading.query_all_raw(sql).await.unwrap();
        database.execute_unprepared("INSERT INTO texts VALUES ('zanzibarine')").await.unwrap();
        let refused = empty_log(&database).await;
        assert!(matches!(refused, Err(StoreError::LogInUse)), "{refused:?}");
        let log = folder.path().join("fullbench.db-wal");
        assert!(log.metadata().unwrap().len() > 0);
        drop(reading);
        empty_log(&database).await.unwrap();
        assert_eq!(log.metadata().unwrap().len(), 0);
    }
}
