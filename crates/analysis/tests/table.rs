//! Tables as users write them, good and bad.
#![allow(clippy::unwrap_used)]

use std::fmt::Write as _;
use std::io::Write as _;

use fullbench_analysis::AnalysisError;
use fullbench_analysis::table::{MISSING, Table, Wanted};

fn wanted() -> Vec<Wanted> {
    vec![Wanted::text("item"), Wanted::text("value"), Wanted::number("weight").optional()]
}

fn read(ending: &str, contents: impl AsRef<[u8]>) -> Result<Table, AnalysisError> {
    let mut file = tempfile::Builder::new().suffix(ending).tempfile().unwrap();
    file.write_all(contents.as_ref()).unwrap();
    Table::read(file.path(), &wanted())
}

/// The line, the column and the message of what is wrong.
fn problem(ending: &str, contents: impl AsRef<[u8]>) -> (Option<u64>, Option<String>, String) {
    match read(ending, contents).unwrap_err() {
        AnalysisError::Input { line, field, message, .. } => (line, field, message),
        other => panic!("{other}"),
    }
}

fn texts(table: &Table, role: &str) -> Vec<Option<String>> {
    let texts = table.texts(role).unwrap();
    (0..table.rows()).map(|row| texts.get(row).map(str::to_owned)).collect()
}

fn some(texts: &[&str]) -> Vec<Option<String>> {
    texts.iter().map(|text| Some((*text).to_owned())).collect()
}

#[test]
fn columns_are_found_by_name_whatever_stands_around_them() {
    let table =
        read(".csv", "\u{FEFF}note,value, item\r\nx, b ,i1\r\n\r\ny,a,i2\r\n\nz,b,i1").unwrap();
    assert_eq!(texts(&table, "item"), some(&["i1", "i2", "i1"]));
    assert_eq!(texts(&table, "value"), some(&["b", "a", "b"]));
    assert!(table.texts("value").unwrap().names.iter().eq(["b", "a"]));
    assert!(table.numbers("weight").is_none());
    let lines: Vec<u64> = (0..3).map(|row| table.line(row)).collect();
    assert_eq!(lines, [2, 4, 6]);
    let table = read(".tsv", "item\tvalue\ni,1\tb\n").unwrap();
    assert_eq!(texts(&table, "item"), some(&["i,1"]));
}

#[test]
fn quoted_cells_may_have_commas_quotes_and_line_breaks() {
    let table = read(
        ".csv",
        "item,value\n\"a, b\",\"say \"\"yes\"\"\"\n\n\"two\nlines\",no\nlast,\"no\"\n",
    )
    .unwrap();
    assert_eq!(texts(&table, "item"), some(&["a, b", "two\nlines", "last"]));
    assert_eq!(texts(&table, "value"), some(&["say \"yes\"", "no", "no"]));
    let lines: Vec<u64> = (0..3).map(|row| table.line(row)).collect();
    assert_eq!(lines, [2, 4, 6]);
    let broken = problem(".csv", "item,value\n\"two\nlines\",no\nlast\n");
    assert_eq!(
        (broken.0, broken.2.as_str()),
        (Some(4), "the line has 1 fields, and there are 2 columns")
    );
}

#[test]
fn long_and_short_names_are_told_apart() {
    let names: Vec<String> = (0..40).map(|length| "x".repeat(length) + "y").collect();
    let mut contents = "item,value\n".to_owned();
    for name in names.iter().chain(&names) {
        writeln!(contents, "{name},{}", name.replace('x', "\u{0}")).unwrap();
    }
    let table = read(".csv", contents).unwrap();
    assert!(table.texts("item").unwrap().names.iter().eq(names.iter().map(String::as_str)));
    let codes: Vec<u32> = (0..40).chain(0..40).collect();
    assert_eq!(table.texts("item").unwrap().codes, codes);
    assert_eq!(table.texts("value").unwrap().codes, codes);
}

/// Names that end in numbers are found without a search; those that look alike must not be mixed up.
#[test]
fn names_with_numbers_are_told_apart() {
    let mut names = Vec::new();
    for number in ["1", "01", "001", "9", "10", "99999999", "12345678", "00000007", "123456789"] {
        for prefix in ["", "a", "b", "a-", "item-", "1x", "-", "é"] {
            names.push(format!("{prefix}{number}"));
        }
    }
    let mut contents = "item,value\n".to_owned();
    for name in names.iter().chain(names.iter().rev()) {
        writeln!(contents, "{name},x").unwrap();
    }
    let table = read(".csv", contents).unwrap();
    let items = table.texts("item").unwrap();
    let distinct: std::collections::BTreeSet<&String> = names.iter().collect();
    assert_eq!(items.names.len(), distinct.len());
    for (row, name) in names.iter().chain(names.iter().rev()).enumerate() {
        assert_eq!(items.get(row), Some(name.as_str()));
    }
}

