//! CSV and TSV: a header line, then one case a record.

use std::io::Read;

use csv::{ErrorKind, ReaderBuilder, StringRecord, Terminator};
use serde_json::{Map, Value};

use super::rows::{Row, RowSink};
use crate::InputProblem;

/// Reads the rows of a CSV file; `columns` names them where the file has no header line.
pub(crate) fn read(
    source: impl Read,
    delimiter: u8,
    columns: Option<&[String]>,
    sink: RowSink<'_>,
) -> Result<(), InputProblem> {
    // A record ends with its line, also the last one, so that lines can be counted; `\r` before the end is taken away.
    let mut reader = ReaderBuilder::new()
        .delimiter(delimiter)
        .terminator(Terminator::Any(b'\n'))
        .has_headers(columns.is_none())
        .flexible(true)
        .from_reader(source.chain(&b"\n"[..]));
    let header: Vec<String> = match columns {
        Some(columns) => columns.to_vec(),
        None => {
            let header = reader.headers().map_err(|error| describe(&error))?;
            header
                .iter()
                .map(|name| name.trim_start_matches('\u{feff}').trim().to_owned())
                .collect()
        }
    };
    check_header(&header)?;
    let mut record = StringRecord::new();
    let mut number = 0;
    while reader.read_record(&mut record).map_err(|error| describe(&error))? {
        without_carriage_return(&mut record);
        if record.len() == 1 && record.get(0) == Some("") {
            continue;
        }
        number += 1;
        let inside: usize = record.iter().map(|field| field.matches('\n').count()).sum();
        let line = Some(reader.position().line().saturating_sub(1 + inside as u64));
        if record.len() != header.len() {
            let (fields, columns) = (record.len(), header.len());
            let problem = InputProblem::new(format!(
                "the record has {fields} fields, and there are {columns} columns"
            ))
            .hint("a field with a comma, a quote or a line break must be in double quotes");
            return Err(InputProblem { line, ..problem });
        }
        let fields: Map<String, Value> = header
            .iter()
            .zip(&record)
            .map(|(name, value)| (name.clone(), Value::String(value.to_owned())))
            .collect();
        sink(Row { line, number, fields })?;
    }
    Ok(())
}

fn without_carriage_return(record: &mut StringRecord) {
    if record.as_slice().ends_with('\r') {
        let last = record.len().saturating_sub(1);
        let mut fields: Vec<String> = record.iter().map(str::to_owned).collect();
        fields[last].pop();
        *record = StringRecord::from(fields);
    }
}

fn check_header(header: &[String]) -> Result<(), InputProblem> {
    for (index, name) in header.iter().enumerate() {
        if name.is_empty() {
            let problem = InputProblem::new(format!("column {} has no name", index + 1)).at_line(1);
            return Err(problem.hint("name every column in the first line, or give `columns:`"));
        }
        if header[..index].contains(name) {
            let problem =
                InputProblem::new(format!("two columns have the name `{name}`")).at_line(1);
            return Err(problem.hint("rename one; if the file has no header line, give `columns:`"));
        }
    }
    Ok(())
}

fn describe(error: &csv::Error) -> InputProblem {
    let line = error.position().map(csv::Position::line);
    let problem = match error.kind() {
        ErrorKind::Utf8 { err, .. } => {
            let field = err.field() + 1;
            InputProblem::new(format!("field {field} is not valid UTF-8"))
                .hint("save the file as UTF-8")
        }
        ErrorKind::Io(error) => InputProblem::new(format!("the file cannot be read: {error}")),
        _ => InputProblem::new(format!("this is not valid CSV: {error}")),
    };
    InputProblem { line, ..problem }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn rows(text: &str) -> Vec<(Option<u64>, String, String)> {
        let mut rows = Vec::new();
        let mut take = |row: Row| {
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
