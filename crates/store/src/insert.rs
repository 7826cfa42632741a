//! Many rows at once.

use std::task::Poll;

use sea_orm::{ConnectionTrait, DbBackend, Statement, Value};

use crate::StoreError;
use crate::connection::ScopedTransaction;

/// Rows of the prepared statements; what does not fill the larger goes into the smaller.
const ROWS_PER_STATEMENT: [usize; 5] = [256, 64, 16, 4, 1];

/// An insert of many rows, in statements of a few fixed sizes, so that each is prepared once.
pub(crate) struct InsertMany<'sql> {
    pub(crate) table: &'sql str,
    pub(crate) columns: &'sql str,
    pub(crate) conflict: &'sql str,
}

impl InsertMany<'_> {
    /// Inserts the records: while the database works on one statement, the values of the next are put together.
    pub(crate) async fn run<T>(
        &self,
        transaction: &ScopedTransaction,
        records: &[T],
        values_of: impl Fn(&T, &mut Vec<Value>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let width = self.columns.split(',').count();
        let mut rest = records;
        let mut running = None;
        for rows in ROWS_PER_STATEMENT {
            let whole = rest.len() / rows * rows;
            if whole == 0 {
                continue;
            }
            let backend = transaction.get_database_backend();
            let sql = self.sql(rows, width, backend);
            let (groups, left) = rest.split_at(whole);
            for group in groups.chunks(rows) {
                let mut values = Vec::with_capacity(rows * width);
                for record in group {
                    values_of(record, &mut values)?;
                }
                let statement = Statement::from_sql_and_values(backend, &sql, values);
                if let Some(before) = running.take() {
                    before.await?;
                }
                let mut insert = Box::pin(transaction.execute_raw(statement));
                match futures::poll!(&mut insert) {
                    Poll::Ready(result) => {
                        result?;
                    }
                    Poll::Pending => running = Some(insert),
                }
            }
            rest = left;
        }
        if let Some(last) = running {
            last.await?;
        }
        Ok(())
    }

    /// SQLite looks a numbered placeholder up by its name, all others before it first: plain ones are much faster.
    fn sql(&self, rows: usize, width: usize, backend: DbBackend) -> String {
        let Self { table, columns, conflict } = self;
        let numbered = backend != DbBackend::Sqlite;
        let mut sql = format!("INSERT INTO {table} ({columns}) VALUES ");
        for row in 0..rows {
            sql.push_str(if row == 0 { "(" } else { ", (" });
            for column in 0..width {
                if column > 0 {
                    sql.push(',');
                }
                if numbered {
                    sql.push_str(&format!("${}", row * width + column + 1));
                } else {
                    sql.push('?');
                }
            }
            sql.push(')');
        }
        sql.push(' ');
        sql.push_str(conflict);
        sql
    }
}
