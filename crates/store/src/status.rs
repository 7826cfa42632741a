//! What a database is like, seen without changing anything of it.

use std::path::Path;

use sea_orm::{ConnectionTrait, Statement, TransactionTrait};
use serde::Serialize;

use crate::connection::{ScopedConnection, ScopedTransaction};
use crate::schema::{Schema, stored_tables};
use crate::{DatabaseLocation, ObjectStore, Store, StoreError, StoreLocation, migration, sqlite};

/// Which database it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DatabaseKind {
    /// A file.
    Sqlite,
    /// A server.
    Postgresql,
}

/// What a database is like.
#[derive(Debug, Clone, Serialize)]
pub struct DatabaseStatus {
    /// Its file, or its URL without the password.
    pub database: String,
    /// Which database it is.
    pub kind: DatabaseKind,
    /// Where blobs and files are.
    pub objects: String,
    /// The migrations it has, oldest first; none where there are no tables yet.
    pub applied: Vec<String>,
    /// The newest migration this version knows.
    pub newest_known: String,
    /// What it lacks.
    pub pending: Vec<String>,
    /// What it has and this version does not know.
    pub newer: Vec<String>,
    /// Its size.
    pub bytes: u64,
    /// The rows of its tables.
    pub rows: Vec<TableRows>,
}

/// How many rows a table has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TableRows {
    /// The table.
    pub table: String,
    /// Its rows, those of all organizations.
    pub rows: u64,
}

impl Store {
    /// What the database at a location is like. Nothing is made or migrated; the objects are only connected to.
    pub async fn status_at(
        home: &Path,
        location: &StoreLocation,
    ) -> Result<DatabaseStatus, StoreError> {
        let known = migration::known();
        let mut status = DatabaseStatus {
            database: location.database_name(home),
            kind: match location.database {
                DatabaseLocation::Folder => DatabaseKind::Sqlite,
                DatabaseLocation::Postgres { .. } => DatabaseKind::Postgresql,
            },
            objects: location.objects_name(home),
            applied: Vec::new(),
            newest_known: known.last().cloned().unwrap_or_default(),
            pending: known.clone(),
            newer: Vec::new(),
            bytes: 0,
            rows: Vec::new(),
        };
        if let Some(database) = Self::connect_existing(home, location).await? {
            look(&database, &known, &mut status).await?;
            database.close().await?;
            if status.kind == DatabaseKind::Sqlite {
                status.bytes = file_bytes(&sqlite::file(home));
            }
        }
        ObjectStore::open(home, &location.objects).await?;
        Ok(status)
    }
}

async fn look(
    database: &ScopedConnection,
    known: &[String],
    status: &mut DatabaseStatus,
) -> Result<(), StoreError> {
    let transaction = database.begin().await?;
    let applied = migration::applied(transaction.plain()).await?;
    let without = |all: &[String], some: &[String]| {
        all.iter().filter(|name| !some.contains(name)).cloned().collect::<Vec<_>>()
    };
    status.pending = without(known, &applied);
    status.newer = without(&applied, known);
    let known_part = applied.len() - status.newer.len();
    let stored = stored_tables(&transaction).await?;
    let schema = Schema::after(known_part).await?.named_as_in(&stored);
    for table in schema.tables {
        if stored.contains(&table.stored_as) {
            let sql = format!("SELECT count(*) FROM \"{}\"", table.stored_as);
            let rows = number(&transaction, &sql).await?;
            status.rows.push(TableRows { table: table.name, rows });
        }
    }
    status.rows.sort_by(|first, second| first.table.cmp(&second.table));
    if status.kind == DatabaseKind::Postgresql {
        status.bytes = number(&transaction, "SELECT pg_database_size(current_database())").await?;
    }
    status.applied = applied;
    Ok(())
}

async fn number(transaction: &ScopedTransaction, sql: &str) -> Result<u64, StoreError> {
    let statement = Statement::from_string(transaction.get_database_backend(), sql);
    let row = transaction.query_one_raw(statement).await?;
    let number: i64 = row.map(|row| row.try_get_by_index(0)).transpose()?.unwrap_or_default();
    Ok(number.unsigned_abs())
}

/// The size of a database file with its log.
fn file_bytes(path: &Path) -> u64 {
    let log = path.with_extension("db-wal");
    [path, &log].iter().filter_map(|path| path.metadata().ok()).map(|file| file.len()).sum()
}
