//! A transaction that belongs to an organization, or to the system itself.

use std::pin::Pin;

use sea_orm::{
    AccessMode, ConnectionTrait, DatabaseTransaction, DbBackend, DbErr, ExecResult, IsolationLevel,
    QueryResult, RuntimeErr, Statement, TransactionError, TransactionOptions, TransactionSession,
    TransactionTrait,
};

use super::{Backend, ScopedConnection, set_scope, text};
use crate::StoreError;

/// An open transaction; dropped without [`Self::commit`], it changes nothing.
#[derive(Debug)]
pub(crate) struct ScopedTransaction {
    inner: DatabaseTransaction,
}

/// What tells later whether a transaction was committed of whose end no word came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitMark(pub(crate) String);

impl ScopedTransaction {
    /// What to ask by whether this was committed, where the word of it may get lost: right before the commit, of one that wrote
    /// something. On SQLite there is nothing to ask, since a commit that fails was not made.
    pub(crate) async fn mark(&self) -> Result<Option<CommitMark>, DbErr> {
        if self.inner.get_database_backend() != DbBackend::Postgres {
            return Ok(None);
        }
        let sql = "SELECT CAST(pg_current_xact_id() AS text)";
        let row =
            self.inner.query_one_raw(Statement::from_string(DbBackend::Postgres, sql)).await?;
        let row =
            row.ok_or_else(|| DbErr::RecordNotFound("a transaction without an id".to_owned()))?;
        Ok(Some(CommitMark(row.try_get_by_index(0)?)))
    }

    /// Keeps what was done.
    pub(crate) async fn commit(self) -> Result<(), DbErr> {
        self.inner.commit().await
    }

    /// The transaction for what needs one of the library's own, such as migrations.
    pub(crate) fn plain(&self) -> &DatabaseTransaction {
        &self.inner
    }

    /// Goes on in another scope, as far as the database knows any.
    pub(crate) async fn seen_by(&self, scope: &str) -> Result<(), DbErr> {
        if self.inner.get_database_backend() == DbBackend::Postgres {
            self.inner.execute_unprepared(&set_scope(scope)).await?;
        }
        Ok(())
    }

    /// The statement as the database can keep it.
    fn storable(&self, mut statement: Statement) -> Statement {
        if self.inner.get_database_backend() == DbBackend::Postgres {
            text::make_storable(&mut statement);
        }
        statement
    }
}

#[async_trait::async_trait]
impl ConnectionTrait for ScopedTransaction {
    fn get_database_backend(&self) -> DbBackend {
        self.inner.get_database_backend()
    }

    async fn execute_raw(&self, statement: Statement) -> Result<ExecResult, DbErr> {
        self.inner.execute_raw(self.storable(statement)).await
    }

    async fn execute_unprepared(&self, sql: &str) -> Result<ExecResult, DbErr> {
        self.inner.execute_unprepared(sql).await
    }

    async fn query_one_raw(&self, statement: Statement) -> Result<Option<QueryResult>, DbErr> {
        self.inner.query_one_raw(self.storable(statement)).await
    }

    async fn query_all_raw(&self, statement: Statement) -> Result<Vec<QueryResult>, DbErr> {
        self.inner.query_all_raw(self.storable(statement)).await
    }
}

#[async_trait::async_trait]
impl TransactionSession for ScopedTransaction {
    async fn commit(self) -> Result<(), DbErr> {
        self.inner.commit().await
    }

    async fn rollback(self) -> Result<(), DbErr> {
        self.inner.rollback().await
    }
}

