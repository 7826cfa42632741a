//! Whole files, as streams: of any size, never whole in memory.

use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use fullbench_types::OrganizationId;
use futures::stream::{self, BoxStream, Stream, StreamExt, TryStreamExt};
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{ObjectStore as Objects, ObjectStoreExt, WriteMultipart};
use sha2::{Digest, Sha256};

use super::remote::Remote;
use super::sealed_file::{FILE_HEAD, FileKind, FileOpener, FileWriter};
use crate::{ObjectStore, StoreError};

/// The parts in which a file is written, and how many of them may be on their way.
const PART_BYTES: usize = 8 * 1024 * 1024;
const PARTS_IN_FLIGHT: usize = 4;

/// The content of a file.
pub type FileStream = BoxStream<'static, Result<Bytes, StoreError>>;

/// What was kept of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredFile {
    /// Its size in bytes.
    pub size: u64,
    /// SHA-256 of its content, in hexadecimal.
    pub sha256: String,
}

/// Where files are.
#[derive(Debug, Clone)]
pub(super) enum Files {
    Folder(PathBuf),
    Server(Remote),
}

impl Files {
    /// The objects and the path of a file in them. The folder is made when it is first needed.
    pub(super) fn place(&self, key: &str) -> Result<(Arc<dyn Objects>, Path), StoreError> {
        let wrong = || StoreError::FileName(key.to_owned());
        let path = Path::parse(key).map_err(|_| wrong())?;
        // `#` is what unfinished files of a folder are called by.
        if key.is_empty() || key != path.as_ref() || key.contains('#') {
            return Err(wrong());
        }
        let folder = match self {
            Self::Folder(folder) => folder,
            Self::Server(remote) => {
                let path = Path::from("files").parts().chain(path.parts()).collect();
                return Ok((Arc::clone(remote.objects()), path));
            }
        };
        std::fs::create_dir_all(folder).map_err(StoreError::file(folder))?;
        let files = LocalFileSystem::new_with_prefix(folder).map_err(self.failed(key))?;
        Ok((Arc::new(files.with_fsync(true)), path))
    }

    fn uri(&self, key: &str) -> String {
        match self {
            Self::Folder(folder) => format!("file://{}", folder.join(key).display()),
            Self::Server(remote) => remote.place(&format!("files/{key}")),
        }
    }

    pub(super) fn failed(
        &self,
        key: &str,
    ) -> impl Fn(object_store::Error) -> StoreError + Send + 'static {
        let (place, key) = (self.uri(key), key.to_owned());
        move |error| match error {
            object_store::Error::NotFound { .. } => StoreError::FileNotFound(key.clone()),
            other => StoreError::Objects { place: place.clone(), reason: other.to_string() },
        }
    }
}

impl ObjectStore {
    /// Keeps a file under a key of segments with `/` between them, in place of one that was there. It is seen when it is
    /// whole, and never where its content breaks off.
    pub async fn put_file(
        &self,
        key: &str,
        content: impl Stream<Item = std::io::Result<Bytes>> + Send,
    ) -> Result<StoredFile, StoreError> {
        let writer = FileWriter::new(self.sealing(), key)?;
        self.write_file(key, content, Some(writer)).await
    }

    /// Keeps a file as it was kept elsewhere, sealed or not.
    pub(crate) async fn put_kept_file(
        &self,
        key: &str,
        kept: impl Stream<Item = std::io::Result<Bytes>> + Send,
    ) -> Result<StoredFile, StoreError> {
        self.write_file(key, kept, None).await
    }

    async fn write_file(
        &self,
        key: &str,
        content: impl Stream<Item = std::io::Result<Bytes>> + Send,
        writer: Option<FileWriter>,
    ) -> Result<StoredFile, StoreError> {
        let (objects, path) = self.files.place(key)?;
        let failed = self.files.failed(key);
        let upload = objects.put_multipart(&path).await.map_err(&failed)?;
        let mut upload = WriteMultipart::new_with_chunk_size(upload, PART_BYTES);
        match write(&mut upload, content, writer).await {
            Ok(stored) => {
                upload.finish().await.map_err(&failed)?;
                Ok(stored)
            }
            Err(broken) => {
                if let Err(error) = upload.abort().await {
                    tracing::warn!(key, %error, "the parts of an unfinished file could not be removed");
                }
                Err(match broken {
                    Broken::Content(error) => {
                        StoreError::FileBrokeOff { file: key.to_owned(), reason: error.to_string() }
                    }
                    Broken::Objects(error) => failed(error),
                    Broken::Seal(error) => error,
                })
            }
        }
    }

    /// The content of a file.
    pub async fn read_file(&self, key: &str) -> Result<FileStream, StoreError> {
        Ok(self.open_file(key).await?.1)
    }

