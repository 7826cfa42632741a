//! Rows as lines of JSON, and back: every value as exactly as it was.
//!
//! A row is a list with a value for each column. Bytes are Base64; numbers that JSON has not, such as NaN, are words.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sea_orm::{DbBackend, DbErr, QueryResult, Value};
use serde_json::Value as Json;
use uuid::Uuid;

use crate::schema::{Column, ColumnKind, Table};

/// All rows of a table that a condition holds for, in the order of its key.
pub(super) fn select(table: &Table, backend: DbBackend, condition: &str) -> String {
    let is_postgres = backend == DbBackend::Postgres;
    let column = |column: &Column| match column.kind {
        // Shorter ones among them.
        ColumnKind::Integer if is_postgres => format!("\"{}\"::bigint", column.name),
        _ => format!("\"{}\"", column.name),
    };
    let columns: Vec<String> = table.columns.iter().map(column).collect();
    let key: Vec<String> = table.key.iter().map(|name| format!("\"{name}\"")).collect();
    format!(
        "SELECT {} FROM \"{}\" {condition} ORDER BY {}",
        columns.join(", "),
        table.stored_as,
        key.join(", ")
    )
}

/// Adds a row to the lines.
pub(super) fn encode(
    row: &QueryResult,
    columns: &[Column],
    lines: &mut Vec<u8>,
) -> Result<(), DbErr> {
    let mut values = Vec::with_capacity(columns.len());
    for (place, column) in columns.iter().enumerate() {
        values.push(match column.kind {
            ColumnKind::Uuid => json(row.try_get_by_index::<Option<Uuid>>(place)?, |id| {
                Json::String(id.to_string())
            }),
            ColumnKind::Text => json(row.try_get_by_index(place)?, Json::String),
            ColumnKind::Integer => json(row.try_get_by_index::<Option<i64>>(place)?, Json::from),
            ColumnKind::Float => json(row.try_get_by_index(place)?, float_to_json),
            ColumnKind::Boolean => json(row.try_get_by_index(place)?, Json::Bool),
            ColumnKind::Bytes => json(row.try_get_by_index::<Option<Vec<u8>>>(place)?, |bytes| {
                Json::String(STANDARD.encode(bytes))
            }),
        });
    }
    serde_json::to_writer(&mut *lines, &values)
        .map_err(|error| DbErr::Custom(error.to_string()))?;
    lines.push(b'\n');
    Ok(())
}

fn json<T>(value: Option<T>, to_json: impl FnOnce(T) -> Json) -> Json {
    value.map_or(Json::Null, to_json)
}

fn float_to_json(number: f64) -> Json {
    match serde_json::Number::from_f64(number) {
        Some(number) => Json::Number(number),
        None => Json::String(number.to_string()),
    }
}

/// The values of a line, or what is wrong with it.
pub(super) fn decode(line: &[u8], columns: &[Column]) -> Result<Vec<Value>, String> {
    let row: Vec<Json> = serde_json::from_slice(line).map_err(|error| error.to_string())?;
    if row.len() != columns.len() {
        return Err(format!("it has {} values instead of {}", row.len(), columns.len()));
    }
    let pairs = row.into_iter().zip(columns);
    pairs
        .map(|(value, column)| {
            let wrong = || format!("the value of {} is of another kind", column.name);
            value_of(value, column.kind).ok_or_else(wrong)
        })
        .collect()
}

fn value_of(value: Json, kind: ColumnKind) -> Option<Value> {
    Some(match (kind, value) {
        (ColumnKind::Uuid, Json::Null) => Value::Uuid(None),
        (ColumnKind::Uuid, Json::String(id)) => id.parse::<Uuid>().ok()?.into(),
        (ColumnKind::Text, Json::Null) => Value::String(None),
        (ColumnKind::Text, Json::String(text)) => text.into(),
        (ColumnKind::Integer, Json::Null) => Value::BigInt(None),
        (ColumnKind::Integer, Json::Number(number)) => number.as_i64()?.into(),
        (ColumnKind::Float, Json::Null) => Value::Double(None),
        (ColumnKind::Float, Json::Number(number)) => number.as_f64()?.into(),
        (ColumnKind::Float, Json::String(word)) => word.parse::<f64>().ok()?.into(),
        (ColumnKind::Boolean, Json::Null) => Value::Bool(None),
        (ColumnKind::Boolean, Json::Bool(truth)) => truth.into(),
        (ColumnKind::Bytes, Json::Null) => Value::Bytes(None),
        (ColumnKind::Bytes, Json::String(text)) => STANDARD.decode(text).ok()?.into(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn column(kind: ColumnKind) -> [Column; 1] {
        [Column { name: "column".to_owned(), kind }]
    }

    #[test]
    fn floats_come_back_bit_by_bit() {
        for number in [
            0.0,
            -0.0,
            0.1,
            1.0 / 3.0,
            5e-324,
            f64::MAX,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
        ] {
            let line = format!("[{}]", float_to_json(number));
            let values = decode(line.as_bytes(), &column(ColumnKind::Float)).unwrap();
            let Value::Double(Some(read)) = values[0] else { panic!("{values:?}") };
            assert!(read.to_bits() == number.to_bits() || (read.is_nan() && number.is_nan()));
        }
    }

    #[test]
    fn a_value_of_another_kind_is_refused() {
        for (kind, line) in [
            (ColumnKind::Integer, "[1.5]"),
            (ColumnKind::Integer, "[9223372036854775808]"),
            (ColumnKind::Integer, "[\"1\"]"),
            (ColumnKind::Text, "[1]"),
            (ColumnKind::Uuid, "[\"no\"]"),
            (ColumnKind::Bytes, "[\"%\"]"),
            (ColumnKind::Float, "[\"much\"]"),
            (ColumnKind::Boolean, "[0]"),
            (ColumnKind::Boolean, "[true, true]"),
            (ColumnKind::Boolean, "true"),
        ] {
            assert!(decode(line.as_bytes(), &column(kind)).is_err(), "{line}");
        }
        let largest = decode(b"[9223372036854775807]", &column(ColumnKind::Integer)).unwrap();
        assert_eq!(largest, [Value::from(i64::MAX)]);
    }
}
