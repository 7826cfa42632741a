//! The reply's schema for a scale, and its description in words.

use fullbench_types::Scale;
use serde_json::{Value, json};

/// Most numbers that a schema lists one by one.
const MOST_LISTED: i64 = 21;

/// The schema with the numbers of the scale. Bounds are listed, not given as `minimum` and `maximum`, which some providers refuse.
pub(crate) fn schema_for(schema: &Value, scale: Scale) -> Value {
    let mut schema = schema.clone();
    let Some(score) = schema.pointer_mut("/properties/score").and_then(Value::as_object_mut) else {
        return schema;
    };
    let description = format!("a whole number from {} to {}", scale.min, scale.max);
    score.insert("description".to_owned(), Value::from(description));
    if i64::from(scale.max) - i64::from(scale.min) < MOST_LISTED {
        score.insert("enum".to_owned(), json!((scale.min..=scale.max).collect::<Vec<i32>>()));
    }
    schema
}

/// How to reply, in words; with the whole schema where the provider does not enforce it.
pub(crate) fn format_text(schema: &Value, enforced: bool) -> String {
    let heading =
        "Reply with one JSON object, and nothing before or after it. Its fields, in this order:";
    let mut text = format_fields(schema, heading);
    if !enforced {
        text.push_str(&format!("\nThe object satisfies this JSON Schema:\n{schema}"));
    }
    text
}

/// The fields of an object in words.
pub(crate) fn format_fields(schema: &Value, heading: &str) -> String {
    let mut text = heading.to_owned();
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, property) in properties.into_iter().flatten() {
        let word = |key: &str| property.get(key).and_then(Value::as_str).unwrap_or_default();
        let kind = match word("type") {
            "array" => "list",
            "string" => "text",
            "integer" | "number" => "number",
            other => other,
        };
        text.push_str(&format!("\n- \"{name}\" ({kind}): {}", word("description")));
        let listed = property.get("enum").and_then(Value::as_array);
        if let Some(listed) = listed.filter(|listed| listed.iter().all(Value::is_string)) {
            let words: Vec<String> = listed.iter().map(ToString::to_string).collect();
            text.push_str(&format!("; one of {}", words.join(", ")));
        }
    }
    text
}
