//! JSON of which only some parts are sealed: each is replaced by a text, and what is around it can be read by anybody.

use serde_json::Value;

use super::catalogue::{Gone, Part, SealedColumn};
use super::opener::{Opened, TextOpener};
use super::{MARK, PLAIN, RowKey, SEALED, TextKeeper, context};
use crate::StoreError;

impl TextKeeper {
    /// JSON with its parts as they are kept.
    pub(super) fn kept_parts(
        &self,
        column: &SealedColumn,
        key: RowKey<'_>,
        parts: &[Part],
        json: String,
    ) -> Result<String, StoreError> {
        if self.sealer.is_none() && !json.contains(MARK) {
            return Ok(json);
        }
        let mut value = parsed(column, &json)?;
        each_part(&mut value, parts, |place, rule, part| {
            let is_marked = part.as_str().is_some_and(|text| text.starts_with(MARK));
            let is_sealed = self.sealer.is_some() && !is_plain(rule, part);
            if is_sealed || is_marked {
                let kept = self.kept_as(part.to_string(), || context(column, key, place))?;
                // What is plain begins with a quote, and not with the mark.
                let kept = if is_sealed { kept } else { format!("{PLAIN}{kept}") };
                *part = Value::String(kept);
            }
            Ok(())
        })?;
        Ok(value.to_string())
    }

    /// Kept JSON with all parts sealed that are plain; none where there are none.
    pub(super) fn resealed_parts(
        &self,
        column: &SealedColumn,
        key: RowKey<'_>,
        parts: &[Part],
        kept: &str,
    ) -> Result<Option<String>, StoreError> {
        let mut value = parsed(column, kept)?;
        let mut has_plain = false;
        each_part(&mut value, parts, |place, rule, part| {
            let text = part.as_str().unwrap_or_default();
            if text.starts_with(SEALED) || is_plain(rule, part) {
                return Ok(());
            }
            has_plain = true;
            let json = text.strip_prefix(PLAIN).map_or_else(|| part.to_string(), str::to_owned);
            *part = Value::String(self.kept_as(json, || context(column, key, place))?);
            Ok(())
        })?;
        Ok(has_plain.then(|| value.to_string()))
    }
}

impl TextOpener {
    /// JSON with its parts opened.
    pub(super) fn open_parts(
        &self,
        column: &SealedColumn,
        key: RowKey<'_>,
        parts: &[Part],
        json: String,
    ) -> Result<Opened, StoreError> {
        if !json.contains(MARK) {
            return Ok(Opened { text: json, is_deleted: false });
        }
        let mut value = parsed(column, &json)?;
        let mut is_deleted = false;
        each_part(&mut value, parts, |place, rule, part| {
            let Value::String(text) = &*part else { return Ok(()) };
            if !text.starts_with(SEALED) && !text.starts_with(PLAIN) {
                return Ok(());
            }
            let opened = self.open_as(text.clone(), || context(column, key, place))?;
            if opened.is_deleted {
                is_deleted = true;
                *part = stand_in(rule.gone);
            } else {
                *part = parsed(column, &opened.text)?;
            }
            Ok(())
        })?;
        if is_deleted && let Value::Array(notes) = &mut value {
            notes.retain(|note| !note.is_null());
        }
        Ok(Opened { text: value.to_string(), is_deleted })
    }
}

/// Whether a part is never sealed.
fn is_plain(rule: &Part, part: &Value) -> bool {
    match part {
        Value::Null => true,
        Value::String(text) => rule.plain.is_some_and(|beginning| text.starts_with(beginning)),
        _ => false,
    }
}

fn stand_in(gone: Gone) -> Value {
    match gone {
        Gone::Text => Value::String(String::new()),
        Gone::Object => Value::Object(serde_json::Map::new()),
        Gone::Nothing => Value::Null,
    }
}

fn parsed(column: &SealedColumn, json: &str) -> Result<Value, StoreError> {
    let (table, name) = (column.table, column.name);
    serde_json::from_str(json)
        .map_err(|error| StoreError::Damaged(format!("{name} of {table}: {error}")))
}

/// Visits the parts that are there, each with its place.
fn each_part(
    value: &mut Value,
    parts: &[Part],
    mut visit: impl FnMut(&str, &Part, &mut Value) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    for part in parts {
        walk(value, part.path, String::new(), &mut |place, found| visit(place, part, found))?;
    }
    Ok(())
}

fn walk(
    value: &mut Value,
    path: &[&str],
    place: String,
    visit: &mut dyn FnMut(&str, &mut Value) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let Some((first, rest)) = path.split_first() else { return visit(&place, value) };
    match value {
        Value::Array(items) if *first == "*" => {
            for (index, item) in items.iter_mut().enumerate() {
                walk(item, rest, format!("{place}/{index}"), visit)?;
            }
        }
        Value::Object(fields) => {
            if let Some(inner) = fields.get_mut(*first) {
                walk(inner, rest, format!("{place}/{first}"), visit)?;
            }
        }
        _ => {}
    }
    Ok(())
}
