//! What a backup says of itself, at its beginning and at its end.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{BackupObjects, BackupTable};
use crate::objects::sha256_text;
use crate::schema::{Column, Schema, Table};

/// The name of the first member.
pub(super) const HEADER: &str = "backup.json";
/// The name of the last member.
pub(super) const MANIFEST: &str = "manifest.json";

/// What every backup says of its format.
const FORMAT: &str = "fullbench-backup";
/// The version of the format that is written, and the newest that is read.
const FORMAT_VERSION: u32 = 1;

/// The beginning of a backup, of any version.
#[derive(Serialize, Deserialize)]
pub(super) struct Format {
    format: String,
    format_version: u32,
}

/// The beginning of a backup.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Header {
    pub(super) format: String,
    pub(super) format_version: u32,
    pub(super) fullbench: String,
    pub(super) created_at: Timestamp,
    pub(super) migrations: Vec<String>,
    pub(super) tables: Vec<TableHeader>,
}

/// A table and how its rows are to be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TableHeader {
    pub(super) name: String,
    pub(super) columns: Vec<Column>,
}

impl TableHeader {
    pub(super) fn of(table: &Table) -> Self {
        Self { name: table.name.clone(), columns: table.columns.clone() }
    }
}

impl Header {
    /// The header of a backup that is made now.
    pub(super) fn new(migrations: Vec<String>, schema: &Schema) -> Self {
        Self {
            format: FORMAT.to_owned(),
            format_version: FORMAT_VERSION,
            fullbench: env!("CARGO_PKG_VERSION").to_owned(),
            created_at: Timestamp::now(),
            migrations,
            tables: schema.tables.iter().map(TableHeader::of).collect(),
        }
    }

    /// The header in the first member of a backup, or what is wrong with it.
    pub(super) fn read(content: &[u8]) -> Result<Self, String> {
        let format: Format = serde_json::from_slice(content).map_err(|error| error.to_string())?;
        if format.format != FORMAT {
            return Err("it is no backup of fullbench".to_owned());
        }
        if format.format_version > FORMAT_VERSION {
            return Err(format!(
                "its format is {}, and this version of fullbench reads {FORMAT_VERSION}: update fullbench",
                format.format_version
            ));
        }
        serde_json::from_slice(content).map_err(|error| error.to_string())
    }

    /// The tables of a schema in the order of the backup; none where it has others.
    pub(super) fn tables(&self, schema: &Schema) -> Option<Vec<Table>> {
        let same = |header: &TableHeader| {
            let mut tables = schema.tables.iter();
            let table = tables.find(|table| table.name == header.name)?;
            (table.columns == header.columns).then(|| table.clone())
        };
        let is_complete = self.tables.len() == schema.tables.len();
        self.tables.iter().map(same).collect::<Option<_>>().filter(|_| is_complete)
    }
}

/// The end of a backup: what must have been read before it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Manifest {
    pub(super) tables: Vec<BackupTable>,
    pub(super) blobs: BackupObjects,
    pub(super) files: BackupObjects,
    pub(super) missing: Vec<String>,
    /// Texts of an export that are gone with the keys that they were sealed with.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) deleted_texts: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// A manifest in the making.
pub(super) struct Tally {
    tables: Vec<(String, Count)>,
    blobs: Count,
    files: Count,
    missing: Vec<String>,
    deleted_texts: u64,
}

/// How much there is of something.
#[derive(Default)]
struct Count {
    count: u64,
    bytes: u64,
    digest: Sha256,
}

impl Count {
    fn add(&mut self, content: &[u8]) {
        self.bytes += content.len() as u64;
        self.digest.update(content);
    }

    /// An object begins.
    fn begin(&mut self, name: &str) {
        self.count += 1;
        self.digest.update(name);
        self.digest.update(b"\0");
    }

    fn objects(&self) -> BackupObjects {
        let sha256 = sha256_text(self.digest.clone());
        BackupObjects { count: self.count, bytes: self.bytes, sha256 }
    }
}

impl Tally {
    pub(super) fn new(tables: &[TableHeader]) -> Self {
        let tables = tables.iter().map(|table| (table.name.clone(), Count::default()));
        Self {
            tables: tables.collect(),
            blobs: Count::default(),
            files: Count::default(),
            missing: Vec::new(),
            deleted_texts: 0,
        }
    }

    /// Rows of a table, or pieces of them.
    pub(super) fn table(&mut self, table: usize, content: &[u8]) {
        if let Some((_, count)) = self.tables.get_mut(table) {
            count.add(content);
            count.count += content.iter().filter(|byte| **byte == b'\n').count() as u64;
        }
    }

    pub(super) fn begin_blob(&mut self, name: &str) {
        self.blobs.begin(name);
    }

    pub(super) fn blob(&mut self, content: &[u8]) {
        self.blobs.add(content);
    }

    pub(super) fn begin_file(&mut self, name: &str) {
        self.files.begin(name);
    }

    pub(super) fn file(&mut self, content: &[u8]) {
        self.files.add(content);
    }

    /// An object that is not there.
    pub(super) fn missing(&mut self, name: String) {
        self.missing.push(name);
    }

    /// Texts that are not there any more.
    pub(super) fn deleted(&mut self, texts: u64) {
        self.deleted_texts += texts;
    }

    pub(super) fn manifest(&self) -> Manifest {
        let table = |(name, count): &(String, Count)| {
            let BackupObjects { count: rows, bytes, sha256 } = count.objects();
            BackupTable { name: name.clone(), rows, bytes, sha256 }
        };
        Manifest {
            tables: self.tables.iter().map(table).collect(),
            blobs: self.blobs.objects(),
            files: self.files.objects(),
            missing: self.missing.clone(),
            deleted_texts: self.deleted_texts,
        }
    }
}
