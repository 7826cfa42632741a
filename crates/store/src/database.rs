//! The store and the scope through which it is used.

use std::path::{Path, PathBuf};

use fullbench_types::OrganizationId;
use sea_orm::{ConnectionTrait, Statement};

use crate::connection::ScopedConnection;
use crate::lock::RunLocks;
use crate::platform::EventHub;
use crate::{DatabaseLocation, ObjectStore, StoreError, StoreLocation, postgres, sqlite};

/// A folder with the database and the objects, `.fullbench` by default, or a server in place of either.
#[derive(Debug, Clone)]
pub struct Store {
    home: PathBuf,
    database: ScopedConnection,
    locks: RunLocks,
    objects: ObjectStore,
    events: EventHub,
}

impl Store {
    /// Opens the store of a folder, making and migrating what is missing.
    pub async fn open(home: &Path) -> Result<Self, StoreError> {
        Self::open_at(home, &StoreLocation::default()).await
    }

    /// Opens the store at a location, making and migrating what is missing. The folder is where caches are, and whatever the
    /// location leaves to it.
    pub async fn open_at(home: &Path, location: &StoreLocation) -> Result<Self, StoreError> {
        std::fs::create_dir_all(home).map_err(|error| StoreError::Unopened {
            path: home.to_owned(),
            reason: error.to_string(),
        })?;
        let (database, locks) = match &location.database {
            DatabaseLocation::Folder => {
                let locks = RunLocks::in_folder(home.join("locks"));
                (ScopedConnection::sqlite(sqlite::open(home).await?), locks)
            }
            DatabaseLocation::Postgres { url, max_connections } => {
                let pool = postgres::open(url, *max_connections).await?;
                (ScopedConnection::postgres(pool), RunLocks::in_database(url.clone()))
            }
        };
        let objects = ObjectStore::open(home, &location.objects).await?;
        Ok(Self { home: home.to_owned(), database, locks, objects, events: EventHub::new() })
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
            database: self.system().scoped(organization),
            locks: self.locks.clone(),
            objects: self.objects.clone(),
            events: self.events.clone(),
        }
    }

    /// What tells of events.
    pub(crate) fn events(&self) -> &EventHub {
        &self.events
    }

    /// The connection that sees the rows of all organizations.
    pub(crate) fn system(&self) -> &ScopedConnection {
        &self.database
    }

    /// Closes all connections; those to SQLite after the write-ahead log is merged.
    pub async fn close(self) -> Result<(), StoreError> {
        Ok(self.database.close().await?)
    }
}

/// The store as one organization sees it.
#[derive(Debug, Clone)]
pub struct ScopedStore {
    pub(crate) organization: OrganizationId,
    pub(crate) home: PathBuf,
    pub(crate) database: ScopedConnection,
    pub(crate) locks: RunLocks,
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

    /// Content-addressed blobs: blocks of data sets; and whole files.
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
