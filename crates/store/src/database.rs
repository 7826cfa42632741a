//! The database file and the scope through which it is used.

use std::path::{Path, PathBuf};
use std::time::Duration;

use fullbench_types::OrganizationId;
use sea_orm::sqlx::ConnectOptions;
use sea_orm::sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous,
};
use sea_orm::{
    ConnectionTrait, DatabaseConnection, SqlxSqliteConnector, Statement, TransactionTrait,
};
use sea_orm_migration::MigratorTrait;

use crate::migration::Migrator;
use crate::platform::EventHub;
use crate::{ObjectStore, StoreError, lock};

/// How long a statement waits for another process that is writing.
const BUSY_TIMEOUT: Duration = Duration::from_secs(30);

/// Rows handed over from the database's thread at a time.
const ROW_BUFFER: usize = 1024;

/// A folder with the database and the objects; `.fullbench` by default.
#[derive(Debug, Clone)]
pub struct Store {
    home: PathBuf,
    database: DatabaseConnection,
    events: EventHub,
}

impl Store {
    /// Opens the store of a folder, making and migrating what is missing.
    pub async fn open(home: &Path) -> Result<Self, StoreError> {
        std::fs::create_dir_all(home).map_err(|error| StoreError::Unopened {
            path: home.to_owned(),
            reason: error.to_string(),
        })?;
        let path = home.join("fullbench.db");
        let _alone = lock::while_opening(home).await?;
        let database = connect(&path, SqliteSynchronous::Full).await?;
        refuse_newer(&database, &path).await?;
        // All or nothing: a kill half way through would leave tables that the next start finds in its way.
        let transaction = database.begin().await?;
        Migrator::up(&transaction, None).await?;
        transaction.commit().await?;
        Ok(Self { home: home.to_owned(), database, events: EventHub::new() })
    }

    /// The folder of the store.
    #[must_use]
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// The store as one organization sees it.
    #[must_use]
    pub fn scoped(&self, organization: OrganizationId) -> ScopedStore {
        ScopedStore {
            organization,
            home: self.home.clone(),
            database: self.database.clone(),
            objects: ObjectStore::new(self.home.join("objects")),
            events: self.events.clone(),
        }
    }

    /// The database without the scope of an organization: for finding out which organization it is.
    pub(crate) fn system(&self) -> &DatabaseConnection {
        &self.database
    }

    /// Closes all connections after the write-ahead log is merged.
    pub async fn close(self) -> Result<(), StoreError> {
        Ok(self.database.close().await?)
    }
}

/// The store as one organization sees it.
#[derive(Debug, Clone)]
pub struct ScopedStore {
    pub(crate) organization: OrganizationId,
    pub(crate) home: PathBuf,
    pub(crate) database: DatabaseConnection,
    pub(crate) objects: ObjectStore,
    pub(crate) events: EventHub,
}

impl ScopedStore {
    /// The organization whose rows are seen.
    #[must_use]
    pub fn organization(&self) -> OrganizationId {
        self.organization
    }

    /// The folder of the store.
    #[must_use]
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// Content-addressed blobs: blocks of data sets.
    #[must_use]
    pub fn objects(&self) -> &ObjectStore {
        &self.objects
    }

    pub(crate) fn statement(
        &self,
        sql: impl Into<String>,
        values: Vec<sea_orm::Value>,
    ) -> Statement {
        Statement::from_sql_and_values(self.database.get_database_backend(), sql, values)
    }
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

/// Refuses a database that has migrations this version does not know.
async fn refuse_newer(database: &DatabaseConnection, path: &Path) -> Result<(), StoreError> {
    let tables =
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name = 'seaql_migrations'";
    let backend = database.get_database_backend();
    if database.query_one_raw(Statement::from_string(backend, tables)).await?.is_none() {
        return Ok(());
    }
    let known: Vec<String> =
        Migrator::migrations().iter().map(|migration| migration.name().to_owned()).collect();
    let applied = Statement::from_string(backend, "SELECT version FROM seaql_migrations");
    for row in database.query_all_raw(applied).await? {
        let migration: String = row.try_get_by_index(0)?;
        if !known.contains(&migration) {
            return Err(StoreError::NewerDatabase { path: path.to_owned(), migration });
        }
    }
    Ok(())
}
