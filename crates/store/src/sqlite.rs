//! SQLite: the database file in the folder of a store, and that of the response cache.

use std::path::Path;
use std::time::Duration;

use sea_orm::sqlx::ConnectOptions;
use sea_orm::sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous,
};
use sea_orm::{DatabaseConnection, SqlxSqliteConnector, TransactionTrait};
use sea_orm_migration::MigratorTrait;

use crate::migration::{Migrator, refuse_newer};
use crate::{StoreError, lock};

/// How long a statement waits for another process that is writing.
const BUSY_TIMEOUT: Duration = Duration::from_secs(30);

/// Rows handed over from the database's thread at a time.
const ROW_BUFFER: usize = 1024;

/// Opens the database of a folder, making and migrating what is missing.
pub(crate) async fn open(home: &Path) -> Result<DatabaseConnection, StoreError> {
    let path = home.join("fullbench.db");
    let _alone = lock::while_opening(home).await?;
    let database = connect(&path, SqliteSynchronous::Full).await?;
    refuse_newer(&database, || path.display().to_string()).await?;
    // All or nothing: a kill half way through would leave tables that the next start finds in its way.
    let transaction = database.begin().await?;
    Migrator::up(&transaction, None).await?;
    transaction.commit().await?;
    Ok(database)
}

/// Connects to an SQLite file in WAL mode, making it when missing.
pub(crate) async fn connect(
    path: &Path,
    synchronous: SqliteSynchronous,
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
        .row_buffer_size(ROW_BUFFER)
        .disable_statement_logging();
    let pool = SqlitePoolOptions::new().max_connections(4).connect_with(options).await;
    let pool = pool.map_err(|error| StoreError::Unopened {
        path: path.to_owned(),
        reason: error.to_string(),
    })?;
    Ok(SqlxSqliteConnector::from_sqlx_sqlite_pool(pool))
}
