//! Reads a backup, item by item, and compares it with its manifest at the end.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use fullbench_types::ContentHash;

use super::BackupContents;
use super::archive::{ArchiveReader, Piece};
use super::manifest::{HEADER, Header, MANIFEST, Manifest, Tally};
use crate::StoreError;

/// A backup that is read several times; the same one, whatever happens to its name meanwhile.
pub(super) struct BackupFile {
    path: PathBuf,
    file: Arc<File>,
}

impl BackupFile {
    pub(super) fn open(path: &Path) -> Result<Self, StoreError> {
        let file = File::open(path).map_err(|error| StoreError::Backup {
            file: path.to_owned(),
            problem: error.to_string(),
        })?;
        Ok(Self { path: path.to_owned(), file: Arc::new(file) })
    }

    /// Begins to read it.
    pub(super) async fn read(&self) -> Result<BackupReader, StoreError> {
        let mut archive = ArchiveReader::new(Arc::clone(&self.file));
        let unreadable = |error| damaged(&self.path, &error);
        let first = archive.next().await.map_err(unreadable)?;
        let Some(Piece::Begin { name, size }) = first else {
            return Err(self.problem("it is empty"));
        };
        if name != HEADER {
            return Err(self.problem("it is no backup of fullbench"));
        }
        let mut content = BytesMut::new();
        while (content.len() as u64) < size {
            match archive.next().await.map_err(unreadable)? {
                Some(Piece::Data(piece)) => content.extend_from_slice(&piece),
                _ => return Err(self.problem("it breaks off")),
            }
        }
        let header = Header::read(&content).map_err(|problem| self.problem(problem))?;
        Ok(BackupReader {
            path: self.path.clone(),
            archive,
            tally: Tally::new(&header.tables),
            header,
            manifest: None,
            member: Member::File,
            left: 0,
            buffer: BytesMut::new(),
            searched: 0,
        })
    }

    /// Something is wrong with it.
    pub(super) fn problem(&self, problem: impl Into<String>) -> StoreError {
        self::problem(&self.path, problem)
    }
}

/// Something in a backup.
pub(super) enum Item {
    /// A row of the table at this place, still as a line.
    Row { table: usize, line: Bytes },
    /// A blob, which has the content it is named after.
    Blob(Bytes),
    /// A file begins; so many bytes of it follow.
    File { key: String, size: u64 },
    /// Some of its bytes.
    FileData(Bytes),
}

/// The member that is being read.
enum Member {
    Table(usize),
    Blob(ContentHash),
    File,
    Manifest,
}

/// A backup that is being read.
pub(super) struct BackupReader {
    path: PathBuf,
    archive: ArchiveReader,
    header: Header,
    tally: Tally,
    manifest: Option<Manifest>,
    member: Member,
    /// What of the member is still to come.
    left: u64,
    buffer: BytesMut,
    /// So much of the buffer has no end of a line.
    searched: usize,
}

impl BackupReader {
    /// What it says of itself at its beginning.
    pub(super) fn header(&self) -> &Header {
        &self.header
    }

    /// The next item; none after the last one, when everything agrees with the manifest.
    pub(super) async fn next(&mut self) -> Result<Option<Item>, StoreError> {
        loop {
            if let Member::Table(table) = self.member
                && let Some(line) = self.line()
            {
                return Ok(Some(Item::Row { table, line }));
            }
            let piece = self.archive.next().await.map_err(|error| damaged(&self.path, &error))?;
            let item = match piece {
                Some(Piece::Begin { name, size }) => self.begin(&name, size)?,
                Some(Piece::Data(piece)) => self.data(piece)?,
                None => {
                    self.compare()?;
                    return Ok(None);
                }
            };
            if item.is_some() {
                return Ok(item);
            }
        }
    }

    /// What is in it, after the last item.
    pub(super) fn contents(self) -> Result<BackupContents, StoreError> {
        match self.manifest {
            Some(manifest) => Ok(contents(self.header, manifest)),
            None => Err(problem(&self.path, "it was not read to its end")),
        }
    }

