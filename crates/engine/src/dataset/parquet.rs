//! Parquet: row groups read one after the other.

use std::fs::File;

use ::parquet::errors::ParquetError;
use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::record::{Field, Row as ParquetRow};
use serde_json::{Map, Number, Value};

use super::rows::{Row, RowSink};
use crate::InputProblem;

/// Reads the rows of a Parquet file.
pub(crate) fn read(file: File, sink: RowSink<'_>) -> Result<(), InputProblem> {
    let reader = SerializedFileReader::new(file).map_err(|error| describe(&error))?;
    let rows = reader.get_row_iter(None).map_err(|error| describe(&error))?;
    for (number, row) in (1..).zip(rows) {
        let row = row.map_err(|error| describe(&error))?;
        sink(Row { line: None, number, fields: fields(&row) })?;
    }
    Ok(())
}

fn describe(error: &ParquetError) -> InputProblem {
    InputProblem::new(format!("this is not a readable Parquet file: {error}"))
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
