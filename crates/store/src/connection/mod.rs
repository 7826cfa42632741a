//! A connection that belongs to an organization, or to the system itself.
//!
//! On SQLite it hands everything on. On PostgreSQL every statement runs in a transaction that says whose it is, which is
//! what row-level security asks for; see [`crate::postgres`].

#[cfg(test)]
mod tests;
mod text;
mod transaction;

use std::sync::Arc;

use fullbench_types::OrganizationId;
use futures::future::Either;
use futures::stream::{BoxStream, TryStreamExt};
use sea_orm::sqlx::{self, PgPool, Postgres};
use sea_orm::{
    ConnAcquireErr, ConnectionTrait, DatabaseConnection, DbBackend, DbErr, ExecResult, QueryResult,
    QueryStream, RuntimeErr, SqlxPostgresConnector, Statement, StreamTrait,
};
use sea_query_sqlx::SqlxValues;

use crate::error::passing::is_lost;

pub use transaction::CommitMark;
pub(crate) use transaction::ScopedTransaction;

/// The setting that says whose rows a transaction sees.
pub(crate) const SCOPE_SETTING: &str = "fullbench.organization";
/// What it says where the rows of all organizations are seen.
pub(crate) const SYSTEM: &str = "system";

/// Rows fetched from a cursor at a time.
const FETCHED_ROWS: usize = 1024;

/// A pool of connections, seen by one organization or by the system.
#[derive(Debug, Clone)]
pub(crate) struct ScopedConnection {
    backend: Backend,
}

#[derive(Debug, Clone)]
enum Backend {
    Sqlite(DatabaseConnection),
    Postgres(PostgresScope),
}

/// A pool of PostgreSQL and whose transactions it begins.
#[derive(Debug, Clone)]
struct PostgresScope {
    pool: PgPool,
    scope: Arc<str>,
}

impl ScopedConnection {
    /// Connections to a file, which knows no scopes.
    pub(crate) fn sqlite(database: DatabaseConnection) -> Self {
        Self { backend: Backend::Sqlite(database) }
    }

    /// How many connections of a pool are open, and how many of them idle.
    pub(crate) fn open_and_idle(&self) -> Option<(usize, usize)> {
        match &self.backend {
            Backend::Postgres(PostgresScope { pool, .. }) => {
                Some((pool.size() as usize, pool.num_idle()))
            }
            Backend::Sqlite(_) => None,
        }
    }

    /// Connections to a server, seen by the system.
    pub(crate) fn postgres(pool: PgPool) -> Self {
        Self { backend: Backend::Postgres(PostgresScope { pool, scope: SYSTEM.into() }) }
    }

    /// The same connections, seen by an organization.
    pub(crate) fn scoped(&self, organization: OrganizationId) -> Self {
        let backend = match &self.backend {
            Backend::Sqlite(database) => Backend::Sqlite(database.clone()),
            Backend::Postgres(PostgresScope { pool, .. }) => Backend::Postgres(PostgresScope {
                pool: pool.clone(),
                scope: organization.0.to_string().into(),
            }),
        };
        Self { backend }
    }

    /// The same connections, seen by the system.
    pub(crate) fn system(&self) -> Self {
        match &self.backend {
            Backend::Sqlite(_) => self.clone(),
            Backend::Postgres(PostgresScope { pool, .. }) => Self::postgres(pool.clone()),
        }
    }

    /// Closes all connections.
    pub(crate) async fn close(self) -> Result<(), DbErr> {
        match self.backend {
            Backend::Sqlite(database) => database.close().await,
            Backend::Postgres(postgres) => {
                postgres.pool.close().await;
                Ok(())
            }
        }
    }
}

impl PostgresScope {
    /// A transaction for one statement: begun and scoped in one round trip.
    async fn begin(&self) -> Result<sqlx::Transaction<'static, Postgres>, DbErr> {
        self.begun(|| async {
            let begin = sqlx::AssertSqlSafe(format!("BEGIN; {}", set_scope(&self.scope)));
            self.pool.begin_with(begin).await.map_err(acquire_error)
        })
        .await
    }

    /// Begins a transaction on a connection that works. One that was lost since it was last used shows it only now; nothing was
    /// done on it yet, so the next one is tried, until none is left of those that were there before.
    async fn begun<T, Begun>(&self, begin: impl Fn() -> Begun) -> Result<T, DbErr>
    where
        Begun: Future<Output = Result<T, DbErr>>,
    {
        for _ in 0..self.pool.options().get_max_connections() {
            match begin().await {
                Err(error) if is_lost(&error) => {}
                other => return other,
            }
        }
        begin().await
    }

    /// A transaction for several.
    fn database(&self) -> DatabaseConnection {
        SqlxPostgresConnector::from_sqlx_postgres_pool(self.pool.clone())
    }
}

/// Says whose the current transaction is. A scope is a UUID or a word of this crate: there is nothing to escape.
pub(crate) fn set_scope(scope: &str) -> String {
    format!("SELECT set_config('{SCOPE_SETTING}', '{scope}', true)")
}

#[async_trait::async_trait]
impl ConnectionTrait for ScopedConnection {
    fn get_database_backend(&self) -> DbBackend {
        match &self.backend {
            Backend::Sqlite(_) => DbBackend::Sqlite,
            Backend::Postgres(_) => DbBackend::Postgres,
        }
    }

