//! Writes a backup: all rows as one snapshot shows them, then the objects they name.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;

use fullbench_types::{ContentHash, OrganizationId};
use futures::{StreamExt, TryStreamExt};
use sea_orm::{ConnectionTrait, DbErr, QueryResult, Statement, StreamTrait};
use uuid::Uuid;

use super::BackupContents;
use super::archive::ArchiveWriter;
use super::manifest::{HEADER, Header, MANIFEST, Manifest, TableHeader, Tally};
use super::new_file::NewFile;
use super::{reader, rows};
use crate::connection::ScopedTransaction;
use crate::dataset::blocks_in;
use crate::objects::sealed_blob_key;
use crate::schema::{Schema, Table, stored_tables};
use crate::sealed_text::TextOpener;
use crate::{ObjectStore, Store, StoreError, StoreLocation, migration};

/// Rows of a table are written when there are so many bytes of them.
const PART_BYTES: usize = 1024 * 1024;

/// Blobs that are read at the same time.
const BLOBS_IN_FLIGHT: usize = 8;

/// Writes a backup of what is at a location.
pub(super) async fn back_up(
    home: &Path,
    location: &StoreLocation,
    path: &Path,
    overwrite: bool,
) -> Result<BackupContents, StoreError> {
    let nothing = || StoreError::NothingStored(location.database_name(home));
    let database = Store::connect_existing(home, location).await?.ok_or_else(nothing)?;
    let snapshot = database.snapshot().await?;
    migration::refuse_newer(snapshot.plain(), || location.database_name(home)).await?;
    let migrations = migration::applied(snapshot.plain()).await?;
    if migrations.is_empty() {
        return Err(nothing());
    }
    let stored = stored_tables(&snapshot).await?;
    let schema = Schema::after(migrations.len()).await?.named_as_in(&stored);
    let objects = ObjectStore::open(home, &location.objects).await?;

    let (new, file) = NewFile::create(path, overwrite)?;
    let header = Header::new(migrations, &schema);
    let time = u64::try_from(header.created_at.as_second()).unwrap_or_default();
    let mut backup = BackupWriter::new(file, new.path(), time, &header.tables);
    backup.member(HEADER.to_owned(), to_json(&header)?).await?;
    let mut named = NamedObjects::default();
    let backend = snapshot.get_database_backend();
    for (place, table) in schema.tables.iter().enumerate() {
        let rows = Statement::from_string(backend, rows::select(table, backend, ""));
        backup.table(place, table, &snapshot, rows, &mut named).await?;
    }
    // Objects never change: what the rows name can be read without holding on to the snapshot.
    drop(snapshot);
    database.close().await?;
    let manifest = backup.finish(&objects, named).await?;
    new.keep()?;
    Ok(reader::contents(header, manifest))
}

pub(super) fn to_json(value: &impl serde::Serialize) -> Result<Vec<u8>, StoreError> {
    let json = serde_json::to_vec_pretty(value);
    json.map_err(|error| StoreError::Damaged(format!("the backup: {error}")))
}

/// The objects that rows name.
#[derive(Default)]
pub(super) struct NamedObjects {
    /// Blobs, and who names them.
    blobs: BTreeSet<(ContentHash, Option<Uuid>)>,
    files: BTreeSet<String>,
    problems: Vec<String>,
}

impl NamedObjects {
    /// Reads what a row names.
    fn read(&mut self, row: &QueryResult, table: &Table) -> Result<(), DbErr> {
        if let (Some(manifest), Some(hash)) = (table.place("manifest"), table.place("content_hash"))
        {
            let manifest: String = row.try_get_by_index(manifest)?;
            let owner = table.place("organization_id");
            let owner = owner.map(|place| row.try_get_by_index::<Uuid>(place)).transpose()?;
            match blocks_in(&manifest) {
                Some(blocks) => {
                    self.blobs.extend(blocks.into_iter().map(|hash| (hash, owner)));
                }
                None => {
                    let hash: String = row.try_get_by_index(hash)?;
                    self.problems.push(format!("the blocks of data set {hash}"));
                }
            }
        }
        if let (Some(organization), Some(uri)) =
            (table.place("organization_id"), table.place("file_uri"))
        {
            let organization: Uuid = row.try_get_by_index(organization)?;
            let uri: String = row.try_get_by_index(uri)?;
            match ObjectStore::dataset_file_key(OrganizationId(organization), &uri) {
                Ok(key) => drop(self.files.insert(key)),
                Err(_) => self.problems.push(uri),
            }
        }
        Ok(())
    }
}

/// A backup in the making.
pub(super) struct BackupWriter<'path> {
    archive: ArchiveWriter,
    tally: Tally,
    path: &'path Path,
    /// Opens texts; what is sealed is written as it is where there is none.
    opener: Option<TextOpener>,
}

