//! Removes what is too old or too much from the response cache of a folder.

use fullbench_types::OrganizationId;
use jiff::Timestamp;
use sea_orm::sqlx::sqlite::SqliteSynchronous;
use sea_orm::{ConnectionTrait, DatabaseConnection, Statement, Value};

use super::{CacheLimits, DiskCache, FILE, make_table};
use crate::lifecycle::older_than;
use crate::runs::now_milliseconds;
use crate::sqlite::connect;
use crate::{Store, StoreError};

/// Replies that are removed with one statement.
const TOGETHER: u64 = 1000;
/// The replies of everybody.
const ALL: &str = "TRUE";

impl DiskCache {
    /// Removes the replies of an organization that are past the age and, above the size, its longest unused ones. Those of whom
    /// nobody knows whose they are go by their age alone: they count for nobody.
    pub async fn prune(&self, organization: OrganizationId) -> Result<u64, StoreError> {
        let own = of(organization);
        let whose = format!("({own} OR organization IS NULL)");
        let old = remove_older(&self.database, &whose, self.oldest()).await?;
        Ok(old + remove_unused(&self.database, &own, self.limits.max_bytes).await?)
    }
}

impl Store {
    /// Removes from the response cache of this machine what is older than its organization keeps its data, and what is too old
    /// or too much for all organizations together; says how many replies.
    pub async fn tidy_cache(&self, limits: CacheLimits, now: Timestamp) -> Result<u64, StoreError> {
        let path = self.home().join(FILE);
        if !path.exists() {
            return Ok(0);
        }
        let kept = self.organizations().await?;
        let database = connect(&path, SqliteSynchronous::Normal).await?;
        make_table(&database).await?;
        let mut removed = 0;
        for organization in &kept {
            if let Some(oldest) = older_than(organization, now) {
                let oldest = oldest.as_millisecond();
                removed += remove_older(&database, &of(organization.id), oldest).await?;
            }
        }
        removed += remove_older(&database, ALL, limits.oldest()).await?;
        removed += remove_unused(&database, ALL, limits.max_bytes).await?;
        database.close().await?;
        Ok(removed)
    }
}

impl CacheLimits {
    /// Replies from before this time, in milliseconds, are too old.
    pub(super) fn oldest(&self) -> i64 {
        let age = i64::try_from(self.max_age.as_millis()).unwrap_or(i64::MAX);
        now_milliseconds().saturating_sub(age)
    }
}

fn of(organization: OrganizationId) -> String {
    format!("organization = X'{}'", organization.0.simple())
}

async fn remove_older(
    database: &DatabaseConnection,
    whose: &str,
    oldest: i64,
) -> Result<u64, StoreError> {
    // What is too old is found in the index: the replies themselves are not read.
    let sql = format!(
        "DELETE FROM responses WHERE rowid IN \
         (SELECT rowid FROM responses WHERE {whose} AND created_at < $1)"
    );
    let statement = statement(database, &sql, vec![oldest.into()]);
    Ok(database.execute_raw(statement).await?.rows_affected())
}

/// Removes the longest unused replies until the others are within so many bytes.
async fn remove_unused(
    database: &DatabaseConnection,
    whose: &str,
    max_bytes: u64,
) -> Result<u64, StoreError> {
    let total = format!("SELECT COALESCE(SUM(size), 0) FROM responses WHERE {whose}");
    let row = database.query_one_raw(statement(database, &total, vec![])).await?;
    let bytes = row.map(|row| row.try_get_by_index::<i64>(0)).transpose()?;
    let mut bytes = bytes.unwrap_or(0) as u64;
    let mut count = 0;
    while bytes > max_bytes {
        let sql = format!(
            "DELETE FROM responses WHERE key IN (SELECT key FROM responses WHERE {whose} \
             ORDER BY used_at LIMIT {TOGETHER}) RETURNING size"
        );
        let removed = database.query_all_raw(statement(database, &sql, vec![])).await?;
        if removed.is_empty() {
            break;
        }
        count += removed.len() as u64;
        for row in removed {
            bytes = bytes.saturating_sub(row.try_get_by_index::<i64>(0)? as u64);
        }
    }
    Ok(count)
}

fn statement(database: &DatabaseConnection, sql: &str, values: Vec<Value>) -> Statement {
    Statement::from_sql_and_values(database.get_database_backend(), sql, values)
}
