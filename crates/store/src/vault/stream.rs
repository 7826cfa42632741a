//! Sealing of contents of any size, a chunk at a time.
//!
//! The STREAM construction (Hoang, Reyhanitabar, Rogaway, Vizár 2015) with XChaCha20-Poly1305: every chunk is authenticated with
//! its place and whether it is the last, so that one that is missing, moved or cut off is found.

use aead_stream::{DecryptorBE32, EncryptorBE32};
use chacha20poly1305::XChaCha20Poly1305;
use chacha20poly1305::aead::Payload;

use super::random;
use super::sealer::Sealer;
use crate::StoreError;

/// Bytes of a chunk before it is sealed.
pub(crate) const CHUNK_BYTES: usize = 64 * 1024;
/// Bytes that sealing adds to a chunk.
pub(crate) const TAG_BYTES: usize = 16;
/// Bytes of the nonce that all chunks have in common.
const NONCE_BYTES: usize = 19;
/// Bytes before the first chunk: the number of the key, and the nonce.
pub(crate) const HEAD_BYTES: usize = 4 + NONCE_BYTES;

/// Seals a content, a chunk at a time.
pub(crate) struct StreamSealer {
    encryptor: EncryptorBE32<XChaCha20Poly1305>,
    context: Vec<u8>,
}

/// Opens a content, a chunk at a time.
pub(crate) struct StreamOpener {
    decryptor: DecryptorBE32<XChaCha20Poly1305>,
    context: Vec<u8>,
}

impl Sealer {
    /// What seals a content, and what is to be written before it. It opens with the same associated data only.
    pub(crate) fn seal_stream(
        &self,
        associated: &[u8],
    ) -> Result<([u8; HEAD_BYTES], StreamSealer), StoreError> {
        let nonce = random::<NONCE_BYTES>()?;
        let (number, cipher, context) = self.new_stream(associated)?;
        let mut head = [0; HEAD_BYTES];
        head[..4].copy_from_slice(&number.to_be_bytes());
        head[4..].copy_from_slice(&nonce);
        let encryptor = EncryptorBE32::from_aead(cipher, &nonce.into());
        Ok((head, StreamSealer { encryptor, context }))
    }

    /// What opens the content that this was written before.
    pub(crate) fn open_stream(
        &self,
        head: &[u8; HEAD_BYTES],
        associated: &[u8],
    ) -> Result<StreamOpener, StoreError> {
        let ([a, b, c, d, ..], mut nonce) = (*head, [0; NONCE_BYTES]);
        nonce.copy_from_slice(&head[4..]);
        let (cipher, context) = self.stream_of(u32::from_be_bytes([a, b, c, d]), associated)?;
        let decryptor = DecryptorBE32::from_aead(cipher, &nonce.into());
        Ok(StreamOpener { decryptor, context })
    }
}

impl StreamSealer {
    /// The next chunk.
    pub(crate) fn next(&mut self, chunk: &[u8]) -> Result<Vec<u8>, StoreError> {
        let payload = Payload { msg: chunk, aad: &self.context };
        self.encryptor
            .encrypt_next(payload)
            .map_err(|_| StoreError::Damaged("a content is too long to be sealed".to_owned()))
    }

    /// The last chunk.
    pub(crate) fn last(self, chunk: &[u8]) -> Result<Vec<u8>, StoreError> {
        let payload = Payload { msg: chunk, aad: &self.context };
        self.encryptor
            .encrypt_last(payload)
            .map_err(|_| StoreError::Damaged("a content is too long to be sealed".to_owned()))
    }
}

impl StreamOpener {
    /// The next chunk.
    pub(crate) fn next(&mut self, chunk: &[u8]) -> Result<Vec<u8>, StoreError> {
        let payload = Payload { msg: chunk, aad: &self.context };
        self.decryptor.decrypt_next(payload).map_err(|_| damaged())
    }

    /// The last chunk.
    pub(crate) fn last(self, chunk: &[u8]) -> Result<Vec<u8>, StoreError> {
        let payload = Payload { msg: chunk, aad: &self.context };
        self.decryptor.decrypt_last(payload).map_err(|_| damaged())
    }
}

fn damaged() -> StoreError {
    StoreError::Damaged("a sealed content was changed, cut off or moved".to_owned())
}