impl<'path> BackupWriter<'path> {
    /// Begins to write into a file of that name; members are dated with the time, in seconds.
    pub(super) fn new(file: File, path: &'path Path, time: u64, tables: &[TableHeader]) -> Self {
        let (archive, tally) = (ArchiveWriter::new(file, time), Tally::new(tables));
        Self { archive, tally, path, opener: None }
    }

    /// The same with texts and objects opened.
    pub(super) fn opening(self, opener: TextOpener) -> Self {
        Self { opener: Some(opener), ..self }
    }

    /// Adds the objects that rows name, and says at the end what there is.
    pub(super) async fn finish(
        mut self,
        objects: &ObjectStore,
        named: NamedObjects,
    ) -> Result<Manifest, StoreError> {
        let NamedObjects { blobs: named, mut files, problems } = named;
        for problem in problems {
            self.tally.missing(problem);
        }
        let mut blobs = BTreeSet::new();
        for (hash, owner) in named {
            let key = owner.map(|owner| sealed_blob_key(OrganizationId(owner), &hash));
            match key.filter(|_| self.opener.is_none()) {
                // As it is: whoever restores it needs the master key to read it.
                Some(key) if objects.is_sealed_blob(&key).await? => files.insert(key),
                _ => blobs.insert(hash),
            };
        }
        self.blobs(objects, blobs).await?;
        for key in files {
            self.file(objects, key).await?;
        }
        let Self { mut archive, tally, path, .. } = self;
        let manifest = tally.manifest();
        let failed = |source| StoreError::File { path: path.to_owned(), source };
        archive.member(MANIFEST.to_owned(), to_json(&manifest)?).await.map_err(failed)?;
        archive.finish().await.map_err(failed)?;
        Ok(manifest)
    }

    pub(super) async fn member(
        &mut self,
        name: String,
        content: Vec<u8>,
    ) -> Result<(), StoreError> {
        let written = self.archive.member(name, content).await;
        written.map_err(StoreError::file(self.path))
    }

    /// Rows of a table, in parts.
    pub(super) async fn table(
        &mut self,
        place: usize,
        table: &Table,
        snapshot: &ScopedTransaction,
        statement: Statement,
        named: &mut NamedObjects,
    ) -> Result<(), StoreError> {
        let mut found = snapshot.plain().stream_raw(statement).await?;
        let (mut lines, mut part) = (Vec::new(), 0);
        loop {
            let row = found.try_next().await?;
            if let Some(row) = &row {
                let deleted = rows::encode(row, table, self.opener.as_ref(), &mut lines)?;
                self.tally.deleted(deleted);
                named.read(row, table)?;
            }
            let is_last = row.is_none();
            if lines.len() >= PART_BYTES || (is_last && !lines.is_empty()) {
                self.tally.table(place, &lines);
                let name = format!("tables/{}/{part:08}.jsonl", table.name);
                self.member(name, std::mem::take(&mut lines)).await?;
                part += 1;
            }
            if is_last {
                return Ok(());
            }
        }
    }

    /// All blobs that are there.
    async fn blobs(
        &mut self,
        objects: &ObjectStore,
        hashes: BTreeSet<ContentHash>,
    ) -> Result<(), StoreError> {
        let read = |hash: ContentHash| {
            let objects = objects.clone();
            async move {
                let content = tokio::task::spawn_blocking(move || objects.read(&hash)).await;
                let failed = |error| StoreError::Damaged(format!("blob {hash}: {error}"));
                (hash, content.map_err(failed))
            }
        };
        let mut blobs = futures::stream::iter(hashes).map(read).buffered(BLOBS_IN_FLIGHT);
        while let Some((hash, content)) = blobs.next().await {
            let name = format!("blobs/{hash}");
            match content? {
                Ok(content) => {
                    self.tally.begin_blob(&name);
                    self.tally.blob(&content);
                    self.member(name, content).await?;
                }
                Err(error) if is_gone(&error) => self.tally.missing(name),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// A file, if it is there.
    async fn file(&mut self, objects: &ObjectStore, key: String) -> Result<(), StoreError> {
        let name = format!("files/{key}");
        let opened = match self.opener {
            Some(_) => objects.open_file(&key).await,
            None => objects.open_kept_file(&key).await,
        };
        let (size, mut content) = match opened {
            Ok(file) => file,
            Err(error) if is_gone(&error) => {
                self.tally.missing(name);
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        self.tally.begin_file(&name);
        self.archive.begin(name, size).await.map_err(StoreError::file(self.path))?;
        while let Some(piece) = content.try_next().await? {
            self.tally.file(&piece);
            self.archive.data(piece).await.map_err(StoreError::file(self.path))?;
        }
        Ok(())
    }
}

/// It is not there any more, as opposed to out of reach.
fn is_gone(error: &StoreError) -> bool {
    match error {
        StoreError::File { source, .. } => source.kind() == std::io::ErrorKind::NotFound,
        StoreError::FileNotFound(_)
        | StoreError::FileName(_)
        | StoreError::Damaged(_)
        | StoreError::TextsDeleted => true,
        _ => false,
    }
}
