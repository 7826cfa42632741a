//! Restores a backup: the objects first, which harm nobody where the rows do not follow, then all rows at once.

use std::io;
use std::path::Path;

use bytes::Bytes;
use fullbench_types::OrganizationId;
use sea_orm::Value;
use tokio::task::JoinSet;

use super::BackupContents;
use super::check::check;
use super::reader::{BackupFile, BackupReader, Item};
use super::rows;
use super::target::{Target, refuse_occupied};
use crate::audit::AuditWitness;
use crate::schema::Table;
use crate::{ObjectStore, StoreError, StoreLocation};

/// Rows are inserted when there are so many of them, or so many bytes.
const ROWS_TOGETHER: usize = 1024;
const BYTES_TOGETHER: usize = 4 * 1024 * 1024;

/// Blobs that are written at the same time.
const BLOBS_IN_FLIGHT: usize = 8;

/// Restores a backup into the empty database of a location, unless it is stopped before its last step: that is waited for, since
/// nothing undoes it, and nobody else could tell how it ended.
pub(super) async fn restore(
    home: &Path,
    location: &StoreLocation,
    path: &Path,
    stopped: impl Future<Output = ()>,
) -> Result<Option<BackupContents>, StoreError> {
    let (contents, target) = tokio::select! {
        filled = fill(home, location, path) => filled?,
        () = stopped => return Ok(None),
    };
    target.finish().await?;
    Ok(Some(contents))
}

/// Does all of it but the last step.
async fn fill(
    home: &Path,
    location: &StoreLocation,
    path: &Path,
) -> Result<(BackupContents, Target), StoreError> {
    let file = BackupFile::open(path)?;
    let migrations = file.read().await?.header().migrations.len();
    refuse_occupied(home, location, migrations).await?;
    let (contents, tables) = check(&file).await?;
    let objects = ObjectStore::open(home, &location.objects).await?;
    restore_objects(&file, &objects).await?;
    let target = Target::begin(home, location, migrations, &tables).await?;
    restore_rows(&file, &tables, &objects, &target).await?;
    // Before the end, after which nobody may be there any more to do it: what was seen of an empty database protects nothing.
    if let Err(error) = AuditWitness::new(home, location).forget_all() {
        tracing::warn!(%error, "what was seen of the audit logs before is still there");
    }
    Ok((contents, target))
}

/// Puts blobs and files where they belong.
async fn restore_objects(file: &BackupFile, objects: &ObjectStore) -> Result<(), StoreError> {
    let mut backup = file.read().await?;
    let mut writing = JoinSet::new();
    while let Some(item) = backup.next().await? {
        match item {
            Item::Row { .. } | Item::FileData(_) => {}
            Item::Blob(content) => {
                if writing.len() >= BLOBS_IN_FLIGHT {
                    written(writing.join_next().await)?;
                }
                let objects = objects.clone();
                writing.spawn_blocking(move || objects.restore(&content));
            }
            Item::File { key, size } => {
                objects.put_kept_file(&key, file_content(&mut backup, size)).await?;
            }
        }
    }
    while let Some(result) = writing.join_next().await {
        written(Some(result))?;
    }
    Ok(())
}

fn written(
    result: Option<Result<Result<(), StoreError>, tokio::task::JoinError>>,
) -> Result<(), StoreError> {
    match result {
        Some(Ok(result)) => result,
        Some(Err(error)) => Err(StoreError::Damaged(format!("a blob: {error}"))),
        None => Ok(()),
    }
}

/// The content of the file that has just begun.
fn file_content(
    backup: &mut BackupReader,
    size: u64,
) -> impl futures::Stream<Item = io::Result<Bytes>> + Send {
    futures::stream::try_unfold((backup, size), async |(backup, left)| {
        if left == 0 {
            return Ok(None);
        }
        match backup.next().await.map_err(io::Error::other)? {
            Some(Item::FileData(piece)) => {
                let left = left.saturating_sub(piece.len() as u64);
                Ok(Some((piece, (backup, left))))
            }
            _ => Err(io::Error::other("the backup breaks off")),
        }
    })
}

/// Inserts all rows.
async fn restore_rows(
    file: &BackupFile,
    tables: &[Table],
    objects: &ObjectStore,
    target: &Target,
) -> Result<(), StoreError> {
    let mut backup = file.read().await?;
    let (mut current, mut bytes) = (0, 0);
    let mut rows: Vec<Vec<Value>> = Vec::new();
    while let Some(item) = backup.next().await? {
        let Item::Row { table, line } = item else { continue };
        if table != current || rows.len() >= ROWS_TOGETHER || bytes >= BYTES_TOGETHER {
            target.insert(&tables[current], &rows).await?;
            rows.clear();
            (current, bytes) = (table, 0);
        }
        bytes += line.len();
        let values = rows::decode(&line, &tables[table].columns);
        let mut values = values.map_err(|problem| file.problem(problem))?;
        rename_file(&tables[table], &mut values, objects);
        rows.push(values);
    }
    match tables.get(current) {
        Some(table) => target.insert(table, &rows).await,
        None => Ok(()),
    }
}

/// Gives an uploaded file the URI it has among the objects at hand.
fn rename_file(table: &Table, values: &mut [Value], objects: &ObjectStore) {
    let (Some(organization), Some(uri)) = (table.place("organization_id"), table.place("file_uri"))
    else {
        return;
    };
    if let (Value::Uuid(Some(organization)), Value::String(Some(old))) =
        (&values[organization], &values[uri])
        && let Ok(key) = ObjectStore::dataset_file_key(OrganizationId(*organization), old)
    {
        values[uri] = objects.dataset_file_uri(&key).into();
    }
}
