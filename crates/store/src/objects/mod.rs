//! Content-addressed blobs in a folder: the name of a blob is the hash of its content.

use std::io::Write;
use std::path::PathBuf;

use fullbench_types::ContentHash;

use crate::StoreError;

/// A folder of blobs, compressed with LZ4.
#[derive(Debug, Clone)]
pub struct ObjectStore {
    folder: PathBuf,
}

impl ObjectStore {
    /// The blobs of a folder.
    #[must_use]
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Keeps the content and returns its name. A reader sees the whole blob or none.
    pub fn put(&self, content: &[u8]) -> Result<ContentHash, StoreError> {
        let hash = ContentHash::of(content);
        let path = self.path(&hash);
        if path.exists() {
            return Ok(hash);
        }
        let folder = path.parent().unwrap_or(&self.folder).to_owned();
        std::fs::create_dir_all(&folder).map_err(StoreError::file(&folder))?;
        let temporary =
            folder.join(format!("{}.{}.tmp", &hash.to_string()[..16], std::process::id()));
        let mut file = std::fs::File::create(&temporary).map_err(StoreError::file(&temporary))?;
        file.write_all(&lz4_flex::compress_prepend_size(content))
            .and_then(|()| file.sync_all())
            .map_err(StoreError::file(&temporary))?;
        std::fs::rename(&temporary, &path).map_err(StoreError::file(&path))?;
        Ok(hash)
    }

    /// The content of that name, checked against it.
    pub fn get(&self, hash: &ContentHash) -> Result<Vec<u8>, StoreError> {
        let path = self.path(hash);
        let stored = std::fs::read(&path).map_err(StoreError::file(&path))?;
        let content = lz4_flex::decompress_size_prepended(&stored)
            .map_err(|error| StoreError::Damaged(format!("{}: {error}", path.display())))?;
        if ContentHash::of(&content) != *hash {
            return Err(StoreError::Damaged(format!(
                "{} does not have its content",
                path.display()
            )));
        }
        Ok(content)
    }

    /// Whether the blob is there.
    #[must_use]
    pub fn contains(&self, hash: &ContentHash) -> bool {
        self.path(hash).exists()
    }

    fn path(&self, hash: &ContentHash) -> PathBuf {
        let name = hash.to_string();
        self.folder.join(&name[..2]).join(&name[2..])
    }
}