    /// The size and the content of a file. One whose key was deleted is refused before anything of it is given.
    pub(crate) async fn open_file(&self, key: &str) -> Result<(u64, FileStream), StoreError> {
        let (size, mut kept) = self.open_kept_file(key).await?;
        let mut beginning = beginning(&mut kept).await?;
        let kind = FileKind::of(&beginning)?;
        let content_size = kind.content_size(size);
        let head = match kind {
            FileKind::Plain { skipped } => {
                let begun = beginning.split_off(skipped).freeze();
                let content = stream::iter([Ok(begun)]).chain(kept);
                return Ok((content_size, content.boxed()));
            }
            FileKind::Sealed(head) => head,
        };
        let opener = match FileOpener::new(self.opening()?, &head, key) {
            Err(StoreError::KeysDeleted) => return Err(StoreError::TextsDeleted),
            opener => opener?,
        };
        let rest = stream::iter([Ok(beginning.split_off(FILE_HEAD).freeze())]).chain(kept);
        let content = stream::try_unfold(Some((opener, rest.boxed())), async |state| {
            let Some((mut opener, mut rest)) = state else { return Ok(None) };
            match rest.try_next().await? {
                Some(piece) => Ok(Some((opener.push(&piece)?, Some((opener, rest))))),
                None => Ok(Some((opener.finish()?, None))),
            }
        });
        Ok((content_size, content.boxed()))
    }

    /// Where the file is, if it can be read there as it is.
    pub async fn plain_path(&self, key: &str) -> Result<Option<PathBuf>, StoreError> {
        let Files::Folder(folder) = &self.files else { return Ok(None) };
        let (_, mut kept) = self.open_kept_file(key).await?;
        let beginning = beginning(&mut kept).await?;
        let is_plain = matches!(FileKind::of(&beginning), Ok(FileKind::Plain { skipped: 0 }));
        Ok(is_plain.then(|| folder.join(key)))
    }

    /// Whether a file is sealed.
    pub(crate) async fn is_sealed_file(&self, key: &str) -> Result<bool, StoreError> {
        let (_, mut kept) = self.open_kept_file(key).await?;
        let beginning = beginning(&mut kept).await?;
        Ok(matches!(FileKind::of(&beginning)?, FileKind::Sealed(_)))
    }

    /// The size and the bytes of a file as it is kept, sealed or not.
    pub(crate) async fn open_kept_file(&self, key: &str) -> Result<(u64, FileStream), StoreError> {
        let (objects, path) = self.files.place(key)?;
        let failed = self.files.failed(key);
        let found = objects.get(&path).await.map_err(&failed)?;
        Ok((found.meta.size, found.into_stream().map_err(failed).boxed()))
    }

    /// Removes a file; one that is not there is removed already.
    pub async fn delete_file(&self, key: &str) -> Result<(), StoreError> {
        let (objects, path) = self.files.place(key)?;
        match objects.delete(&path).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(self.files.failed(key)(error)),
        }
    }

    /// Removes all files of an organization; says how many.
    pub(crate) async fn delete_files_of(
        &self,
        organization: OrganizationId,
    ) -> Result<u64, StoreError> {
        let key = organization.0.to_string();
        let (objects, folder) = self.files.place(&key)?;
        let failed = self.files.failed(&key);
        let found: Vec<_> = objects.list(Some(&folder)).try_collect().await.map_err(&failed)?;
        for file in &found {
            objects.delete(&file.location).await.map_err(&failed)?;
        }
        if let Files::Folder(folder) = &self.files {
            // What is left are folders, and files that were never finished.
            let folder = folder.join(&key);
            match std::fs::remove_dir_all(&folder) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(StoreError::File { path: folder, source: error });
                }
                _ => {}
            }
        }
        Ok(found.len() as u64)
    }

    /// Where a file is, or would be: `file:///folder/key` or `s3://bucket/prefix/files/key`.
    #[must_use]
    pub fn file_uri(&self, key: &str) -> String {
        self.files.uri(key)
    }
}

/// The beginning of what is kept of a file, long enough to tell what it is.
async fn beginning(kept: &mut FileStream) -> Result<BytesMut, StoreError> {
    let mut beginning = BytesMut::new();
    while beginning.len() < FILE_HEAD {
        let Some(piece) = kept.try_next().await? else { break };
        beginning.extend_from_slice(&piece);
    }
    Ok(beginning)
}

/// Why a file is not whole.
enum Broken {
    Content(std::io::Error),
    Objects(object_store::Error),
    Seal(StoreError),
}

/// Writes all parts but the last.
async fn write(
    upload: &mut WriteMultipart,
    content: impl Stream<Item = std::io::Result<Bytes>> + Send,
    mut writer: Option<FileWriter>,
) -> Result<StoredFile, Broken> {
    let mut content = pin!(content);
    let (mut size, mut digest) = (0, Sha256::new());
    while let Some(chunk) = content.next().await {
        let chunk = chunk.map_err(Broken::Content)?;
        size += chunk.len() as u64;
        digest.update(&chunk);
        let written = match &mut writer {
            Some(writer) => writer.push(chunk).map_err(Broken::Seal)?,
            None => vec![chunk],
        };
        for piece in written {
            upload.wait_for_capacity(PARTS_IN_FLIGHT).await.map_err(Broken::Objects)?;
            upload.put(piece);
        }
    }
    if let Some(writer) = writer {
        for piece in writer.finish().map_err(Broken::Seal)? {
            upload.wait_for_capacity(PARTS_IN_FLIGHT).await.map_err(Broken::Objects)?;
            upload.put(piece);
        }
    }
    Ok(StoredFile { size, sha256: sha256_text(digest) })
}

/// A finished digest in hexadecimal digits.
pub(crate) fn sha256_text(digest: Sha256) -> String {
    digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
