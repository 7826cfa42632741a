//! Uploaded files. This is the one place that knows where they are; everything else knows them by their URI.
//!
//! A file is received under a temporary name and gets its own when it is whole and on disk. What a killed server left is
//! removed at the next start.

use std::io;
use std::path::{Path, PathBuf};

use fullbench_store::{ScopedStore, Store, StoreError};
use fullbench_types::{ErrorCode, FileFormat, OrganizationId};
use sha2::{Digest, Sha256};
use tokio::fs;
use tokio::io::{AsyncWriteExt, BufWriter};
use uuid::Uuid;

/// What the URI of every file begins with; the rest is seen from the organization.
const SCHEME: &str = "file://datasets/";
/// The folder of files that are being received.
const INCOMING: &str = "incoming";
/// Bytes that are collected before they are written.
const BUFFER: usize = 1 << 20;

/// The files of an organization.
#[derive(Debug, Clone)]
pub(crate) struct Files {
    incoming: PathBuf,
    folder: PathBuf,
}

/// What was kept of a file.
#[derive(Debug, Clone)]
pub(crate) struct StoredFile {
    pub(crate) uri: String,
    pub(crate) bytes: u64,
    /// In hexadecimal digits.
    pub(crate) sha256: String,
}

impl Files {
    /// The files of the organization that the store shows.
    pub(crate) fn of(store: &ScopedStore) -> Self {
        Self::in_folder(store.home(), store.organization())
    }

    fn in_folder(home: &Path, organization: OrganizationId) -> Self {
        let files = home.join("files");
        Self { incoming: files.join(INCOMING), folder: files.join(organization.0.to_string()) }
    }

    /// Begins to receive a file.
    pub(crate) async fn receive(&self) -> io::Result<Incoming> {
        fs::create_dir_all(&self.incoming).await?;
        let path = self.incoming.join(Uuid::now_v7().to_string());
        let file = fs::File::create_new(&path).await?;
        let file = BufWriter::with_capacity(BUFFER, file);
        Ok(Incoming { path, file, hasher: Sha256::new(), bytes: 0, is_kept: false })
    }

    /// Keeps a whole file as that of a version; when this is done it is on disk under its name.
    pub(crate) async fn keep(
        &self,
        mut incoming: Incoming,
        dataset: Uuid,
        version: Uuid,
        format: FileFormat,
    ) -> io::Result<StoredFile> {
        incoming.file.flush().await?;
        incoming.file.get_ref().sync_all().await?;
        let folder = self.folder.join(dataset.to_string()).join(version.to_string());
        let name = format!("data.{}", format.ending());
        fs::create_dir_all(&folder).await?;
        fs::rename(&incoming.path, folder.join(&name)).await?;
        incoming.is_kept = true;
        // The names are on disk once the folders are.
        for folder in folder.ancestors().take(3) {
            fs::File::open(folder).await?.sync_all().await?;
        }
        let hash = std::mem::take(&mut incoming.hasher).finalize();
        Ok(StoredFile {
            uri: format!("{SCHEME}{dataset}/{version}/{name}"),
            bytes: incoming.bytes,
            sha256: hash.iter().map(|byte| format!("{byte:02x}")).collect(),
        })
    }

    /// Where a file can be read.
    pub(crate) fn path(&self, uri: &str) -> io::Result<PathBuf> {
        let unknown = || io::Error::new(io::ErrorKind::NotFound, format!("no file has {uri}"));
        let rest = uri.strip_prefix(SCHEME).ok_or_else(unknown)?;
        if rest.split('/').any(|part| part.is_empty() || part.starts_with('.')) {
            return Err(unknown());
        }
        Ok(self.folder.join(rest))
    }

    /// Opens a file.
    pub(crate) async fn open(&self, uri: &str) -> io::Result<fs::File> {
        fs::File::open(self.path(uri)?).await
    }

    /// Removes a file; one that is not there is removed already.
    pub(crate) async fn remove(&self, uri: &str) -> io::Result<()> {
        let path = self.path(uri)?;
        remove_folder(path.parent().unwrap_or(&path)).await
    }

    /// Removes all files of a data set.
    pub(crate) async fn remove_all(&self, dataset: Uuid) -> io::Result<()> {
        remove_folder(&self.folder.join(dataset.to_string())).await
    }
}

/// Removes what a killed server left: files that were received in part, and files that no version has.
pub(crate) async fn clean(store: &Store) -> Result<(), StoreError> {
    let failed = |source| StoreError::File { path: store.home().join("files"), source };
    remove_folder(&store.home().join("files").join(INCOMING)).await.map_err(failed)?;
    for organization in store.organizations().await? {
        let scoped = store.scoped(organization.id);
        let files = Files::of(&scoped);
        for (dataset, path) in ids_in(&files.folder).await.map_err(failed)? {
            if is_gone(scoped.dataset_record(dataset).await)? {
                files.remove_all(dataset).await.map_err(failed)?;
                continue;
            }
            for (version, path) in ids_in(&path).await.map_err(failed)? {
                if is_gone(scoped.version(version).await)? {
                    remove_folder(&path).await.map_err(failed)?;
                }
            }
        }
    }
    Ok(())
}

fn is_gone<T>(found: Result<T, StoreError>) -> Result<bool, StoreError> {
    match found {
        Ok(_) => Ok(false),
        Err(error) if error.code() == ErrorCode::NotFound => Ok(true),
        Err(error) => Err(error),
    }
}

async fn remove_folder(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder).await {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// What is in a folder and named by an id.
async fn ids_in(folder: &Path) -> io::Result<Vec<(Uuid, PathBuf)>> {
    let mut entries = match fs::read_dir(folder).await {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut found = Vec::new();
    while let Some(entry) = entries.next_entry().await? {
        if let Some(id) = entry.file_name().to_str().and_then(|name| name.parse().ok()) {
            found.push((id, entry.path()));
        }
    }
    Ok(found)
}

/// A file that is being received; it is gone again unless it is kept.
pub(crate) struct Incoming {
    path: PathBuf,
    file: BufWriter<fs::File>,
    hasher: Sha256,
    bytes: u64,
    is_kept: bool,
}

impl Incoming {
    /// Adds a piece.
    pub(crate) async fn write(&mut self, piece: &[u8]) -> io::Result<()> {
        self.hasher.update(piece);
        self.bytes += piece.len() as u64;
        self.file.write_all(piece).await
    }

    /// How much was received.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Drop for Incoming {
    fn drop(&mut self) {
        if !self.is_kept {
            // Where it stays, the next start removes it.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}
