//! Memory while a file is inspected, measured on a process of its own.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

use std::io::Write;

use fullbench_engine::{FileFormat, InspectOptions, inspect_file};
use fullbench_store::ObjectStore;

/// The most memory that the process had at once, in bytes.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
}

#[test]
fn a_file_of_50_megabytes_needs_a_small_part_of_that() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large.jsonl");
    let mut file = std::io::BufWriter::new(std::fs::File::create(&path).unwrap());
    let rows = 50_000;
    for index in 0..rows {
        let text = format!("{index} ").repeat(160);
        writeln!(
            file,
            "{{\"id\": {index}, \"input\": \"{text}\", \"category\": \"c{}\"}}",
            index % 7
        )
        .unwrap();
    }
    file.into_inner().unwrap();
    assert!(std::fs::metadata(&path).unwrap().len() > 45_000_000);
    let before = peak();
    let objects = ObjectStore::in_folder(folder.path()).unwrap();
    let mut cases = 0u64;
    let inspection =
        inspect_file(&path, FileFormat::Jsonl, &InspectOptions::default(), objects, &mut |_| {
            cases += 1;
            Ok(())
        });
    let inspection = inspection.unwrap();
    assert_eq!((inspection.rows, cases, inspection.problem_count), (rows, rows, 0));
    let grown = peak() - before;
    assert!(grown < 12_000_000, "{grown} bytes");
}
