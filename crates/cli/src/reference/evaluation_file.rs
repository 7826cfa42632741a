//! The page of the evaluation file, from its schema.

use serde_json::Value;

/// The page.
pub(super) fn page(schema: &Value) -> String {
    let mut text = String::from(
        "# Evaluation file\n\nGenerated from the code by `make reference`. The JSON Schema is in `schema/fullbench.schema.json`; ",
    );
    text.push_str("with this first line an editor completes and checks the file:\n\n");
    text.push_str(
        "```yaml\n# yaml-language-server: $schema=./schema/fullbench.schema.json\n```\n\n",
    );
    text.push_str(&format!("{}\n\n", description(schema)));
    text.push_str(&properties(schema));
    let empty = serde_json::Map::new();
    for (name, definition) in schema["definitions"].as_object().unwrap_or(&empty) {
        if definition["properties"].is_object() && name != "Scorer" {
            text.push_str(&format!("\n## {name}\n\n{}\n\n", description(definition)));
            text.push_str(&properties(definition));
        }
    }
    text.push_str("\nThe scorers are in [scorers.md](scorers.md).\n");
    text
}

/// A table of the properties of an object schema.
pub(super) fn properties(schema: &Value) -> String {
    let empty = serde_json::Map::new();
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let mut text = String::from("| key | type | meaning | default |\n|---|---|---|---|\n");
    for (name, property) in schema["properties"].as_object().unwrap_or(&empty) {
        let default = match &property["default"] {
            Value::Null if required.contains(&name.as_str()) => "required".to_owned(),
            Value::Null => String::new(),
            Value::Object(_) => String::new(),
            Value::Array(items) if items.is_empty() => String::new(),
            value => format!("`{value}`"),
        };
        text.push_str(&format!(
            "| `{name}` | {} | {} | {default} |\n",
            kind(property),
            cell(&description(property))
        ));
    }
    text
}

fn description(schema: &Value) -> String {
    schema["description"].as_str().unwrap_or_default().to_owned()
}

fn kind(schema: &Value) -> String {
    if let Some(reference) = schema["$ref"].as_str() {
        return reference.rsplit('/').next().unwrap_or_default().to_owned();
    }
    for several in ["anyOf", "oneOf", "allOf"] {
        if let Some(options) = schema[several].as_array() {
            let mut kinds: Vec<String> = options
                .iter()
                .map(kind)
                .filter(|kind| kind != "null" && !kind.is_empty())
                .collect();
            kinds.dedup();
            return kinds.join(" or ");
        }
    }
    if let Some(words) = schema["enum"].as_array() {
        let words: Vec<String> =
            words.iter().filter_map(Value::as_str).map(|word| format!("`{word}`")).collect();
        return words.join(" or ");
    }
    if let Some(word) = schema["const"].as_str() {
        return format!("`{word}`");
    }
    match &schema["type"] {
        Value::String(name) if name == "array" => format!("list of {}", kind(&schema["items"])),
        Value::String(name) => word(name),
        Value::Array(names) => {
            let names: Vec<&str> =
                names.iter().filter_map(Value::as_str).filter(|name| *name != "null").collect();
            if names == ["array"] {
                format!("list of {}", kind(&schema["items"]))
            } else {
                names.iter().map(|name| word(name)).collect::<Vec<_>>().join(" or ")
            }
        }
        _ => "any value".to_owned(),
    }
}

fn word(name: &str) -> String {
    match name {
        "string" => "text".to_owned(),
        "integer" => "whole number".to_owned(),
        "object" => "mapping".to_owned(),
        "boolean" => "true or false".to_owned(),
        other => other.to_owned(),
    }
}

fn cell(text: &str) -> String {
    text.replace('\n', " ").replace('|', "\\|")
}
