//! Thrift's compact protocol, read without believing any of it.
//!
//! Readers of Thrift make room for as much as a length says, and go as deep as what is written there. Here nothing is kept, and
//! there is an end to how deep it goes. What could be read in two ways is refused: the reader of Parquet files takes a field for
//! what its number says, whatever kind is written with it, and cuts numbers of fields to 16 bits.

use std::io::{Error, ErrorKind, Read, Result};

/// Structs and lists within each other that are passed over.
const DEEPEST: u32 = 16;

pub(super) const BYTE: u8 = 3;
const DOUBLE: u8 = 7;
pub(super) const BINARY: u8 = 8;
pub(super) const LIST: u8 = 9;
const SET: u8 = 10;
const MAP: u8 = 11;
pub(super) const STRUCT: u8 = 12;

/// What is refused.
pub(super) fn damaged() -> Error {
    Error::new(ErrorKind::InvalidData, "what it says of itself is damaged")
}

/// A place in what is written in the protocol.
pub(super) struct Compact<'source, R> {
    source: &'source mut R,
}

/// Takes a field by its number and kind.
pub(super) type FieldSink<'sink, 'source, R> =
    &'sink mut dyn FnMut(&mut Compact<'source, R>, i64, u8) -> Result<()>;

impl<'source, R: Read> Compact<'source, R> {
    pub(super) fn new(source: &'source mut R) -> Self {
        Self { source }
    }

    pub(super) fn byte(&mut self) -> Result<u8> {
        let mut byte = [0];
        self.source.read_exact(&mut byte)?;
        Ok(byte[0])
    }

    fn varint(&mut self) -> Result<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(damaged())
    }

    fn zigzag(&mut self) -> Result<i64> {
        let number = self.varint()?;
        Ok((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }

    /// A number, where the kind says that one is there.
    pub(super) fn integer(&mut self, kind: u8) -> Result<i64> {
        match kind {
            4..=6 => self.zigzag(),
            _ => Err(damaged()),
        }
    }

    /// Gives every field of a struct to `take`.
    pub(super) fn each_field(&mut self, depth: u32, take: FieldSink<'_, 'source, R>) -> Result<()> {
        if depth > DEEPEST {
            return Err(damaged());
        }
        let mut field = 0;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Ok(());
            }
            field = match head >> 4 {
                0 => self.zigzag()?,
                step => field + i64::from(step),
            };
            if i16::try_from(field).is_err() {
                return Err(damaged());
            }
            take(self, field, head & 0xf)?;
        }
    }

    /// The kind of the entries of a list, and how many there are.
    pub(super) fn list(&mut self) -> Result<(u8, u64)> {
        let head = self.byte()?;
        let length = if head >> 4 == 0xf { self.varint()? } else { u64::from(head >> 4) };
        Ok((head & 0xf, length))
    }

    /// Passes a value over, if it is of this kind.
    pub(super) fn skip_one(&mut self, kind: u8, expected: u8, depth: u32) -> Result<()> {
        match kind == expected {
            true => self.skip(kind, depth),
            false => Err(damaged()),
        }
    }

    /// Passes a value over.
    pub(super) fn skip(&mut self, kind: u8, depth: u32) -> Result<()> {
        match kind {
            1 | 2 => Ok(()),
            BYTE => self.byte().map(drop),
            4..=6 => self.varint().map(drop),
            DOUBLE => self.pass(8),
            BINARY => {
                let length = self.varint()?;
                self.pass(length)
            }
            LIST | SET => {
                let (kind, length) = self.list()?;
                self.skip_many(length, &[kind], depth + 1)
            }
            MAP => match self.varint()? {
                0 => Ok(()),
                length => {
                    let kinds = self.byte()?;
                    self.skip_many(length, &[kinds >> 4, kinds & 0xf], depth + 1)
                }
            },
            STRUCT => {
                self.each_field(depth + 1, &mut |thrift, _, kind| thrift.skip(kind, depth + 1))
            }
            _ => Err(damaged()),
        }
    }

    fn skip_many(&mut self, length: u64, kinds: &[u8], depth: u32) -> Result<()> {
        if depth > DEEPEST {
            return Err(damaged());
        }
        for _ in 0..length {
            for kind in kinds {
                // In a list a truth value takes a byte, which the reader of Parquet files does not pass over.
                match kind {
                    1 | 2 => return Err(damaged()),
                    kind => self.skip(*kind, depth)?,
                }
            }
        }
        Ok(())
    }

    fn pass(&mut self, bytes: u64) -> Result<()> {
        match std::io::copy(&mut self.source.by_ref().take(bytes), &mut std::io::sink())? {
            passed if passed == bytes => Ok(()),
            _ => Err(ErrorKind::UnexpectedEof.into()),
        }
    }
}
