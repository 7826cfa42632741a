//! Content-addressed blobs, whose name is the hash of their content, and whole files: in a folder, or on a server.

mod dataset_files;
mod files;
mod owner;
mod remote;
mod sealed_file;
mod sweep;
#[cfg(test)]
mod tests;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fullbench_types::ContentHash;

pub use files::{FileStream, StoredFile};

use crate::{ObjectsLocation, StoreError};
use files::Files;
pub(crate) use files::sha256_text;
use owner::Owner;
pub(crate) use owner::sealed_blob_key;
use remote::RemoteBlobs;
pub(crate) use sweep::UNUSED;

/// Blobs, compressed with LZ4, and files. What is on a server is kept in a folder too once it was read or written.
#[derive(Debug, Clone)]
pub struct ObjectStore {
    folder: PathBuf,
    remote: Option<RemoteBlobs>,
    files: Files,
    owner: Option<Arc<Owner>>,
}

impl ObjectStore {
    /// The objects of a location; what it leaves to the folder of the store is there.
    pub(crate) async fn open(home: &Path, location: &ObjectsLocation) -> Result<Self, StoreError> {
        let url = match location {
            ObjectsLocation::Folder => return Self::in_folder(home),
            ObjectsLocation::Url(url) => url,
        };
        if let Some(folder) = url.strip_prefix("file://") {
            if !Path::new(folder).is_absolute() {
                return Err(remote::wrong_url(url, "it names no absolute folder"));
            }
            return Self::in_folder(Path::new(folder));
        }
        let remote = remote::Remote::open(url).await?;
        // Each server has a folder of its own: what is here must be there.
        let folder = format!("objects-{}", &ContentHash::of(url.as_bytes()).to_string()[..16]);
        let blobs = Some(remote.blobs()?);
        let (folder, files) = (home.join(folder), Files::Server(remote));
        Ok(Self { folder, remote: blobs, files, owner: None })
    }

    /// The objects of a folder.
    pub fn in_folder(home: &Path) -> Result<Self, StoreError> {
        let home = std::path::absolute(home).map_err(StoreError::file(home))?;
        let files = Files::Folder(home.join("files"));
        Ok(Self { folder: home.join("objects"), remote: None, files, owner: None })
    }

    /// Keeps the content and returns its name. A reader sees the whole blob or none.
    pub fn put(&self, content: &[u8]) -> Result<ContentHash, StoreError> {
        let hash = ContentHash::of(content);
        if let Some(sealer) = self.sealing() {
            self.put_sealed(sealer, &hash, content)?;
            return Ok(hash);
        }
        let stored = || lz4_flex::compress_prepend_size(content);
        match &self.remote {
            // A copy here does not say that the blob is there: another server may have removed it.
            Some(remote) if !remote.is_fresh(&remote_name(&hash))? => {
                let stored = bytes::Bytes::from(stored());
                remote.put(&remote_name(&hash), stored.clone())?;
                self.keep(&hash, &stored)?;
            }
            Some(_) => {}
            None if sweep::touch(&self.path(&hash)) => {}
            None => self.keep(&hash, &stored())?,
        }
        self.remove_dead_sealed(&hash)?;
        Ok(hash)
    }

    /// The content of that name, checked against it.
    pub fn get(&self, hash: &ContentHash) -> Result<Vec<u8>, StoreError> {
        if self.prefers_sealed()
            && let Some(content) = self.get_sealed(hash)?
        {
            return Ok(content);
        }
        match self.get_shared(hash) {
            Err(StoreError::FileNotFound(missing)) if !self.prefers_sealed() => {
                let sealed = self.get_sealed(hash)?;
                sealed.ok_or(StoreError::FileNotFound(missing))
            }
            content => content,
        }
    }

    /// The content of a blob that all organizations may have.
    fn get_shared(&self, hash: &ContentHash) -> Result<Vec<u8>, StoreError> {
        let path = self.path(hash);
        let Some(remote) = &self.remote else {
            let stored = std::fs::read(&path).map_err(StoreError::file(&path))?;
            return content(&stored, hash, &path.display().to_string());
        };
        if let Some(content) = self.copy(hash) {
            return Ok(content);
        }
        let (stored, content) = fetch(remote, hash)?;
        self.keep(hash, &stored)?;
        Ok(content)
    }

    /// The content of that name, without keeping a copy of what is on a server.
    pub(crate) fn read(&self, hash: &ContentHash) -> Result<Vec<u8>, StoreError> {
        if let Some(content) = self.get_sealed(hash)? {
            return Ok(content);
        }
        match (&self.remote, self.copy(hash)) {
            (Some(_), Some(content)) => Ok(content),
            (Some(remote), None) => Ok(fetch(remote, hash)?.1),
            (None, _) => self.get_shared(hash),
        }
    }

