//! The master keys at hand: given by the environment, or those of the file, which another process may change.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::key_file::KeyFile;
use super::master::{MasterKey, MasterKeyId, MasterKeys};
use crate::StoreError;

/// For how long a key that the file does not have is not looked for again. The file gets a key before anything is wrapped with it.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// Where master keys come from.
#[derive(Debug, Clone, Default)]
pub enum MasterKeySource {
    /// The file `secret.key` in the folder of the store, made when it is first needed.
    #[default]
    Folder,
    /// Who opens the store gives them.
    Given(MasterKeys),
}

/// The master keys at hand.
#[derive(Debug)]
pub(super) enum Keyring {
    Given(MasterKeys),
    File { file: KeyFile, known: Mutex<Known> },
}

/// What is known of the file.
#[derive(Debug, Default)]
pub(super) struct Known {
    keys: Option<MasterKeys>,
    missing: HashMap<MasterKeyId, Instant>,
}

impl Keyring {
    pub(super) fn new(home: &Path, source: &MasterKeySource) -> Self {
        match source {
            MasterKeySource::Given(keys) => Self::Given(keys.clone()),
            MasterKeySource::Folder => {
                Self::File { file: KeyFile::of(home), known: Mutex::default() }
            }
        }
    }

    /// The key of this id, from the file as it is now if need be.
    pub(super) fn find(&self, id: &MasterKeyId) -> Result<MasterKey, StoreError> {
        let unknown = || StoreError::MasterKeyUnknown(id.clone());
        let (file, known) = match self {
            Self::Given(keys) => return keys.find(id).cloned().ok_or_else(unknown),
            Self::File { file, known } => (file, known),
        };
        let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(key) = known.keys.as_ref().and_then(|keys| keys.find(id)) {
            return Ok(key.clone());
        }
        known.missing.retain(|_, missed| missed.elapsed() < LOOK_AGAIN);
        if known.missing.contains_key(id) {
            return Err(unknown());
        }
        known.keys = file.read()?;
        match known.keys.as_ref().and_then(|keys| keys.find(id)) {
            Some(key) => Ok(key.clone()),
            None => {
                known.missing.insert(id.clone(), Instant::now());
                Err(unknown())
            }
        }
    }

    /// All keys as they are now, whatever was read before; a new one where there is none yet.
    pub(super) fn fresh(&self) -> Result<MasterKeys, StoreError> {
        match self {
            Self::Given(keys) => Ok(keys.clone()),
            Self::File { file, .. } => file.read_or_make(),
        }
    }

    /// All keys as they are now; none where there is no file yet.
    pub(super) fn there(&self) -> Result<Option<MasterKeys>, StoreError> {
        match self {
            Self::Given(keys) => Ok(Some(keys.clone())),
            Self::File { file, .. } => file.read(),
        }
    }
}
