//! Answers that must have a JSON Schema.

use fullbench_llm::{FailureClass, Parameters};
use fullbench_types::FinishReason;
use serde_json::{Value, json};

use crate::support::{answer, ask, model};

fn constrained(schema: &Value, seed: i64) -> Parameters {
    Parameters {
        json_schema: Some(schema.clone()),
        temperature: Some(1.0),
        max_tokens: Some(160),
        seed: Some(seed),
        ..Parameters::default()
    }
}

fn schemas() -> [Value; 5] {
    [
        json!({"type": "object", "additionalProperties": false, "required": ["name", "age", "kind"], "properties": {
            "name": {"type": "string", "minLength": 1, "maxLength": 12},
            "age": {"type": "integer", "minimum": 0, "maximum": 30},
            "kind": {"enum": ["cat", "dog", 7, null]},
        }}),
        json!({"type": "array", "minItems": 2, "maxItems": 3, "items": {"type": "number"}}),
        json!({"anyOf": [{"const": "yes"}, {"type": "boolean"}, {"type": "null"}]}),
        json!({"$ref": "#/$defs/node", "$defs": {"node": {
            "type": "object", "additionalProperties": false, "required": ["label"],
            "properties": {
                "label": {"enum": ["leaf", "branch"]},
                "children": {"type": "array", "maxItems": 1, "items": {"$ref": "#/$defs/node"}},
            },
        }}}),
        json!({"type": "string", "enum": ["ä", "日本", "😀"]}),
    ]
}

#[tokio::test]
async fn a_finished_answer_always_has_the_schema() {
    let Some(model) = model() else { return };
    let mut finished = 0;
    for schema in schemas() {
        let validator = jsonschema::validator_for(&schema).unwrap();
        for seed in 0..4 {
            let told = answer(&model, "Describe a pet as JSON.", constrained(&schema, seed)).await;
            if told.finish_reason == FinishReason::Length {
                continue;
            }
            finished += 1;
            let value: Value = serde_json::from_str(&told.text).expect(&told.text);
            assert!(validator.is_valid(&value), "{schema} does not hold for {}", told.text);
        }
    }
    assert!(finished >= 15, "only {finished} of 20 answers came to their end");
}

#[tokio::test]
async fn what_cannot_be_enforced_is_refused() {
    let Some(model) = model() else { return };
    for schema in [
        json!({"type": "array", "uniqueItems": true}),
        json!({"not": {"type": "string"}}),
        json!({"type": "wrong"}),
    ] {
        let error = ask(&model, "Hi", constrained(&schema, 0)).await.unwrap_err();
        assert_eq!(error.class, FailureClass::BadRequest, "{schema}");
        assert!(error.message.contains("json_schema"), "{}", error.message);
    }
}
