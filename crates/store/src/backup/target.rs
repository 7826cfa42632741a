//! The database that a backup is restored into: empty before, and up to date when it is done.
//!
//! All of it is one transaction: a restore that fails or is killed leaves what was there before.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;

use fullbench_types::DEFAULT_ORGANIZATION;
use sea_orm::sqlx::sqlite::SqliteSynchronous;
use sea_orm::{ConnectionTrait, DbBackend, DbErr, Statement, TransactionTrait, Value};
use sea_orm_migration::MigratorTrait;

use crate::connection::{ScopedConnection, ScopedTransaction};
use crate::database::make_folder;
use crate::insert::InsertMany;
use crate::migration::{self, Migrator};
use crate::schema::{Schema, Table, stored_tables};
use crate::{DatabaseLocation, Store, StoreError, StoreLocation, lock, postgres, sqlite};

/// Refuses a database that has something in it, or tables that are newer than so many migrations.
pub(super) async fn refuse_occupied(
    home: &Path,
    location: &StoreLocation,
    migrations: usize,
) -> Result<(), StoreError> {
    let Some(database) = Store::connect_existing(home, location).await? else { return Ok(()) };
    let transaction = database.begin().await?;
    refuse_rows(&transaction, migrations, &location.database_name(home)).await?;
    drop(transaction);
    Ok(database.close().await?)
}

async fn refuse_rows(
    transaction: &ScopedTransaction,
    migrations: usize,
    database: &str,
) -> Result<(), StoreError> {
    migration::refuse_newer(transaction.plain(), || database.to_owned()).await?;
    let applied = migration::applied(transaction.plain()).await?.len();
    let stored = stored_tables(transaction).await?;
    for table in Schema::after(applied).await?.named_as_in(&stored).tables {
        // The one organization that migrations make is there from the beginning.
        let besides = match table.name.as_str() {
            "organizations" => format!("WHERE id <> {}", uuid_literal(transaction)),
            _ => String::new(),
        };
        let sql = format!("SELECT 1 FROM \"{}\" {besides} LIMIT 1", table.stored_as);
        let statement = Statement::from_string(transaction.get_database_backend(), sql);
        if transaction.query_one_raw(statement).await?.is_some() {
            return Err(StoreError::NotEmpty(database.to_owned()));
        }
    }
    match applied > migrations {
        true => Err(StoreError::NewerTables(database.to_owned())),
        false => Ok(()),
    }
}

/// The id of the default organization, as each backend writes it.
fn uuid_literal(transaction: &ScopedTransaction) -> String {
    let id = DEFAULT_ORGANIZATION.0;
    match transaction.get_database_backend() {
        DbBackend::Sqlite => format!("X'{}'", id.simple()),
        _ => format!("'{id}'"),
    }
}

/// A database that is being filled.
pub(super) struct Target {
    database: ScopedConnection,
    transaction: ScopedTransaction,
    /// What is left to do for references that are looked at when all rows are there.
    afterwards: Vec<String>,
    /// Keeps others from opening the folder.
    _alone: Option<File>,
}

impl Target {
    /// Begins to fill the database of a location: with empty tables as they are after so many migrations. The tables are
    /// given in the order in which their rows come.
    pub(super) async fn begin(
        home: &Path,
        location: &StoreLocation,
        migrations: usize,
        tables: &[Table],
    ) -> Result<Self, StoreError> {
        make_folder(home)?;
        let (database, alone) = match &location.database {
            DatabaseLocation::Folder => {
                let alone = lock::while_opening(home).await?;
                let path = sqlite::file(home);
                let database = sqlite::connect(&path, SqliteSynchronous::Full).await?;
                (ScopedConnection::sqlite(database), Some(alone))
            }
            DatabaseLocation::Postgres { url, .. } => {
                (ScopedConnection::postgres(postgres::connect_alone(url).await?), None)
            }
        };
        let transaction = database.begin().await?;
        let is_postgres = transaction.get_database_backend() == DbBackend::Postgres;
        if is_postgres {
            postgres::lock(transaction.plain()).await?;
        }
        refuse_rows(&transaction, migrations, &location.database_name(home)).await?;
        let applied = migration::applied(transaction.plain()).await?.len();
        let missing = u32::try_from(migrations - applied).unwrap_or_default();
        Migrator::up(transaction.plain(), Some(missing)).await?;
        for table in tables.iter().rev() {
            let clear = format!("DELETE FROM \"{}\"", table.name);
            transaction.execute_unprepared(&clear).await?;
        }
        let afterwards = if is_postgres {
            postgres::ensure(transaction.plain()).await?;
            defer_references(&transaction, tables).await?
        } else {
            transaction.execute_unprepared("PRAGMA defer_foreign_keys = ON").await?;
            Vec::new()
        };
        Ok(Self { database, transaction, afterwards, _alone: alone })
    }

