//! The tables that migrations make, as every database has them after the same migrations.
//!
//! They are read from the catalogue of an empty database in memory, so that a new table is never forgotten, and that tables of
//! others in the same database are left alone.

use sea_orm::{ConnectionTrait, DbBackend, DbErr, Statement};
use serde::{Deserialize, Serialize};

use crate::connection::ScopedTransaction;
use crate::{StoreError, migration, sqlite};

/// What contents of data sets were called before `m0011_platform`.
const OLD_DATASET_CONTENTS: &str = "dataset_versions";

/// All tables but that of the migrations, those that others point to first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Schema {
    pub(crate) tables: Vec<Table>,
}

/// A table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Table {
    pub(crate) name: String,
    /// What it is called in the database at hand.
    pub(crate) stored_as: String,
    pub(crate) columns: Vec<Column>,
    /// The columns of its primary key.
    pub(crate) key: Vec<String>,
    /// The tables it points to.
    references: Vec<String>,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) kind: ColumnKind,
}

/// What a column holds, on every backend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ColumnKind {
    Uuid,
    Text,
    Integer,
    Float,
    Boolean,
    Bytes,
}

impl Schema {
    /// The tables after the first migrations.
    pub(crate) async fn after(migrations: usize) -> Result<Self, StoreError> {
        let database = sqlite::in_memory(migrations).await?;
        let mut tables = Vec::new();
        for name in column(&database, SQLITE_TABLES).await? {
            if name != migration::TABLE {
                tables.push(table(&database, name).await?);
            }
        }
        database.close().await?;
        Ok(Self { tables: by_reference(tables) })
    }

    /// The tables under the names that a database has them by, which may be of a time when one had another.
    pub(crate) fn named_as_in(mut self, stored: &[String]) -> Self {
        for table in &mut self.tables {
            let has = |name: &str| stored.iter().any(|stored| stored == name);
            if table.name == "dataset_contents" && !has(&table.name) && has(OLD_DATASET_CONTENTS) {
                table.stored_as = OLD_DATASET_CONTENTS.to_owned();
            }
        }
        self
    }
}

impl Table {
    /// The place of a column.
    pub(crate) fn place(&self, column: &str) -> Option<usize> {
        self.columns.iter().position(|found| found.name == column)
    }
}

/// The tables of a database, whoever made them, without partitions of others.
pub(crate) async fn stored_tables(
    transaction: &ScopedTransaction,
) -> Result<Vec<String>, StoreError> {
    let sql = match transaction.get_database_backend() {
        DbBackend::Sqlite => SQLITE_TABLES,
        _ => {
            "SELECT relname::text FROM pg_class WHERE relnamespace = current_schema()::regnamespace \
             AND relkind IN ('r', 'p') AND NOT relispartition ORDER BY relname"
        }
    };
    Ok(column(transaction, sql).await?)
}

const SQLITE_TABLES: &str = "SELECT name FROM sqlite_schema WHERE type = 'table' \
     AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name";

/// The texts in the first column of a query's rows.
async fn column(connection: &impl ConnectionTrait, sql: &str) -> Result<Vec<String>, DbErr> {
    let statement = Statement::from_string(connection.get_database_backend(), sql);
    let rows = connection.query_all_raw(statement).await?;
    rows.iter().map(|row| row.try_get_by_index(0)).collect()
}

async fn table(database: &impl ConnectionTrait, name: String) -> Result<Table, StoreError> {
    let sql = format!("SELECT name, type, pk FROM pragma_table_info('{name}') ORDER BY cid");
    let statement = Statement::from_string(DbBackend::Sqlite, sql);
    let (mut columns, mut key) = (Vec::new(), Vec::new());
    for row in database.query_all_raw(statement).await? {
        let column: String = row.try_get_by_index(0)?;
        let declared: String = row.try_get_by_index(1)?;
        let kind = kind(&declared).ok_or_else(|| {
            StoreError::Damaged(format!("column {column} of {name} holds `{declared}`"))
        })?;
        match row.try_get_by_index::<i64>(2)? {
            0 => {}
            place => key.push((place, column.clone())),
        }
        columns.push(Column { name: column, kind });
    }
    key.sort();
    let references = format!("SELECT DISTINCT \"table\" FROM pragma_foreign_key_list('{name}')");
    let references = column(database, &references).await?;
    let key = key.into_iter().map(|(_, column)| column).collect();
    Ok(Table { stored_as: name.clone(), name, columns, key, references })
}

