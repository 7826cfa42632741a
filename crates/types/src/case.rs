//! Test cases: one input with what is known about it.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What identifies a case across data set versions and runs: the user's id, or a hash of the input with its occurrence.
pub type CaseKey = String;

/// One case of a data set: its row, and what of the row is input and reference.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TestCase {
    /// Position in the dataset version, counted from 0.
    pub index: u64,
    /// Identity across versions and runs.
    pub key: CaseKey,
    /// The input: text, or a list of messages, or any other value.
    pub input: Value,
    /// Accepted answers; the best match counts.
    pub references: Vec<Value>,
    /// Every field of the row, by its name in the data.
    pub fields: Map<String, Value>,
}

impl TestCase {
    /// The value at a dotted path of the row (`answers.m2`); a field whose name contains the dots comes first.
    #[must_use]
    pub fn field(&self, path: &str) -> Option<&Value> {
        lookup(&self.fields, path)
    }
}

/// The value at a dotted path of a map; a key that equals the whole path wins.
#[must_use]
pub fn lookup<'map>(fields: &'map Map<String, Value>, path: &str) -> Option<&'map Value> {
    if let Some(value) = fields.get(path) {
        return Some(value);
    }
    let (first, rest) = path.split_once('.')?;
    rest.split('.').try_fold(fields.get(first)?, |value, part| match value {
        Value::Object(map) => map.get(part),
        Value::Array(items) => items.get(part.parse::<usize>().ok()?),
        _ => None,
    })
}

/// A value as text: a string as it is, anything else as compact JSON.
#[must_use]
pub fn text_of(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        other => Cow::Owned(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn dotted_paths_reach_into_objects_and_lists() {
        let Value::Object(fields) = json!({"a": {"b": [10, 20]}, "a.b": 1, "c": "x"}) else {
            unreachable!()
        };
        assert_eq!(lookup(&fields, "a.b"), Some(&json!(1)));
        assert_eq!(lookup(&fields, "a.b.1"), Some(&json!(20)));
        assert_eq!(lookup(&fields, "c.d"), None);
    }
}
