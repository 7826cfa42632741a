//! The table reader: formats, quoting, gaps, line numbers, and what is wrong told with its line.
#![allow(clippy::unwrap_used)]

use std::fmt::Write;

use fullbench_analysis::AnalysisError;
use fullbench_analysis::table::{MISSING, Table, Wanted};
use proptest::prelude::*;

fn wanted() -> [Wanted; 4] {
    [
        Wanted::text("item"),
        Wanted::number("value"),
        Wanted::number("weight").optional(),
        Wanted::text("note").optional().may_be_empty(),
    ]
}

fn read(name: &str, bytes: impl AsRef<[u8]>) -> Result<Table, AnalysisError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    Table::read(&path, &wanted())
}

fn csv(text: &str) -> Result<Table, AnalysisError> {
    read("data.csv", text)
}

#[track_caller]
fn refused(name: &str, bytes: impl AsRef<[u8]>, expected: &str) {
    let error = read(name, bytes).unwrap_err();
    let message = error.to_string();
    let place = message.split_once(name).unwrap_or_else(|| panic!("{message}")).1;
    assert_eq!(place, expected);
    assert!(error.hint().is_some_and(|hint| !hint.is_empty()), "{message}");
}

fn items(table: &Table) -> Vec<&str> {
    (0..table.rows()).map(|row| table.texts("item").unwrap().get(row).unwrap()).collect()
}

fn lines(table: &Table) -> Vec<u64> {
    (0..table.rows()).map(|row| table.line(row)).collect()
}

#[test]
fn columns_are_found_by_name_in_any_order() {
    let table = csv("extra,value,item\nx,0.5,b\ny,-2e1,a\nz,.25,b\n").unwrap();
    assert_eq!(table.numbers("value").unwrap(), [0.5, -20.0, 0.25]);
    let texts = table.texts("item").unwrap();
    assert_eq!(texts.codes, [0, 1, 0]);
    assert!(texts.names.iter().eq(["b", "a"]));
    assert_eq!(texts.first_row(1), Some(1));
    assert!(table.numbers("weight").is_none() && table.texts("note").is_none());
    assert!(table.texts("value").is_none() && table.numbers("item").is_none());
    assert!(table.texts("extra").is_none());
}

#[test]
fn line_ends_blank_lines_and_the_byte_order_mark() {
    let plain = csv("item,value\na,1\nb,2").unwrap();
    assert_eq!(lines(&plain), [2, 3]);
    let windows = csv("\u{feff}item,value\r\n\r\na,1\r\n\r\nb,2\r\n").unwrap();
    assert_eq!((items(&windows), lines(&windows)), (vec!["a", "b"], vec![3, 5]));
    assert_eq!(windows.numbers("value").unwrap(), [1.0, 2.0]);
    let spaced = csv("item , value\n  a , 1 \n\n\nb\t, 2\n").unwrap();
    assert_eq!((items(&spaced), lines(&spaced)), (vec!["a", "b"], vec![2, 5]));
}

#[test]
fn quoted_fields_keep_commas_quotes_and_line_breaks() {
    let text = "item,value,note\n\"a, b\",1,\"said \"\"yes\"\"\"\n\n\"c\nd\",2,\nplain,3,\"\"\n";
    let table = csv(text).unwrap();
    assert_eq!(items(&table), ["a, b", "c\nd", "plain"]);
    assert_eq!(table.texts("note").unwrap().get(0), Some("said \"yes\""));
    assert_eq!(table.texts("note").unwrap().codes[1..], [MISSING, MISSING]);
    // The second record is on lines 4 and 5; the line where it begins is told.
    assert_eq!(lines(&table), [2, 4, 6]);
    refused(
        "data.csv",
        "item,value\n\"a\nb\",1\n\"c\",x\n",
        ":4: `value`: `x` is not a finite number",
    );
    refused(
        "data.csv",
        "item,value\n\"a\",1\n\n\"b\",2,3\n",
        ":4: the line has 3 fields, and there are 2 columns",
    );
    let windows = csv("item,value\r\n\"a\",1\r\n\r\n\"b\",2\r\n").unwrap();
    assert_eq!(lines(&windows), [2, 4]);
}

