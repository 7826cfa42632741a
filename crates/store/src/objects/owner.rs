//! Whose objects they are: organizations that encrypt have blobs of their own, sealed; all others share them.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fullbench_types::{ContentHash, OrganizationId};
use object_store::ObjectStoreExt;

use super::files::Files;
use super::sweep::touch;
use super::{ObjectStore, content, write_whole};
use crate::vault::{Sealer, joined};
use crate::{MasterKeyId, Purpose, ScopedStore, StoreError};

/// Bytes of a sealed blob that are enough to tell its key.
const HEAD_BYTES: usize = 16;

/// An organization with what seals and opens its objects.
#[derive(Debug)]
pub(super) struct Owner {
    organization: OrganizationId,
    sealer: Option<Sealer>,
    /// The master key without which its keys cannot be read.
    missing: Option<MasterKeyId>,
    /// What is new is sealed.
    seals: bool,
}

impl ScopedStore {
    /// Content-addressed blobs, blocks of data sets, and whole files, as the organization keeps and reads them.
    pub async fn objects(&self) -> Result<ObjectStore, StoreError> {
        let seals = self.encrypts_texts().await?;
        let sealer = match seals {
            true => self.sealer(Purpose::Text).await.map(Some),
            false => self.existing_sealer(Purpose::Text, &[]).await,
        };
        let (sealer, missing) = match sealer {
            // Whoever needs it for nothing must not miss it.
            Err(StoreError::MasterKeyUnknown(id)) if !seals => (None, Some(id)),
            sealer => (sealer?, None),
        };
        let owner = Owner { organization: self.organization, sealer, missing, seals };
        Ok(ObjectStore { owner: Some(Arc::new(owner)), ..self.objects.clone() })
    }
}

/// The key of a sealed blob among the files.
pub(crate) fn sealed_blob_key(organization: OrganizationId, hash: &ContentHash) -> String {
    let name = hash.to_string();
    format!("{}/blobs/{}/{}", organization.0, &name[..2], &name[2..])
}

impl ObjectStore {
    /// What seals new objects, if they are to be sealed.
    pub(super) fn sealing(&self) -> Option<&Sealer> {
        let owner = self.owner.as_ref().filter(|owner| owner.seals)?;
        owner.sealer.as_ref()
    }

    /// What opens sealed objects.
    pub(super) fn opening(&self) -> Result<&Sealer, StoreError> {
        let owner = self.owner.as_deref();
        match owner.map(|owner| (&owner.sealer, &owner.missing)) {
            Some((Some(sealer), _)) => Ok(sealer),
            Some((None, Some(master))) => Err(StoreError::MasterKeyUnknown(master.clone())),
            _ => Err(StoreError::Damaged("a sealed object cannot be opened".to_owned())),
        }
    }

    /// Keeps a blob sealed, unless it is there and can be opened.
    pub(super) fn put_sealed(
        &self,
        sealer: &Sealer,
        hash: &ContentHash,
        blob: &[u8],
    ) -> Result<(), StoreError> {
        let Some(owner) = &self.owner else { return Ok(()) };
        if matches!(self.get_sealed(hash), Ok(Some(_))) {
            let is_fresh = match (self.sealed_path(owner, hash), &self.remote) {
                (Some(path), _) => touch(&path),
                (None, Some(remote)) => remote.is_fresh(&remote_name(owner, hash))?,
                (None, None) => true,
            };
            if is_fresh {
                return Ok(());
            }
        }
        let stored = lz4_flex::compress_prepend_size(blob);
        let sealed = sealer.seal(&stored, &context(hash))?;
        match self.sealed_path(owner, hash) {
            Some(path) => write_whole(&path, &sealed),
            None => match &self.remote {
                Some(remote) => remote.put(&remote_name(owner, hash), sealed.into()),
                None => Ok(()),
            },
        }
    }

    /// Keeps a blob sealed that is there for all; says whether it was not before.
    pub(crate) fn seal_shared(&self, hash: &ContentHash) -> Result<bool, StoreError> {
        let Some(sealer) = self.sealing() else { return Ok(false) };
        if self.has_sealed(hash) && self.can_open_sealed(hash) {
            return Ok(false);
        }
        let content = match self.get_shared(hash) {
            Err(StoreError::FileNotFound(_)) => return Ok(false),
            Err(StoreError::File { source, .. })
                if source.kind() == std::io::ErrorKind::NotFound =>
            {
                return Ok(false);
            }
            content => content?,
        };
        self.put_sealed(sealer, hash, &content)?;
        Ok(true)
    }

