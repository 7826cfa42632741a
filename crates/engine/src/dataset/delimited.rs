//! CSV and TSV: a header line, then one case a record.

use std::collections::HashSet;
use std::io::Read;

use csv::{ErrorKind, ReaderBuilder, StringRecord, Terminator};
use serde_json::{Map, Value};

use super::ProblemCode;
use super::limited::{BUFFER_BYTES, RowBytes, limited, too_long};
use super::rows::{BadRow, Row, RowSink};
use crate::InputProblem;

/// What is read after the file. It ends the last record, and is a record with [`SENTINEL`] in it; where a quote is open it only
/// closes that, and no such record comes.
const AFTER: &[u8] = b"\n\"\n";
/// The only field of the record after the last.
const SENTINEL: &str = "\n";

/// Reads the rows of a CSV file; `columns` names them where the file has no header line.
pub(crate) fn read(
    source: impl Read,
    delimiter: u8,
    columns: Option<&[String]>,
    sink: RowSink<'_>,
) -> Result<(), InputProblem> {
    let (source, row_bytes) = limited(source);
    // A record ends with its line, also the last one, so that lines can be counted; `\r` before the end is taken away.
    let mut reader = ReaderBuilder::new()
        .delimiter(delimiter)
        .terminator(Terminator::Any(b'\n'))
        .has_headers(columns.is_none())
        .flexible(true)
        .buffer_capacity(BUFFER_BYTES)
        .from_reader(source.chain(AFTER));
    let header: Vec<String> = match columns {
        Some(columns) => columns.to_vec(),
        None => match reader.headers() {
            Ok(header) if is_sentinel(header) => return Ok(()),
            Ok(header) => header.iter().map(column_name).collect(),
            Err(error) => return sink(Err(describe(&error, &row_bytes)?)),
        },
    };
    if let Err(bad) = check_header(&header) {
        return sink(Err(bad));
    }
    let mut record = StringRecord::new();
    let mut number = 0;
    // A record that is the last one, or looks like it.
    let mut last: Option<u64> = None;
    loop {
        row_bytes.restart();
        match reader.read_record(&mut record) {
            Ok(true) => {}
            Ok(false) if last.is_some() => return Ok(()),
            Ok(false) => {
                let bad = BadRow::new(
                    ProblemCode::NotCsv,
                    "a double quote is opened in this record, and never closed",
                );
                let bad = bad.hint("close it; a quote inside of a quoted field is written twice");
                return sink(Err(bad.in_row(number, None)));
            }
            Err(error) => {
                number += 1;
                let bad = describe(&error, &row_bytes)?;
                let goes_on = bad.code == ProblemCode::NotUtf8;
                sink(Err(bad.in_row(number, None)))?;
                if goes_on {
                    continue;
                }
                return Ok(());
            }
        }
        without_carriage_return(&mut record);
        if record.len() == 1 && record.get(0) == Some("") {
            continue;
        }
        let inside: usize = record.iter().map(|field| field.matches('\n').count()).sum();
        let line = reader.position().line().saturating_sub(1 + inside as u64);
        if let Some(line) = last.take() {
            number += 1;
            sink(row(&header, &StringRecord::from(vec![SENTINEL]), number, line))?;
        }
        if is_sentinel(&record) {
            last = Some(line);
            continue;
        }
        number += 1;
        sink(row(&header, &record, number, line))?;
    }
}

fn is_sentinel(record: &StringRecord) -> bool {
    record.len() == 1 && record.get(0) == Some(SENTINEL)
}

/// A record as a row, if it has a field for every column.
fn row(header: &[String], record: &StringRecord, number: u64, line: u64) -> Result<Row, BadRow> {
    let line = Some(line);
    if record.len() != header.len() {
        let (fields, columns) = (record.len(), header.len());
        let message = format!("the record has {fields} fields, and there are {columns} columns");
        let bad = BadRow::new(ProblemCode::RaggedRow, message)
            .hint("a field with a comma, a quote or a line break must be in double quotes");
        return Err(bad.in_row(number, line));
    }
    let fields: Map<String, Value> = header
        .iter()
        .zip(record)
        .map(|(name, value)| (name.clone(), Value::String(value.to_owned())))
        .collect();
    Ok(Row { line, number, fields })
}

fn column_name(written: &str) -> String {
    written.trim_start_matches('\u{feff}').trim().to_owned()
}

