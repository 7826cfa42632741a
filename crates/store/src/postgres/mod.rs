//! PostgreSQL: the pool, and what is made sure of whenever a store is opened.
//!
//! All of it happens in one transaction, under an advisory lock: migrations, partitions for the months to come, the order of
//! texts, and row-level security. Where nothing is missing, nothing is locked.

mod collation;
mod connect;
mod partitions;
mod security;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use sea_orm::sqlx::{Connection, PgPool};
use sea_orm::{
    ConnectionTrait, DatabaseTransaction, DbErr, RuntimeErr, SqlxPostgresConnector,
    TransactionTrait, sqlx,
};
use sea_orm_migration::MigratorTrait;

pub(crate) use connect::{connect_alone, connect_once};
pub(crate) use partitions::{
    create_default as create_default_partition, ensure_for as ensure_partitions_for, is_partitioned,
};

use crate::connection::{SYSTEM, set_scope};
use crate::migration::{Migrator, refuse_newer};
use crate::{PostgresUrl, StoreError, migration};

/// The advisory lock of whoever makes or migrates a database.
const OPENING: i64 = 0x0066_756c_6c62_656e;

/// Connects to a database, making and migrating what is missing; says which migrations were.
pub(crate) async fn open(
    url: &PostgresUrl,
    max_connections: u32,
) -> Result<(PgPool, Vec<String>), StoreError> {
    let pool = connect::connect(url, max_connections).await?;
    let database = SqlxPostgresConnector::from_sqlx_postgres_pool(pool.clone());
    let transaction = database.begin().await?;
    lock(&transaction).await?;
    // Migrations see the rows of every organization.
    transaction.execute_unprepared(&set_scope(SYSTEM)).await?;
    let pending = refuse_newer(&transaction, || url.to_string()).await?;
    if !pending.is_empty() {
        Migrator::up(&transaction, None).await?;
    }
    ensure(&transaction).await?;
    transaction.commit().await?;
    if security::is_bypassed(&database).await? {
        tracing::warn!(
            database = %url,
            "row-level security does not hold for a superuser or a role with BYPASSRLS: give fullbench a role of its own"
        );
    }
    if !pending.is_empty() {
        // The connection keeps statements that were prepared for tables as they were between migrations.
        pool.close().await;
        return Ok((connect::connect(url, max_connections).await?, pending));
    }
    Ok((pool, pending))
}

/// Waits until no other process is making or migrating the database, and keeps others from it until the transaction ends.
pub(crate) async fn lock(transaction: &DatabaseTransaction) -> Result<(), DbErr> {
    let lock = format!("SELECT pg_advisory_xact_lock({OPENING})");
    transaction.execute_unprepared(&lock).await.map(drop)
}

/// Makes sure of what migrations leave open, or what has been added since.
pub(crate) async fn ensure(transaction: &DatabaseTransaction) -> Result<(), DbErr> {
    partitions::ensure(transaction).await?;
    collation::ensure(transaction).await?;
    security::ensure(transaction).await
}

/// Whether a store was made in a database.
pub(crate) async fn has_tables(url: &PostgresUrl) -> Result<bool, StoreError> {
    let mut connection = connect_once(url).await?;
    let sql = "SELECT EXISTS (SELECT 1 FROM pg_class \
         WHERE relnamespace = current_schema()::regnamespace AND relname = $1)";
    let found = sqlx::query_scalar(sql).bind(migration::TABLE).fetch_one(&mut connection).await;
    let found = found.map_err(|error| DbErr::Query(RuntimeErr::SqlxError(Arc::new(error))))?;
    let _ = connection.close().await;
    Ok(found)
}

/// The names in the first column of a query's rows.
async fn names(transaction: &DatabaseTransaction, sql: &str) -> Result<Vec<String>, DbErr> {
    let statement =
        sea_orm::Statement::from_string(transaction.get_database_backend(), sql.to_owned());
    let rows = transaction.query_all_raw(statement).await?;
    rows.iter().map(|row| row.try_get_by_index(0)).collect()
}

/// The server's code of an error.
fn error_code(error: &DbErr) -> Option<String> {
    let (DbErr::Exec(RuntimeErr::SqlxError(error)) | DbErr::Query(RuntimeErr::SqlxError(error))) =
        error
    else {
        return None;
    };
    let sqlx::Error::Database(error) = &**error else { return None };
    error.code().map(|code| code.into_owned())
}
