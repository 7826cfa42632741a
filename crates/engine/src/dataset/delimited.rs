//! CSV and TSV: a header line, then one case a record.

use std::collections::HashSet;
use std::io::Read;

use csv::{ErrorKind, ReaderBuilder, StringRecord, Terminator};
use serde_json::{Map, Value};

use super::ProblemCode;
use super::limited::{BUFFER_BYTES, RowBytes, limited, too_long};
use super::rows::{BadRow, Row, RowSink};
use crate::InputProblem;

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
        .from_reader(source.chain(&b"\n"[..]));
    let header: Vec<String> = match columns {
        Some(columns) => columns.to_vec(),
        None => match reader.headers() {
            Ok(header) => header.iter().map(column_name).collect(),
            Err(error) => return sink(Err(describe(&error, &row_bytes)?)),
        },
    };
    if let Err(bad) = check_header(&header) {
        return sink(Err(bad));
    }
    let mut record = StringRecord::new();
    let mut number = 0;
    loop {
        row_bytes.restart();
        match reader.read_record(&mut record) {
            Ok(true) => {}
            Ok(false) => return Ok(()),
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
        number += 1;
        let inside: usize = record.iter().map(|field| field.matches('\n').count()).sum();
        let line = Some(reader.position().line().saturating_sub(1 + inside as u64));
        if record.len() != header.len() {
            let (fields, columns) = (record.len(), header.len());
            let message =
                format!("the record has {fields} fields, and there are {columns} columns");
            let bad = BadRow::new(ProblemCode::RaggedRow, message)
                .hint("a field with a comma, a quote or a line break must be in double quotes");
            sink(Err(bad.in_row(number, line)))?;
            continue;
        }
        let fields: Map<String, Value> = header
            .iter()
            .zip(&record)
            .map(|(name, value)| (name.clone(), Value::String(value.to_owned())))
            .collect();
        sink(Ok(Row { line, number, fields }))?;
    }
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
