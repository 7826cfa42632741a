//! The end of a Parquet file, where its schema stands, looked at before the reader believes it.
//!
//! The reader goes one call deeper for every level of the schema, and makes room for as many children as a group says it has: a
//! small file could overflow the stack, which ends the process, or fill memory. What stands after the schema is held to the size
//! of the footer by the reader itself.

use std::fs::File;
use std::io::{Error, Read, Seek, SeekFrom};

use super::bounds::Unfit;
use super::thrift::{BINARY, BYTE, Compact, LIST, STRUCT, damaged};

/// What a footer may have. That of a file with 1,000 columns in 100 row groups has about 10 MB.
const MOST_BYTES: u64 = 16 << 20;
/// Groups within each other that a schema may have.
const DEEPEST: usize = 64;
/// Columns and groups that a schema may have together.
const MOST_ELEMENTS: u64 = 65_536;
/// The length of the footer, and four letters.
const TAIL_BYTES: u64 = 8;

/// Looks at the footer of a file, of which nothing is unfolded or kept. What is no Parquet file is left to the reader, which says
/// so without reading on.
pub(super) fn check(file: &mut File) -> Result<(), Unfit> {
    let size = file.seek(SeekFrom::End(0))?;
    let Some(end) = size.checked_sub(TAIL_BYTES) else { return Ok(()) };
    let (mut length, mut letters) = ([0; 4], [0; 4]);
    file.seek(SeekFrom::Start(end))?;
    file.read_exact(&mut length)?;
    file.read_exact(&mut letters)?;
    if letters != *b"PAR1" {
        return Ok(());
    }
    let length = u64::from(u32::from_le_bytes(length));
    let Some(start) = end.checked_sub(length) else {
        return Err(Error::other("it says that it is longer than it is").into());
    };
    if length > MOST_BYTES {
        return Err(Unfit::TooLarge("what it says of its columns and row groups is too long"));
    }
    file.seek(SeekFrom::Start(start))?;
    let mut footer = Vec::new();
    file.take(length).read_to_end(&mut footer)?;
    check_schema(&footer)
}

/// Looks at the schema, which stands first but for the version of the format.
fn check_schema(mut footer: &[u8]) -> Result<(), Unfit> {
    let mut thrift = Compact::new(&mut footer);
    // Fields 1 and 2, as every writer begins: other ways to say the same could be read as something else.
    if thrift.byte()? != 0x15 {
        return Err(damaged().into());
    }
    thrift.integer(5)?;
    if thrift.byte()? != 0x10 | LIST {
        return Err(damaged().into());
    }
    let (kind, elements) = thrift.list()?;
    if kind != STRUCT {
        return Err(damaged().into());
    }
    if elements > MOST_ELEMENTS {
        return Err(Unfit::TooLarge("it has too many columns"));
    }
    // Children that are still to come, of each group that is open.
    let mut open: Vec<u64> = Vec::new();
    for element in 0..elements {
        if let Some(expected) = open.last_mut() {
            *expected -= 1;
        } else if element > 0 {
            return Err(damaged().into());
        }
        let children = children(&mut thrift)?;
        if children > elements - element - 1 {
            return Err(damaged().into());
        }
        open.push(children);
        while open.last() == Some(&0) {
            open.pop();
        }
        if open.len() > DEEPEST {
            return Err(Unfit::TooLarge("its columns are too deep within each other"));
        }
    }
    Ok(())
}

/// Passes an element of the schema over, and says how many children it has. Fields that the reader knows must be of the kind it
/// takes them for.
fn children<R: Read>(thrift: &mut Compact<'_, R>) -> std::io::Result<u64> {
    let mut children = None;
    thrift.each_field(1, &mut |thrift, field, kind| match field {
        5 => {
            let number = u64::try_from(thrift.integer(kind)?).map_err(|_| damaged())?;
            match children.replace(number) {
                None => Ok(()),
                Some(_) => Err(damaged()),
            }
        }
        1..=3 | 6..=9 => thrift.integer(kind).map(drop),
        4 => thrift.skip_one(kind, BINARY, 1),
        10 if kind == STRUCT => skip_logical_type(thrift),
        10 => Err(damaged()),
        _ => thrift.skip(kind, 1),
    })?;
    Ok(children.unwrap_or(0))
}