    /// Keeps the content where it belongs, whatever copies of it there are: a bucket may have been lost and made anew.
    pub(crate) fn restore(&self, content: &[u8]) -> Result<(), StoreError> {
        let hash = ContentHash::of(content);
        let stored = || lz4_flex::compress_prepend_size(content);
        match &self.remote {
            Some(remote) => remote.put(&remote_name(&hash), stored().into()),
            None if self.copy(&hash).is_some() => Ok(()),
            None => self.keep(&hash, &stored()),
        }
    }

    /// Removes a blob and its copy; says whether there was one.
    pub(crate) fn remove(&self, hash: &ContentHash) -> Result<bool, StoreError> {
        let was_remote = match &self.remote {
            Some(remote) => {
                let is_there = remote.contains(&remote_name(hash));
                remote.delete(&remote_name(hash))?;
                is_there
            }
            None => false,
        };
        let path = self.path(hash);
        match std::fs::remove_file(&path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(was_remote),
            Err(error) => Err(StoreError::File { path, source: error }),
        }
    }

    /// What the folder has under that name, if it is whole.
    fn copy(&self, hash: &ContentHash) -> Option<Vec<u8>> {
        let path = self.path(hash);
        let stored = std::fs::read(&path).ok()?;
        if self.remote.is_some() {
            // Copies that nobody reads go.
            sweep::touch(&path);
        }
        content(&stored, hash, "").ok()
    }

    /// Whether the blob is there, and can be opened where the organization keeps it sealed.
    #[must_use]
    pub fn contains(&self, hash: &ContentHash) -> bool {
        if self.has_sealed(hash) {
            return self.can_open_sealed(hash);
        }
        match &self.remote {
            // A copy here says nothing of the blob.
            Some(remote) => remote.contains(&remote_name(hash)),
            None => self.path(hash).exists(),
        }
    }

    /// Whether all these blobs are there.
    pub(crate) fn contains_all(&self, hashes: impl Iterator<Item = ContentHash>) -> bool {
        let mut hashes = hashes;
        match &self.remote {
            Some(remote) if self.opening().is_err() => {
                remote.contains_all(hashes.map(|hash| remote_name(&hash)).collect())
            }
            _ => hashes.all(|hash| self.contains(&hash)),
        }
    }

    /// Writes a blob into the folder, whole or not at all.
    fn keep(&self, hash: &ContentHash, stored: &[u8]) -> Result<(), StoreError> {
        write_whole(&self.path(hash), stored)
    }

    fn path(&self, hash: &ContentHash) -> PathBuf {
        self.folder.join(name(hash))
    }
}

/// Writes a file, whole or not at all.
fn write_whole(path: &Path, stored: &[u8]) -> Result<(), StoreError> {
    let folder = path.parent().unwrap_or(path);
    std::fs::create_dir_all(folder).map_err(StoreError::file(folder))?;
    let temporary = path.with_extension(format!("{}.tmp", uuid::Uuid::now_v7().simple()));
    let mut file = std::fs::File::create(&temporary).map_err(StoreError::file(&temporary))?;
    file.write_all(stored).and_then(|()| file.sync_all()).map_err(StoreError::file(&temporary))?;
    std::fs::rename(&temporary, path).map_err(StoreError::file(path))
}

/// A blob of a server: as it is stored, and its content.
fn fetch(remote: &RemoteBlobs, hash: &ContentHash) -> Result<(bytes::Bytes, Vec<u8>), StoreError> {
    let stored = remote.get(&remote_name(hash))?;
    let content = content(&stored, hash, &remote.place(&remote_name(hash)))?;
    Ok((stored, content))
}

/// Where a blob is below the folder.
fn name(hash: &ContentHash) -> String {
    let name = hash.to_string();
    format!("{}/{}", &name[..2], &name[2..])
}

/// Where a blob is on the server.
fn remote_name(hash: &ContentHash) -> String {
    format!("objects/{}", name(hash))
}

/// The content of a stored blob, checked against its name.
fn content(stored: &[u8], hash: &ContentHash, place: &str) -> Result<Vec<u8>, StoreError> {
    let content = lz4_flex::decompress_size_prepended(stored)
        .map_err(|error| StoreError::Damaged(format!("{place}: {error}")))?;
    if ContentHash::of(&content) != *hash {
        return Err(StoreError::Damaged(format!("{place} does not have its content")));
    }
    Ok(content)
}
