//! CSV and TSV: a header line, then one case a record.

use std::io::Read;

use csv::{ErrorKind, ReaderBuilder, StringRecord};
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
    let mut reader = ReaderBuilder::new()
        .delimiter(delimiter)
        .has_headers(columns.is_none())
        .flexible(true)
        .from_reader(source);
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
        number += 1;
        let line = record.position().map(csv::Position::line);
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
