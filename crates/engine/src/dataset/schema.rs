//! The schema of a data set: its columns with their types, found by looking at every row.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value};
use sha2::{Digest, Sha256};

/// Integers up to here are exact as floating point numbers.
const EXACT: u64 = 1 << 53;

/// The type of a column, over all its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ColumnType {
    /// Texts.
    String,
    /// Whole numbers that fit into 64 bits with sign.
    Integer,
    /// Numbers, some with a fraction, each exact as a 64-bit floating point number.
    Number,
    /// True or false.
    Boolean,
    /// Lists.
    Array,
    /// Objects.
    Object,
    /// Values of several types, or numbers that no other type can hold together without loss.
    Mixed,
    /// Nothing in any row.
    Null,
}

impl ColumnType {
    /// The type as it is written.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Boolean => "boolean",
            Self::Array => "array",
            Self::Object => "object",
            Self::Mixed => "mixed",
            Self::Null => "null",
        }
    }
}

/// A column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Its type.
    #[serde(rename = "type")]
    pub column_type: ColumnType,
    /// Some rows have nothing there: the field is missing or null, or the cell of a CSV file is empty.
    pub nullable: bool,
}

impl Column {
    /// A column that may be empty.
    #[must_use]
    pub fn nullable(name: impl Into<String>, column_type: ColumnType) -> Self {
        Self { name: name.into(), column_type, nullable: true }
    }
}

/// The columns of a data set, in the order of their first appearance.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DatasetSchema {
    /// The columns.
    pub columns: Vec<Column>,
}

impl DatasetSchema {
    /// SHA-256 in hexadecimal digits over the columns in order, for each: its name as a JSON string, a colon, its type, a line feed.
    /// Whether a column is nullable is not part of it.
    #[must_use]
    pub fn hash(&self) -> String {
        let mut hasher = Sha256::new();
        for column in &self.columns {
            let name = Value::from(column.name.as_str());
            hasher.update(format!("{name}:{}\n", column.column_type.as_str()));
        }
        hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// The column of this name.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }
}

/// Finds the columns of rows, and their types.
#[derive(Debug, Default)]
pub struct SchemaBuilder {
    columns: Vec<ColumnSeen>,
    places: HashMap<String, usize>,
    rows: u64,
}

#[derive(Debug, Default)]
struct ColumnSeen {
    name: String,
    kinds: Kinds,
    /// Rows that have a value there.
    filled: u64,
}

impl SchemaBuilder {
    /// Looks at a row.
    pub fn see(&mut self, row: &Map<String, Value>) {
        self.rows += 1;
        for (position, (name, value)) in row.iter().enumerate() {
            let column = self.column_at(position, name);
            column.kinds.see(value);
            column.filled += u64::from(!value.is_null());
        }
    }

    /// Looks at a row of a file of texts, where an empty cell is nothing.
    pub(crate) fn see_texts(&mut self, row: &Map<String, Value>) {
        self.rows += 1;
        for (position, (name, value)) in row.iter().enumerate() {
            let column = self.column_at(position, name);
            column.kinds.see(value);
            column.filled += u64::from(value != "");
        }
    }

    /// How many columns were seen.
    #[must_use]
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// No column was seen.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// Whether some row had this field.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.places.contains_key(name)
    }

    /// The names of the columns in order.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|column| column.name.as_str())
    }

    /// The schema of all rows seen.
    #[must_use]
    pub fn schema(&self) -> DatasetSchema {
        let column = |seen: &ColumnSeen| Column {
            name: seen.name.clone(),
            column_type: seen.kinds.column_type(),
            nullable: seen.filled < self.rows,
        };
        DatasetSchema { columns: self.columns.iter().map(column).collect() }
    }

    /// The column of a name; mostly it stands where it stood in the rows before.
    fn column_at(&mut self, position: usize, name: &str) -> &mut ColumnSeen {
        let place = match self.columns.get(position) {
            Some(column) if column.name == name => position,
            _ => match self.places.get(name) {
                Some(place) => *place,
                None => {
                    let place = self.columns.len();
                    self.places.insert(name.to_owned(), place);
                    self.columns
                        .push(ColumnSeen { name: name.to_owned(), ..ColumnSeen::default() });
                    place
                }
            },
        };
        &mut self.columns[place]
    }
}

/// Which kinds of values a column has.
#[derive(Debug, Clone, Copy, Default)]
struct Kinds(u8);

