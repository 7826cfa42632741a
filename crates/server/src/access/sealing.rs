//! Small secrets that are kept sealed: opened by this server alone, and only for what they were sealed for.

use chacha20poly1305::aead::{Aead, Payload};
use chacha20poly1305::{KeyInit, XChaCha20Poly1305, XNonce};

use crate::app::App;
use crate::problem::{INTERNAL, Problem};

/// Bytes of the nonce that a sealed secret begins with.
const NONCE: usize = 24;

/// Seals a secret for a purpose, and for somebody or something.
pub(super) fn seal(
    app: &App,
    purpose: &str,
    subject: &[u8],
    secret: &[u8],
) -> Result<Vec<u8>, Problem> {
    let failed = || Problem::new(INTERNAL, "a secret could not be sealed");
    let mut nonce = [0; NONCE];
    getrandom::fill(&mut nonce).map_err(|_| failed())?;
    let payload = Payload { msg: secret, aad: subject };
    let sealed =
        cipher(app, purpose).encrypt(&XNonce::from(nonce), payload).map_err(|_| failed())?;
    Ok([nonce.as_slice(), &sealed].concat())
}

/// Opens what was sealed for the same; none where it was not.
pub(super) fn open(app: &App, purpose: &str, subject: &[u8], sealed: &[u8]) -> Option<Vec<u8>> {
    let (nonce, sealed) = sealed.split_first_chunk::<NONCE>()?;
    let payload = Payload { msg: sealed, aad: subject };
    cipher(app, purpose).decrypt(&XNonce::from(*nonce), payload).ok()
}

fn cipher(app: &App, purpose: &str) -> XChaCha20Poly1305 {
    XChaCha20Poly1305::new(&app.secret_key().of_purpose(purpose).into())
}
