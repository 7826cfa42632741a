//! Sealing: texts and secrets made unreadable without the key of their organization, and values derived from it.
//!
//! Sealed bytes are a version (1 byte), the number of the data key (4 bytes), a nonce (24 bytes) and what
//! XChaCha20-Poly1305 makes of the content. What they are for, and whose they are, is authenticated with them.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{Key, XChaCha20Poly1305, XNonce};
use hkdf::Hkdf;
use sha2::Sha256;
use zeroize::Zeroizing;

use super::{DataKeyPlace, KEY_BYTES, NONCE_BYTES, random};
use crate::StoreError;

/// The version of the format.
const VERSION: u8 = 1;
/// The bytes before the nonce.
const HEAD: usize = 5;
/// What is sealed at once and what is sealed in chunks have keys of their own.
const ONE_PIECE: &[u8] = b"fullbench seal";
const IN_CHUNKS: &[u8] = b"fullbench seal in chunks";

/// What something is sealed or derived for: each purpose has a key of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// Texts of inputs, outputs and whatever is made of them.
    Text,
    /// Keys of providers.
    Provider,
    /// Secrets that sign webhooks.
    Webhook,
    /// Secrets of second factors.
    Totp,
    /// The chain of the audit log.
    Audit,
    /// What a browser keeps while somebody signs in elsewhere.
    SignIn,
    /// Addresses that alerts are sent to, whoever has which can send there.
    Alert,
}

impl Purpose {
    fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Provider => "provider",
            Self::Webhook => "webhook",
            Self::Totp => "totp",
            Self::Audit => "audit",
            Self::SignIn => "sign in",
            Self::Alert => "alert",
        }
    }
}

/// The data keys of an organization, unwrapped, by their numbers. Those that were deleted have none.
pub(super) struct DataKeys {
    pub(super) keys: BTreeMap<u32, DataKey>,
}

impl DataKeys {
    /// One of them was not deleted.
    pub(super) fn can_seal(&self) -> bool {
        self.keys.values().any(|key| key.key.is_some())
    }

    /// Whether there is a key of this number, deleted or not.
    pub(super) fn has(&self, number: u32) -> bool {
        self.keys.contains_key(&number)
    }

    /// There never was a key.
    pub(super) fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }
}

/// A data key.
pub(super) struct DataKey {
    pub(super) place: DataKeyPlace,
    pub(super) key: Option<Zeroizing<[u8; KEY_BYTES]>>,
}

impl fmt::Debug for DataKeys {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "DataKeys({:?})", self.keys.keys())
    }
}

/// Seals and opens for one purpose of one organization, without asking the database again.
#[derive(Debug, Clone)]
pub struct Sealer {
    keys: Arc<DataKeys>,
    purpose: Purpose,
}

impl Sealer {
    pub(super) fn new(keys: Arc<DataKeys>, purpose: Purpose) -> Self {
        Self { keys, purpose }
    }

    /// Makes content unreadable without the key of the organization. It opens only with the same associated data, which is
    /// what keeps it from being moved elsewhere.
    pub fn seal(&self, content: &[u8], associated: &[u8]) -> Result<Vec<u8>, StoreError> {
        let key = self.newest()?;
        let nonce = random::<NONCE_BYTES>()?;
        let context = self.context(key.place, associated);
        let payload = Payload { msg: content, aad: &context };
        let sealed = self.cipher(key, ONE_PIECE)?.encrypt(&XNonce::from(nonce), payload);
        let sealed = sealed.map_err(|_| StoreError::Damaged("a text is too long".to_owned()))?;
        let mut bytes = Vec::with_capacity(HEAD + NONCE_BYTES + sealed.len());
        bytes.push(VERSION);
        bytes.extend_from_slice(&key.place.number.to_be_bytes());
        bytes.extend_from_slice(&nonce);
        bytes.extend_from_slice(&sealed);
        Ok(bytes)
    }