#[test]
fn the_format_is_told_by_the_ending_or_the_first_character() {
    let tabs = read("data.tsv", "item\tvalue\na,b\t1\n").unwrap();
    assert_eq!(items(&tabs), ["a,b"]);
    for name in ["data.jsonl", "data.ndjson", "data.JSONL", "data", "data.txt"] {
        let table =
            read(name, "\n{\"item\": \"a\", \"value\": 1}\n\n{\"value\": \"2.5\", \"item\": 7}\n")
                .unwrap();
        assert_eq!(items(&table), ["a", "7"], "{name}");
        assert_eq!(table.numbers("value").unwrap(), [1.0, 2.5]);
        assert_eq!(lines(&table), [2, 4]);
    }
    assert_eq!(items(&read("data", "item,value\na,1\n").unwrap()), ["a"]);
}

#[test]
fn json_lines_with_escapes_and_gaps() {
    let text = "{\"item\":\"\\u00e9\\n\",\"value\":1,\"note\":null,\"other\":[1,{\"a\":2}]}\n\
                {\"item\":true,\"value\":-1e-3,\"note\":\"x\"}\n";
    let table = read("data.jsonl", text).unwrap();
    assert_eq!(items(&table), ["é", "true"]);
    assert_eq!(table.texts("note").unwrap().codes, [MISSING, 0]);
    assert!(table.numbers("weight").is_none());
    let late = "{\"item\":1,\"value\":1}\n{\"item\":2,\"value\":1,\"weight\":2}\n";
    refused("data.jsonl", late, ":1: `weight`: the field is missing");
    refused(
        "data.jsonl",
        "{\"item\":1,\"value\":1}\n{\"item\":2}\n",
        ":2: `value`: the field is missing",
    );
    let nested = "{\"item\":1,\"value\":1}\n{\"item\":[2],\"value\":1}\n";
    refused("data.jsonl", nested, ":2: `item`: a text, a number, true or false is needed");
    let error =
        read("data.jsonl", "{\"item\":1,\"value\":1}\n\n{\"item\":1,\n").unwrap_err().to_string();
    assert!(error.contains(":3: this is not a JSON object"), "{error}");
    let error = read("data.jsonl", "[1, 2]\n").unwrap_err().to_string();
    assert!(error.contains(":1: this is not a JSON object"), "{error}");
}

#[test]
fn gaps_are_allowed_only_where_they_are() {
    let table = csv("item,value,weight,note\na,1,2,\nb,1,3,x\n").unwrap();
    assert_eq!(table.texts("note").unwrap().get(0), None);
    refused("data.csv", "item,value,weight\na,1,2\nb,1,\n", ":3: `weight`: the cell is empty");
    refused("data.csv", "item,value\na,1\n  ,1\n", ":3: `item`: the cell is empty");
    // An optional column that is empty throughout is as if it were absent.
    assert!(csv("item,value,note\na,1,\nb,1,\n").unwrap().texts("note").is_none());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.csv");
    std::fs::write(&path, "item,value\na,\nb,2\n").unwrap();
    let wanted = [Wanted::text("item"), Wanted::number("value").may_be_empty()];
    let table = Table::read(&path, &wanted).unwrap();
    assert!(table.numbers("value").unwrap()[0].is_nan());
    assert_eq!(table.numbers("value").unwrap()[1], 2.0);
}

#[test]
fn what_is_no_number_is_refused() {
    for text in ["x", "1,5", "nan", "NaN", "inf", "-infinity", "1e999", "0x10", "1_000", "5%", "١"]
    {
        let quoted = format!("item,value\na,1\nb,\"{text}\"\n");
        refused("data.csv", quoted, &format!(":3: `value`: `{text}` is not a finite number"));
    }
    let long = "9".repeat(400);
    let error = csv(&format!("item,value\na,{long}x\n")).unwrap_err().to_string();
    assert!(error.len() < 250, "{error}");
}

#[test]
fn files_that_are_no_tables() {
    refused("data.csv", "", ": the file is empty");
    refused("data.csv", " \r\n \n", ": the file is empty");
    refused("data.csv", "item,value\n", ": the file has no rows");
    refused("data.csv", "item,value\n\n\n", ": the file has no rows");
    refused("data.csv", "item,value,item\na,1,b\n", ":1: two columns have the name `item`");
    refused(
        "data.csv",
        "item,value\na,1\nb\n",
        ":3: the line has 1 fields, and there are 2 columns",
    );
    refused("data.csv", b"item,value\na,1\nb\xff,2\n", ":3: `item`: the cell is not valid UTF-8");
    let missing = Table::read(std::path::Path::new("/nowhere/data.csv"), &wanted()).unwrap_err();
    assert!(missing.to_string().contains("cannot be read"), "{missing}");
    let folder = tempfile::tempdir().unwrap();
    assert!(Table::read(folder.path(), &wanted()).is_err());
}

