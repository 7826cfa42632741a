//! Master keys: what the keys of organizations are wrapped with.
//!
//! Whoever runs the server keeps them apart from the database: in the environment, or in a file of the home folder.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{Key, XChaCha20Poly1305, XNonce};
use hkdf::Hkdf;
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use super::{DataKeyPlace, KEY_BYTES, NONCE_BYTES, random};
use crate::StoreError;

/// Letters that a key has at least.
pub(super) const SHORTEST: usize = 32;

/// One master key.
#[derive(Clone)]
pub struct MasterKey {
    text: Zeroizing<String>,
    id: MasterKeyId,
}

/// Tells master keys apart without giving them away.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MasterKeyId(pub(super) String);

impl fmt::Display for MasterKeyId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl fmt::Debug for MasterKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "MasterKey({})", self.id)
    }
}

impl MasterKey {
    /// A key as somebody wrote it down; none if it is too short to be one.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        if text.len() < SHORTEST {
            return None;
        }
        let mut hash = Sha256::new();
        hash.update(b"fullbench master key\0");
        hash.update(text.as_bytes());
        let id = hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        Some(Self { text: Zeroizing::new(text.to_owned()), id: MasterKeyId(id) })
    }

    /// A new random key.
    pub(super) fn generate() -> Result<Self, StoreError> {
        let random = Zeroizing::new(random::<KEY_BYTES>()?);
        let text = Zeroizing::new(STANDARD.encode(random.as_slice()));
        Self::new(&text).ok_or_else(|| StoreError::Damaged("a new key is too short".to_owned()))
    }

    /// What the key is called.
    #[must_use]
    pub fn id(&self) -> &MasterKeyId {
        &self.id
    }

    /// The key as it is written down.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// A data key, readable for this key alone, and bound to its place.
    pub(super) fn wrap(
        &self,
        place: DataKeyPlace,
        data_key: &[u8; KEY_BYTES],
    ) -> Result<Vec<u8>, StoreError> {
        let nonce = random::<NONCE_BYTES>()?;
        let payload = Payload { msg: data_key, aad: &place.bytes() };
        let wrapped = self.cipher().encrypt(&XNonce::from(nonce), payload);
        let wrapped = wrapped.map_err(|_| StoreError::Damaged("a key is too long".to_owned()))?;
        Ok([nonce.as_slice(), &wrapped].concat())
    }

    /// The data key that was wrapped with this key for this place.
    pub(super) fn unwrap(
        &self,
        place: DataKeyPlace,
        wrapped: &[u8],
    ) -> Result<Zeroizing<[u8; KEY_BYTES]>, StoreError> {
        let damaged = || StoreError::Damaged(format!("the wrapped key {place}"));
        let (nonce, wrapped) = wrapped.split_first_chunk::<NONCE_BYTES>().ok_or_else(damaged)?;
        let payload = Payload { msg: wrapped, aad: &place.bytes() };
        let opened = self.cipher().decrypt(&XNonce::from(*nonce), payload);
        let opened = Zeroizing::new(opened.map_err(|_| damaged())?);
        let key = opened.as_slice().try_into().map_err(|_| damaged())?;
        Ok(Zeroizing::new(key))
    }

    fn cipher(&self) -> XChaCha20Poly1305 {
        let mut key = Zeroizing::new([0; KEY_BYTES]);
        let made = Hkdf::<Sha256>::new(None, self.text.as_bytes());
        if made.expand(b"fullbench wrap data key", &mut *key).is_err() {
            unreachable!("HKDF gives as much as a key needs")
        }
        XChaCha20Poly1305::new(&Key::from(*key))
    }
}

/// The key that new things are wrapped with, and those that older things may still be wrapped with.
#[derive(Debug, Clone)]
pub struct MasterKeys {
    current: MasterKey,
    older: Vec<MasterKey>,
}

impl MasterKeys {
    /// A current key and older ones.
    #[must_use]
    pub fn new(current: MasterKey, older: Vec<MasterKey>) -> Self {
        let mut keys = Self { current, older: Vec::new() };
        for key in older {
            if keys.find(key.id()).is_none() {
                keys.older.push(key);
            }
        }
        keys
    }

    /// The key that new things are wrapped with.
    #[must_use]
    pub fn current(&self) -> &MasterKey {
        &self.current
    }

    /// All keys, the current one first.
    pub fn all(&self) -> impl Iterator<Item = &MasterKey> {
        std::iter::once(&self.current).chain(&self.older)
    }

    /// The key of this id.
    #[must_use]
    pub fn find(&self, id: &MasterKeyId) -> Option<&MasterKey> {
        self.all().find(|key| key.id() == id)
    }

    /// The same with a new current key; the one before is kept with the older ones.
    pub(super) fn replaced_by(&self, current: MasterKey) -> Self {
        Self::new(current, self.all().cloned().collect())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use fullbench_types::OrganizationId;
    use uuid::Uuid;

    use super::*;

    fn key(letter: &str) -> MasterKey {
        MasterKey::new(&letter.repeat(32)).unwrap()
    }

    #[test]
    fn a_key_is_known_by_its_id_and_never_shown() {
        assert!(MasterKey::new("short").is_none());
        assert_eq!(key("k").id(), MasterKey::new(&format!(" {}\n", "k".repeat(32))).unwrap().id());
        assert_ne!(key("k").id(), key("l").id());
        assert_eq!(key("k").id().to_string().len(), 16);
        let keys = MasterKeys::new(key("k"), vec![key("l"), key("k"), key("l")]);
        assert_eq!(keys.all().count(), 2);
        assert!(!format!("{keys:?}").contains("kkk"), "{keys:?}");
    }

    #[test]
    fn a_wrapped_key_opens_with_its_own_master_key_at_its_own_place_only() {
        let place = DataKeyPlace { organization: OrganizationId(Uuid::from_u128(1)), number: 1 };
        let wrapped = key("k").wrap(place, &[7; 32]).unwrap();
        assert_eq!(*key("k").unwrap(place, &wrapped).unwrap(), [7; 32]);
        assert!(key("l").unwrap(place, &wrapped).is_err());
        assert!(key("k").unwrap(DataKeyPlace { number: 2, ..place }, &wrapped).is_err());
        let other = OrganizationId(Uuid::from_u128(2));
        let moved = DataKeyPlace { organization: other, ..place };
        assert!(key("k").unwrap(moved, &wrapped).is_err());
        assert!(key("k").unwrap(place, &wrapped[..20]).is_err());
    }
}
