//! Rows as lines of JSON, and back: every value as exactly as it was.
//!
//! A row is a list with a value for each column. Bytes are Base64; numbers that JSON has not, such as NaN, are words.

use std::fmt::Display;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sea_orm::{DbBackend, QueryResult, Value};
use serde_json::Value as Json;
use uuid::Uuid;

use crate::StoreError;
use crate::schema::{Column, ColumnKind, Table};
use crate::sealed_text::{Opened, TextOpener, catalogue};

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

/// Adds a row to the lines, with its texts opened where something opens them; says how many of those are gone.
pub(super) fn encode(
    row: &QueryResult,
    table: &Table,
    opener: Option<&TextOpener>,
    lines: &mut Vec<u8>,
) -> Result<u64, StoreError> {
    let mut values = Vec::with_capacity(table.columns.len());
    let mut deleted = 0;
    for (place, column) in table.columns.iter().enumerate() {
        if let Some(opener) = opener
            && let Some(opened) = opened_text(row, table, column, opener)?
        {
            deleted += u64::from(opened.is_deleted);
            let is_gone = opened.is_deleted && opened.text.is_empty();
            values.push(if is_gone { Json::Null } else { Json::String(opened.text) });
            continue;
        }
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
        .map_err(|error| StoreError::Damaged(format!("a row of {}: {error}", table.name)))?;
    lines.push(b'\n');
    Ok(deleted)
}

/// The text of a column, opened; none where the column is never sealed, or has no text.
fn opened_text(
    row: &QueryResult,
    table: &Table,
    column: &Column,
    opener: &TextOpener,
) -> Result<Option<Opened>, StoreError> {
    let Some(sealed) = catalogue::table(&table.name) else { return Ok(None) };
    let mut columns = sealed.columns.iter();
    let Some(known) = columns.find(|known| known.name == column.name) else { return Ok(None) };
    let Some(place) = table.place(&column.name) else { return Ok(None) };
    let key = key_of(row, table, sealed.key)?;
    let key: Vec<&dyn Display> = key.iter().map(|value| value as &dyn Display).collect();
    opener.open_some(known, &key, row.try_get_by_index(place)?)
}

/// The values of the key of a row, as texts are sealed for them.
pub(crate) fn key_of(
    row: &QueryResult,
    table: &Table,
    key: &[&str],
) -> Result<Vec<String>, StoreError> {
    let mut values = Vec::with_capacity(key.len());
    for name in key {
        let missing = || StoreError::Damaged(format!("{} has no {name}", table.name));
        let place = table.place(name).ok_or_else(missing)?;
        values.push(match table.columns[place].kind {
            ColumnKind::Uuid => row.try_get_by_index::<Uuid>(place)?.to_string(),
            ColumnKind::Integer => row.try_get_by_index::<i64>(place)?.to_string(),
            _ => row.try_get_by_index::<String>(place)?,
        });
    }
    Ok(values)
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
