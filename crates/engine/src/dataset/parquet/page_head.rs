//! The head of a page as the file has it: how large the page says it is, read without believing any of it.
//!
//! The reader of Parquet files has no way to ask for heads.

use std::io::{Read, Result};

use super::thrift::{Compact, STRUCT, damaged};

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
        let mut thrift = Compact::new(source);
        // Fields that the reader knows must be of the kind it takes them for.
        thrift.each_field(0, &mut |thrift, field, kind| match field {
            1 | 4 => thrift.integer(kind).map(drop),
            2 => once(&mut uncompressed, thrift.integer(kind)?),
            3 => once(&mut compressed, thrift.integer(kind)?),
            // Pages of values, of a dictionary, and of values of the second version: the first number is how many.
            5 | 7 | 8 if kind == STRUCT => {
                let page = field;
                is_dictionary |= page == 7;
                thrift.each_field(1, &mut |thrift, field, kind| match (page, field) {
                    (_, 1) => once(&mut values, thrift.integer(kind)?),
                    (8, 5) => once(&mut definitions, thrift.integer(kind)?),
                    (8, 6) => once(&mut repetitions, thrift.integer(kind)?),
                    (5 | 8, 2..=4) | (7, 2) => thrift.integer(kind).map(drop),
                    (7, 3) | (8, 7) if !matches!(kind, 1 | 2) => Err(damaged()),
                    _ => thrift.skip(kind, 1),
                })
            }
            5..=8 => thrift.skip_one(kind, STRUCT, 0),
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
        // A type that says it is a text, and a size that is said by a field whose number is cut to 16 bits.
        let other_kind = [0x18, 0x00, 0x15, 0x02, 0x15, 0x02, 0x00];
        let long_number = [0x25, 0x02, 0x15, 0x02, 0x05, 0x84, 0x80, 0x08, 0x7e, 0x00];
        for bytes in [&other_kind[..], &long_number] {
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
