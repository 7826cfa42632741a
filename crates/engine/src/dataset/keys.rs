//! Keys of cases: the user's id, or a hash of the input and its occurrence. 16 bytes are kept for each.

use std::collections::HashSet;

use fullbench_types::{ContentHash, lookup, text_of};
use serde_json::{Map, Value};

use super::ProblemCode;
use super::rows::{BadRow, kind};

/// Gives every case its key, and refuses an id that another case has.
#[derive(Debug, Default)]
pub(crate) struct CaseKeys {
    taken: HashSet<u128>,
}

impl CaseKeys {
    /// The key of a row: what its field `id` says where there is one, or else a hash of what stands at `input`, of the whole row
    /// without.
    pub(crate) fn key(
        &mut self,
        id: Option<&str>,
        input: Option<&str>,
        fields: &Map<String, Value>,
    ) -> Result<String, BadRow> {
        match id {
            Some(id) => self.key_of_id(id, fields),
            None => Ok(self.key_of_input(input, fields)),
        }
    }

    fn key_of_id(&mut self, name: &str, fields: &Map<String, Value>) -> Result<String, BadRow> {
        let refuse = |code, message: &str| BadRow::new(code, message).in_field(name);
        let missing = |message| {
            refuse(ProblemCode::MissingId, message).hint("give every case an id, or none")
        };
        let key = match lookup(fields, name) {
            None | Some(Value::Null) => return Err(missing("the case has no id")),
            Some(value @ (Value::String(_) | Value::Number(_))) => text_of(value).into_owned(),
            Some(other) => {
                let message = format!("an id is text or a number, not {}", kind(other));
                return Err(refuse(ProblemCode::WrongType, &message));
            }
        };
        if key.is_empty() {
            return Err(missing("the id is empty"));
        }
        if !self.taken.insert(fingerprint(&[key.as_bytes()])) {
            let message = format!("two cases have the id `{key}`");
            return Err(refuse(ProblemCode::DuplicateId, &message).hint("ids must be unique"));
        }
        Ok(key)
    }

    /// BLAKE3 of the input and its occurrence: the same input twice makes two cases.
    fn key_of_input(&mut self, input: Option<&str>, fields: &Map<String, Value>) -> String {
        let input = match input {
            Some(path) => lookup(fields, path).map(ToString::to_string).unwrap_or_default(),
            None => Value::Object(fields.clone()).to_string(),
        };
        let mut occurrence = 0u64;
        loop {
            let parts: [&[u8]; 2] = [input.as_bytes(), &occurrence.to_le_bytes()];
            if self.taken.insert(fingerprint(&parts)) {
                return ContentHash::of_parts(&parts).to_string()[..32].to_owned();
            }
            occurrence += 1;
        }
    }
}

fn fingerprint(parts: &[&[u8]]) -> u128 {
    u128::from_le_bytes(ContentHash::of_parts(parts).short())
}
