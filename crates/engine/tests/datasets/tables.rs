//! Tables that are written read back as they were.

use std::collections::BTreeMap;

use fullbench_engine::{Column, ColumnType, DatasetSchema, FileFormat, SchemaBuilder, TableWriter};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::files::Folder;

fn written(format: FileFormat, schema: &DatasetSchema, rows: &[Map<String, Value>]) -> Vec<u8> {
    let mut writer = TableWriter::new(Vec::new(), format, schema).unwrap();
    rows.iter().for_each(|row| writer.write(row).unwrap());
    writer.finish().unwrap()
}

fn schema_of(rows: &[Map<String, Value>]) -> DatasetSchema {
    let mut builder = SchemaBuilder::default();
    rows.iter().for_each(|row| builder.see(row));
    builder.schema()
}

fn read_back(format: FileFormat, bytes: &[u8]) -> Vec<Map<String, Value>> {
    let folder = Folder::new();
    let (inspection, _) = folder.inspect(&format!("x.{}", format.word()), bytes);
    assert_eq!(inspection.problems, []);
    folder.rows(inspection.version.unwrap())
}

/// A row with what is null left out, and numbers as the floating point numbers they are in a column with fractions.
fn as_parquet(row: &Map<String, Value>, schema: &DatasetSchema) -> BTreeMap<String, Value> {
    let filled = row.iter().filter(|(_, value)| !value.is_null());
    filled
        .map(|(name, value)| match schema.column(name).unwrap().column_type {
            ColumnType::Number => (name.clone(), json!(value.as_f64())),
            _ => (name.clone(), value.clone()),
        })
        .collect()
}

/// A row as a table of texts has it.
fn as_text(row: &Map<String, Value>, schema: &DatasetSchema) -> BTreeMap<String, String> {
    let cell = |column: &Column| {
        let text = match row.get(&column.name) {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        };
        (column.name.clone(), text)
    };
    schema.columns.iter().map(cell).collect()
}

fn any_number() -> impl Strategy<Value = Value> {
    let float = any::<f64>().prop_filter("is JSON", |number| number.is_finite());
    prop_oneof![
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        float.prop_map(Value::from)
    ]
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-c=+@,;\"'\r\n\t -]{0,6}", "\\PC{0,8}", Just("=1+1".to_owned()),]
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any_number(),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map("[a-z\"]{0,3}", inner, 0..3)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// Rows that are cases: with an input, and columns of one type each or of several.
fn rows() -> impl Strategy<Value = Vec<Map<String, Value>>> {
    let row = (
        "[a-z,\"\n]{1,5}",
        prop::option::of(any::<i64>()),
        prop::option::of(-1e9f64..1e9),
        prop::option::of(any::<bool>()),
        prop::option::of(text()),
        prop::option::of(any_value()),
        prop::option::of(prop::collection::btree_map("[a-z]{1,3}", any_value(), 0..3)),
    );
    let row = row.prop_map(|(input, whole, number, flag, text, any, metadata)| {
        let mut row = Map::from_iter([("input".to_owned(), Value::from(format!("q{input}")))]);
        row.extend(whole.map(|whole| ("whole".to_owned(), whole.into())));
        row.extend(number.map(|number| ("number".to_owned(), number.into())));
        row.extend(flag.map(|flag| ("flag".to_owned(), flag.into())));
        row.extend(text.map(|text| ("a \"text\"".to_owned(), text.into())));
        row.extend(any.map(|any| ("any.thing".to_owned(), any)));
        row.extend(
            metadata.map(|map| ("metadata".to_owned(), Value::Object(map.into_iter().collect()))),
        );
        row
    });
    prop::collection::vec(row, 1..8)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn json_reads_back_as_it_was(rows in rows()) {
        for format in [FileFormat::Jsonl, FileFormat::Json] {
            let bytes = written(format, &DatasetSchema::default(), &rows);
            prop_assert_eq!(&read_back(format, &bytes), &rows);
        }
    }

    #[test]
    fn parquet_reads_back_as_it_was(rows in rows()) {
        let schema = schema_of(&rows);
        let back = read_back(FileFormat::Parquet, &written(FileFormat::Parquet, &schema, &rows));
        let sides = |rows: &[Map<String, Value>]| -> Vec<_> {
            rows.iter().map(|row| as_parquet(row, &schema)).collect()
        };
        prop_assert_eq!(sides(&back), sides(&rows));
    }

    #[test]
    fn texts_read_back_as_they_were(rows in rows()) {
        let schema = schema_of(&rows);
        for format in [FileFormat::Csv, FileFormat::Tsv] {
            let back = read_back(format, &written(format, &schema, &rows));
            let sides = |rows: &[Map<String, Value>]| -> Vec<_> {
                rows.iter().map(|row| as_text(row, &schema)).collect()
            };
            prop_assert_eq!(sides(&back), sides(&rows));
        }
    }
}

