//! A file that is there when it is whole, and not before.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::StoreError;

/// A file under another name; removed unless it is kept.
pub(super) struct NewFile {
    path: PathBuf,
    temporary: PathBuf,
    overwrite: bool,
}

impl NewFile {
    /// Begins a file that only its owner can read.
    pub(super) fn create(path: &Path, overwrite: bool) -> Result<(Self, File), StoreError> {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        let Some(name) = name else {
            let source = std::io::Error::other("this is no name for a file");
            return Err(StoreError::File { path: path.to_owned(), source });
        };
        let temporary = path.with_file_name(format!(".{name}.{}.part", std::process::id()));
        let new = Self { path: path.to_owned(), temporary, overwrite };
        new.refuse_existing()?;
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(0o600);
        let file = options.open(&new.temporary).map_err(|source| StoreError::Unwritten {
            path: path.to_owned(),
            reason: source.to_string(),
        })?;
        Ok((new, file))
    }

    /// The name it is going to have.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Gives the file its name, once its content is on disk.
    pub(super) fn keep(self) -> Result<(), StoreError> {
        self.refuse_existing()?;
        std::fs::rename(&self.temporary, &self.path).map_err(StoreError::file(&self.path))?;
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        // The name is on disk then too; not every system lets a folder be opened.
        if let Ok(folder) = File::open(folder) {
            let _ = folder.sync_all();
        }
        Ok(())
    }

    fn refuse_existing(&self) -> Result<(), StoreError> {
        match self.overwrite || self.path.symlink_metadata().is_err() {
            true => Ok(()),
            false => Err(StoreError::FileExists(self.path.clone())),
        }
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        // It is not there any more where it was kept.
        let _ = std::fs::remove_file(&self.temporary);
    }
}
