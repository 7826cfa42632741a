//! Secrets that are made from one key, so that none of them is kept.
//!
//! The key comes from who runs the server, or is made at the first start and kept in a file that only its owner reads.

use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fullbench_types::OrganizationId;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use uuid::Uuid;

/// The file with the key, in the home folder.
const FILE: &str = "secret.key";
/// Letters that a key has at least.
const SHORTEST: usize = 32;

/// What all secrets are made from.
#[derive(Clone)]
pub struct SecretKey(Vec<u8>);

impl fmt::Debug for SecretKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("SecretKey(…)")
    }
}

impl SecretKey {
    /// A key as somebody wrote it down; none if it is too short to be one.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        (text.len() >= SHORTEST).then(|| Self(text.as_bytes().to_vec()))
    }

    /// The key of a home folder, made if there is none yet.
    pub fn in_folder(home: &Path) -> io::Result<Self> {
        let path = home.join(FILE);
        match fs::read_to_string(&path) {
            Ok(text) => Self::new(&text).ok_or_else(|| {
                let problem = format!("{} holds no key of {SHORTEST} letters", path.display());
                io::Error::new(ErrorKind::InvalidData, problem)
            }),
            Err(error) if error.kind() == ErrorKind::NotFound => Self::make(&path),
            Err(error) => Err(named(&path, &error)),
        }
    }

    fn make(path: &Path) -> io::Result<Self> {
        let mut random = [0; 32];
        getrandom::fill(&mut random).map_err(|error| io::Error::other(error.to_string()))?;
        let text = STANDARD.encode(random);
        // Under another name first, so that a kill leaves no half a key.
        let unfinished = path.with_extension(format!("{}.new", Uuid::now_v7()));
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&unfinished).map_err(|error| named(path, &error))?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&unfinished, path).map_err(|error| named(path, &error))?;
        Ok(Self(text.into_bytes()))
    }

    /// The secret that signs what is sent to a webhook; each change of the secret has its number.
    pub(crate) fn of_webhook(&self, webhook: Uuid, number: u32) -> WebhookSecret {
        self.derived(&[b"webhook", webhook.as_bytes(), &number.to_be_bytes()])
    }

    /// The secret that signs what is sent to an address that a batch named.
    pub(crate) fn of_batches(&self, organization: OrganizationId) -> WebhookSecret {
        self.derived(&[b"batch", organization.0.as_bytes()])
    }

    /// A key for one purpose.
    pub(crate) fn of_purpose(&self, purpose: &str) -> [u8; 32] {
        authenticate(&self.0, &[b"purpose".as_slice(), purpose.as_bytes()].join(&0))
    }

    fn derived(&self, parts: &[&[u8]]) -> WebhookSecret {
        let purpose: Vec<u8> = parts.join(&0);
        WebhookSecret(authenticate(&self.0, &purpose).to_vec())
    }
}

/// A secret that a receiver has too.
pub(crate) struct WebhookSecret(Vec<u8>);

impl WebhookSecret {
    /// As it is shown to the receiver.
    pub(crate) fn shown(&self) -> String {
        format!("whsec_{}", STANDARD.encode(&self.0))
    }

    /// The signature of a message, as Standard Webhooks writes it.
    pub(crate) fn signature(&self, id: &str, timestamp: i64, body: &[u8]) -> String {
        let mut signed = format!("{id}.{timestamp}.").into_bytes();
        signed.extend_from_slice(body);
        format!("v1,{}", STANDARD.encode(authenticate(&self.0, &signed)))
    }
}

/// HMAC-SHA-256 (RFC 2104).
pub(crate) fn authenticate(key: &[u8], message: &[u8]) -> [u8; 32] {
    let Ok(mut code) = Hmac::<Sha256>::new_from_slice(key) else {
        unreachable!("HMAC takes keys of every length")
    };
    code.update(message);
    code.finalize().into_bytes().into()
}

fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn signatures_are_those_of_the_standard() {
        let secret = STANDARD.decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let body = br#"{"test": 2432232314}"#;
        assert_eq!(
            WebhookSecret(secret).signature("msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, body),
            "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
        );
    }

    #[test]
    fn every_webhook_and_every_change_has_its_own_secret() {
        let key = SecretKey::new(&"k".repeat(32)).unwrap();
        let (one, other) = (Uuid::now_v7(), Uuid::now_v7());
        let secret = key.of_webhook(one, 1).shown();
        assert_eq!(secret, key.of_webhook(one, 1).shown());
        assert_ne!(secret, key.of_webhook(one, 2).shown());
        assert_ne!(secret, key.of_webhook(other, 1).shown());
        assert_eq!(format!("{key:?}"), "SecretKey(…)");
        assert!(SecretKey::new("short").is_none());
    }

    #[test]
    fn a_folder_keeps_its_key_for_its_owner_alone() {
        let home = tempfile::tempdir().unwrap();
        let made = SecretKey::in_folder(home.path()).unwrap();
        assert_eq!(SecretKey::in_folder(home.path()).unwrap().0, made.0);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = fs::metadata(home.path().join(FILE)).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        fs::write(home.path().join(FILE), "cut").unwrap();
        assert!(SecretKey::in_folder(home.path()).is_err());
    }
}
