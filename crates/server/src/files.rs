//! Uploaded files. Everything else knows them by their URI.
//!
//! A file is received into a temporary one on this machine, and kept with the store's objects, in a folder or a bucket, when it
//! is whole. What a killed server left is removed at the next start.

use std::io;
use std::path::{Path, PathBuf};

use bytes::BytesMut;
use fullbench_store::{FileStream, ObjectStore, ScopedStore, Store, StoreError, StoredFile};
use fullbench_types::{ErrorCode, FileFormat, OrganizationId};
use futures::{StreamExt, stream};
use tokio::fs;
use tokio::io::{AsyncReadExt, AsyncWriteExt, BufWriter};
use uuid::Uuid;

/// The folder of files that are being received.
const INCOMING: &str = "incoming";
/// Bytes that are read and written at a time.
const BUFFER: usize = 1 << 20;

/// The files of an organization.
#[derive(Debug, Clone)]
pub(crate) struct Files {
    organization: OrganizationId,
    objects: ObjectStore,
    incoming: PathBuf,
}

impl Files {
    /// The files of the organization that the store shows.
    pub(crate) async fn of(store: &ScopedStore) -> Result<Self, StoreError> {
        let (organization, objects) = (store.organization(), store.objects().await?);
        Ok(Self { organization, objects, incoming: store.home().join(INCOMING) })
    }

    /// A name for a file that goes when it is no longer needed.
    pub(crate) async fn temporary(&self) -> io::Result<Temporary> {
        fs::create_dir_all(&self.incoming).await?;
        Ok(Temporary(self.incoming.join(Uuid::now_v7().to_string())))
    }

    /// Begins to receive a file.
    pub(crate) async fn receive(&self) -> io::Result<Incoming> {
        let path = self.temporary().await?;
        let file = BufWriter::with_capacity(BUFFER, fs::File::create_new(&path.0).await?);
        Ok(Incoming { path, file, bytes: 0 })
    }

    /// Keeps a whole file as that of a version: its URI, and what it is.
    pub(crate) async fn keep(
        &self,
        mut incoming: Incoming,
        dataset: Uuid,
        version: Uuid,
        format: FileFormat,
    ) -> Result<(String, StoredFile), StoreError> {
        let name = format!("{dataset}/{version}/data.{}", format.ending());
        let failed = |source| StoreError::File { path: name.clone().into(), source };
        incoming.file.flush().await.map_err(failed)?;
        let file = fs::File::open(&incoming.path.0).await.map_err(failed)?;
        let pieces = stream::try_unfold(file, async |mut file| {
            let mut piece = BytesMut::with_capacity(BUFFER);
            let read = file.read_buf(&mut piece).await?;
            Ok::<_, io::Error>((read > 0).then(|| (piece.freeze(), file)))
        });
        let key = self.key(&name)?;
        let stored = self.objects.put_file(&key, pieces).await?;
        Ok((self.objects.dataset_file_uri(&key), stored))
    }

    /// The content of a file.
    pub(crate) async fn open(&self, uri: &str) -> Result<FileStream, StoreError> {
        self.objects.read_file(&self.key(uri)?).await
    }

    /// A file on this machine: it is fetched where it is not here, and opened where it is sealed.
    pub(crate) async fn local(&self, uri: &str) -> Result<LocalFile, StoreError> {
        let key = self.key(uri)?;
        if let Some(path) = self.objects.plain_path(&key).await? {
            return Ok(LocalFile::Kept(path));
        }
        let failed = |source| StoreError::File { path: uri.into(), source };
        let mut fetched = self.receive().await.map_err(failed)?;
        let mut pieces = self.objects.read_file(&key).await?;
        while let Some(piece) = pieces.next().await {
            fetched.write(&piece?).await.map_err(failed)?;
        }
        fetched.file.flush().await.map_err(failed)?;
        Ok(LocalFile::Fetched(fetched.path))
    }

    /// Removes a file; one that is not there is removed already.
    pub(crate) async fn remove(&self, uri: &str) -> Result<(), StoreError> {
        self.objects.delete_file(&self.key(uri)?).await
    }

    fn key(&self, uri: &str) -> Result<String, StoreError> {
        ObjectStore::dataset_file_key(self.organization, uri)
    }
}

/// Removes what a killed server left: files that were received in part, and, in a folder, files that no version has.
pub(crate) async fn clean(store: &Store) -> Result<(), StoreError> {
    let failed = |source| StoreError::File { path: store.home().join(INCOMING), source };
    remove_folder(&store.home().join(INCOMING)).await.map_err(failed)?;
    for organization in store.organizations().await? {
        let scoped = store.scoped(organization.id);
        let uri = scoped.objects().await?.file_uri(&organization.id.0.to_string());
        let Some(folder) = uri.strip_prefix("file://") else { return Ok(()) };
        for (_, path) in ids_in(Path::new(folder)).await.map_err(failed)? {
            for (version, path) in ids_in(&path).await.map_err(failed)? {
                match scoped.version(version).await {
                    Ok(_) => {}
                    Err(error) if error.code() == ErrorCode::NotFound => {
                        remove_folder(&path).await.map_err(failed)?;
                    }
                    Err(error) => return Err(error),
                }
            }
        }
    }
    Ok(())
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

/// A file that is being received; it is gone when it was kept, and when it is not.
pub(crate) struct Incoming {
    path: Temporary,
    file: BufWriter<fs::File>,
    bytes: u64,
}

impl Incoming {
    /// Adds a piece.
    pub(crate) async fn write(&mut self, piece: &[u8]) -> io::Result<()> {
        self.bytes += piece.len() as u64;
        self.file.write_all(piece).await
    }

    /// How much was received.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// A file on this machine.
pub(crate) enum LocalFile {
    /// Where it is kept.
    Kept(PathBuf),
    /// A copy.
    Fetched(Temporary),
}

impl LocalFile {
    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::Kept(path) | Self::Fetched(Temporary(path)) => path,
        }
    }
}

/// A file that goes when it is no longer needed.
pub(crate) struct Temporary(PathBuf);

impl Temporary {
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // Where it stays, the next start removes it.
        let _ = std::fs::remove_file(&self.0);
    }
}