    /// The next whole line of the buffer.
    fn line(&mut self) -> Option<Bytes> {
        let end = self.buffer[self.searched..].iter().position(|byte| *byte == b'\n');
        let Some(end) = end else {
            self.searched = self.buffer.len();
            return None;
        };
        let line = self.buffer.split_to(self.searched + end + 1);
        self.searched = 0;
        Some(line.freeze())
    }

    fn begin(&mut self, name: &str, size: u64) -> Result<Option<Item>, StoreError> {
        let unknown = || problem(&self.path, format!("it has an unknown member `{name}`"));
        if !self.buffer.is_empty() {
            return Err(problem(&self.path, "a row breaks off"));
        }
        if self.manifest.is_some() {
            return Err(unknown());
        }
        self.left = size;
        if name == MANIFEST {
            self.member = Member::Manifest;
        } else if let Some(part) = name.strip_prefix("tables/") {
            let table = part.split_once('/').map_or(part, |(table, _)| table);
            let mut tables = self.header.tables.iter();
            let place = tables.position(|known| known.name == table).ok_or_else(unknown)?;
            self.member = Member::Table(place);
        } else if let Some(hash) = name.strip_prefix("blobs/") {
            self.member = Member::Blob(hash.parse().map_err(|_| unknown())?);
            self.tally.begin_blob(name);
            if size == 0 {
                return self.whole_blob();
            }
        } else if let Some(key) = name.strip_prefix("files/") {
            self.member = Member::File;
            self.tally.begin_file(name);
            return Ok(Some(Item::File { key: key.to_owned(), size }));
        } else {
            return Err(unknown());
        }
        Ok(None)
    }

    fn data(&mut self, piece: Bytes) -> Result<Option<Item>, StoreError> {
        self.left = self.left.saturating_sub(piece.len() as u64);
        match self.member {
            Member::Table(table) => self.tally.table(table, &piece),
            Member::Blob(_) => self.tally.blob(&piece),
            Member::File => {
                self.tally.file(&piece);
                return Ok(Some(Item::FileData(piece)));
            }
            Member::Manifest => {}
        }
        self.buffer.extend_from_slice(&piece);
        match self.member {
            Member::Blob(_) if self.left == 0 => self.whole_blob(),
            Member::Manifest if self.left == 0 => {
                let manifest = serde_json::from_slice(&self.buffer.split());
                let wrong = |error| problem(&self.path, format!("its manifest: {error}"));
                self.manifest = Some(manifest.map_err(wrong)?);
                Ok(None)
            }
            _ => Ok(None),
        }
    }

    /// The blob in the buffer, if it is what its name says.
    fn whole_blob(&mut self) -> Result<Option<Item>, StoreError> {
        let content = self.buffer.split().freeze();
        match self.member {
            Member::Blob(hash) if ContentHash::of(&content) == hash => {
                Ok(Some(Item::Blob(content)))
            }
            _ => Err(problem(&self.path, "a blob does not have its content")),
        }
    }

    /// Refuses a backup whose manifest says something else than was read.
    fn compare(&self) -> Result<(), StoreError> {
        let Some(manifest) = &self.manifest else {
            return Err(problem(&self.path, "it breaks off"));
        };
        let read = Manifest { missing: manifest.missing.clone(), ..self.tally.manifest() };
        match read == *manifest {
            true => Ok(()),
            false => Err(problem(&self.path, "it does not hold what its manifest says")),
        }
    }
}

/// What a header and a manifest say together.
pub(super) fn contents(header: Header, manifest: Manifest) -> BackupContents {
    BackupContents {
        created_at: header.created_at,
        fullbench: header.fullbench,
        migrations: header.migrations,
        tables: manifest.tables,
        blobs: manifest.blobs,
        files: manifest.files,
        missing: manifest.missing,
    }
}

fn problem(path: &Path, problem: impl Into<String>) -> StoreError {
    StoreError::Backup { file: path.to_owned(), problem: problem.into() }
}

/// The archive itself cannot be read.
fn damaged(path: &Path, error: &std::io::Error) -> StoreError {
    problem(path, format!("it is damaged, or no backup of fullbench: {error}"))
}