impl Kinds {
    const STRING: u8 = 1;
    /// Whole numbers that are exact as floating point numbers.
    const SMALL: u8 = 2;
    /// Whole numbers that are not.
    const LARGE: u8 = 4;
    /// Whole numbers above all that have a sign.
    const HUGE: u8 = 8;
    const FRACTION: u8 = 16;
    const BOOLEAN: u8 = 32;
    const ARRAY: u8 = 64;
    const OBJECT: u8 = 128;

    fn see(&mut self, value: &Value) {
        self.0 |= match value {
            Value::Null => 0,
            Value::Bool(_) => Self::BOOLEAN,
            Value::Number(number) => Self::of_number(number),
            Value::String(_) => Self::STRING,
            Value::Array(_) => Self::ARRAY,
            Value::Object(_) => Self::OBJECT,
        };
    }

    fn of_number(number: &Number) -> u8 {
        match (number.as_i64(), number.as_u64()) {
            (Some(whole), _) if whole.unsigned_abs() <= EXACT => Self::SMALL,
            (Some(_), _) => Self::LARGE,
            (None, Some(_)) => Self::HUGE,
            (None, None) => Self::FRACTION,
        }
    }

    fn column_type(self) -> ColumnType {
        const INTEGER: u8 = Kinds::SMALL | Kinds::LARGE;
        const NUMBER: u8 = Kinds::SMALL | Kinds::FRACTION;
        let only = |kinds: u8| self.0 & !kinds == 0;
        match self.0 {
            0 => ColumnType::Null,
            Self::STRING => ColumnType::String,
            Self::BOOLEAN => ColumnType::Boolean,
            Self::ARRAY => ColumnType::Array,
            Self::OBJECT => ColumnType::Object,
            _ if only(INTEGER) => ColumnType::Integer,
            _ if only(NUMBER) => ColumnType::Number,
            _ => ColumnType::Mixed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn schema(rows: &[Value]) -> DatasetSchema {
        let mut builder = SchemaBuilder::default();
        rows.iter().filter_map(Value::as_object).for_each(|row| builder.see(row));
        builder.schema()
    }

    fn type_of(values: &[Value]) -> ColumnType {
        let rows: Vec<Value> = values.iter().map(|value| json!({"a": value})).collect();
        schema(&rows).columns[0].column_type
    }

    #[test]
    fn types_are_those_of_all_rows() {
        use ColumnType::{Array, Boolean, Integer, Mixed, Null, Number, Object, String};
        let cases = [
            (vec![json!(null)], Null),
            (vec![json!("x"), json!(null)], String),
            (vec![json!(1), json!(-7)], Integer),
            (vec![json!(1), json!(0.5)], Number),
            (vec![json!(0.5), json!(1)], Number),
            (vec![json!(true)], Boolean),
            (vec![json!([1]), json!([])], Array),
            (vec![json!({})], Object),
            (vec![json!(1), json!("1")], Mixed),
            (vec![json!(i64::MAX)], Integer),
            // Neither can be a floating point number, nor the second a number with sign.
            (vec![json!(i64::MAX), json!(0.5)], Mixed),
            (vec![json!(u64::MAX)], Mixed),
        ];
        for (values, expected) in cases {
            assert_eq!(type_of(&values), expected, "{values:?}");
        }
    }

    #[test]
    fn columns_stand_in_the_order_of_their_appearance_and_know_where_rows_have_none() {
        let found = schema(&[
            json!({"b": 1, "a": "x"}),
            json!({"a": "y", "c": null}),
            json!({"a": "z", "b": 2}),
        ]);
        let columns: Vec<_> =
            found.columns.iter().map(|column| (column.name.as_str(), column.nullable)).collect();
        assert_eq!(columns, [("b", true), ("a", false), ("c", true)]);
    }

    #[test]
    fn the_hash_is_that_of_the_documented_text() {
        let found = schema(&[json!({"id": "a", "the \"n\"": 1})]);
        // printf '"id":string\n"the \\"n\\"":integer\n' | sha256sum
        let expected = "e084e55e5a89c539b06ffd6e53d4ed937edf6cf630c8ecbab922f3f1efbc94c1";
        assert_eq!(found.hash(), expected);
        let nullable = schema(&[json!({"id": "a", "the \"n\"": 1}), json!({"id": "b"})]);
        assert_eq!(nullable.hash(), expected);
    }
}
