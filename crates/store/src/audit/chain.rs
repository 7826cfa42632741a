//! Hashes that tie an entry to the one before, and the seal on the last of them.

use std::fmt;
use std::str::FromStr;

use fullbench_types::OrganizationId;
use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::AuditEntry;

/// What every hash begins with, so that it is the hash of nothing else.
const DOMAIN: &[u8] = b"fullbench audit entry 1";
/// What every seal begins with, on a log of which the log of the installation tells that it began.
const HEAD_DOMAIN: &[u8] = b"fullbench audit head 2";
/// What seals began with before that was told.
const UNTOLD_HEAD_DOMAIN: &[u8] = b"fullbench audit head 1";

/// What the first entry of a chain follows.
pub(super) const NO_HASH: AuditHash = AuditHash([0; 32]);

/// SHA-256 of an entry, written in hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct AuditHash(pub(super) [u8; 32]);

impl AuditHash {
    /// The hash of these bytes in a database; that of nothing where they cannot be one.
    pub(super) fn from_stored(bytes: &[u8]) -> Self {
        bytes.try_into().map_or(NO_HASH, Self)
    }
}

impl fmt::Display for AuditHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}

impl fmt::Debug for AuditHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{self}")
    }
}

impl FromStr for AuditHash {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no hash of 64 hexadecimal digits");
        if text.len() != 64 || !text.is_ascii() {
            return Err(wrong());
        }
        let mut bytes = [0; 32];
        for (place, byte) in bytes.iter_mut().enumerate() {
            let digits = &text[place * 2..place * 2 + 2];
            *byte = u8::from_str_radix(digits, 16).map_err(|_| wrong())?;
        }
        Ok(Self(bytes))
    }
}

impl From<AuditHash> for String {
    fn from(hash: AuditHash) -> Self {
        hash.to_string()
    }
}

impl TryFrom<String> for AuditHash {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl AuditEntry {
    /// The hash that it should have. Every field is written with its length, so that no two entries are written alike.
    #[must_use]
    pub fn computed_hash(&self) -> AuditHash {
        let Self {
            organization_id,
            number,
            at,
            actor,
            credential,
            from_address,
            request_id,
            action,
            target,
            phase,
            status,
            before,
            after,
            previous_hash,
            hash: _,
        } = self;
        let mut digest = Sha256::new();
        let mut field = |content: Option<&[u8]>| match content {
            Some(content) => {
                digest.update([1]);
                digest.update((content.len() as u64).to_be_bytes());
                digest.update(content);
            }
            None => digest.update([0]),
        };
        field(Some(DOMAIN));
        field(Some(organization_id.as_bytes()));
        field(Some(&number.to_be_bytes()));
        field(Some(&at.to_be_bytes()));
        field(Some(actor.as_bytes()));
        field(credential.as_ref().map(String::as_bytes));
        field(from_address.as_ref().map(String::as_bytes));
        field(request_id.as_ref().map(String::as_bytes));
        field(Some(action.as_bytes()));
        field(target.as_ref().map(String::as_bytes));
        field(Some(phase.as_bytes()));
        field(status.map(i64::to_be_bytes).as_ref().map(<[u8; 8]>::as_slice));
        field(before.as_ref().map(String::as_bytes));
        field(after.as_ref().map(String::as_bytes));
        field(Some(&previous_hash.0));
        AuditHash(digest.finalize().into())
    }
}

/// What heads are sealed with. It is not in the database: who changes the one cannot make the other.
#[derive(Clone)]
pub struct AuditKey([u8; 32]);

impl fmt::Debug for AuditKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("AuditKey(…)")
    }
}

impl AuditKey {
    /// A key of these bytes.
    #[must_use]
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    fn code(
        &self,
        domain: &[u8],
        organization: OrganizationId,
        number: u64,
        hash: AuditHash,
    ) -> Hmac<Sha256> {
        let Ok(mut code) = Hmac::<Sha256>::new_from_slice(&self.0) else {
            unreachable!("HMAC takes keys of every length")
        };
        code.update(domain);
        code.update(organization.0.as_bytes());
        code.update(&number.to_be_bytes());
        code.update(&hash.0);
        code
    }

    /// The head of a chain whose newest entry is this one.
    pub(super) fn seal(
        &self,
        organization: OrganizationId,
        number: u64,
        hash: AuditHash,
    ) -> AuditHead {
        self.seal_in(HEAD_DOMAIN, organization, number, hash)
    }

    /// The same, as it was sealed before it was told that logs begin.
    #[cfg(test)]
    pub(super) fn seal_untold(
        &self,
        organization: OrganizationId,
        number: u64,
        hash: AuditHash,
    ) -> AuditHead {
        self.seal_in(UNTOLD_HEAD_DOMAIN, organization, number, hash)
    }

    fn seal_in(
        &self,
        domain: &[u8],
        organization: OrganizationId,
        number: u64,
        hash: AuditHash,
    ) -> AuditHead {
        let mac = self.code(domain, organization, number, hash).finalize().into_bytes().into();
        AuditHead { organization_id: organization, number, hash, mac: AuditHash(mac) }
    }

    /// Whether a head was sealed with this key.
    pub(super) fn has_sealed(&self, head: &AuditHead) -> bool {
        self.has_sealed_told(head) || self.has_sealed_in(UNTOLD_HEAD_DOMAIN, head)
    }

    /// Whether a head was sealed with this key, and the log of the installation tells that its log began.
    pub(super) fn has_sealed_told(&self, head: &AuditHead) -> bool {
        self.has_sealed_in(HEAD_DOMAIN, head)
    }

    fn has_sealed_in(&self, domain: &[u8], head: &AuditHead) -> bool {
        let code = self.code(domain, head.organization_id, head.number, head.hash);
        code.verify_slice(&head.mac.0).is_ok()
    }
}

/// The end of a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AuditHead {
    /// Whose chain it is.
    pub organization_id: OrganizationId,
    /// The number of its newest entry; 0 where there is none.
    pub number: u64,
    /// The hash of this entry.
    pub hash: AuditHash,
    /// The seal of the server.
    pub mac: AuditHash,
}
