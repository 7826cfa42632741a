//! Filters over the metadata of cases, written as JSON: `{"category": "math", "level": {"$gte": 3}}`.

mod parse;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;

use fullbench_types::{TestCase, lookup};
use serde_json::{Map, Value};

use super::values::{compare, equal};
use crate::InputProblem;

/// Which cases are wanted.
///
/// A field is a name or a dotted path. `{"field": value}` asks for that value, or for a list that has it among its items. Operators:
/// `$eq`, `$ne`, `$gt`, `$gte`, `$lt`, `$lte`, `$in`, `$nin`, `$exists` (there is a value) and `$contains` (a text inside a text, an item of a
/// list). Several conditions must all hold; `$and` and `$or` take lists of filters, `$not` takes one. Numbers compare as numbers, texts
/// by their characters, and anything else has no order: such a comparison is false. A missing field is the same as null.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseFilter {
    root: Condition,
}

#[derive(Debug, Clone, PartialEq)]
enum Condition {
    All(Vec<Condition>),
    Any(Vec<Condition>),
    Not(Box<Condition>),
    Field { path: String, test: Test },
}

#[derive(Debug, Clone, PartialEq)]
enum Test {
    Equal(Value),
    Ordered { orders: &'static [Ordering], value: Value },
    In(Vec<Value>),
    Exists(bool),
    Contains(Value),
}

impl CaseFilter {
    /// Filters are nested at most so deep.
    pub const MAX_DEPTH: usize = 8;
    /// A filter has at most so many conditions.
    pub const MAX_CONDITIONS: usize = 64;
    /// `$in` and `$nin` take at most so many values.
    pub const MAX_VALUES: usize = 1_000;

    /// Reads a filter.
    ///
    /// # Errors
    /// When it is no object, has an unknown operator or a value that an operator cannot have, or is too large; the problem's
    /// field is the path to what is wrong.
    pub fn parse(filter: &Value) -> Result<Self, InputProblem> {
        Ok(Self { root: parse::condition(filter)? })
    }

    /// Reads a filter from its text.
    ///
    /// # Errors
    /// When the text is not JSON, and as [`CaseFilter::parse`].
    pub fn parse_text(text: &str) -> Result<Self, InputProblem> {
        let filter = serde_json::from_str(text).map_err(|error| {
            InputProblem::new(format!("the filter is not valid JSON: {error}"))
                .hint("write an object, for example {\"category\": \"math\"}")
        })?;
        Self::parse(&filter)
    }

    /// Whether metadata fulfil it.
    #[must_use]
    pub fn matches(&self, metadata: &Map<String, Value>) -> bool {
        self.root.holds(&|path| lookup(metadata, path))
    }

    /// Whether a case fulfils it: a field is looked for in the object `metadata` of its row first, then in the row.
    #[must_use]
    pub fn matches_case(&self, case: &TestCase) -> bool {
        let metadata = case.fields.get("metadata").and_then(Value::as_object);
        self.root.holds(&|path| {
            metadata.and_then(|entries| lookup(entries, path)).or_else(|| case.field(path))
        })
    }
}

impl Condition {
    fn holds<'row>(&self, find: &dyn Fn(&str) -> Option<&'row Value>) -> bool {
        match self {
            Self::All(conditions) => conditions.iter().all(|condition| condition.holds(find)),
            Self::Any(conditions) => conditions.iter().any(|condition| condition.holds(find)),
            Self::Not(condition) => !condition.holds(find),
            Self::Field { path, test } => test.holds(find(path).unwrap_or(&Value::Null)),
        }
    }
}

impl Test {
    fn holds(&self, found: &Value) -> bool {
        match self {
            Self::Equal(value) => is_or_has(found, value),
            Self::In(values) => values.iter().any(|value| is_or_has(found, value)),
            Self::Ordered { orders, value } => {
                compare(found, value).is_some_and(|order| orders.contains(&order))
            }
            Self::Exists(wanted) => found.is_null() != *wanted,
            Self::Contains(value) => match (found, value) {
                (Value::String(text), Value::String(part)) => text.contains(part.as_str()),
                (Value::Array(items), _) => items.iter().any(|item| equal(item, value)),
                _ => false,
            },
        }
    }
}

fn is_or_has(found: &Value, value: &Value) -> bool {
    let has = |items: &Vec<Value>| items.iter().any(|item| equal(item, value));
    equal(found, value) || found.as_array().is_some_and(has)
}
