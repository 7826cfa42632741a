//! The head of a page as the file has it: how large the page says it is, read without believing any of it.
//!
//! Heads are written in Thrift's compact protocol. The reader of Parquet files has no way to ask for them, and readers of Thrift
//! make room for as much as a length says; here nothing is kept but three numbers.

use std::io::{Error, ErrorKind, Read, Result};

/// Structs within each other that a head may have.
const DEEPEST: u32 = 16;

/// What a page says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PageHead {
    /// Bytes once it is decompressed.
    pub(super) uncompressed: u64,
    /// Bytes in the file, after the head.
    pub(super) compressed: u64,
    /// Values, or entries of lists.
    pub(super) values: u64,
    /// Bytes at the beginning that are not compressed.
    pub(super) levels: u64,
    /// It is a page of values that others refer to.
    pub(super) is_dictionary: bool,
}

impl PageHead {
    /// Reads the head that stands here.
    pub(super) fn read(source: &mut impl Read) -> Result<Self> {
        let (mut uncompressed, mut compressed, mut values) = (None, None, None);
        let (mut definitions, mut repetitions, mut is_dictionary) = (None, None, false);
        let mut thrift = Compact { source };
        thrift.each_field(0, &mut |thrift, field, kind| match field {
            2 => once(&mut uncompressed, thrift.integer(kind)?),
            3 => once(&mut compressed, thrift.integer(kind)?),
            // Pages of values, of a dictionary, and of values of the second version: the first number is how many.
            5 | 7 | 8 if kind == STRUCT => {
                let is_second_version = field == 8;
                is_dictionary |= field == 7;
                thrift.each_field(1, &mut |thrift, field, kind| match field {
                    1 => once(&mut values, thrift.integer(kind)?),
                    5 if is_second_version => once(&mut definitions, thrift.integer(kind)?),
                    6 if is_second_version => once(&mut repetitions, thrift.integer(kind)?),
                    _ => thrift.skip(kind, 1),
                })
            }
            _ => thrift.skip(kind, 0),
        })?;
        match (uncompressed, compressed) {
            (Some(uncompressed), Some(compressed)) => {
                let levels = definitions.unwrap_or(0).saturating_add(repetitions.unwrap_or(0));
                let values = values.unwrap_or(0);
                Ok(Self { uncompressed, compressed, values, levels, is_dictionary })
            }
            _ => Err(damaged()),
        }
    }
}

/// Two numbers for the same thing could be read as either.
fn once(place: &mut Option<u64>, number: i64) -> Result<()> {
    let number = u64::try_from(number).map_err(|_| damaged())?;
    match place.replace(number) {
        None => Ok(()),
        Some(_) => Err(damaged()),
    }
}

fn damaged() -> Error {
    Error::new(ErrorKind::InvalidData, "the head of a page is damaged")
}

const BYTE: u8 = 3;
const DOUBLE: u8 = 7;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const SET: u8 = 10;
const MAP: u8 = 11;
const STRUCT: u8 = 12;

/// Thrift's compact protocol.
struct Compact<'source, R> {
    source: &'source mut R,
}

/// Takes a field by its number and kind.
type FieldSink<'sink, 'source, R> =
    &'sink mut dyn FnMut(&mut Compact<'source, R>, i64, u8) -> Result<()>;

impl<'source, R: Read> Compact<'source, R> {
    fn byte(&mut self) -> Result<u8> {
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

    fn integer(&mut self, kind: u8) -> Result<i64> {
        match kind {
            4..=6 => self.zigzag(),
            _ => Err(damaged()),
        }
    }

    fn each_field(&mut self, depth: u32, take: FieldSink<'_, 'source, R>) -> Result<()> {
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
            take(self, field, head & 0xf)?;
        }
    }

    /// Passes a value over.
    fn skip(&mut self, kind: u8, depth: u32) -> Result<()> {
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
                let head = self.byte()?;
                let length = if head >> 4 == 0xf { self.varint()? } else { u64::from(head >> 4) };
                self.skip_many(length, &[head & 0xf], depth + 1)
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
                // In a list a truth value takes a byte.
                self.skip(if matches!(kind, 1 | 2) { BYTE } else { *kind }, depth)?;
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use proptest::prelude::*;

    use super::*;

    /// Type 0, 300 bytes, 20 in the file, a checksum, 7 values with an encoding and statistics that have two texts.
    const HEAD: [u8; 24] = [
        0x15, 0x00, 0x15, 0xd8, 0x04, 0x15, 0x28, 0x15, 0x02, 0x1c, 0x15, 0x0e, 0x15, 0x00, 0x3c,
        0x18, 0x01, b'a', 0x18, 0x01, b'z', 0x00, 0x00, 0x00,
    ];

    #[test]
    fn a_head_says_how_large_its_page_is() {
        let mut rest = &HEAD[..];
        let head = PageHead::read(&mut rest).unwrap();
        assert_eq!(
            head,
            PageHead {
                uncompressed: 300,
                compressed: 20,
                values: 7,
                levels: 0,
                is_dictionary: false
            }
        );
        assert!(rest.is_empty(), "{rest:?}");
    }

    #[test]
    fn a_head_that_says_two_things_or_none_is_refused() {
        let twice = [0x25, 0x02, 0x15, 0x02, 0x05, 0x04, 0x04, 0x00];
        let negative = [0x25, 0x01, 0x15, 0x02, 0x00];
        for bytes in [&twice[..], &negative, &[0x00], &[], &[0x25]] {
            assert!(PageHead::read(&mut &*bytes).is_err(), "{bytes:?}");
        }
        // Structs in structs, without an end.
        assert!(PageHead::read(&mut &[0x1c; 100_000][..]).is_err());
    }

    proptest! {
        #[test]
        fn whatever_stands_there_is_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = PageHead::read(&mut &bytes[..]);
        }
    }
}
