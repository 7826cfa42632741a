//! Seals what was kept in plain before the organization wanted its texts to be sealed.
//!
//! Rows are sealed a few at a time and objects one after the other: whatever stops it, what is done is done, and the next time
//! goes on with the rest.

use std::fmt::Display;

use fullbench_types::OrganizationId;
use futures::TryStreamExt;
use sea_orm::{ConnectionTrait, DbBackend, QueryResult, Statement, TransactionTrait, Value};
use serde::Serialize;
use uuid::Uuid;

use super::TextKeeper;
use super::catalogue::{self, SealedTable};
use crate::backup::key_of;
use crate::connection::ScopedTransaction;
use crate::lifecycle::catalogue as lifecycle;
use crate::lifecycle::{blobs_of, remove_unused};
use crate::platform::hold_organization;
use crate::schema::{Column, ColumnKind, Table};
use crate::{DiskCache, ObjectStore, Purpose, ScopedStore, Store, StoreError, sqlite};

/// Rows that are sealed in one transaction.
const TOGETHER: usize = 200;

/// What was sealed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SealedTexts {
    /// Rows that had a plain text.
    pub rows: u64,
    /// Blocks of data sets.
    pub blobs: u64,
    /// Uploaded files.
    pub files: u64,
    /// Copies that were removed: replies in the response cache of this machine, and judged outputs.
    pub removed_copies: u64,
}

impl Store {
    /// Seals every text of an organization that is kept in plain, and removes copies of them. `tell` hears how many rows of a
    /// table are done.
    pub async fn seal_texts(
        &self,
        organization: OrganizationId,
        mut tell: impl FnMut(&str, u64),
    ) -> Result<SealedTexts, StoreError> {
        let scoped = self.scoped(organization);
        let keeper = TextKeeper::sealing(scoped.sealer(Purpose::Text).await?);
        let mut sealed = SealedTexts::default();
        let tables = lifecycle::tables().await?;
        for known in catalogue::TABLES {
            let Some(owned) = tables.iter().find(|owned| owned.table.name == known.name) else {
                continue;
            };
            let rows = scoped.seal_rows(&keeper, &read_columns(&owned.table, known), known).await?;
            tell(known.name, rows);
            sealed.rows += rows;
        }
        sealed.files = scoped.seal_files().await?;
        sealed.blobs = scoped.seal_blobs(self).await?;
        let sql = "DELETE FROM judged_outputs WHERE organization_id = $1";
        let statement = scoped.statement(sql, vec![organization.0.into()]);
        let judged = scoped.database.execute_raw(statement).await?.rows_affected();
        sealed.removed_copies = judged + DiskCache::erase(&scoped.home, organization).await?;
        if self.system().get_database_backend() == DbBackend::Sqlite {
            sqlite::forget_removed(self.system()).await?;
        }
        Ok(sealed)
    }
}

/// The table with the columns of its key and those that are sealed, in this order.
fn read_columns(table: &Table, known: &SealedTable) -> Table {
    let texts = known.columns.iter().map(|column| column.name);
    let names = known.key.iter().copied().chain(texts);
    let column = |name: &str| table.columns.iter().find(|column| column.name == name).cloned();
    let mut read = table.clone();
    read.columns = names.filter_map(column).collect();
    read
}

impl ScopedStore {
    async fn seal_rows(
        &self,
        keeper: &TextKeeper,
        table: &Table,
        known: &SealedTable,
    ) -> Result<u64, StoreError> {
        let (mut sealed, mut after): (u64, Vec<Value>) = (0, Vec::new());
        loop {
            let transaction = self.database.begin().await?;
            // A transaction that reads first cannot write any more once a server has written.
            hold_organization(&transaction, self.organization).await?;
            let sql = select(table, known, !after.is_empty(), transaction.get_database_backend());
            let mut values: Vec<Value> = vec![self.organization.0.into()];
            values.append(&mut after);
            let rows = transaction.query_all_raw(self.statement(sql, values)).await?;
            let rules = Rules::lift(&transaction, known).await?;
            for row in &rows {
                sealed += u64::from(self.seal_row(keeper, table, known, row, &transaction).await?);
            }
            rules.put_back(&transaction).await?;
            transaction.commit().await?;
            match rows.last().filter(|_| rows.len() == TOGETHER) {
                Some(last) => after = key_values(last, &table.columns[..known.key.len()])?,
                None => return Ok(sealed),
            }
        }
    }

    /// Seals what is plain in a row, unless it was changed meanwhile; says whether something was.
    async fn seal_row(
        &self,
        keeper: &TextKeeper,
        table: &Table,
        known: &SealedTable,
        row: &QueryResult,
        transaction: &impl ConnectionTrait,
    ) -> Result<bool, StoreError> {
        let key = key_of(row, table, known.key)?;
        let key: Vec<&dyn Display> = key.iter().map(|value| value as &dyn Display).collect();
        let mut has_plain = false;
        for (place, column) in known.columns.iter().enumerate() {
            let text: Option<String> = row.try_get_by_index(known.key.len() + place)?;
            let Some(text) = text else { continue };
            let Some(resealed) = keeper.resealed(column, &key, &text)? else { continue };
            let mut values: Vec<Value> =
                vec![resealed.into(), text.into(), self.organization.0.into()];
            values.extend(key_values(row, &table.columns[..known.key.len()])?);
            let same = known.key.iter().zip(4..);
            let same: String = same.map(|(name, at)| format!(" AND \"{name}\" = ${at}")).collect();
            let (name, column) = (known.name, column.name);
            let sql = format!(
                "UPDATE \"{name}\" SET \"{column}\" = $1 WHERE \"{column}\" = $2 \
                 AND organization_id = $3{same}"
            );
            transaction.execute_raw(self.statement(sql, values)).await?;
            has_plain = true;
        }
        Ok(has_plain)
    }