    /// What was sealed.
    pub fn open(&self, sealed: &[u8], associated: &[u8]) -> Result<Zeroizing<Vec<u8>>, StoreError> {
        let damaged = || StoreError::Damaged("a sealed value cannot be opened".to_owned());
        let number = sealed_number(sealed)?;
        let key = self.keys.keys.get(&number).ok_or_else(damaged)?;
        let (nonce, content) =
            sealed[HEAD..].split_first_chunk::<NONCE_BYTES>().ok_or_else(damaged)?;
        let context = self.context(key.place, associated);
        let payload = Payload { msg: content, aad: &context };
        let opened = self.cipher(key, ONE_PIECE)?.decrypt(&XNonce::from(*nonce), payload);
        opened.map(Zeroizing::new).map_err(|_| damaged())
    }

    /// Whether the key is still there that something was sealed with, which its first bytes tell.
    pub(crate) fn can_open(&self, sealed: &[u8]) -> bool {
        let number = sealed_number(sealed).ok();
        let key = number.and_then(|number| self.keys.keys.get(&number));
        key.is_some_and(|key| key.key.is_some())
    }

    /// Whether what was sealed with this key can be opened here.
    pub(super) fn knows(&self, number: u32) -> bool {
        self.keys.has(number)
    }

    /// A value that the same parts always give, and that nobody can tell without the key. It rests on the first key that the
    /// organization has, so that new keys leave it as it is.
    pub fn derived(&self, parts: &[&[u8]]) -> Result<Zeroizing<[u8; KEY_BYTES]>, StoreError> {
        let living = self.keys.keys.values().find(|key| key.key.is_some());
        let key = living.ok_or(StoreError::KeysDeleted)?;
        expanded(key, &joined(&[&[b"fullbench derive", self.purpose.as_str().as_bytes()], parts]))
    }

    /// The number of the newest key, and what seals the chunks of a content with it.
    pub(super) fn new_stream(
        &self,
        associated: &[u8],
    ) -> Result<(u32, XChaCha20Poly1305, Vec<u8>), StoreError> {
        let key = self.newest()?;
        let context = self.context(key.place, associated);
        Ok((key.place.number, self.cipher(key, IN_CHUNKS)?, context))
    }

    /// What opens the chunks of a content that was sealed with a key.
    pub(super) fn stream_of(
        &self,
        number: u32,
        associated: &[u8],
    ) -> Result<(XChaCha20Poly1305, Vec<u8>), StoreError> {
        let unknown = || StoreError::Damaged("a sealed content of an unknown key".to_owned());
        let key = self.keys.keys.get(&number).ok_or_else(unknown)?;
        Ok((self.cipher(key, IN_CHUNKS)?, self.context(key.place, associated)))
    }

    fn newest(&self) -> Result<&DataKey, StoreError> {
        let living = self.keys.keys.values().rev().find(|key| key.key.is_some());
        living.ok_or(StoreError::KeysDeleted)
    }

    fn cipher(&self, key: &DataKey, way: &[u8]) -> Result<XChaCha20Poly1305, StoreError> {
        let label = joined(&[&[way, self.purpose.as_str().as_bytes()]]);
        Ok(XChaCha20Poly1305::new(&Key::from(*expanded(key, &label)?)))
    }

    fn context(&self, place: DataKeyPlace, associated: &[u8]) -> Vec<u8> {
        joined(&[&[&[VERSION], self.purpose.as_str().as_bytes(), &place.bytes(), associated]])
    }
}

/// The number of the key that something was sealed with.
pub(crate) fn sealed_number(sealed: &[u8]) -> Result<u32, StoreError> {
    match sealed.split_first_chunk::<HEAD>() {
        Some(([VERSION, number @ ..], _)) => Ok(u32::from_be_bytes(*number)),
        _ => Err(StoreError::Damaged("a sealed value of an unknown format".to_owned())),
    }
}

/// A key made from a data key (HKDF-SHA-256, RFC 5869).
fn expanded(key: &DataKey, label: &[u8]) -> Result<Zeroizing<[u8; KEY_BYTES]>, StoreError> {
    let key = key.key.as_ref().ok_or(StoreError::KeysDeleted)?;
    let mut made = Zeroizing::new([0; KEY_BYTES]);
    if Hkdf::<Sha256>::new(None, &key[..]).expand(label, &mut *made).is_err() {
        unreachable!("HKDF gives as much as a key needs")
    }
    Ok(made)
}

