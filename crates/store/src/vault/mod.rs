//! Secrets at rest: keys of organizations, what they seal, and the master keys that they are wrapped with.
//!
//! ```text
//! master keys (environment or file) ─ wrap ─► data keys of an organization (table) ─ HKDF by purpose ─► seal, open, derive
//! ```
//! A master key is never in the database and a data key never in plain on disk, so that a copy of either alone tells nothing.

mod data_keys;
mod key_file;
mod keyring;
mod master;
mod rotation;
mod sealer;
mod stream;

use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use fullbench_types::{OrganizationId, SYSTEM_ORGANIZATION};
use zeroize::Zeroizing;

pub use keyring::MasterKeySource;
pub use master::{MasterKey, MasterKeyId, MasterKeys};
pub use rotation::{ForgottenKeys, MasterKeyStatus, Rotation};
pub use sealer::{Purpose, Sealer};
pub(crate) use sealer::{joined, sealed_number};
pub(crate) use stream::{CHUNK_BYTES, HEAD_BYTES, StreamOpener, StreamSealer, TAG_BYTES};

use crate::connection::ScopedConnection;
use crate::{ScopedStore, Store, StoreError};
use keyring::Keyring;
use sealer::DataKeys;

/// Bytes of a key.
const KEY_BYTES: usize = 32;
/// Bytes of a nonce: enough to draw them at random.
const NONCE_BYTES: usize = 24;
/// For how long data keys are used without a look at the table: another process may have deleted them.
const KEPT: Duration = Duration::from_secs(5);
/// How long what was begun with keys that were current may take.
const NOTICED: Duration = Duration::from_secs(1);

/// Where a data key belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct DataKeyPlace {
    organization: OrganizationId,
    /// Counted from 1.
    number: u32,
}

impl DataKeyPlace {
    fn bytes(self) -> [u8; 20] {
        let mut bytes = [0; 20];
        bytes[..16].copy_from_slice(self.organization.0.as_bytes());
        bytes[16..].copy_from_slice(&self.number.to_be_bytes());
        bytes
    }
}

impl fmt::Display for DataKeyPlace {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} of organization {}", self.number, self.organization.0)
    }
}

/// The keys of a store, those in use unwrapped in memory.
#[derive(Debug, Clone)]
pub(crate) struct Vault {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    database: ScopedConnection,
    keyring: Keyring,
    loaded: Mutex<HashMap<OrganizationId, Loaded>>,
}

#[derive(Debug)]
struct Loaded {
    keys: Arc<DataKeys>,
    at: Instant,
}

impl Vault {
    /// The vault of a folder and its database, which is seen by the system.
    pub(crate) fn new(home: &Path, source: &MasterKeySource, database: ScopedConnection) -> Self {
        let keyring = Keyring::new(home, source);
        Self { shared: Arc::new(Shared { database, keyring, loaded: Mutex::default() }) }
    }

    /// The keys of an organization, at least one of which seals.
    async fn keys(&self, organization: OrganizationId) -> Result<Arc<DataKeys>, StoreError> {
        let known = {
            let loaded = self.shared.loaded.lock().unwrap_or_else(PoisonError::into_inner);
            let fresh = loaded.get(&organization).filter(|loaded| loaded.at.elapsed() < KEPT);
            fresh.map(|loaded| loaded.keys.clone())
        };
        match known.filter(|keys| keys.can_seal()) {
            Some(keys) => Ok(keys),
            None => self.load(organization).await,
        }
    }

    /// The keys that an organization has, deleted ones among them, with these numbers if they are there; none is made.
    async fn existing(
        &self,
        organization: OrganizationId,
        numbers: &[u32],
    ) -> Result<Arc<DataKeys>, StoreError> {
        let known = {
            let loaded = self.shared.loaded.lock().unwrap_or_else(PoisonError::into_inner);
            let fresh = loaded.get(&organization).filter(|loaded| loaded.at.elapsed() < KEPT);
            fresh.map(|loaded| loaded.keys.clone())
        };
        let has_all = |keys: &Arc<DataKeys>| numbers.iter().all(|number| keys.has(*number));
        if let Some(keys) = known.filter(has_all) {
            return Ok(keys);
        }
        let at = Instant::now();
        let keys = Arc::new(self.shared.read(organization).await?);
        let mut loaded = self.shared.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        loaded.insert(organization, Loaded { keys: keys.clone(), at });
        Ok(keys)
    }