/// Passes over what the values of a column mean.
fn skip_logical_type<R: Read>(thrift: &mut Compact<'_, R>) -> std::io::Result<()> {
    thrift.each_field(2, &mut |thrift, meaning, kind| {
        if kind != STRUCT {
            return Err(damaged());
        }
        thrift.each_field(3, &mut |thrift, field, kind| match (meaning, field) {
            // Decimals.
            (5, 1 | 2) => thrift.integer(kind).map(drop),
            // Times: whether they are in UTC, and their unit.
            (7 | 8, 1) | (10, 2) if matches!(kind, 1 | 2) => Ok(()),
            (7 | 8, 2) if kind == STRUCT => {
                thrift.each_field(4, &mut |thrift, _, kind| thrift.skip_one(kind, STRUCT, 4))
            }
            // Integers and variants.
            (10 | 16, 1) => thrift.skip_one(kind, BYTE, 3),
            // Places on earth.
            (17 | 18, 1) => thrift.skip_one(kind, BINARY, 3),
            (18, 2) => thrift.integer(kind).map(drop),
            (7 | 8 | 10, 1 | 2) => Err(damaged()),
            _ => thrift.skip(kind, 3),
        })
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::io::Write;

    use proptest::prelude::*;

    use super::*;

    /// The beginning of a footer: the version, and the list of the schema with so many elements.
    fn footer(elements: u32) -> Vec<u8> {
        let mut bytes = vec![0x15, 0x02, 0x19, 0xf0 | STRUCT];
        varint(&mut bytes, elements);
        bytes
    }

    fn varint(bytes: &mut Vec<u8>, mut number: u32) {
        while number >= 0x80 {
            bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        bytes.push(number as u8);
    }

    /// A group named `g` that is required and has so many children.
    fn group(bytes: &mut Vec<u8>, children: u32) {
        bytes.extend([0x35, 0x00, 0x18, 1, b'g', 0x15]);
        varint(bytes, children * 2);
        bytes.push(0);
    }

    /// A column of texts named `c`.
    fn column(bytes: &mut Vec<u8>) {
        bytes.extend([0x15, 0x0c, 0x25, 0x00, 0x18, 1, b'c', 0]);
    }

    /// So many groups within each other, and a column in the last.
    fn nested(groups: u32) -> Vec<u8> {
        let mut bytes = footer(groups + 1);
        (0..groups).for_each(|_| group(&mut bytes, 1));
        column(&mut bytes);
        bytes
    }

    fn why(footer: &[u8]) -> &'static str {
        match check_schema(footer) {
            Ok(()) => "read",
            Err(Unfit::TooLarge(why)) => why,
            Err(Unfit::Damaged(_)) => "damaged",
        }
    }

    #[test]
    fn a_schema_is_read_as_deep_as_anybody_needs_it() {
        assert_eq!(why(&nested(DEEPEST as u32)), "read");
        assert_eq!(why(&nested(200_000)), "it has too many columns");
        assert_eq!(why(&nested(60_000)), "its columns are too deep within each other");
    }

    #[test]
    fn a_group_has_no_more_children_than_there_are_elements() {
        let mut bytes = footer(3);
        group(&mut bytes, 2);
        column(&mut bytes);
        column(&mut bytes);
        assert_eq!(why(&bytes), "read");
        let mut bytes = footer(2);
        group(&mut bytes, 1 << 30);
        column(&mut bytes);
        assert_eq!(why(&bytes), "damaged");
    }

    #[test]
    fn what_the_reader_would_take_for_something_else_is_refused() {
        // A name that says it is a number, a type that says it is a text, and a number of children said twice or by a number
        // of a field that is cut to 16 bits.
        for element in [
            &[0x45, 0x02, 0][..],
            &[0x18, 0x02, b'a', b'b', 0x38, 1, b'c', 0],
            &[0x48, 1, b'c', 0x15, 0x00, 0x05, 0x0a, 0x02, 0],
            &[0x48, 1, b'c', 0x05, 0x8a, 0x80, 0x08, 0x02, 0],
        ] {
            let mut bytes = footer(1);
            bytes.extend(element);
            assert_eq!(why(&bytes), "damaged", "{element:?}");
        }
        // The schema in another place, or of another kind.
        for bytes in [&[0x29, 0x0c][..], &[0x18, 1, b'a'], &[0x15, 0x02, 0x18, 0], &[]] {
            assert_eq!(why(bytes), "damaged", "{bytes:?}");
        }
    }

    #[test]
    fn a_footer_without_end_is_refused_before_it_is_read() {
        let mut file = tempfile::tempfile().unwrap();
        file.set_len(MOST_BYTES + 100).unwrap();
        file.seek(SeekFrom::End(0)).unwrap();
        file.write_all(&(MOST_BYTES as u32 + 1).to_le_bytes()).unwrap();
        file.write_all(b"PAR1").unwrap();
        assert!(matches!(check(&mut file), Err(Unfit::TooLarge(_))));
        for (bytes, is_refused) in [
            (&b"\xff\0\0\0PAR1"[..], true),
            (b"\xff\xff\xff\xffnone", false),
            (b"PAR1", false),
            (b"", false),
        ] {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(bytes).unwrap();
            let refused = matches!(check(&mut file), Err(Unfit::Damaged(_)));
            assert_eq!(refused, is_refused, "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn whatever_stands_in_a_footer_is_read_or_refused(
            elements in 0..20_u32,
            bytes in prop::collection::vec(any::<u8>(), 0..200),
        ) {
            let mut footer = footer(elements);
            footer.extend(bytes);
            let _ = check_schema(&footer);
        }
    }
}