/// What both a connection and a transaction need of [`TransactionTrait`], given how they begin one.
macro_rules! begins_transactions {
    ($of:ty) => {
        #[async_trait::async_trait]
        impl TransactionTrait for $of {
            type Transaction = ScopedTransaction;

            async fn begin(&self) -> Result<ScopedTransaction, DbErr> {
                self.begin_scoped(TransactionOptions::default()).await
            }

            async fn begin_with_config(
                &self,
                isolation_level: Option<IsolationLevel>,
                access_mode: Option<AccessMode>,
            ) -> Result<ScopedTransaction, DbErr> {
                let options = TransactionOptions {
                    isolation_level,
                    access_mode,
                    ..TransactionOptions::default()
                };
                self.begin_scoped(options).await
            }

            async fn begin_with_options(
                &self,
                options: TransactionOptions,
            ) -> Result<ScopedTransaction, DbErr> {
                self.begin_scoped(options).await
            }

            async fn transaction<F, T, E>(&self, callback: F) -> Result<T, TransactionError<E>>
            where
                F: for<'c> FnOnce(
                        &'c ScopedTransaction,
                    )
                        -> Pin<Box<dyn Future<Output = Result<T, E>> + Send + 'c>>
                    + Send,
                T: Send,
                E: std::fmt::Display + std::fmt::Debug + Send,
            {
                self.transaction_with_config(callback, None, None).await
            }

            async fn transaction_with_config<F, T, E>(
                &self,
                callback: F,
                isolation_level: Option<IsolationLevel>,
                access_mode: Option<AccessMode>,
            ) -> Result<T, TransactionError<E>>
            where
                F: for<'c> FnOnce(
                        &'c ScopedTransaction,
                    )
                        -> Pin<Box<dyn Future<Output = Result<T, E>> + Send + 'c>>
                    + Send,
                T: Send,
                E: std::fmt::Display + std::fmt::Debug + Send,
            {
                let transaction = self
                    .begin_with_config(isolation_level, access_mode)
                    .await
                    .map_err(TransactionError::Connection)?;
                let result = callback(&transaction).await.map_err(TransactionError::Transaction)?;
                transaction.commit().await.map_err(TransactionError::Connection)?;
                Ok(result)
            }
        }
    };
}

begins_transactions!(ScopedConnection);
begins_transactions!(ScopedTransaction);

impl ScopedConnection {
    /// Whether a transaction was committed of whose end no word came. One that the server still works on may yet be: who asks has
    /// to come again.
    pub(crate) async fn was_committed(&self, mark: &CommitMark) -> Result<bool, StoreError> {
        let sql = "SELECT pg_xact_status(CAST($1 AS xid8))";
        let asked =
            Statement::from_sql_and_values(DbBackend::Postgres, sql, [mark.0.clone().into()]);
        let status = match self.query_one_raw(asked).await {
            Ok(row) => row.map_or(Ok(None), |row| row.try_get_by_index::<Option<String>>(0))?,
            // A server that took over from one that is gone, and never heard of it.
            Err(error) if is_unknown_to_it(&error) => None,
            Err(error) => return Err(error.into()),
        };
        match status.as_deref() {
            Some("committed") => Ok(true),
            Some("in progress") => {
                let unknown = "it is not known yet whether the last commit was made";
                Err(StoreError::DatabaseDown(DbErr::Custom(unknown.to_owned())))
            }
            _ => Ok(false),
        }
    }

    /// A transaction in which everything stays as it is now, whatever others write; it writes nothing itself.
    pub(crate) async fn snapshot(&self) -> Result<ScopedTransaction, DbErr> {
        match &self.backend {
            // A transaction that reads is one.
            Backend::Sqlite(_) => self.begin().await,
            Backend::Postgres(_) => {
                let isolation = Some(IsolationLevel::RepeatableRead);
                self.begin_with_config(isolation, Some(AccessMode::ReadOnly)).await
            }
        }
    }

    async fn begin_scoped(&self, options: TransactionOptions) -> Result<ScopedTransaction, DbErr> {
        match &self.backend {
            Backend::Sqlite(database) => {
                Ok(ScopedTransaction { inner: database.begin_with_options(options).await? })
            }
            Backend::Postgres(postgres) => {
                let begin = || async {
                    let inner = postgres.database().begin_with_options(options).await?;
                    inner.execute_unprepared(&set_scope(&postgres.scope)).await?;
                    Ok(ScopedTransaction { inner })
                };
                postgres.begun(begin).await
            }
        }
    }
}

/// Whether the server says that the number of a transaction is one that it never gave.
fn is_unknown_to_it(error: &DbErr) -> bool {
    let DbErr::Query(RuntimeErr::SqlxError(reason)) = error else { return false };
    let code = reason.as_database_error().and_then(|refused| refused.code());
    code.is_some_and(|code| code == "22023")
}

impl ScopedTransaction {
    /// A transaction inside this one, in the same scope.
    async fn begin_scoped(&self, options: TransactionOptions) -> Result<Self, DbErr> {
        Ok(Self { inner: self.inner.begin_with_options(options).await? })
    }
}