fn row(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

#[test]
fn csv_is_quoted_as_the_standard_says_and_formulas_stay() {
    let rows = [
        row(json!({"a": "=1+1", "b": "say \"hi\", you", "c": [1, null]})),
        row(json!({"b": "x\ny", "c": true})),
    ];
    let bytes = written(FileFormat::Csv, &schema_of(&rows), &rows);
    let expected = "a,b,c\r\n=1+1,\"say \"\"hi\"\", you\",\"[1,null]\"\r\n,\"x\ny\",true\r\n";
    assert_eq!(String::from_utf8(bytes).unwrap(), expected);
}

#[test]
fn an_empty_table_is_a_table() {
    let schema = DatasetSchema { columns: vec![Column::nullable("input", ColumnType::String)] };
    assert_eq!(written(FileFormat::Json, &schema, &[]), b"[]\n");
    assert_eq!(written(FileFormat::Jsonl, &schema, &[]), b"");
    assert_eq!(written(FileFormat::Csv, &schema, &[]), b"input\r\n");
    let bytes = written(FileFormat::Parquet, &schema, &[]);
    let (inspection, _) = Folder::new().inspect("x.parquet", bytes);
    assert_eq!(inspection.problems[0].code.as_str(), "empty_file");
}

#[test]
fn rows_that_do_not_fit_are_refused_with_their_place() {
    let schema = DatasetSchema { columns: vec![Column::nullable("a", ColumnType::Integer)] };
    for format in [FileFormat::Csv, FileFormat::Parquet] {
        let mut writer = TableWriter::new(Vec::new(), format, &schema).unwrap();
        writer.write(&row(json!({"a": 1}))).unwrap();
        let error = writer.write(&row(json!({"a": 1, "b": 2}))).unwrap_err();
        assert_eq!(error.to_string(), "row 2: the table has no column `b`");
        assert!(TableWriter::new(Vec::new(), format, &DatasetSchema::default()).is_err());
    }
    let mut writer = TableWriter::new(Vec::new(), FileFormat::Parquet, &schema).unwrap();
    let error = writer.write(&row(json!({"a": "text"}))).unwrap_err();
    assert_eq!(error.to_string(), "row 1: `a` cannot hold text");
    writer.write(&row(json!({"a": 1}))).unwrap();
    assert_eq!(writer.rows(), 1);
}

#[test]
fn a_large_parquet_table_has_several_row_groups() {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    let rows: Vec<_> = (0..60)
        .map(|index| row(json!({"id": index, "input": format!("{index} {}", "x".repeat(400_000))})))
        .collect();
    let bytes = written(FileFormat::Parquet, &schema_of(&rows), &rows);
    assert_eq!(read_back(FileFormat::Parquet, &bytes), rows);
    let folder = Folder::new();
    let file = std::fs::File::open(folder.file("x", bytes)).unwrap();
    let groups = SerializedFileReader::new(file).unwrap().num_row_groups();
    assert_eq!(groups, 3);
}