    /// The content of a blob that the organization keeps sealed; none where it has no such blob.
    pub(super) fn get_sealed(&self, hash: &ContentHash) -> Result<Option<Vec<u8>>, StoreError> {
        let Some(owner) = &self.owner else { return Ok(None) };
        let sealed = match (self.sealed_path(owner, hash), &self.remote) {
            (Some(path), _) => match std::fs::read(&path) {
                Ok(sealed) => sealed,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
                Err(source) => return Err(StoreError::File { path, source }),
            },
            (None, Some(remote)) => match remote.get(&remote_name(owner, hash)) {
                Ok(sealed) => sealed.to_vec(),
                Err(StoreError::FileNotFound(_)) => return Ok(None),
                Err(error) => return Err(error),
            },
            (None, None) => return Ok(None),
        };
        let place = || format!("the sealed blob {hash}");
        match self.opening()?.open(&sealed, &context(hash)) {
            Ok(stored) => content(&stored, hash, &place()).map(Some),
            Err(StoreError::KeysDeleted) => Err(StoreError::TextsDeleted),
            Err(error) => Err(error),
        }
    }

    /// Whether the sealed blob can be opened with the keys that there are.
    pub(super) fn can_open_sealed(&self, hash: &ContentHash) -> bool {
        let Some(owner) = &self.owner else { return false };
        let Some(sealer) = &owner.sealer else { return false };
        let head = match (self.sealed_path(owner, hash), &self.remote) {
            (Some(path), _) => head_of(&path).ok(),
            (None, Some(remote)) => {
                remote.get(&remote_name(owner, hash)).map(|all| all.to_vec()).ok()
            }
            (None, None) => None,
        };
        head.is_some_and(|head| sealer.can_open(&head))
    }

    /// Removes a sealed blob whose key was deleted, once the same content is kept for all: an organization has a blob in one
    /// place.
    pub(super) fn remove_dead_sealed(&self, hash: &ContentHash) -> Result<(), StoreError> {
        let Some(owner) = &self.owner else { return Ok(()) };
        if !self.has_sealed(hash) || self.can_open_sealed(hash) {
            return Ok(());
        }
        match (self.sealed_path(owner, hash), &self.remote) {
            (Some(path), _) => std::fs::remove_file(&path).map_err(StoreError::file(&path)),
            (None, Some(remote)) => remote.delete(&remote_name(owner, hash)),
            (None, None) => Ok(()),
        }
    }

    /// Whether the organization keeps such a blob sealed.
    pub(super) fn has_sealed(&self, hash: &ContentHash) -> bool {
        let Some(owner) = &self.owner else { return false };
        match (self.sealed_path(owner, hash), &self.remote) {
            (Some(path), _) => path.exists(),
            (None, Some(remote)) => {
                owner.sealer.is_some() && remote.contains(&remote_name(owner, hash))
            }
            (None, None) => false,
        }
    }

    /// Sealed blobs are looked for before others: always where that costs nothing, else where new ones are sealed.
    pub(super) fn prefers_sealed(&self) -> bool {
        self.remote.is_none() || self.sealing().is_some()
    }

    /// Whether an organization keeps a blob sealed, whoever asks.
    pub(crate) async fn is_sealed_blob(&self, key: &str) -> Result<bool, StoreError> {
        let (objects, path) = self.files.place(key)?;
        match objects.head(&path).await {
            Ok(_) => Ok(true),
            Err(object_store::Error::NotFound { .. }) => Ok(false),
            Err(error) => Err(self.files.failed(key)(error)),
        }
    }

    fn sealed_path(&self, owner: &Owner, hash: &ContentHash) -> Option<PathBuf> {
        match &self.files {
            Files::Folder(folder) => Some(folder.join(sealed_blob_key(owner.organization, hash))),
            Files::Server(_) => None,
        }
    }
}

/// The first bytes of a file, which tell the key that it was sealed with.
fn head_of(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut head = Vec::with_capacity(HEAD_BYTES);
    std::fs::File::open(path)?.take(HEAD_BYTES as u64).read_to_end(&mut head)?;
    Ok(head)
}

fn remote_name(owner: &Owner, hash: &ContentHash) -> String {
    format!("files/{}", sealed_blob_key(owner.organization, hash))
}

/// What a blob is sealed for.
fn context(hash: &ContentHash) -> Vec<u8> {
    joined(&[&[b"blob", &hash.0]])
}
