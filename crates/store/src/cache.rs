//! The response cache: provider replies by the complete key of their request, in a database file of its own.
//!
//! Losing the last replies on a crash only costs a repeated call, so writes are grouped and not forced to disk.

#[cfg(test)]
mod tests;
mod tidy;

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use fullbench_llm::ResponseCache;
use fullbench_types::{ContentHash, Generation, OrganizationId};
use sea_orm::sqlx::sqlite::SqliteSynchronous;
use sea_orm::{ConnectionTrait, DatabaseConnection, Statement, TransactionTrait, Value};
use tokio::sync::{mpsc, oneshot};

use crate::StoreError;
use crate::runs::now_milliseconds;
use crate::sqlite::{connect, forget_removed};

/// How old and how large the cache may become.
#[derive(Debug, Clone, Copy)]
pub struct CacheLimits {
    /// Replies older than this are not served.
    pub max_age: Duration,
    /// Above this many bytes the longest unused replies go.
    pub max_bytes: u64,
}

/// What a server keeps unless it is said otherwise.
impl Default for CacheLimits {
    fn default() -> Self {
        Self { max_age: Duration::from_secs(14 * 86_400), max_bytes: 2_000_000_000 }
    }
}

enum Write {
    Put { key: ContentHash, response: String, organization: OrganizationId },
    Used { key: ContentHash },
    Flush(oneshot::Sender<()>),
}

/// A reply that is looked for.
struct Read {
    key: ContentHash,
    /// Replies from before this time do not count.
    oldest: i64,
    found: oneshot::Sender<Option<Found>>,
}

/// A reply as it is kept.
struct Found {
    response: String,
    used_at: i64,
}

/// Replies looked for with one query.
const READ_TOGETHER: usize = 64;
/// Milliseconds for which a use is not told again: which replies are used least need not be known better.
const USE_TOLD_AFTER: i64 = 3_600_000;

/// The cache of a folder.
#[derive(Debug)]
pub struct DiskCache {
    database: DatabaseConnection,
    reads: mpsc::UnboundedSender<Read>,
    writes: mpsc::UnboundedSender<Write>,
    limits: CacheLimits,
}

const TABLE: &str = "CREATE TABLE IF NOT EXISTS responses (key BLOB PRIMARY KEY, \
    response TEXT NOT NULL, size INTEGER NOT NULL, created_at INTEGER NOT NULL, \
    used_at INTEGER NOT NULL, organization BLOB)";

/// What is unused, too old or too much is found without reading a reply.
const INDEXES: [&str; 2] = [
    "CREATE INDEX IF NOT EXISTS responses_used ON responses (used_at)",
    "CREATE INDEX IF NOT EXISTS responses_owned ON responses (organization, created_at, size)",
];

/// The database file in a folder.
const FILE: &str = "cache.db";

impl DiskCache {
    /// Opens the cache of a folder.
    pub async fn open(home: &Path, limits: CacheLimits) -> Result<Self, StoreError> {
        std::fs::create_dir_all(home).map_err(StoreError::file(home))?;
        let database = connect(&home.join(FILE), SqliteSynchronous::Normal).await?;
        make_table(&database).await?;
        let (writes, receiver) = mpsc::unbounded_channel();
        tokio::spawn(write_groups(database.clone(), receiver));
        let (reads, receiver) = mpsc::unbounded_channel();
        tokio::spawn(read_groups(database.clone(), receiver));
        Ok(Self { database, reads, writes, limits })
    }

    /// The cache as an organization uses it: what it puts there is its own.
    #[must_use]
    pub fn of(self: Arc<Self>, organization: OrganizationId) -> Arc<dyn ResponseCache> {
        Arc::new(OwnedCache { cache: self, organization })
    }

    /// Removes all replies of an organization from the cache of a folder, and those of whom it does not say whose they are; says
    /// how many.
    pub(crate) async fn erase(
        home: &Path,
        organization: OrganizationId,
    ) -> Result<u64, StoreError> {
        let path = home.join(FILE);
        if !path.exists() {
            return Ok(0);
        }
        let database = connect(&path, SqliteSynchronous::Normal).await?;
        make_table(&database).await?;
        let sql = "DELETE FROM responses WHERE organization = $1 OR organization IS NULL";
        let values = [organization.0.as_bytes().to_vec().into()];
        let backend = database.get_database_backend();
        let statement = Statement::from_sql_and_values(backend, sql, values);
        let removed = database.execute_raw(statement).await?.rows_affected();
        forget_removed(&database).await?;
        database.close().await?;
        Ok(removed)
    }

    /// Waits until everything put so far is written.
    pub async fn flush(&self) {
        let (done, waiting) = oneshot::channel();
        if self.writes.send(Write::Flush(done)).is_ok() {
            let _ = waiting.await;
        }
    }

    fn oldest(&self) -> i64 {
        self.limits.oldest()
    }
}

/// Makes the table, or what a table of an earlier version lacks.
async fn make_table(database: &DatabaseConnection) -> Result<(), StoreError> {
    database.execute_unprepared(TABLE).await?;
    let sql = "SELECT 1 FROM pragma_table_info('responses') WHERE name = 'organization'";
    let statement = Statement::from_string(database.get_database_backend(), sql);
    if database.query_one_raw(statement).await?.is_none() {
        database.execute_unprepared("ALTER TABLE responses ADD COLUMN organization BLOB").await?;
    }
    for index in INDEXES {
        database.execute_unprepared(index).await?;
    }
    Ok(())
}

