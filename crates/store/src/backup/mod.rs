//! Backups: everything of a store in one file, and the way back, to the same kind of database or to the other.
//!
//! A backup is a tar, compressed with Zstandard, of
//!
//! - `backup.json`: the format, the version of the database, its tables and their columns;
//! - `tables/NAME/PART.jsonl`: the rows of a table in the order of their key, a JSON list each;
//! - `blobs/HASH` and `files/KEY`: the objects that the rows name;
//! - `manifest.json`: how much of everything there is, with SHA-256.
//!
//! It is written and read as a stream: memory does not grow with the rows. What is kept of each object is its name.

mod archive;
mod check;
mod manifest;
mod new_file;
mod organization;
mod reader;
mod restore;
mod rows;
mod target;
mod writer;

pub use organization::ExportContents;
pub(crate) use rows::key_of;

use std::path::Path;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{Store, StoreError, StoreLocation};

/// What is in a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BackupContents {
    /// When it was begun: it holds what was there then.
    pub created_at: Timestamp,
    /// The version of fullbench that wrote it.
    pub fullbench: String,
    /// The migrations that the database had.
    pub migrations: Vec<String>,
    /// Its tables.
    pub tables: Vec<BackupTable>,
    /// Blobs: blocks of data sets.
    pub blobs: BackupObjects,
    /// Uploaded files.
    pub files: BackupObjects,
    /// Objects that rows name and that were gone or damaged already.
    pub missing: Vec<String>,
}

impl BackupContents {
    /// The rows of all tables.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.tables.iter().map(|table| table.rows).sum()
    }
}

/// A table in a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackupTable {
    /// Its name.
    pub name: String,
    /// Its rows.
    pub rows: u64,
    /// Their size as text.
    pub bytes: u64,
    /// SHA-256 of this text.
    pub sha256: String,
}

/// Objects of one kind in a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackupObjects {
    /// How many.
    pub count: u64,
    /// Their size.
    pub bytes: u64,
    /// SHA-256 of names and contents.
    pub sha256: String,
}

impl Store {
    /// Writes everything at a location into a file, as it is at one moment, while others go on working. The file is there when
    /// it is whole, and not before.
    pub async fn back_up_at(
        home: &Path,
        location: &StoreLocation,
        file: &Path,
        overwrite: bool,
    ) -> Result<BackupContents, StoreError> {
        writer::back_up(home, location, file, overwrite).await
    }

    /// Reads a whole backup, and refuses one that is damaged or newer than this version.
    pub async fn check_backup(file: &Path) -> Result<BackupContents, StoreError> {
        Ok(check::check(&reader::BackupFile::open(file)?).await?.0)
    }

    /// Restores a backup into a database that has nothing in it, and brings it up to date. The backup is checked as a whole
    /// before; the rows are there all at once, or not at all. None where it was stopped, which its last step never is: the
    /// database is as it was then.
    pub async fn restore_at(
        home: &Path,
        location: &StoreLocation,
        file: &Path,
        stopped: impl Future<Output = ()>,
    ) -> Result<Option<BackupContents>, StoreError> {
        restore::restore(home, location, file, stopped).await
    }
}
