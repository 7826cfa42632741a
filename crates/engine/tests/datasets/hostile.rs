//! Files that are made to fill memory or to end the program.

use fullbench_engine::{MAX_COLUMNS, MAX_ID_CHARACTERS, TableWriter};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::files::{Folder, lines, told};

const TOO_LONG: usize = 17 << 20;

#[test]
fn a_row_without_end_is_refused_in_every_text_format() {
    let folder = Folder::new();
    let text = "x".repeat(TOO_LONG);
    let long_line = format!("{{\"input\": \"{text}\"}}\n{{\"input\": \"fine\"}}\n{{}}\n");
    let (inspection, _) = folder.inspect("x.jsonl", long_line);
    let expected = [(Some(1), "too_long", None), (Some(3), "missing_input", Some("input"))];
    assert_eq!(told(&inspection), expected);
    let (inspection, _) = folder.inspect("x.csv", format!("input\nfine\n\"{text}"));
    assert_eq!(told(&inspection), [(Some(2), "too_long", None)]);
    let (inspection, _) =
        folder.inspect("x.json", format!("[{{\"input\": 1}}, {{\"input\": \"{text}"));
    assert_eq!(told(&inspection), [(Some(2), "too_long", None)]);
}

#[test]
fn a_row_of_the_allowed_length_is_read() {
    let folder = Folder::new();
    let text = "x".repeat((16 << 20) - 100);
    for (name, content) in [
        ("x.jsonl", format!("{{\"input\": \"{text}\"}}\n")),
        ("x.json", format!("[{{\"input\": \"{text}\"}}, {{\"input\": \"{text}\"}}]")),
        ("x.csv", format!("input\n{text}\n{text}\n")),
    ] {
        let (inspection, _) = folder.inspect(name, content);
        assert_eq!(told(&inspection), [], "{name}");
    }
}

#[test]
fn too_many_columns_and_too_long_ids_are_refused() {
    let folder = Folder::new();
    let rows: Vec<Value> = (0..MAX_COLUMNS + 50)
        .map(|index| json!({"input": "x", (format!("f{index}")): 1}))
        .collect();
    let (inspection, _) = folder.inspect("x.jsonl", lines(&rows));
    assert_eq!(told(&inspection), [(Some(MAX_COLUMNS as u64), "too_many_columns", None)]);
    let long = json!({"id": "ä".repeat(MAX_ID_CHARACTERS + 1), "input": "x"});
    let fits = json!({"id": "ä".repeat(MAX_ID_CHARACTERS), "input": "x"});
    let (inspection, _) = folder.inspect("x.jsonl", lines(&[fits, long]));
    assert_eq!(told(&inspection), [(Some(2), "too_long", Some("id"))]);
}

#[test]
fn deeply_nested_json_is_a_problem_and_no_crash() {
    let folder = Folder::new();
    let deep = format!("{{\"input\": {}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
    let (inspection, _) = folder.inspect("x.jsonl", format!("{deep}\n"));
    assert_eq!(told(&inspection), [(Some(1), "not_json", None)]);
}

/// A small Parquet file with every type of column.
fn parquet_file() -> Vec<u8> {
    let mut schema = fullbench_engine::SchemaBuilder::default();
    let row = |index: u64| -> Map<String, Value> {
        let row = json!({"id": index, "input": format!("text {index}"), "score": index as f64 / 2.0, "ok": index < 10,
            "metadata": {"n": index}});
        row.as_object().unwrap().clone()
    };
    (0..20).for_each(|index| schema.see(&row(index)));
    let format = fullbench_engine::FileFormat::Parquet;
    let mut writer = TableWriter::new(Vec::new(), format, &schema.schema()).unwrap();
    (0..20).for_each(|index| writer.write(&row(index)).unwrap());
    writer.finish().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// The reader of Parquet panics on some of these; that must come out as a problem.
    #[test]
    fn a_damaged_parquet_file_is_a_problem_or_read(
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in prop::option::weighted(0.2, any::<prop::sample::Index>()),
    ) {
        let mut bytes = parquet_file();
        for (place, byte) in damage {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        let folder = Folder::new();
        let (inspection, _) = folder.inspect("x.parquet", bytes);
        prop_assert_eq!(inspection.version.is_some(), inspection.problem_count == 0);
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300), text in "[\\[\\]{}\",:a1\n\r ]{0,80}") {
        let folder = Folder::new();
        for name in ["x.csv", "x.tsv", "x.json", "x.jsonl", "x.parquet"] {
            for content in [&bytes, text.as_bytes()] {
                let (inspection, _) = folder.inspect(name, content);
                prop_assert_eq!(inspection.version.is_some(), inspection.problem_count == 0);
            }
        }
    }
}
