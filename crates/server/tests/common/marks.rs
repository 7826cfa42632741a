//! Words that must be found nowhere.

use std::path::{Path, PathBuf};

use sea_orm::sqlx::{self, AssertSqlSafe, Row};

use super::TestServer;
use super::backend::Place;

/// Files below a folder that have a mark in them.
pub(crate) fn marked(folder: &Path, mark: &str) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(marked(&path, mark));
            continue;
        }
        let stored = std::fs::read(&path).unwrap_or_default();
        if stored.windows(mark.len()).any(|some| some == mark.as_bytes()) {
            found.push(path);
        }
    }
    found
}

/// Columns of a PostgreSQL database that have the mark in them.
async fn marked_columns(place: &Place, mark: &str) -> Vec<String> {
    let mut connection = place.connect().await;
    let scope = "SELECT set_config('fullbench.organization', 'system', false)";
    sqlx::raw_sql(scope).execute(&mut connection).await.unwrap();
    let columns = "SELECT table_name::text, column_name::text FROM information_schema.columns \
        WHERE table_schema = 'public'";
    let mut found = Vec::new();
    for row in sqlx::query(columns).fetch_all(&mut connection).await.unwrap() {
        let (table, column): (String, String) = (row.get(0), row.get(1));
        let sql = format!(
            "SELECT count(*) FROM \"{table}\" WHERE position('{mark}' in \"{column}\"::text) > 0"
        );
        let row = sqlx::query(AssertSqlSafe(sql)).fetch_one(&mut connection).await.unwrap();
        if row.get::<i64, _>(0) > 0 {
            found.push(format!("{table}.{column}"));
        }
    }
    found
}

/// Looks for a mark in every file, and in every column of a database.
pub(crate) async fn assert_unmarked(server: &TestServer, mark: &str) {
    assert_eq!(marked(server.place.home(), mark), Vec::<PathBuf>::new());
    if server.place.is_postgres() {
        assert_eq!(marked_columns(&server.place, mark).await, Vec::<String>::new());
    }
}
