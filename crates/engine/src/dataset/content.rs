//! What a row says, as a hash: the same for rows whose fields are equal as [`equal`](super::values::equal) has it.

use fullbench_types::ContentHash;
use serde_json::{Map, Number, Value};

use super::values::whole;

/// A hash of the fields of a row that have a value: the same for rows that say the same.
pub(crate) fn hash_of_fields(fields: &Map<String, Value>) -> ContentHash {
    let mut bytes = Vec::new();
    write_entries(fields.iter().filter(|(_, value)| !value.is_null()), &mut bytes);
    ContentHash::of(&bytes)
}

fn write_entries<'row>(
    entries: impl Iterator<Item = (&'row String, &'row Value)>,
    bytes: &mut Vec<u8>,
) {
    let mut sorted: Vec<_> = entries.collect();
    sorted.sort_unstable_by_key(|(name, _)| name.as_str());
    write_head(b'o', sorted.len(), bytes);
    for (name, value) in sorted {
        write_text(name, bytes);
        write_value(value, bytes);
    }
}

fn write_value(value: &Value, bytes: &mut Vec<u8>) {
    match value {
        Value::Null => bytes.push(b'n'),
        Value::Bool(flag) => bytes.push(if *flag { b't' } else { b'f' }),
        Value::Number(number) => write_number(number, bytes),
        Value::String(text) => write_text(text, bytes),
        Value::Array(items) => {
            write_head(b'a', items.len(), bytes);
            items.iter().for_each(|item| write_value(item, bytes));
        }
        Value::Object(entries) => write_entries(entries.iter(), bytes),
    }
}

fn write_number(number: &Number, bytes: &mut Vec<u8>) {
    let decimal = number.as_f64().unwrap_or_default();
    // A number without fraction is written as the whole number it is, up to where that is exact.
    let is_whole = decimal.fract() == 0.0 && decimal.abs() < 1e30;
    match whole(number).or_else(|| is_whole.then_some(decimal as i128)) {
        Some(whole) => {
            bytes.push(b'i');
            bytes.extend_from_slice(&whole.to_le_bytes());
        }
        None => {
            bytes.push(b'd');
            bytes.extend_from_slice(&decimal.to_bits().to_le_bytes());
        }
    }
}

fn write_text(text: &str, bytes: &mut Vec<u8>) {
    write_head(b's', text.len(), bytes);
    bytes.extend_from_slice(text.as_bytes());
}

fn write_head(tag: u8, length: usize, bytes: &mut Vec<u8>) {
    bytes.push(tag);
    bytes.extend_from_slice(&(length as u64).to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn rows_that_say_the_same_have_one_hash() {
        let hash = |row: Value| row.as_object().map(hash_of_fields);
        assert_eq!(
            hash(json!({"a": 1, "b": {"x": 2.0, "y": []}})),
            hash(json!({"c": null, "b": {"y": [], "x": 2}, "a": 1.0}))
        );
        for other in [
            json!({"a": 2}),
            json!({"a": "1"}),
            json!({"a": [1]}),
            json!({"a": true}),
            json!({"b": 1}),
        ] {
            assert_ne!(hash(json!({"a": 1})), hash(other));
        }
    }
}