    /// Seals uploaded files.
    async fn seal_files(&self) -> Result<u64, StoreError> {
        let sql = "SELECT file_uri FROM dataset_versions WHERE organization_id = $1";
        let objects = self.objects().await?;
        let mut sealed = 0;
        let rows =
            self.database.query_all_raw(self.statement(sql, vec![self.organization.0.into()]));
        for row in rows.await? {
            let uri: String = row.try_get_by_index(0)?;
            let key = ObjectStore::dataset_file_key(self.organization, &uri)?;
            match objects.is_sealed_file(&key).await {
                Ok(false) => {}
                Ok(true) | Err(StoreError::FileNotFound(_)) => continue,
                Err(error) => return Err(error),
            }
            let content = objects.read_file(&key).await?.map_err(std::io::Error::other);
            objects.put_file(&key, content).await?;
            sealed += 1;
        }
        Ok(sealed)
    }

    /// Seals blocks of data sets; those that nobody else has are removed where all could have them.
    async fn seal_blobs(&self, store: &Store) -> Result<u64, StoreError> {
        let sql = "SELECT manifest FROM dataset_contents WHERE organization_id = $1";
        let rows =
            self.database.query_all_raw(self.statement(sql, vec![self.organization.0.into()]));
        let manifests: Vec<String> =
            rows.await?.iter().map(|row| row.try_get_by_index(0)).collect::<Result<_, _>>()?;
        let (blobs, objects) = (blobs_of(&manifests), self.objects().await?);
        let mut sealed = 0;
        for blob in &blobs {
            sealed += u64::from(objects.seal_shared(blob)?);
        }
        remove_unused(store.system(), &self.objects, blobs, Some(self.organization)).await?;
        Ok(sealed)
    }
}

/// The rules by which the database refuses to change rows of a table: texts that are sealed are the same texts. They are lifted and
/// put back in the transaction that seals.
struct Rules(Vec<String>);

impl Rules {
    async fn lift(
        transaction: &ScopedTransaction,
        known: &SealedTable,
    ) -> Result<Self, StoreError> {
        let name = known.name;
        if !known.is_fixed {
            return Ok(Self(Vec::new()));
        }
        if transaction.get_database_backend() == DbBackend::Postgres {
            let lifted = format!("ALTER TABLE {name} DISABLE TRIGGER {name}_never_change");
            transaction.execute_unprepared(&lifted).await?;
            return Ok(Self(vec![format!(
                "ALTER TABLE {name} ENABLE TRIGGER {name}_never_change"
            )]));
        }
        let sql = "SELECT sql FROM sqlite_master WHERE type = 'trigger' AND name = $1";
        let values = [format!("{name}_never_change").into()];
        let statement = Statement::from_sql_and_values(DbBackend::Sqlite, sql, values);
        let mut rules = Vec::new();
        for row in transaction.query_all_raw(statement).await? {
            rules.push(row.try_get_by_index(0)?);
        }
        let lifted = format!("DROP TRIGGER IF EXISTS {name}_never_change");
        transaction.execute_unprepared(&lifted).await?;
        Ok(Self(rules))
    }

    async fn put_back(self, transaction: &ScopedTransaction) -> Result<(), StoreError> {
        for rule in self.0 {
            transaction.execute_unprepared(&rule).await?;
        }
        Ok(())
    }
}

/// The next rows in the order of their keys.
fn select(table: &Table, known: &SealedTable, goes_on: bool, backend: DbBackend) -> String {
    let column = |column: &Column| match column.kind {
        // Shorter ones among them.
        ColumnKind::Integer if backend == DbBackend::Postgres => {
            format!("\"{}\"::bigint", column.name)
        }
        _ => format!("\"{}\"", column.name),
    };
    let columns: Vec<String> = table.columns.iter().map(column).collect();
    let key: Vec<String> = known.key.iter().map(|name| format!("\"{name}\"")).collect();
    let key = key.join(", ");
    let places: Vec<String> = (2..2 + known.key.len()).map(|place| format!("${place}")).collect();
    let after = match goes_on {
        true => format!(" AND ({key}) > ({})", places.join(", ")),
        false => String::new(),
    };
    format!(
        "SELECT {} FROM \"{}\" WHERE organization_id = $1{after} ORDER BY {key} LIMIT {TOGETHER}",
        columns.join(", "),
        known.name
    )
}

/// The values of a key, as the database compares them.
fn key_values(row: &QueryResult, key: &[Column]) -> Result<Vec<Value>, StoreError> {
    let mut values = Vec::with_capacity(key.len());
    for (place, column) in key.iter().enumerate() {
        values.push(match column.kind {
            ColumnKind::Uuid => row.try_get_by_index::<Uuid>(place)?.into(),
            ColumnKind::Integer => row.try_get_by_index::<i64>(place)?.into(),
            _ => row.try_get_by_index::<String>(place)?.into(),
        });
    }
    Ok(values)
}
