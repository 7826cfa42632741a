//! Who calls: the organization that a bearer key opens.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};
use std::time::{Duration, Instant};

use axum::extract::FromRequestParts;
use axum::http::header;
use axum::http::request::Parts;
use fullbench_store::{ApiKeyRecord, ScopedStore, Store};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::app::App;
use crate::problem::{INTERNAL, Problem, UNAUTHORIZED};

/// What every key begins with, so that one is recognized where it should not be.
const PREFIX: &str = "fb_";
/// Letters of a key that are shown.
const SHOWN: usize = 10;
/// For how long a key is believed without asking the database again: a key that another process revokes works no longer.
const BELIEVED: Duration = Duration::from_secs(10);
/// How often the last use of a key is noted.
const NOTED: Duration = Duration::from_secs(60);

/// Who calls, and the store as their organization sees it.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    pub(crate) store: ScopedStore,
    /// Who it is, as records say it.
    pub(crate) name: String,
}

impl FromRequestParts<App> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        if let Some(caller) = parts.extensions.get::<Self>() {
            return Ok(caller.clone());
        }
        let refused = |detail: &str| {
            let hint = "send `Authorization: Bearer fb_…` with a key of your organization";
            Problem::new(UNAUTHORIZED, detail).hint(hint)
        };
        let Some(value) = parts.headers.get(header::AUTHORIZATION) else {
            return Err(refused("there is no API key"));
        };
        let secret = value.to_str().ok().and_then(|value| {
            let (scheme, secret) = value.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then(|| secret.trim())
        });
        let Some(secret) = secret else {
            return Err(refused("the header `Authorization` holds no bearer key"));
        };
        let key = app.keys().find(app.store(), secret).await?;
        let key = key.ok_or_else(|| refused("the API key is not known, or was revoked"))?;
        let caller = Self {
            store: app.store().scoped(key.organization),
            name: format!("key:{}", key.prefix),
        };
        parts.extensions.insert(caller.clone());
        Ok(caller)
    }
}

/// Keys that were seen lately, by their hashes.
#[derive(Debug, Default)]
pub(crate) struct KeyRing {
    seen: RwLock<HashMap<[u8; 32], Seen>>,
}

#[derive(Debug, Clone)]
struct Seen {
    key: ApiKeyRecord,
    asked: Instant,
    noted: Instant,
}

impl KeyRing {
    /// The key, if it opens anything.
    async fn find(&self, store: &Store, secret: &str) -> Result<Option<ApiKeyRecord>, Problem> {
        let hash: [u8; 32] = Sha256::digest(secret.as_bytes()).into();
        let now = Instant::now();
        let seen = self.seen.read().unwrap_or_else(PoisonError::into_inner).get(&hash).cloned();
        if let Some(seen) = &seen
            && now.duration_since(seen.asked) < BELIEVED
        {
            return Ok(Some(seen.key.clone()));
        }
        let found = store.api_key_of_hash(&hex(&hash)).await?;
        let found = found.filter(|key| key.revoked_at.is_none());
        let mut noted = seen.as_ref().map(|seen| seen.noted);
        if let Some(key) = &found
            && noted.is_none_or(|noted| now.duration_since(noted) >= NOTED)
        {
            noted = Some(now);
            store.note_key_use(&[key.id]).await?;
        }
        let mut ring = self.seen.write().unwrap_or_else(PoisonError::into_inner);
        match (&found, noted) {
            (Some(key), Some(noted)) => {
                ring.insert(hash, Seen { key: key.clone(), asked: now, noted });
            }
            _ => {
                ring.remove(&hash);
            }
        }
        Ok(found)
    }

    /// Forgets a key that was revoked.
    pub(crate) fn forget(&self, id: Uuid) {
        let mut ring = self.seen.write().unwrap_or_else(PoisonError::into_inner);
        ring.retain(|_, seen| seen.key.id != id);
    }
}

/// A new key: the key itself, what is shown of it, and its hash.
pub(crate) fn new_secret() -> Result<(String, String, String), Problem> {
    let mut random = [0; 32];
    getrandom::fill(&mut random).map_err(|error| {
        Problem::new(INTERNAL, format!("no random numbers can be had: {error}"))
    })?;
    let secret = format!("{PREFIX}{}", hex(&random));
    let hash = hex(&Sha256::digest(secret.as_bytes()).into());
    Ok((secret.clone(), secret[..SHOWN].to_owned(), hash))
}

fn hex(bytes: &[u8; 32]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
