//! Finds objects that nobody may need any more, by their age, where one installation alone keeps objects.
//!
//! Whoever opens a store says that it keeps objects there. Where two do, or an object is older than that, nobody can tell whose it
//! is, and it stays.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use fullbench_types::{ContentHash, OrganizationId};
use futures::TryStreamExt;
use object_store::path::Path as ObjectPath;
use object_store::{ObjectStore as Objects, ObjectStoreExt};

use super::files::Files;
use super::{ObjectStore, write_whole};
use crate::StoreError;

/// Where installations say that they keep objects.
const OWNERS: &str = "object-owners";
/// How old a file must be to be looked at as one that nobody uses.
pub(crate) const UNUSED: Duration = Duration::from_secs(86_400);
/// For how long copies stay that nobody reads.
pub(crate) const COPIES_STAY: Duration = Duration::from_secs(14 * 86_400);

/// Says that a file is used now; whether there is one.
pub(super) fn touch(path: &Path) -> bool {
    match std::fs::File::open(path) {
        Ok(file) => {
            // Who may not change the file is not who removes it.
            let _ = file.set_modified(SystemTime::now());
            true
        }
        Err(_) => false,
    }
}

impl ObjectStore {
    /// Says that an installation keeps objects here.
    pub(crate) async fn register(&self, installation: &str) -> Result<(), StoreError> {
        match &self.files {
            Files::Folder(_) => {
                let path = self.owners_folder().join(installation);
                match path.exists() {
                    true => Ok(()),
                    false => write_whole(&path, b""),
                }
            }
            Files::Server(remote) => {
                let path = ObjectPath::from(format!("{OWNERS}/{installation}"));
                let failed = self.files.failed(OWNERS);
                match remote.objects().head(&path).await {
                    Ok(_) => Ok(()),
                    Err(object_store::Error::NotFound { .. }) => {
                        let put = remote.objects().put(&path, Bytes::from_static(b"-").into());
                        put.await.map(drop).map_err(failed)
                    }
                    Err(error) => Err(failed(error)),
                }
            }
        }
    }

    /// Since when an installation keeps objects here, if it is the only one.
    pub(crate) async fn owned_since(
        &self,
        installation: &str,
    ) -> Result<Option<SystemTime>, StoreError> {
        let owners: Vec<(String, SystemTime)> = match &self.files {
            Files::Folder(_) => files_below(&self.owners_folder())?
                .into_iter()
                .map(|(path, modified)| (file_name(&path), modified))
                .filter(|(name, _)| !name.ends_with(".tmp"))
                .collect(),
            Files::Server(remote) => listed(remote.objects().as_ref(), OWNERS)
                .await
                .map_err(self.files.failed(OWNERS))?
                .into_iter()
                .map(|(path, modified)| (file_name(Path::new(&path)), modified))
                .collect(),
        };
        match owners.as_slice() {
            [(name, since)] if name == installation => Ok(Some(*since)),
            _ => Ok(None),
        }
    }

    /// Blobs that all organizations may have and that were last put in this time.
    pub(crate) async fn blobs_of(
        &self,
        time: &Range<SystemTime>,
    ) -> Result<BTreeSet<ContentHash>, StoreError> {
        let found: Vec<(String, SystemTime)> = match &self.files {
            Files::Folder(_) => files_below(&self.folder)?
                .into_iter()
                .map(|(path, modified)| (path.to_string_lossy().into_owned(), modified))
                .collect(),
            Files::Server(remote) => listed(remote.objects().as_ref(), "objects")
                .await
                .map_err(self.files.failed("objects"))?,
        };
        let found = found.into_iter().filter(|(_, modified)| time.contains(modified));
        Ok(found.filter_map(|(path, _)| blob_of(&path)).collect())
    }

    /// Blobs that an organization keeps sealed and that were last put in this time.
    pub(crate) async fn sealed_blobs_of(
        &self,
        organization: OrganizationId,
        time: &Range<SystemTime>,
    ) -> Result<BTreeSet<ContentHash>, StoreError> {
        let key = format!("{}/blobs", organization.0);
        let (objects, folder) = self.files.place(&key)?;
        let found = listed(objects.as_ref(), folder.as_ref()).await;
        let found = found.map_err(self.files.failed(&key))?;
        let found = found.into_iter().filter(|(_, modified)| time.contains(modified));
        Ok(found.filter_map(|(path, _)| blob_of(&path)).collect())
    }

    /// Removes what was never finished by who was killed, and copies of what is on a server that nobody has read for long.
    pub(crate) fn remove_unfinished(&self, now: SystemTime) -> Result<(), StoreError> {
        let mut folders = vec![self.folder.clone(), self.owners_folder()];
        if let Files::Folder(files) = &self.files {
            folders.push(files.clone());
        }
        let mut found = Vec::new();
        for folder in &folders {
            found.extend(files_below(folder)?);
        }
        for (path, modified) in found {
            let name = file_name(&path);
            let is_unfinished = name.ends_with(".tmp") || name.contains('#');
            let is_copy = self.remote.is_some() && path.starts_with(&self.folder);
            let unused = now.duration_since(modified).unwrap_or_default();
            if (is_unfinished && unused > UNUSED) || (is_copy && unused > COPIES_STAY) {
                remove_file(&path)?;
            }
        }
        Ok(())
    }

    fn owners_folder(&self) -> PathBuf {
        self.folder.with_file_name(OWNERS)
    }
}

fn remove_file(path: &Path) -> Result<(), StoreError> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(StoreError::File { path: path.to_owned(), source: error })
        }
        _ => Ok(()),
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The blob whose name are the last two parts of a path.
fn blob_of(path: &str) -> Option<ContentHash> {
    let mut parts = path.rsplitn(3, '/');
    let (rest, first) = (parts.next()?, parts.next()?);
    format!("{first}{rest}").parse().ok()
}

/// All files below a folder, with when they were last changed; none where there is no folder. What goes meanwhile is left out.
fn files_below(folder: &Path) -> Result<Vec<(PathBuf, SystemTime)>, StoreError> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = match std::fs::read_dir(&folder) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            entries => entries.map_err(StoreError::file(&folder))?,
        };
        for entry in entries {
            let entry = entry.map_err(StoreError::file(&folder))?;
            let Ok(metadata) = entry.metadata() else { continue };
            match (metadata.is_dir(), metadata.modified()) {
                (true, _) => folders.push(entry.path()),
                (false, Ok(modified)) => found.push((entry.path(), modified)),
                (false, Err(_)) => {}
            }
        }
    }
    Ok(found)
}

/// All objects below a prefix, with when they were last changed.
async fn listed(
    objects: &dyn Objects,
    prefix: &str,
) -> object_store::Result<Vec<(String, SystemTime)>> {
    let found: Vec<_> = objects.list(Some(&ObjectPath::from(prefix))).try_collect().await?;
    let named = |found: object_store::ObjectMeta| {
        (found.location.to_string(), SystemTime::from(found.last_modified))
    };
    Ok(found.into_iter().map(named).collect())
}
