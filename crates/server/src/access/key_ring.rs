//! Keys that were seen lately, so that the database is not asked for every request.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};
use std::time::{Duration, Instant};

use fullbench_store::{KeyHolder, Store};
use jiff::Timestamp;
use uuid::Uuid;

use super::secret::{hash_of, hex};
use crate::problem::Problem;

/// What every key begins with.
pub(crate) const KEY_PREFIX: &str = "fb_";
/// For how long a key is believed without asking the database again: what another process changes holds by then.
const BELIEVED: Duration = Duration::from_secs(10);
/// How often the last use of a key is noted.
const NOTED: Duration = Duration::from_secs(60);

/// Keys that were seen lately, by their hashes.
#[derive(Debug, Default)]
pub(crate) struct KeyRing {
    seen: RwLock<HashMap<[u8; 32], Seen>>,
}

#[derive(Debug, Clone)]
struct Seen {
    holder: KeyHolder,
    asked: Instant,
    noted: Instant,
}

impl KeyRing {
    /// The key, if it opens anything.
    pub(super) async fn find(
        &self,
        store: &Store,
        secret: &str,
    ) -> Result<Option<KeyHolder>, Problem> {
        let hash = hash_of(secret);
        let now = Instant::now();
        let is_open = |holder: &KeyHolder| holder.is_open(Timestamp::now());
        let seen = self.seen.read().unwrap_or_else(PoisonError::into_inner).get(&hash).cloned();
        if let Some(seen) = &seen
            && now.duration_since(seen.asked) < BELIEVED
        {
            return Ok(Some(seen.holder.clone()).filter(is_open));
        }
        let found = store.api_key_of_hash(&hex(&hash)).await?.filter(is_open);
        let mut noted = seen.as_ref().map(|seen| seen.noted);
        if let Some(holder) = &found
            && noted.is_none_or(|noted| now.duration_since(noted) >= NOTED)
        {
            noted = Some(now);
            store.note_key_use(&[holder.key.id]).await?;
        }
        let mut ring = self.seen.write().unwrap_or_else(PoisonError::into_inner);
        match (&found, noted) {
            (Some(holder), Some(noted)) => {
                ring.insert(hash, Seen { holder: holder.clone(), asked: now, noted });
            }
            _ => {
                ring.remove(&hash);
            }
        }
        Ok(found)
    }

    /// Forgets keys whose rights were changed.
    pub(crate) fn forget(&self, is_changed: impl Fn(&KeyHolder) -> bool) {
        let mut ring = self.seen.write().unwrap_or_else(PoisonError::into_inner);
        ring.retain(|_, seen| !is_changed(&seen.holder));
    }

    /// Forgets a key that was revoked or renewed.
    pub(crate) fn forget_key(&self, id: Uuid) {
        self.forget(|holder| holder.key.id == id);
    }
}