#[test]
fn broken_lines_are_named() {
    let (line, _, message) = problem(".csv", "item,value\na,1\n\nb,2,3\n");
    assert_eq!(
        (line, message.as_str()),
        (Some(4), "the line has 3 fields, and there are 2 columns")
    );
    let (line, _, message) = problem(".csv", "item,value\na\n");
    assert_eq!(
        (line, message.as_str()),
        (Some(2), "the line has 1 fields, and there are 2 columns")
    );
    let (line, field, message) = problem(".csv", "item,value,weight\na,1,2\nb,1,many\n");
    assert_eq!((line, field.as_deref()), (Some(3), Some("weight")));
    assert_eq!(message, "`many` is not a finite number");
    assert_eq!(problem(".csv", "item,value,weight\na,1,inf\n").0, Some(2));
    let (line, field, message) = problem(".csv", "item,value\na,1\n ,2\n");
    assert_eq!(
        (line, field.as_deref(), message.as_str()),
        (Some(3), Some("item"), "the cell is empty")
    );
    // A mistake in a later column of an earlier line comes first.
    let (line, field, _) = problem(".csv", "item,value\na,\n,2\n");
    assert_eq!((line, field.as_deref()), (Some(2), Some("value")));
    let (line, field, message) = problem(".csv", b"item,value\na,1\nb,\xFF\n");
    assert_eq!((line, field.as_deref()), (Some(3), Some("value")));
    assert_eq!(message, "the cell is not valid UTF-8");
}

#[test]
fn files_without_the_columns_or_rows_are_refused() {
    assert_eq!(problem(".csv", "").2, "the file is empty");
    assert_eq!(problem(".csv", "\n \n").2, "the file is empty");
    assert_eq!(problem(".csv", "item,value\n\n").2, "the file has no rows");
    assert_eq!(problem(".csv", "item,label\na,b\n").2, "there is no column `value`");
    assert_eq!(problem(".csv", "item,value,item\na,b,c\n").2, "two columns have the name `item`");
    let missing = Table::read("no/such/file.csv".as_ref(), &wanted()).unwrap_err();
    assert!(missing.to_string().contains("cannot be read"), "{missing}");
}

#[test]
fn optional_columns_may_have_gaps_where_an_analysis_allows_it() {
    let mut file = tempfile::Builder::new().suffix(".csv").tempfile().unwrap();
    file.write_all(b"item,value,weight\na,,1\nb,x,\n").unwrap();
    let wanted = [
        Wanted::text("item"),
        Wanted::text("value").may_be_empty(),
        Wanted::number("weight").may_be_empty(),
    ];
    let table = Table::read(file.path(), &wanted).unwrap();
    assert_eq!(table.texts("value").unwrap().codes, [MISSING, 0]);
    let weights = table.numbers("weight").unwrap();
    assert!(weights[0] == 1.0 && weights[1].is_nan());
}

#[test]
fn json_lines_have_a_complete_object_each() {
    let table = read(
        ".jsonl",
        "{\"item\": 1, \"value\": true}\n\n{\"value\": \"x\\ny\", \"item\": \"b\"}\n",
    )
    .unwrap();
    assert_eq!(texts(&table, "item"), some(&["1", "b"]));
    assert_eq!(texts(&table, "value"), some(&["true", "x\ny"]));
    assert!(table.numbers("weight").is_none());
    assert_eq!(table.line(1), 3);
    let (line, _, message) = problem(".jsonl", "{\"item\": 1, \"value\": 2}\n{\"item\": 1,\n");
    assert_eq!(line, Some(2));
    assert!(message.starts_with("this is not a JSON object"), "{message}");
    let (line, field, _) = problem(".jsonl", "{\"item\": 1, \"value\": 2}\n{\"item\": 1}\n");
    assert_eq!((line, field.as_deref()), (Some(2), Some("value")));
    let (line, field, _) = problem(".jsonl", "{\"item\": [1], \"value\": 2}\n");
    assert_eq!((line, field.as_deref()), (Some(1), Some("item")));
    // An optional field is in every line or in none.
    let some_weights = "{\"item\": 1, \"value\": 2, \"weight\": 3}\n{\"item\": 2, \"value\": 2}\n";
    let (line, field, message) = problem(".jsonl", some_weights);
    assert_eq!((line, field.as_deref()), (Some(2), Some("weight")));
    assert_eq!(message, "the field is missing");
    let weights = "{\"item\": 1, \"value\": 2, \"weight\": 3}\n{\"item\": 2, \"value\": 2, \"weight\": 0.5}\n";
    assert_eq!(read(".jsonl", weights).unwrap().numbers("weight").unwrap(), [3.0, 0.5]);
}