/// The cache as one organization uses it.
struct OwnedCache {
    cache: Arc<DiskCache>,
    organization: OrganizationId,
}

#[async_trait]
impl ResponseCache for OwnedCache {
    async fn get(&self, key: &ContentHash) -> Option<Generation> {
        let (found, waiting) = oneshot::channel();
        let DiskCache { reads, writes, .. } = &*self.cache;
        reads.send(Read { key: *key, oldest: self.cache.oldest(), found }).ok()?;
        let Found { response, used_at } = waiting.await.ok().flatten()?;
        let generation = serde_json::from_str(&response).ok()?;
        if used_at < now_milliseconds().saturating_sub(USE_TOLD_AFTER) {
            let _ = writes.send(Write::Used { key: *key });
        }
        Some(generation)
    }

    async fn put(&self, key: &ContentHash, generation: &Generation) {
        match serde_json::to_string(generation) {
            Ok(response) => {
                let organization = self.organization;
                let _ = self.cache.writes.send(Write::Put { key: *key, response, organization });
            }
            Err(error) => tracing::warn!(%error, "a reply could not be cached"),
        }
    }
}

/// Looks for what has come in, many replies with one query, until the cache is dropped.
async fn read_groups(database: DatabaseConnection, mut reads: mpsc::UnboundedReceiver<Read>) {
    let mut group = Vec::new();
    while reads.recv_many(&mut group, READ_TOGETHER).await > 0 {
        let found = read_group(&database, &group).await.unwrap_or_else(|error| {
            tracing::warn!(%error, "the response cache could not be read");
            HashMap::new()
        });
        // The same reply may be wanted twice.
        for read in group.drain(..) {
            let wanted =
                found.get(&read.key.0).filter(|(created_at, _)| *created_at >= read.oldest);
            let reply = wanted.map(|(_, found)| Found {
                response: found.response.clone(),
                used_at: found.used_at,
            });
            let _ = read.found.send(reply);
        }
    }
}

/// The replies of a group, with the times they were made at. One of two statements, so that each is prepared once.
async fn read_group(
    database: &DatabaseConnection,
    group: &[Read],
) -> Result<HashMap<[u8; 32], (i64, Found)>, sea_orm::DbErr> {
    let width = if group.len() == 1 { 1 } else { READ_TOGETHER };
    let places: Vec<String> = (1..=width).map(|place| format!("${place}")).collect();
    let sql = format!(
        "SELECT key, created_at, used_at, response FROM responses WHERE key IN ({})",
        places.join(", ")
    );
    let keys = group.iter().map(|read| read.key.0.to_vec().into());
    let mut values: Vec<Value> = keys.collect();
    if let Some(last) = values.last().cloned() {
        values.resize(width, last);
    }
    let statement = Statement::from_sql_and_values(database.get_database_backend(), sql, values);
    let mut found = HashMap::with_capacity(group.len());
    for row in database.query_all_raw(statement).await? {
        let key: Vec<u8> = row.try_get_by_index(0)?;
        let created_at = row.try_get_by_index(1)?;
        let reply = Found { used_at: row.try_get_by_index(2)?, response: row.try_get_by_index(3)? };
        if let Ok(key) = key.try_into() {
            found.insert(key, (created_at, reply));
        }
    }
    Ok(found)
}

/// Writes what has come in, one transaction at a time, until the cache is dropped.
async fn write_groups(database: DatabaseConnection, mut writes: mpsc::UnboundedReceiver<Write>) {
    let mut group = Vec::new();
    while writes.recv_many(&mut group, 1024).await > 0 {
        let mut flushed = Vec::new();
        if let Err(error) = write_group(&database, group.drain(..), &mut flushed).await {
            tracing::warn!(%error, "the response cache could not be written");
        }
        for waiting in flushed {
            let _ = waiting.send(());
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn write_group(
    database: &DatabaseConnection,
    group: impl Iterator<Item = Write>,
    flushed: &mut Vec<oneshot::Sender<()>>,
) -> Result<(), sea_orm::DbErr> {
    let backend = database.get_database_backend();
    let now = now_milliseconds();
    let transaction = database.begin().await?;
    for write in group {
        let (sql, values) = match write {
            Write::Flush(waiting) => {
                flushed.push(waiting);
                continue;
            }
            Write::Used { key } => (
                "UPDATE responses SET used_at = $1 WHERE key = $2",
                vec![now.into(), key.0.to_vec().into()],
            ),
            Write::Put { key, response, organization } => {
                let size = response.len() as i64;
                (
                    "INSERT INTO responses (key, response, size, created_at, used_at, organization) \
                     VALUES ($1, $2, $3, $4, $4, $5) ON CONFLICT (key) DO UPDATE \
                     SET response = excluded.response, size = excluded.size, \
                     created_at = excluded.created_at, used_at = excluded.used_at, \
                     organization = excluded.organization",
                    vec![
                        key.0.to_vec().into(),
                        response.into(),
                        size.into(),
                        now.into(),
                        organization.0.as_bytes().to_vec().into(),
                    ],
                )
            }
        };
        transaction.execute_raw(Statement::from_sql_and_values(backend, sql, values)).await?;
    }
    transaction.commit().await
}