/// What a column holds, by the type that migrations declare on SQLite.
fn kind(declared: &str) -> Option<ColumnKind> {
    Some(match declared.to_ascii_lowercase().as_str() {
        "uuid_text" => ColumnKind::Uuid,
        "text" | "varchar" => ColumnKind::Text,
        "integer" | "bigint" => ColumnKind::Integer,
        "double" => ColumnKind::Float,
        "boolean" => ColumnKind::Boolean,
        "varbinary_blob" | "blob" => ColumnKind::Bytes,
        _ => return None,
    })
}

/// Orders tables so that each comes after those it points to, as far as they do not point to each other.
fn by_reference(mut waiting: Vec<Table>) -> Vec<Table> {
    let mut ordered = Vec::with_capacity(waiting.len());
    while !waiting.is_empty() {
        let awaits = |table: &Table, name: &String| {
            *name != table.name && waiting.iter().any(|other| other.name == *name)
        };
        let free = waiting
            .iter()
            .position(|table| !table.references.iter().any(|name| awaits(table, name)))
            .unwrap_or(0);
        ordered.push(waiting.remove(free));
    }
    ordered
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use sea_orm::TransactionTrait;

    use super::*;
    use crate::backend::{Place, on_every_backend};

    on_every_backend!(a_database_has_the_tables_and_columns_of_the_schema);

    async fn a_database_has_the_tables_and_columns_of_the_schema(place: Place) {
        let store = place.open().await;
        let transaction = store.system().begin().await.unwrap();
        let schema = Schema::after(migration::known().len()).await.unwrap();
        let mut names: Vec<&str> = schema.tables.iter().map(|table| table.name.as_str()).collect();
        names.push(migration::TABLE);
        names.sort_unstable();
        assert_eq!(stored_tables(&transaction).await.unwrap(), names);
        for table in &schema.tables {
            let sql = match place.is_postgres() {
                true => format!(
                    "SELECT attname::text FROM pg_attribute WHERE attrelid = '{}'::regclass \
                     AND attnum > 0 AND NOT attisdropped ORDER BY attnum",
                    table.name
                ),
                false => format!("SELECT name FROM pragma_table_info('{}')", table.name),
            };
            let columns: Vec<&str> =
                table.columns.iter().map(|column| column.name.as_str()).collect();
            assert_eq!(column(&transaction, &sql).await.unwrap(), columns, "{}", table.name);
        }
    }

    #[tokio::test]
    async fn a_table_comes_after_those_it_points_to() {
        let schema = Schema::after(migration::known().len()).await.unwrap();
        let place = |name: &str| schema.tables.iter().position(|table| table.name == name).unwrap();
        for table in &schema.tables {
            for name in table.references.iter().filter(|name| **name != table.name) {
                assert!(place(name) < place(&table.name), "{} before {name}", table.name);
            }
            assert!(!table.key.is_empty(), "{}", table.name);
        }
        let scores = &schema.tables[place("scores")];
        let kind = |name: &str| scores.columns[scores.place(name).unwrap()].kind;
        assert_eq!((kind("run_id"), kind("value")), (ColumnKind::Uuid, ColumnKind::Float));
        assert_eq!(
            scores.key,
            ["run_id", "case_index", "model_index", "repetition", "scorer", "revision"]
        );
        assert!(Schema::after(0).await.unwrap().tables.is_empty());
    }
}
