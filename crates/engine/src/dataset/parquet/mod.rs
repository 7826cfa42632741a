//! Parquet: row groups read one after the other.

mod bounds;
mod footer;
mod page_head;
mod thrift;

use std::collections::HashSet;
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};

use ::parquet::basic::ConvertedType;
use ::parquet::errors::ParquetError;
use ::parquet::file::properties::ReaderProperties;
use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::file::serialized_reader::ReadOptionsBuilder;
use ::parquet::record::{Field, Row as ParquetRow};
use serde_json::{Map, Number, Value};

use super::ProblemCode;
use super::limited::too_long;
use super::rows::{BadRow, MAX_ROW_BYTES, Row, RowSink, bytes_in_memory};
use crate::InputProblem;
use bounds::{Bounds, Unfit};

/// Reads the rows of a Parquet file.
pub(crate) fn read(file: File, sink: RowSink<'_>) -> Result<(), InputProblem> {
    read_within(file, Bounds::USUAL, sink)
}

fn read_within(file: File, bounds: Bounds, sink: RowSink<'_>) -> Result<(), InputProblem> {
    let file_bytes = file.metadata().map_or(0, |metadata| metadata.len());
    let reader = match guarded(|| bounded(file, bounds)) {
        Ok(Ok(reader)) => reader,
        Ok(Err(why)) => return sink(Err(unbounded(why))),
        Err(bad) => return sink(Err(bad)),
    };
    let json_columns = json_columns(&reader);
    let mut rows = match guarded(|| reader.get_row_iter(None)) {
        Ok(rows) => rows,
        Err(bad) => return sink(Err(bad)),
    };
    let mut left = bounds.unfolded(file_bytes);
    for number in 1.. {
        let row = guarded(|| {
            let row = rows.next().transpose()?;
            Ok(row.map(|row| fields_of_row(&row, &json_columns)))
        });
        let fields = match row {
            Ok(Some(fields)) => fields,
            Ok(None) => return Ok(()),
            Err(bad) => return sink(Err(bad)),
        };
        let bytes: usize =
            fields.iter().map(|(name, value)| name.len() + bytes_in_memory(value)).sum();
        match left.checked_sub(bytes as u64) {
            Some(rest) => left = rest,
            None => return sink(Err(unbounded("it unfolds to many times its size"))),
        }
        match bytes > MAX_ROW_BYTES {
            true => sink(Err(too_long("row").in_row(number, None)))?,
            false => sink(Ok(Row { line: None, number, fields }))?,
        }
    }
    Ok(())
}

/// The problem of a file that is small and unfolds to something that is not.
fn unbounded(why: &str) -> BadRow {
    BadRow::new(ProblemCode::TooLong, format!("the Parquet file is too large to be read: {why}"))
        .hint("write it again with smaller row groups and pages, or as several files")
}

/// A reader of a file that unfolds to what fits into memory, or why it does not.
fn bounded(
    file: File,
    bounds: Bounds,
) -> Result<Result<SerializedFileReader<File>, &'static str>, ParquetError> {
    // Older variants of LZ4 are tried without an end to what they unfold to.
    let properties = ReaderProperties::builder().set_backward_compatible_lz4(false).build();
    let options = ReadOptionsBuilder::new().with_reader_properties(properties).build();
    let mut pages = file.try_clone()?;
    match footer::check(&mut pages) {
        Ok(()) => {}
        Err(Unfit::TooLarge(why)) => return Ok(Err(why)),
        Err(Unfit::Damaged(error)) => return Err(error),
    }
    let reader = SerializedFileReader::new_with_options(file, options)?;
    match bounds.check(&pages, reader.metadata()) {
        Ok(()) => Ok(Ok(reader)),
        Err(Unfit::TooLarge(why)) => Ok(Err(why)),
        Err(Unfit::Damaged(error)) => Err(error),
    }
}

/// Runs a step of the reader. It panics on some damaged files and on types it does not know, which is a problem of the file.
fn guarded<T>(step: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, BadRow> {
    let refuse = |reason: &str| {
        let message = format!("this is not a readable Parquet file: {reason}");
        BadRow::new(ProblemCode::NotParquet, message)
    };
    match catch_unwind(AssertUnwindSafe(step)) {
        Ok(result) => result.map_err(|error| refuse(&error.to_string())),
        Err(_) => Err(refuse("it is damaged, or has a type that is not supported")
            .hint("write it again with texts, numbers, lists and structs")),
    }
}

/// Columns that are declared to hold JSON.
fn json_columns(reader: &SerializedFileReader<File>) -> HashSet<String> {
    let columns = reader.metadata().file_metadata().schema().get_fields().iter();
    columns
        .filter(|column| column.get_basic_info().converted_type() == ConvertedType::JSON)
        .map(|column| column.name().to_owned())
        .collect()
}

fn fields_of_row(row: &ParquetRow, json_columns: &HashSet<String>) -> Map<String, Value> {
    let field = |(name, field): (&String, &Field)| {
        let value = match field {
            Field::Str(text) if json_columns.contains(name) => {
                serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.clone()))
            }
            other => value(other),
        };
        (name.clone(), value)
    };
    row.get_column_iter().map(field).collect()
}

fn fields(row: &ParquetRow) -> Map<String, Value> {
    row.get_column_iter().map(|(name, field)| (name.clone(), value(field))).collect()
}

/// A Parquet value as JSON; bytes and decimals become text, times become ISO text.
fn value(field: &Field) -> Value {
    match field {
        Field::Null => Value::Null,
        Field::Bool(flag) => Value::Bool(*flag),
        Field::Byte(number) => (*number).into(),
        Field::Short(number) => (*number).into(),
        Field::Int(number) => (*number).into(),
        Field::Long(number) => (*number).into(),
        Field::UByte(number) => (*number).into(),
        Field::UShort(number) => (*number).into(),
        Field::UInt(number) => (*number).into(),
        Field::ULong(number) => (*number).into(),
        Field::Float(number) => decimal(f64::from(*number)),
        Field::Double(number) => decimal(*number),
        Field::Str(text) => Value::String(text.clone()),
        Field::Bytes(bytes) => Value::String(String::from_utf8_lossy(bytes.data()).into_owned()),
        Field::Group(row) => Value::Object(fields(row)),
        Field::ListInternal(list) => list.elements().iter().map(value).collect(),
        Field::MapInternal(map) => {
            let entries = map.entries().iter().map(|(key, item)| {
                let key = match value(key) {
                    Value::String(text) => text,
                    other => other.to_string(),
                };
                (key, value(item))
            });
            Value::Object(entries.collect())
        }
        other => Value::String(other.to_string()),
    }
}

fn decimal(number: f64) -> Value {
    Number::from_f64(number).map_or(Value::Null, Value::Number)
}

#[cfg(test)]
mod tests;
