//! Files that are small and unfold to something that is not.
#![allow(clippy::unwrap_used)]

use std::io::{Read, Seek, SeekFrom, Write};
use std::sync::Arc;

use ::parquet::basic::{Compression, GzipLevel, ZstdLevel};
use ::parquet::data_type::{ByteArray, ByteArrayType};
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::SerializedFileWriter;
use ::parquet::schema::parser::parse_message_type;

use super::*;

const SMALL: Bounds = Bounds { page_bytes: 1 << 20, entries: 1000, row_bytes: 1 << 20, times: 1 };
const TEXT: &str = "message rows { required binary input (utf8); }";
const LIST: &str = "message rows { repeated binary input (utf8); }";

/// A file with one column, its levels of repetition where it is a list.
fn file(
    schema: &str,
    values: &[ByteArray],
    levels: Option<(&[i16], &[i16])>,
    compression: Compression,
    has_dictionary: bool,
) -> File {
    let properties = WriterProperties::builder()
        .set_compression(compression)
        .set_dictionary_enabled(has_dictionary)
        .build();
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let target = tempfile::tempfile().unwrap();
    let clone = target.try_clone().unwrap();
    let mut writer = SerializedFileWriter::new(clone, schema, Arc::new(properties)).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    let (definitions, repetitions) = levels.unzip();
    column.typed::<ByteArrayType>().write_batch(values, definitions, repetitions).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    writer.close().unwrap();
    target
}

/// How many rows were read, and what the others say.
fn read_all(file: File) -> (usize, Vec<String>) {
    let (mut rows, mut problems) = (0, Vec::new());
    let mut sink = |row: Result<Row, BadRow>| {
        match row {
            Ok(_) => rows += 1,
            Err(bad) => problems.push(bad.problem.message),
        }
        Ok(())
    };
    read_within(file, SMALL, &mut sink).unwrap();
    (rows, problems)
}

fn refused(file: File, because: &str) {
    let size = file.metadata().unwrap().len();
    assert!(size < 20_000, "{size}");
    let (_, problems) = read_all(file);
    assert!(problems.len() == 1 && problems[0].contains(because), "{problems:?}");
}

#[test]
fn pages_that_unfold_to_too_much_are_refused_before_they_do() {
    let long = ByteArray::from(vec![b'a'; 2 << 20]);
    for compression in
        [Compression::ZSTD(ZstdLevel::default()), Compression::GZIP(GzipLevel::default())]
    {
        refused(
            file(TEXT, std::slice::from_ref(&long), None, compression, false),
            "its pages are too large",
        );
    }
    let short = ByteArray::from("short");
    assert_eq!(read_all(file(TEXT, &[short], None, Compression::SNAPPY, true)), (1, vec![]));
}

#[test]
fn a_list_without_an_end_is_refused() {
    let mut repetitions = vec![1; 5000];
    repetitions[0] = 0;
    let values = vec![ByteArray::from("x"); 5000];
    let compression = Compression::ZSTD(ZstdLevel::default());
    let levels = Some((&[1_i16; 5000][..], &repetitions[..]));
    refused(file(LIST, &values, levels, compression, true), "its lists have too many entries");
}

#[test]
fn one_text_in_a_great_many_rows_is_refused() {
    let values = vec![ByteArray::from(vec![b'a'; 10_000]); 1000];
    let compression = Compression::ZSTD(ZstdLevel::default());
    let (rows, problems) = read_all(file(TEXT, &values, None, compression, true));
    assert_eq!(rows, 104, "as many as fit into 1 MiB");
    assert!(problems.len() == 1 && problems[0].contains("many times its size"), "{problems:?}");
}

#[test]
fn a_page_of_gzip_that_is_larger_than_it_says_is_refused() {
    let long = ByteArray::from(vec![b'a'; 70_000]);
    let compression = Compression::GZIP(GzipLevel::default());
    let mut target = file(TEXT, &[long], None, compression, false);
    // Its head says 70,004 bytes, as a zigzag number in three bytes; it is made to say 20,000.
    let mut bytes = Vec::new();
    target.seek(SeekFrom::Start(0)).unwrap();
    target.read_to_end(&mut bytes).unwrap();
    let said = [0xe8, 0xc5, 0x08];
    let place = bytes.windows(3).position(|window| window == said).unwrap();
    target.seek(SeekFrom::Start(place as u64)).unwrap();
    target.write_all(&[0xc0, 0xb8, 0x02]).unwrap();
    refused(target, "a page is larger than it says");
}

#[test]
fn a_schema_without_an_end_is_refused_and_no_crash() {
    // Each group has the next one in it: `g`, required, one child.
    let mut bytes = b"PAR1\x15\x02\x19\xfc\xe0\xd4\x03".to_vec();
    bytes.extend([0x35, 0x00, 0x18, 1, b'g', 0x15, 0x02, 0x00].repeat(60_000));
    let length = bytes.len() - 4;
    bytes.extend(u32::try_from(length).unwrap().to_le_bytes());
    bytes.extend(b"PAR1");
    let mut target = tempfile::tempfile().unwrap();
    target.write_all(&bytes).unwrap();
    let (rows, problems) = read_all(target);
    assert_eq!(rows, 0);
    assert!(problems.len() == 1 && problems[0].contains("too deep"), "{problems:?}");
}