#[test]
fn a_missing_column_is_told_with_those_there_are() {
    let error = csv("itme,value\na,1\n").unwrap_err();
    assert!(error.to_string().ends_with(":1: there is no column `item`"), "{error}");
    let hint = error.hint().unwrap();
    assert!(hint.contains("`itme`, `value`") && hint.contains("--column item=itme"), "{hint}");
    let error = read("data.jsonl", "{\"question\":1,\"value\":1}\n").unwrap_err();
    assert!(error.hint().unwrap().contains("`question`"), "{error:?}");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.csv");
    std::fs::write(&path, "question,value\na,x\n").unwrap();
    let wanted = [Wanted::text("item").named("question"), Wanted::number("value").named("value")];
    let error = Table::read(&path, &wanted).unwrap_err().to_string();
    assert!(error.ends_with(":2: `value`: `x` is not a finite number"), "{error}");
}

/// A file of several megabytes is read in parts: codes go on through all of them, and lines are counted through.
#[test]
fn large_files_are_read_in_parts_as_one() {
    let count = 400_000_u32;
    let mut text = "item,value\n".to_owned();
    for row in 0..count {
        writeln!(text, "item-{},{row}", row.wrapping_mul(2_654_435_761) % 1000).unwrap();
    }
    let table = csv(&text).unwrap();
    assert_eq!(table.rows(), count as usize);
    let (texts, numbers) = (table.texts("item").unwrap(), table.numbers("value").unwrap());
    assert_eq!(texts.names.len(), 1000);
    for row in (0..count).step_by(997) {
        let expected = format!("item-{}", row.wrapping_mul(2_654_435_761) % 1000);
        assert_eq!(texts.get(row as usize), Some(expected.as_str()));
        assert_eq!(numbers[row as usize], f64::from(row));
        assert_eq!(table.line(row as usize), u64::from(row) + 2);
    }
    let broken = text.replace(",399990\n", ",\n");
    refused("data.csv", &broken, ":399992: `value`: the cell is empty");
    // Of several broken lines the first is told, whichever part is read first.
    let twice = broken.replace(",17\n", ",x\n");
    refused("data.csv", &twice, ":19: `value`: `x` is not a finite number");
    let json: String = (0..120_000).fold(String::new(), |mut text, row| {
        writeln!(text, "{{\"item\":\"{}\",\"value\":{row}}}", row % 10).unwrap();
        text
    });
    assert_eq!(read("data.jsonl", &json).unwrap().rows(), 120_000);
    let broken = json.replace(":119999}", ":119999");
    let error = read("data.jsonl", broken).unwrap_err().to_string();
    assert!(error.contains(":120000: this is not a JSON object"), "{error}");
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-c]{1,2}", "[a-zé \",\\n]{1,12}"]
        .prop_map(|text| text.trim().to_owned())
        .prop_filter("not empty", |text| !text.is_empty())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// The same rows as CSV, with quotes wherever or only where needed, and as JSON Lines are the same table.
    #[test]
    fn formats_agree(rows in prop::collection::vec((text(), -1e6..1e6_f64), 1..20), always: bool) {
        let (mut csv_text, mut json_text) = ("item,value\n".to_owned(), String::new());
        for (item, value) in &rows {
            let needed = item.contains(['"', ',', '\n']);
            let cell = if always || needed { format!("\"{}\"", item.replace('"', "\"\"")) } else { item.clone() };
            writeln!(csv_text, "{cell},{value}").unwrap();
            writeln!(json_text, "{}", serde_json::json!({"item": item, "value": value})).unwrap();
        }
        for table in [csv(&csv_text).unwrap(), read("data.jsonl", &json_text).unwrap()] {
            let expected: Vec<&str> = rows.iter().map(|row| row.0.as_str()).collect();
            prop_assert_eq!(items(&table), expected);
            let expected: Vec<f64> = rows.iter().map(|row| row.1).collect();
            prop_assert_eq!(table.numbers("value").unwrap(), &expected[..]);
        }
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), start in 0..3_usize) {
        let start = ["", "item,value\n", "{\"item\":1,\"value\":2}\n"][start];
        let all: Vec<u8> = start.bytes().chain(bytes).collect();
        let _ = read("data.csv", &all);
        let _ = read("data.jsonl", &all);
        let _ = read("data", &all);
    }
}
