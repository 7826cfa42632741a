//! What holds for every value and every text.
#![allow(clippy::unwrap_used)]

use std::sync::LazyLock;

use fullbench_script::{Language, Limits, Script};
use proptest::prelude::*;
use serde_json::{Map, Number, Value};

static IDENTITY: LazyLock<Script> = LazyLock::new(|| {
    let source = "export default (value) => value";
    Script::new(source, "identity.js", Language::JavaScript, Limits::default()).unwrap()
});

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (-1000..1000i64).prop_map(Value::from),
        any::<f64>()
            .prop_filter_map("finite", |number| Number::from_f64(number).map(Value::Number)),
        any::<String>().prop_map(Value::from),
        "[a-z😀é\\x00-\\x1f\u{2028}]{0,20}".prop_map(Value::from),
    ];
    let key = prop_oneof![
        any::<String>(),
        "[0-9]{1,3}",
        Just("__proto__".to_owned()),
        Just("constructor".to_owned()),
        Just("length".to_owned()),
    ];
    leaf.prop_recursive(6, 60, 8, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..8)
                .prop_map(|fields| Value::Object(fields.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// The value with its numbers as JavaScript has them.
fn in_javascript(value: &Value) -> Value {
    match value {
        Value::Number(number) => {
            let number = number.as_f64().unwrap();
            if number.fract() == 0.0 && number.abs() < 2f64.powi(53) {
                Value::from(number as i64)
            } else {
                Value::from(number)
            }
        }
        Value::Array(values) => values.iter().map(in_javascript).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(key, value)| (key.clone(), in_javascript(value))).collect()
        }
        other => other.clone(),
    }
}

proptest! {
    #[test]
    fn a_value_goes_through_unchanged(value in values()) {
        prop_assert_eq!(IDENTITY.call(&value).result, Ok(in_javascript(&value)));
    }

    #[test]
    fn any_text_as_source_is_run_or_refused(source in any::<String>(), pieces in prop::collection::vec(prop::sample::select(&["export default ", "() => ", "{", "}", "(", ")", "`", "${", "/", "a", "1", ";", ": ", "<", ">", "type ", "enum ", "class ", "=", "é", "\n", "await ", "\\u{", "'"][..]), 0..30)) {
        for source in [source, pieces.concat()] {
            for language in [Language::JavaScript, Language::TypeScript] {
                if let Err(error) = Script::new(&source, "any.ts", language, Limits::default()) {
                    prop_assert!(!matches!(error, fullbench_script::ScriptError::Sandbox { .. }), "{error}");
                }
            }
        }
    }
}