fn without_carriage_return(record: &mut StringRecord) {
    if record.as_slice().ends_with('\r') {
        let last = record.len().saturating_sub(1);
        let mut fields: Vec<String> = record.iter().map(str::to_owned).collect();
        fields[last].pop();
        *record = StringRecord::from(fields);
    }
}

fn check_header(header: &[String]) -> Result<(), BadRow> {
    let refuse = |message: String, hint: &str| {
        let bad = BadRow::new(ProblemCode::BadHeader, message).hint(hint);
        Err(BadRow { problem: bad.problem.at_line(1), ..bad })
    };
    let mut known = HashSet::new();
    for (index, name) in header.iter().enumerate() {
        if name.is_empty() {
            let message = format!("column {} has no name", index + 1);
            return refuse(message, "name every column in the first line, or give `columns:`");
        }
        if !known.insert(name) {
            let message = format!("two columns have the name `{name}`");
            return refuse(message, "rename one; if the file has no header line, give `columns:`");
        }
    }
    Ok(())
}

/// What is wrong with the data; an error where the file itself cannot be read.
fn describe(error: &csv::Error, row_bytes: &RowBytes) -> Result<BadRow, InputProblem> {
    let line = error.position().map(csv::Position::line);
    let bad = match error.kind() {
        ErrorKind::Utf8 { err, .. } => {
            let message = format!("field {} is not valid UTF-8", err.field() + 1);
            BadRow::new(ProblemCode::NotUtf8, message).hint("save the file as UTF-8")
        }
        ErrorKind::Io(_) if row_bytes.is_exceeded() => {
            too_long("record").hint("is a double quote opened and never closed?")
        }
        ErrorKind::Io(error) => {
            return Err(InputProblem::new(format!("the file cannot be read: {error}")));
        }
        _ => BadRow::new(ProblemCode::NotCsv, format!("this is not valid CSV: {error}")),
    };
    Ok(BadRow { problem: InputProblem { line, ..bad.problem }, ..bad })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// The problems of a file, and its good rows.
    fn problems(text: &str) -> (Vec<String>, usize) {
        let (mut problems, mut good) = (Vec::new(), 0);
        let mut take = |row: Result<Row, BadRow>| {
            match row {
                Ok(_) => good += 1,
                Err(bad) => problems.push(bad.problem.message),
            }
            Ok(())
        };
        read(text.as_bytes(), b',', None, &mut take).unwrap();
        (problems, good)
    }

    #[test]
    fn a_quote_that_is_never_closed_is_told() {
        for text in
            ["a,b\n1,2\n3,\"4\n5,6\n7,8\n", "a,b\n1,\"2", "a,\"b\n1,2\n", "a,b\n1,\"2\"\"\n"]
        {
            let (problems, _) = problems(text);
            assert!(problems.iter().any(|problem| problem.contains("never closed")), "{text:?}");
        }
        for (text, rows) in [
            ("a,b\n1,\"2\n\"", 1),
            ("a\n\"\n\"\n\"\n\"", 2),
            ("a\n\"\n\"\nx\n", 2),
            ("a,b\n1,5\" pipe\n2,\"say \"\"hi\"\"\"\n", 2),
            ("a,b\r\n1,2\r\n", 1),
            ("a,b\n", 0),
            ("", 0),
        ] {
            assert_eq!(problems(text), (Vec::new(), rows), "{text:?}");
        }
    }

    fn rows(text: &str) -> Vec<(Option<u64>, String, String)> {
        let mut rows = Vec::new();
        let mut take = |row: Result<Row, BadRow>| {
            let row = row?;
            let field = |name: &str| row.fields[name].as_str().unwrap().to_owned();
            rows.push((row.line, field("a"), field("b")));
            Ok(())
        };
        read(text.as_bytes(), b',', None, &mut take).unwrap();
        rows
    }

    #[test]
    fn lines_are_those_of_the_file_whatever_ends_them() {
        let row = |line, a: &str, b: &str| (Some(line), a.to_owned(), b.to_owned());
        for end in ["\n", "\r\n"] {
            let text = ["a,b", "1,2", "", "\"x", "y\",\"4\"", "", "5,6"].join(end);
            let expected = [row(2, "1", "2"), row(4, &format!("x{end}y"), "4"), row(7, "5", "6")];
            assert_eq!(rows(&text), expected);
            assert_eq!(rows(&format!("{text}{end}{end}")), expected);
        }
    }
}