    /// The keys of an organization as the table has them now.
    async fn load(&self, organization: OrganizationId) -> Result<Arc<DataKeys>, StoreError> {
        let at = Instant::now();
        let keys = Arc::new(self.shared.read_or_make(organization).await?);
        let mut loaded = self.shared.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        loaded.insert(organization, Loaded { keys: keys.clone(), at });
        Ok(keys)
    }

    /// Forgets the keys of an organization, which are read anew.
    pub(crate) fn forget(&self, organization: OrganizationId) {
        let mut loaded = self.shared.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        loaded.remove(&organization);
    }
}

impl ScopedStore {
    /// What seals and opens many values for a purpose.
    pub async fn sealer(&self, purpose: Purpose) -> Result<Sealer, StoreError> {
        Ok(Sealer::new(self.vault.keys(self.organization).await?, purpose))
    }

    /// What opens what was sealed with these keys and others that there are, and seals nothing; none where there is no key.
    pub(crate) async fn existing_sealer(
        &self,
        purpose: Purpose,
        numbers: &[u32],
    ) -> Result<Option<Sealer>, StoreError> {
        let keys = self.vault.existing(self.organization, numbers).await?;
        Ok((!keys.is_empty()).then(|| Sealer::new(keys, purpose)))
    }

    /// Makes content unreadable without the key of the organization. It opens with the same associated data only.
    pub async fn seal(
        &self,
        purpose: Purpose,
        content: &[u8],
        associated: &[u8],
    ) -> Result<Vec<u8>, StoreError> {
        self.sealer(purpose).await?.seal(content, associated)
    }

    /// What was sealed.
    pub async fn open(
        &self,
        purpose: Purpose,
        sealed: &[u8],
        associated: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>, StoreError> {
        let mut sealer = self.sealer(purpose).await?;
        if !sealer.knows(sealer::sealed_number(sealed)?) {
            // Another process has made a key since.
            sealer = Sealer::new(self.vault.load(self.organization).await?, purpose);
        }
        sealer.open(sealed, associated)
    }

    /// A value that the same parts always give, and that nobody can tell without the key of the organization.
    pub async fn derived(
        &self,
        purpose: Purpose,
        parts: &[&[u8]],
    ) -> Result<Zeroizing<[u8; 32]>, StoreError> {
        self.sealer(purpose).await?.derived(parts)
    }

    /// Deletes the data keys of the organization. What they sealed can never be read again, here or in any backup that is
    /// without them; what is sealed from now on has a new key. That one is made first, and waited with until every server seals
    /// with it: nothing that is kept meanwhile goes unnoticed.
    pub async fn delete_keys(&self) -> Result<u64, StoreError> {
        let successor = match self.vault.shared.make_successor(self.organization).await {
            Ok(Some(successor)) => {
                tokio::time::sleep(KEPT + NOTICED).await;
                Some(successor)
            }
            Ok(None) => return Ok(0),
            // Nothing works without the master key, so that nobody has to be waited for.
            Err(StoreError::MasterKeyUnknown(_)) => None,
            Err(error) => return Err(error),
        };
        let deleted = self.vault.shared.delete(self.organization, successor).await;
        self.vault.forget(self.organization);
        deleted
    }
}

impl Store {
    /// The store through which that is sealed and derived which belongs to no organization.
    #[must_use]
    pub fn system_keys(&self) -> ScopedStore {
        self.scoped(SYSTEM_ORGANIZATION)
    }

    /// Whether a master key is at hand; none is made.
    pub fn has_master_key(&self) -> Result<bool, StoreError> {
        Ok(self.vault().shared.keyring.there()?.is_some())
    }

    /// Makes sure that there is a master key, and that it is the one that what is in the database was wrapped with.
    pub async fn check_keys(&self) -> Result<(), StoreError> {
        self.vault().shared.check().await
    }
}

/// Random bytes of the system.
fn random<const LENGTH: usize>() -> Result<[u8; LENGTH], StoreError> {
    let mut bytes = [0; LENGTH];
    getrandom::fill(&mut bytes)
        .map_err(|error| StoreError::Damaged(format!("no random numbers: {error}")))?;
    Ok(bytes)
}