    async fn execute_raw(&self, statement: Statement) -> Result<ExecResult, DbErr> {
        let postgres = match &self.backend {
            Backend::Sqlite(database) => return database.execute_raw(statement).await,
            Backend::Postgres(postgres) => postgres,
        };
        let mut transaction = postgres.begin().await?;
        let done = query(statement).execute(&mut *transaction).await.map_err(execute_error)?;
        transaction.commit().await.map_err(execute_error)?;
        Ok(done.into())
    }

    async fn execute_unprepared(&self, sql: &str) -> Result<ExecResult, DbErr> {
        let postgres = match &self.backend {
            Backend::Sqlite(database) => return database.execute_unprepared(sql).await,
            Backend::Postgres(postgres) => postgres,
        };
        let mut transaction = postgres.begin().await?;
        let sql = sqlx::AssertSqlSafe(sql.to_owned());
        let done = sqlx::raw_sql(sql).execute(&mut *transaction).await.map_err(execute_error)?;
        transaction.commit().await.map_err(execute_error)?;
        Ok(done.into())
    }

    async fn query_one_raw(&self, statement: Statement) -> Result<Option<QueryResult>, DbErr> {
        let postgres = match &self.backend {
            Backend::Sqlite(database) => return database.query_one_raw(statement).await,
            Backend::Postgres(postgres) => postgres,
        };
        let mut transaction = postgres.begin().await?;
        let row = query(statement).fetch_optional(&mut *transaction).await.map_err(query_error)?;
        transaction.commit().await.map_err(query_error)?;
        Ok(row.map(QueryResult::from))
    }

    async fn query_all_raw(&self, statement: Statement) -> Result<Vec<QueryResult>, DbErr> {
        let postgres = match &self.backend {
            Backend::Sqlite(database) => return database.query_all_raw(statement).await,
            Backend::Postgres(postgres) => postgres,
        };
        let mut transaction = postgres.begin().await?;
        let rows = query(statement).fetch_all(&mut *transaction).await.map_err(query_error)?;
        transaction.commit().await.map_err(query_error)?;
        Ok(rows.into_iter().map(QueryResult::from).collect())
    }
}

impl StreamTrait for ScopedConnection {
    type Stream<'a> = Either<QueryStream, BoxStream<'a, Result<QueryResult, DbErr>>>;

    fn get_database_backend(&self) -> DbBackend {
        ConnectionTrait::get_database_backend(self)
    }

    fn stream_raw<'a>(
        &'a self,
        statement: Statement,
    ) -> std::pin::Pin<Box<dyn Future<Output = Result<Self::Stream<'a>, DbErr>> + 'a + Send>> {
        Box::pin(async move {
            match &self.backend {
                Backend::Sqlite(database) => {
                    Ok(Either::Left(database.stream_raw(statement).await?))
                }
                Backend::Postgres(postgres) => {
                    Ok(Either::Right(cursor(postgres.begin().await?, statement).await?))
                }
            }
        })
    }
}

/// The rows of a statement through a cursor, so that only some are in memory at a time.
async fn cursor(
    mut transaction: sqlx::Transaction<'static, Postgres>,
    mut statement: Statement,
) -> Result<BoxStream<'static, Result<QueryResult, DbErr>>, DbErr> {
    // All rows are going to be read, not only the first few, which the server assumes otherwise.
    let whole = "SET LOCAL cursor_tuple_fraction = 1";
    sqlx::raw_sql(whole).execute(&mut *transaction).await.map_err(query_error)?;
    statement.sql = format!("DECLARE stream NO SCROLL CURSOR FOR {}", statement.sql);
    query(statement).persistent(false).execute(&mut *transaction).await.map_err(query_error)?;
    let fetch = format!("FETCH {FETCHED_ROWS} FROM stream");
    let pages = futures::stream::try_unfold(transaction, move |mut transaction| {
        // Not kept as a prepared statement: the next stream has other columns.
        let fetch = sqlx::query(sqlx::AssertSqlSafe(fetch.clone())).persistent(false);
        async move {
            let rows = fetch.fetch_all(&mut *transaction).await.map_err(query_error)?;
            if rows.is_empty() {
                return Ok::<_, DbErr>(None);
            }
            let page =
                futures::stream::iter(rows.into_iter().map(|row| Ok(QueryResult::from(row))));
            Ok(Some((page, transaction)))
        }
    });
    Ok(Box::pin(pages.try_flatten()))
}

/// A statement as the driver takes it, prepared once for each connection.
fn query(mut statement: Statement) -> sqlx::query::Query<'static, Postgres, SqlxValues> {
    text::make_storable(&mut statement);
    let values = statement.values.unwrap_or_else(|| sea_orm::sea_query::Values(Vec::new()));
    sqlx::query_with(sqlx::AssertSqlSafe(statement.sql), SqlxValues(values))
}

fn acquire_error(error: sqlx::Error) -> DbErr {
    match error {
        sqlx::Error::PoolTimedOut => DbErr::ConnectionAcquire(ConnAcquireErr::Timeout),
        sqlx::Error::PoolClosed => DbErr::ConnectionAcquire(ConnAcquireErr::ConnectionClosed),
        other => DbErr::Conn(RuntimeErr::SqlxError(Arc::new(other))),
    }
}

fn execute_error(error: sqlx::Error) -> DbErr {
    DbErr::Exec(RuntimeErr::SqlxError(Arc::new(error)))
}

fn query_error(error: sqlx::Error) -> DbErr {
    DbErr::Query(RuntimeErr::SqlxError(Arc::new(error)))
}
