//! Files whose content is sealed in chunks, so that none is ever whole in memory.
//!
//! A sealed file begins with [`MAGIC`], a version, the number of its key and a nonce. A plain file begins with itself; one that
//! would begin with the magic bytes has them and a 0 before it, so that none is ever taken for a sealed one.

use bytes::{Buf, Bytes, BytesMut};

use crate::StoreError;
use crate::vault::{CHUNK_BYTES, HEAD_BYTES, Sealer, StreamOpener, StreamSealer, TAG_BYTES};

/// What a file begins with that is not its content alone.
const MAGIC: &[u8; 16] = b"\x8ffullbench-seal\n";
/// The version of a file whose content follows as it is.
const PLAIN: u8 = 0;
/// The version of a file that is sealed.
const SEALED: u8 = 1;
/// The bytes before the first chunk.
pub(super) const FILE_HEAD: usize = MAGIC.len() + 1 + HEAD_BYTES;
/// Bytes of a whole chunk as it is kept.
const SEALED_CHUNK: usize = CHUNK_BYTES + TAG_BYTES;

/// Makes of a content what is kept of it.
pub(super) enum FileWriter {
    /// Nothing is sealed; the beginning waits until it is long enough to be told from a sealed one.
    Plain { beginning: Option<BytesMut> },
    /// All of it is sealed.
    Sealed { head: Option<Bytes>, sealer: StreamSealer, waiting: BytesMut },
}

impl FileWriter {
    /// For a file of this key; sealed where there is a sealer.
    pub(super) fn new(sealer: Option<&Sealer>, key: &str) -> Result<Self, StoreError> {
        let Some(sealer) = sealer else {
            return Ok(Self::Plain { beginning: Some(BytesMut::new()) });
        };
        let (head, sealer) = sealer.seal_stream(key.as_bytes())?;
        let head = [MAGIC.as_slice(), &[SEALED], &head].concat();
        Ok(Self::Sealed { head: Some(head.into()), sealer, waiting: BytesMut::new() })
    }

    /// What is to be written when a piece of the content has come.
    pub(super) fn push(&mut self, piece: Bytes) -> Result<Vec<Bytes>, StoreError> {
        match self {
            Self::Plain { beginning } => {
                let Some(mut begun) = beginning.take() else { return Ok(vec![piece]) };
                begun.extend_from_slice(&piece);
                if begun.len() < MAGIC.len() {
                    *beginning = Some(begun);
                    return Ok(Vec::new());
                }
                Ok(escaped(begun))
            }
            Self::Sealed { head, sealer, waiting } => {
                let mut written: Vec<Bytes> = head.take().into_iter().collect();
                waiting.extend_from_slice(&piece);
                // The last chunk is sealed as such: one is always left for the end.
                while waiting.len() > CHUNK_BYTES {
                    written.push(sealer.next(&waiting.split_to(CHUNK_BYTES))?.into());
                }
                Ok(written)
            }
        }
    }

    /// What is to be written at the end.
    pub(super) fn finish(self) -> Result<Vec<Bytes>, StoreError> {
        match self {
            Self::Plain { beginning } => Ok(beginning.map_or_else(Vec::new, escaped)),
            Self::Sealed { head, sealer, waiting } => {
                let last = sealer.last(&waiting)?.into();
                Ok(head.into_iter().chain([last]).collect())
            }
        }
    }
}

/// The beginning of a plain file.
fn escaped(beginning: BytesMut) -> Vec<Bytes> {
    match beginning.starts_with(MAGIC) {
        true => vec![[MAGIC.as_slice(), &[PLAIN]].concat().into(), beginning.freeze()],
        false => vec![beginning.freeze()],
    }
}

/// What a file is, by its beginning.
pub(super) enum FileKind {
    /// Its content follows after so many bytes.
    Plain { skipped: usize },
    /// It is sealed.
    Sealed(Box<[u8; HEAD_BYTES]>),
}

impl FileKind {
    /// What begins with these bytes: all of the file, or [`FILE_HEAD`] of it.
    pub(super) fn of(beginning: &[u8]) -> Result<Self, StoreError> {
        let damaged = || StoreError::Damaged("a sealed file is cut off".to_owned());
        let Some(rest) = beginning.strip_prefix(MAGIC) else {
            return Ok(Self::Plain { skipped: 0 });
        };
        match rest.split_first() {
            Some((&PLAIN, _)) => Ok(Self::Plain { skipped: MAGIC.len() + 1 }),
            Some((&SEALED, rest)) => {
                let head = rest.first_chunk::<HEAD_BYTES>().ok_or_else(damaged)?;
                Ok(Self::Sealed(Box::new(*head)))
            }
            _ => Err(damaged()),
        }
    }

    /// The size of the content of a file of this size.
    pub(super) fn content_size(&self, size: u64) -> u64 {
        match self {
            Self::Plain { skipped } => size.saturating_sub(*skipped as u64),
            Self::Sealed(_) => {
                let sealed = size.saturating_sub(FILE_HEAD as u64);
                let chunks = sealed.div_ceil(SEALED_CHUNK as u64).max(1);
                sealed.saturating_sub(chunks * TAG_BYTES as u64)
            }
        }
    }
}

/// Opens what is kept of a sealed file.
pub(super) struct FileOpener {
    opener: StreamOpener,
    waiting: BytesMut,
}

impl FileOpener {
    /// Of the file of this key.
    pub(super) fn new(
        sealer: &Sealer,
        head: &[u8; HEAD_BYTES],
        key: &str,
    ) -> Result<Self, StoreError> {
        let opener = sealer.open_stream(head, key.as_bytes())?;
        Ok(Self { opener, waiting: BytesMut::new() })
    }

    /// The content of whole chunks that have come.
    pub(super) fn push(&mut self, piece: &[u8]) -> Result<Bytes, StoreError> {
        self.waiting.extend_from_slice(piece);
        let mut content = Vec::new();
        while self.waiting.len() > SEALED_CHUNK {
            content.extend_from_slice(&self.opener.next(&self.waiting[..SEALED_CHUNK])?);
            self.waiting.advance(SEALED_CHUNK);
        }
        Ok(content.into())
    }

    /// The content of the last chunk.
    pub(super) fn finish(self) -> Result<Bytes, StoreError> {
        Ok(self.opener.last(&self.waiting)?.into())
    }
}
