//! Text that PostgreSQL can keep: it has no place for the letter NUL, which models do write now and then.

use sea_orm::{Statement, Value};

/// What stands for NUL: the letter for what could not be kept.
const REPLACEMENT: &str = "\u{fffd}";

/// Puts another letter in the place of every NUL in the values of a statement, so that nothing is lost for its sake.
pub(super) fn make_storable(statement: &mut Statement) {
    for value in statement.values.iter_mut().flat_map(|values| &mut values.0) {
        match value {
            Value::String(Some(text)) => make_text_storable(text),
            Value::Json(Some(json)) => make_json_storable(json),
            _ => {}
        }
    }
}

fn make_text_storable(text: &mut String) {
    if text.contains('\0') {
        *text = text.replace('\0', REPLACEMENT);
    }
}

fn make_json_storable(json: &mut serde_json::Value) {
    match json {
        serde_json::Value::String(text) => make_text_storable(text),
        serde_json::Value::Array(items) => items.iter_mut().for_each(make_json_storable),
        serde_json::Value::Object(fields) => {
            if fields.keys().any(|name| name.contains('\0')) {
                let renamed = std::mem::take(fields).into_iter();
                fields
                    .extend(renamed.map(|(name, value)| (name.replace('\0', REPLACEMENT), value)));
            }
            fields.values_mut().for_each(make_json_storable);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use sea_orm::DbBackend;
    use serde_json::json;

    use super::*;

    #[test]
    fn nul_is_replaced_wherever_it_is() {
        let json = json!({"a\0": ["x\0y", {"b": "\0"}], "c": 1});
        let values = ["plain".into(), "a\0b\0".into(), Value::String(None), json.into(), 7.into()];
        let mut statement = Statement::from_sql_and_values(DbBackend::Postgres, "", values);
        make_storable(&mut statement);
        let json = json!({"a\u{fffd}": ["x\u{fffd}y", {"b": "\u{fffd}"}], "c": 1});
        let kept = [
            "plain".into(),
            "a\u{fffd}b\u{fffd}".into(),
            Value::String(None),
            json.into(),
            7.into(),
        ];
        assert_eq!(statement.values.map(|values| values.0), Some(kept.to_vec()));
    }
}
