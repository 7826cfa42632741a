//! Secrets that open something: random, shown once, kept as hashes.

use fullbench_store::KeptSecret;
use sha2::{Digest, Sha256};

use crate::problem::{INTERNAL, Problem};

/// Letters of a secret that are shown.
const SHOWN: usize = 10;

/// A new secret, and what is kept of it.
pub(crate) struct NewSecret {
    /// The secret itself.
    pub(crate) shown_once: String,
    /// What is kept of it.
    pub(crate) kept: KeptSecret,
}

impl NewSecret {
    /// 256 random bits after a prefix, by which it is recognized where it should not be.
    pub(crate) fn new(prefix: &str) -> Result<Self, Problem> {
        let mut random = [0; 32];
        getrandom::fill(&mut random).map_err(|error| {
            Problem::new(INTERNAL, format!("no random numbers can be had: {error}"))
        })?;
        let secret = format!("{prefix}{}", hex(&random));
        let kept = KeptSecret { prefix: secret[..SHOWN].to_owned(), hash: hex(&hash_of(&secret)) };
        Ok(Self { shown_once: secret, kept })
    }
}

/// What is kept of a secret, to find it again.
pub(crate) fn hash_of(secret: &str) -> [u8; 32] {
    Sha256::digest(secret.as_bytes()).into()
}

pub(crate) fn hex(bytes: &[u8; 32]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
