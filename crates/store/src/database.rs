//! The store and the scope through which it is used.

use std::path::{Path, PathBuf};

use fullbench_types::{ContentHash, OrganizationId};
use sea_orm::{ConnectionTrait, DbBackend, Statement};

use crate::audit::AuditWitness;
use crate::connection::ScopedConnection;
use crate::lock::RunLocks;
use crate::platform::EventHub;
use crate::spending::Budgets;
use crate::vault::Vault;
use crate::{DatabaseLocation, ObjectStore, StoreError, StoreLocation, postgres, sqlite};

/// A folder with the database and the objects, `.fullbench` by default, or a server in place of either.
#[derive(Debug, Clone)]
pub struct Store {
    home: PathBuf,
    database: ScopedConnection,
    locks: RunLocks,
    objects: ObjectStore,
    events: EventHub,
    pub(crate) budgets: Budgets,
    vault: Vault,
    witness: AuditWitness,
    installation: String,
}

impl Store {
    /// Opens the store of a folder, making and migrating what is missing.
    pub async fn open(home: &Path) -> Result<Self, StoreError> {
        Self::open_at(home, &StoreLocation::default()).await
    }

    /// Opens the store at a location, making and migrating what is missing. The folder is where caches are, and whatever the
    /// location leaves to it.
    pub async fn open_at(home: &Path, location: &StoreLocation) -> Result<Self, StoreError> {
        Ok(Self::open_and_migrate(home, location).await?.0)
    }

    /// Opens the store at a location where there is one, and makes nothing where there is none.
    pub async fn open_existing_at(
        home: &Path,
        location: &StoreLocation,
    ) -> Result<Option<Self>, StoreError> {
        let exists = match &location.database {
            DatabaseLocation::Folder => sqlite::file(home).exists(),
            DatabaseLocation::Postgres { url, .. } => postgres::has_tables(url).await?,
        };
        if !exists {
            return Ok(None);
        }
        Ok(Some(Self::open_at(home, location).await?))
    }

    /// Makes or migrates what is missing at a location, and says which migrations were.
    pub async fn migrate_at(
        home: &Path,
        location: &StoreLocation,
    ) -> Result<Vec<String>, StoreError> {
        let (store, applied) = Self::open_and_migrate(home, location).await?;
        store.close().await?;
        Ok(applied)
    }

    async fn open_and_migrate(
        home: &Path,
        location: &StoreLocation,
    ) -> Result<(Self, Vec<String>), StoreError> {
        make_folder(home)?;
        let (database, locks, applied) = match &location.database {
            DatabaseLocation::Folder => {
                let locks = RunLocks::in_folder(home.join("locks"));
                let (database, applied) = sqlite::open(home).await?;
                (ScopedConnection::sqlite(database), locks, applied)
            }
            DatabaseLocation::Postgres { url, max_connections } => {
                let (pool, applied) = postgres::open(url, *max_connections).await?;
                let locks = RunLocks::in_database(url.clone());
                (ScopedConnection::postgres(pool), locks, applied)
            }
        };
        let objects = ObjectStore::open(home, &location.objects).await?;
        let vault = Vault::new(home, &location.master_keys, database.clone());
        let witness = AuditWitness::new(home, location);
        let home = home.to_owned();
        let (events, budgets) = (EventHub::new(), Budgets::default());
        let installation = installation(&database, location, &home).await?;
        let store =
            Self { home, database, locks, objects, events, budgets, vault, witness, installation };
        // Who cannot say so cannot write objects either.
        if let Err(error) = store.objects.register(&store.installation).await {
            tracing::warn!(%error, "it cannot be said that this installation keeps objects");
        }
        Ok((store, applied))
    }

    /// What tells this database from others that may keep objects in the same place.
    pub(crate) fn installation(&self) -> &str {
        &self.installation
    }

    /// Connects to a database as it is; none where there is no file.
    pub(crate) async fn connect_existing(
        home: &Path,
        location: &StoreLocation,
    ) -> Result<Option<ScopedConnection>, StoreError> {
        match &location.database {
            DatabaseLocation::Folder => {
                let path = sqlite::file(home);
                if !path.exists() {
                    return Ok(None);
                }
                let database = sqlite::connect_to_read(&path).await?;
                Ok(Some(ScopedConnection::sqlite(database)))
            }
            DatabaseLocation::Postgres { url, .. } => {
                Ok(Some(ScopedConnection::postgres(postgres::connect_alone(url).await?)))
            }
        }
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
            budgets: self.budgets.clone(),
            vault: self.vault.clone(),
            witness: self.witness.clone(),
        }
    }

    /// The keys of all organizations.
    pub(crate) fn vault(&self) -> &Vault {
        &self.vault
    }

    /// What was seen of audit logs.
    pub(crate) fn witness(&self) -> &AuditWitness {
        &self.witness
    }

    /// Where runs are locked.
    pub(crate) fn locks(&self) -> &RunLocks {
        &self.locks
    }

    /// Blobs and files of all organizations.
    pub(crate) fn objects(&self) -> &ObjectStore {
        &self.objects
    }

    /// What tells of events.
    pub(crate) fn events(&self) -> &EventHub {
        &self.events
    }

    /// How many connections to a database server are open, and how many of them idle; none for a file.
    #[must_use]
    pub fn connections(&self) -> Option<(usize, usize)> {
        self.database.open_and_idle()
    }

    /// Whether whoever writes keeps all others from writing, which wait with a connection each.
    #[must_use]
    pub fn has_one_writer(&self) -> bool {
        self.database.get_database_backend() == DbBackend::Sqlite
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

/// What tells a database from others: when its first tables were made, and where it is, so that a copy of it is another one.
async fn installation(
    database: &ScopedConnection,
    location: &StoreLocation,
    home: &Path,
) -> Result<String, StoreError> {
    let backend = database.get_database_backend();
    let sql = "SELECT MIN(applied_at) FROM seaql_migrations";
    let row = database.query_one_raw(Statement::from_string(backend, sql)).await?;
    let made: Option<i64> = row.map(|row| row.try_get_by_index(0)).transpose()?.flatten();
    let place = match &location.database {
        DatabaseLocation::Folder => sqlite::identity(home),
        DatabaseLocation::Postgres { url, .. } => url.to_string(),
    };
    let told = ContentHash::of(format!("{place} {}", made.unwrap_or(0)).as_bytes()).to_string();
    Ok(told[..32].to_owned())
}

/// Makes the folder where it is missing, for its owner alone.
pub(crate) fn make_folder(home: &Path) -> Result<(), StoreError> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
        .create(home)
        .map_err(|error| StoreError::Unopened { path: home.to_owned(), reason: error.to_string() })
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
    pub(crate) budgets: Budgets,
    pub(crate) vault: Vault,
    pub(crate) witness: AuditWitness,
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

    pub(crate) fn statement(
        &self,
        sql: impl Into<String>,
        values: Vec<sea_orm::Value>,
    ) -> Statement {
        Statement::from_sql_and_values(self.database.get_database_backend(), sql, values)
    }
}