    /// Adds rows to a table.
    pub(super) async fn insert(
        &self,
        table: &Table,
        rows: &[Vec<Value>],
    ) -> Result<(), StoreError> {
        let is_postgres = self.transaction.get_database_backend() == DbBackend::Postgres;
        if is_postgres && postgres::is_partitioned(&table.name) {
            let place = table.place("run_id");
            let run = |row: &Vec<Value>| match place.and_then(|place| row.get(place)) {
                Some(Value::Uuid(run)) => *run,
                _ => None,
            };
            let runs: BTreeSet<_> = rows.iter().filter_map(run).collect();
            postgres::ensure_partitions_for(self.transaction.plain(), &runs).await?;
        }
        let columns: Vec<String> =
            table.columns.iter().map(|column| format!("\"{}\"", column.name)).collect();
        let insert = InsertMany {
            table: &format!("\"{}\"", table.name),
            columns: &columns.join(", "),
            conflict: "",
        };
        let values = |row: &Vec<Value>, values: &mut Vec<Value>| {
            values.extend(row.iter().cloned());
            Ok(())
        };
        insert.run(&self.transaction, rows, values).await
    }

    /// Brings the tables up to date and lets everyone see them.
    pub(super) async fn finish(self) -> Result<(), StoreError> {
        let Self { database, transaction, afterwards, _alone: alone } = self;
        for change in afterwards {
            transaction.execute_unprepared(&change).await?;
        }
        Migrator::up(transaction.plain(), None).await?;
        if transaction.get_database_backend() == DbBackend::Postgres {
            postgres::ensure(transaction.plain()).await?;
        }
        transaction.commit().await?;
        database.close().await?;
        drop(alone);
        Ok(())
    }
}

/// Lets rows come before those they point to, where the order of the tables does not see to it; says what undoes it.
async fn defer_references(
    transaction: &ScopedTransaction,
    tables: &[Table],
) -> Result<Vec<String>, DbErr> {
    let sql = "SELECT t.relname::text, o.relname::text, quote_ident(c.conname) FROM pg_constraint c \
         JOIN pg_class t ON t.oid = c.conrelid JOIN pg_class o ON o.oid = c.confrelid \
         WHERE c.contype = 'f' AND c.conparentid = 0 AND NOT c.condeferrable \
         AND c.connamespace = current_schema()::regnamespace";
    let statement = Statement::from_string(DbBackend::Postgres, sql);
    let place = |name: &str| tables.iter().position(|table| table.name == name);
    let mut afterwards = vec!["SET CONSTRAINTS ALL IMMEDIATE".to_owned()];
    for row in transaction.query_all_raw(statement).await? {
        let (table, other): (String, String) = (row.try_get_by_index(0)?, row.try_get_by_index(1)?);
        let constraint: String = row.try_get_by_index(2)?;
        if let (Some(first), Some(second)) = (place(&table), place(&other))
            && first <= second
        {
            let change = format!("ALTER TABLE \"{table}\" ALTER CONSTRAINT {constraint}");
            let defer = format!("{change} DEFERRABLE INITIALLY DEFERRED");
            transaction.execute_unprepared(&defer).await?;
            afterwards.push(format!("{change} NOT DEFERRABLE"));
        }
    }
    Ok(afterwards)
}