/// Large enough for several parts, which are read side by side; a column that nobody asks for makes it so.
fn large(rows: usize, line: impl Fn(usize) -> String) -> String {
    let mut contents = "note,item,value,weight\n".to_owned();
    for row in 0..rows {
        contents.push_str(&"note ".repeat(30));
        contents.push_str(&line(row));
        contents.push('\n');
    }
    assert!(contents.len() > 4 << 20);
    contents
}

#[test]
fn parts_make_one_table() {
    let rows = 30_000;
    let blank = |row: usize| if row % 1_000 == 999 { "\n" } else { "" };
    let line = |row: usize| {
        format!(",item-{:07},{},{}{}", (row * 7_919) % rows, row % 5, row % 13, blank(row))
    };
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| read(".csv", large(rows, line)).unwrap())
    };
    for table in [on(1), on(4)] {
        assert_eq!(table.rows(), rows);
        let items = table.texts("item").unwrap();
        assert_eq!(items.codes, (0..rows as u32).collect::<Vec<_>>());
        for row in [0, 1, 998, 999, 1_000, 14_000, rows - 1] {
            assert_eq!(items.get(row).unwrap(), format!("item-{:07}", (row * 7_919) % rows));
            assert_eq!(table.texts("value").unwrap().get(row).unwrap(), (row % 5).to_string());
            assert_eq!(table.numbers("weight").unwrap()[row], (row % 13) as f64);
            assert_eq!(table.line(row), (row + 2 + row / 1_000) as u64);
        }
    }
}

/// Names come back in no order, so that few of them came a moment ago; blocks with and without blank lines take turns.
#[test]
fn names_that_come_back_keep_their_codes() {
    let rows = 40_000;
    let name = |row: usize| {
        let number = row * row % 9_973 * 31 % 4_001;
        match number % 16 {
            0 => format!("a name that is long {number}"),
            1 => format!("{number:x}-other"),
            2 => format!("p{number:06}"),
            3 => format!("exactly 16 {number:05}"),
            4 => format!("q{}", 2_000_000 + number),
            _ => format!("q{number:06}"),
        }
    };
    let blanks = |row: usize| [" ", "", "\t"][row % 97 % 3];
    let end = |row: usize| if row.is_multiple_of(1_500) { "\r\n\r" } else { "" };
    let line =
        |row: usize| format!(",{}{}{0},{},1{}", blanks(row), name(row), name(row / 3), end(row));
    let contents = large(rows, line);
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let table = pool.install(|| read(".csv", &contents).unwrap());
        assert_eq!(table.rows(), rows);
        for (role, repeat) in [("item", 1), ("value", 3)] {
            let texts = table.texts(role).unwrap();
            let mut codes = std::collections::HashMap::new();
            for row in 0..rows {
                let new = codes.len() as u32;
                let code = *codes.entry(name(row / repeat)).or_insert(new);
                assert_eq!((texts.codes[row], texts.get(row)), (code, Some(&*name(row / repeat))));
                assert_eq!(table.line(row), (row + 2 + row.div_ceil(1_500)) as u64);
            }
            assert_eq!(texts.names.len(), codes.len());
        }
    }
}

#[test]
fn a_broken_line_in_a_later_part_keeps_its_number() {
    let rows = 30_000;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(4).build().unwrap();
    for broken in [0, 5, 15_000, 29_999] {
        let line = |row: usize| match row == broken {
            true => ",item,x".to_owned(),
            false => format!(",item-{row:07},{},1", row % 5),
        };
        let (line, _, _) = pool.install(|| problem(".csv", large(rows, line)));
        assert_eq!(line, Some(broken as u64 + 2));
    }
    // One quote makes the whole file be read as quoted; lines keep their numbers.
    let line = |row: usize| match row {
        20_000 => ",\"item\n1\",2,x".to_owned(),
        _ => format!(",item-{row:07},{},1", row % 5),
    };
    let (line, field, _) = pool.install(|| problem(".csv", large(rows, line)));
    assert_eq!((line, field.as_deref()), (Some(20_002), Some("weight")));
}