/// Parts in one, each with its length, so that no two lists are the same.
pub(crate) fn joined(lists: &[&[&[u8]]]) -> Vec<u8> {
    let mut whole = Vec::new();
    for part in lists.iter().copied().flatten() {
        whole.extend_from_slice(&(part.len() as u64).to_be_bytes());
        whole.extend_from_slice(part);
    }
    whole
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use fullbench_types::OrganizationId;
    use uuid::Uuid;

    use super::*;

    fn sealer(organization: u128, numbers: &[(u32, Option<u8>)], purpose: Purpose) -> Sealer {
        let organization = OrganizationId(Uuid::from_u128(organization));
        let key = |(number, byte): &(u32, Option<u8>)| {
            let place = DataKeyPlace { organization, number: *number };
            (*number, DataKey { place, key: byte.map(|byte| Zeroizing::new([byte; KEY_BYTES])) })
        };
        let keys = DataKeys { keys: numbers.iter().map(key).collect() };
        Sealer::new(Arc::new(keys), purpose)
    }

    #[test]
    fn what_is_sealed_opens_for_the_same_organization_purpose_and_place_only() {
        let own = sealer(1, &[(1, Some(7))], Purpose::Text);
        let sealed = own.seal(b"hello", b"place").unwrap();
        assert_eq!(&**own.open(&sealed, b"place").unwrap(), b"hello");
        assert!(own.open(&sealed, b"elsewhere").is_err());
        assert!(sealer(2, &[(1, Some(7))], Purpose::Text).open(&sealed, b"place").is_err());
        assert!(sealer(1, &[(1, Some(7))], Purpose::Provider).open(&sealed, b"place").is_err());
        assert!(sealer(1, &[(1, Some(8))], Purpose::Text).open(&sealed, b"place").is_err());
        assert_ne!(sealed, own.seal(b"hello", b"place").unwrap(), "a nonce of its own each time");
        for place in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[place] ^= 1;
            assert!(own.open(&changed, b"place").is_err(), "byte {place}");
        }
        for length in 0..sealed.len() {
            assert!(own.open(&sealed[..length], b"place").is_err(), "{length} bytes");
        }
    }

    #[test]
    fn the_newest_key_seals_and_older_ones_open() {
        let old = sealer(1, &[(1, Some(7))], Purpose::Text).seal(b"old", b"").unwrap();
        let both = sealer(1, &[(1, Some(7)), (2, Some(8))], Purpose::Text);
        assert_eq!(&**both.open(&old, b"").unwrap(), b"old");
        assert_eq!(sealed_number(&both.seal(b"new", b"").unwrap()).unwrap(), 2);
        let first = sealer(1, &[(1, Some(7))], Purpose::Text);
        assert_eq!(both.derived(&[b"a"]).unwrap(), first.derived(&[b"a"]).unwrap());
    }

    #[test]
    fn what_a_deleted_key_sealed_is_gone() {
        let sealed = sealer(1, &[(1, Some(7))], Purpose::Text).seal(b"old", b"").unwrap();
        let deleted = sealer(1, &[(1, None)], Purpose::Text);
        assert!(matches!(deleted.open(&sealed, b""), Err(StoreError::KeysDeleted)));
        assert!(matches!(deleted.seal(b"x", b""), Err(StoreError::KeysDeleted)));
        let after = sealer(1, &[(1, None), (2, Some(8))], Purpose::Text);
        assert!(matches!(after.open(&sealed, b""), Err(StoreError::KeysDeleted)));
        assert_eq!(sealed_number(&after.seal(b"new", b"").unwrap()).unwrap(), 2);
    }

    #[test]
    fn derived_values_differ_by_purpose_and_by_where_parts_end() {
        let own = sealer(1, &[(1, Some(7))], Purpose::Webhook);
        let value = own.derived(&[b"ab", b"c"]).unwrap();
        assert_eq!(value, own.derived(&[b"ab", b"c"]).unwrap());
        assert_ne!(value, own.derived(&[b"a", b"bc"]).unwrap());
        let other = sealer(1, &[(1, Some(7))], Purpose::SignIn);
        assert_ne!(value, other.derived(&[b"ab", b"c"]).unwrap());
    }
}
