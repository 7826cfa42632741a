//! Keys and sessions that were seen lately, so that the database is not asked for every request.

use std::collections::HashMap;
use std::future::Future;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock};
use std::time::{Duration, Instant};

use fullbench_store::{KeyHolder, SessionHolder, StoreError};
use jiff::Timestamp;
use uuid::Uuid;

use super::secret::hex;
use crate::app::App;
use crate::problem::Problem;

/// What every key begins with.
pub(crate) const KEY_PREFIX: &str = "fb_";
/// For how long a secret is believed without asking the database again: what another process changes holds by then.
const BELIEVED: Duration = Duration::from_secs(10);
/// How often the last use of a secret is noted.
const NOTED: Duration = Duration::from_secs(60);
/// Secrets that are remembered; past it those go that were not seen for a while.
const REMEMBERED: usize = 100_000;

/// The hash of a secret.
pub(super) type Hash = [u8; 32];

/// Somebody whom a secret lets in.
pub(crate) trait Holder: Clone + Send + Sync {
    /// Whom the secret of this hash lets in, whether it still does or not.
    fn find(app: &App, hash: &str)
    -> impl Future<Output = Result<Option<Self>, StoreError>> + Send;

    /// Whether the secret opens anything now.
    fn is_open(&self, app: &App) -> bool;

    /// Notes that it was used.
    fn note_use(&self, app: &App) -> impl Future<Output = Result<(), StoreError>> + Send;
}

/// Secrets that were seen lately, by their hashes.
#[derive(Debug)]
pub(crate) struct Ring<H> {
    seen: RwLock<HashMap<Hash, Seen<H>>>,
    /// How often rights were changed.
    changes: AtomicU64,
}

/// Keys that were seen lately.
pub(crate) type KeyRing = Ring<KeyHolder>;
/// Sessions that were seen lately.
pub(crate) type SessionRing = Ring<SessionHolder>;

#[derive(Debug, Clone)]
struct Seen<H> {
    holder: H,
    asked: Instant,
    noted: Instant,
}

impl<H> Default for Ring<H> {
    fn default() -> Self {
        Self { seen: RwLock::default(), changes: AtomicU64::new(0) }
    }
}

impl<H: Holder> Ring<H> {
    /// Who has the secret of this hash, if it opens anything.
    pub(super) async fn find(&self, app: &App, hash: Hash) -> Result<Option<H>, Problem> {
        self.look(app, hash, true).await
    }

    /// The same for somebody who uses what was opened before, which is no new use.
    pub(super) async fn find_again(&self, app: &App, hash: Hash) -> Result<Option<H>, Problem> {
        self.look(app, hash, false).await
    }

    async fn look(&self, app: &App, hash: Hash, is_use: bool) -> Result<Option<H>, Problem> {
        let now = Instant::now();
        let seen = self.seen.read().unwrap_or_else(PoisonError::into_inner).get(&hash).cloned();
        if let Some(seen) = &seen
            && now.duration_since(seen.asked) < BELIEVED
        {
            return Ok(Some(seen.holder.clone()).filter(|holder| holder.is_open(app)));
        }
        let changes = self.changes.load(Ordering::SeqCst);
        let found = H::find(app, &hex(&hash)).await?.filter(|holder| holder.is_open(app));
        let mut noted = seen.as_ref().map(|seen| seen.noted);
        if let Some(holder) = &found
            && is_use
            && noted.is_none_or(|noted| now.duration_since(noted) >= NOTED)
        {
            noted = Some(now);
            holder.note_use(app).await?;
        }
        let mut ring = self.seen.write().unwrap_or_else(PoisonError::into_inner);
        match (&found, noted) {
            // One that is not known to have been used is looked for again the next time, and so is one that may have been read
            // before its rights were changed.
            (Some(holder), Some(noted)) if changes == self.changes.load(Ordering::SeqCst) => {
                if ring.len() >= REMEMBERED {
                    ring.retain(|_, seen| now.duration_since(seen.noted) < NOTED);
                }
                ring.insert(hash, Seen { holder: holder.clone(), asked: now, noted });
            }
            _ => {
                ring.remove(&hash);
            }
        }
        Ok(found)
    }

    /// Forgets those whose rights were changed.
    pub(crate) fn forget(&self, is_changed: impl Fn(&H) -> bool) {
        let mut ring = self.seen.write().unwrap_or_else(PoisonError::into_inner);
        self.changes.fetch_add(1, Ordering::SeqCst);
        ring.retain(|_, seen| !is_changed(&seen.holder));
    }
}

impl Ring<KeyHolder> {
    /// Forgets a key that was revoked or renewed.
    pub(crate) fn forget_key(&self, id: Uuid) {
        self.forget(|holder| holder.key.id == id);
    }
}

impl Holder for KeyHolder {
    async fn find(app: &App, hash: &str) -> Result<Option<Self>, StoreError> {
        app.store().api_key_of_hash(hash).await
    }

    fn is_open(&self, _: &App) -> bool {
        self.is_open(Timestamp::now())
    }

    async fn note_use(&self, app: &App) -> Result<(), StoreError> {
        app.store().note_key_use(&[self.key.id]).await
    }
}

impl Holder for SessionHolder {
    async fn find(app: &App, hash: &str) -> Result<Option<Self>, StoreError> {
        app.store().session_of_hash(hash).await
    }

    fn is_open(&self, app: &App) -> bool {
        self.is_open(Timestamp::now(), app.config().session_idle_end)
    }

    async fn note_use(&self, app: &App) -> Result<(), StoreError> {
        app.store().note_session_use(self.session.id).await
    }
}
