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
    text.push_str(&properties(schema, &schema["definitions"]));
    let empty = serde_json::Map::new();
    for (name, definition) in schema["definitions"].as_object().unwrap_or(&empty) {
        if definition["properties"].is_object() && name != "ScorerConfig" {
            text.push_str(&format!("\n## {name}\n\n{}\n\n", description(definition)));
            text.push_str(&properties(definition, &schema["definitions"]));
        }
    }
    text.push_str("\nThe scorers are in [scorers.md](scorers.md).\n");
    text
}

/// A table of the properties of an object schema; `definitions` holds what it refers to.
pub(super) fn properties(schema: &Value, definitions: &Value) -> String {
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
            kind(property, definitions),
            cell(&description(property))
        ));
    }
    text
}

fn description(schema: &Value) -> String {
    schema["description"].as_str().unwrap_or_default().to_owned()
}

/// The type in words; a reference to a mapping becomes a link, any other is written out.
fn kind(schema: &Value, definitions: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str().and_then(|reference| reference.rsplit('/').next()) {
        let definition = &definitions[name];
        if definition["properties"].is_object() {
            return format!("[{name}](#{})", name.to_lowercase());
        }
        return if name == "ScorerConfig" {
            "[scorer](scorers.md)".to_owned()
        } else {
            kind(definition, definitions)
        };
    }
    for several in ["anyOf", "oneOf", "allOf"] {
        if let Some(options) = schema[several].as_array() {
            let mut kinds: Vec<String> = Vec::new();
            for option in options.iter().map(|option| kind(option, definitions)) {
                if option != "null" && !kinds.contains(&option) {
                    kinds.push(option);
                }
            }
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
    let list = || format!("list of {}", kind(&schema["items"], definitions));
    match &schema["type"] {
        Value::String(name) if name == "array" => list(),
        Value::String(name) => word(name),
        Value::Array(names) => {
            let names = names.iter().filter_map(Value::as_str).filter(|name| *name != "null");
            let words: Vec<String> =
                names.map(|name| if name == "array" { list() } else { word(name) }).collect();
            words.join(" or ")
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
