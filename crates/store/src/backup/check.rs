//! Looks through a whole backup before anything is made of it.

use super::BackupContents;
use super::reader::{BackupFile, Item};
use super::rows;
use crate::schema::{Schema, Table};
use crate::{StoreError, migration};

/// What is in a backup that can be restored, and its tables.
pub(super) async fn check(file: &BackupFile) -> Result<(BackupContents, Vec<Table>), StoreError> {
    let mut backup = file.read().await?;
    let header = backup.header().clone();
    if let Some(newer) = header.migrations.iter().find(|name| !migration::known().contains(name)) {
        return Err(file.problem(format!(
            "it was made by a newer version of fullbench (migration `{newer}`): update fullbench"
        )));
    }
    if !migration::known().starts_with(&header.migrations) {
        return Err(file.problem("a migration is missing in it"));
    }
    let schema = Schema::after(header.migrations.len()).await?;
    let Some(tables) = header.tables(&schema) else {
        return Err(file.problem("its tables are not those of its version"));
    };
    while let Some(item) = backup.next().await? {
        match item {
            Item::Row { table, line } => {
                let table = &tables[table];
                rows::decode(&line, &table.columns).map_err(|problem| {
                    file.problem(format!("a row of {} cannot be read: {problem}", table.name))
                })?;
            }
            Item::Blob(_) | Item::File { .. } | Item::FileData(_) => {}
        }
    }
    Ok((backup.contents()?, tables))
}
