//! Answers that satisfy a simple JSON schema.

use serde_json::{Map, Value, json};

use crate::answer::{sentence, word};
use crate::dice::{Dice, Purpose};

const MAX_DEPTH: u32 = 24;

/// What an answer is about.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Wanted<'call> {
    /// The solution of the question, where it has one.
    pub(crate) solution: Option<&'call str>,
    /// The question.
    pub(crate) question: &'call str,
    /// How often in a hundred the model is right: a judge with a skill passes as large a share.
    pub(crate) skill: Option<u64>,
}

/// JSON text that satisfies the schema, with the solution of the question where a number or a text is wanted.
pub(crate) fn json_answer(schema: Option<&Value>, wanted: &Wanted<'_>, dice: Dice) -> String {
    let Some(schema) = schema else {
        let answer = wanted.solution.map_or_else(|| sentence(dice, 6), str::to_owned);
        return json!({ "answer": answer }).to_string();
    };
    let instance = Instance { root: schema, wanted: *wanted, solution: wanted.solution };
    instance.of(schema, dice, 0).to_string()
}

struct Instance<'schema> {
    root: &'schema Value,
    wanted: Wanted<'schema>,
    solution: Option<&'schema str>,
}

impl Instance<'_> {
    fn of(&self, schema: &Value, dice: Dice, depth: u32) -> Value {
        if depth > MAX_DEPTH {
            return Value::Null;
        }
        if let Some(constant) = schema.get("const") {
            return constant.clone();
        }
        if let Some(allowed) =
            schema.get("enum").and_then(Value::as_array).filter(|list| !list.is_empty())
        {
            return self.chosen(allowed, dice);
        }
        if let Some(target) =
            schema.get("$ref").and_then(Value::as_str).and_then(|path| self.definition(path))
        {
            return self.of(target, dice, depth + 1);
        }
        for combination in ["anyOf", "oneOf", "allOf"] {
            if let Some(first) = schema.get(combination).and_then(|list| list.get(0)) {
                return self.of(first, dice, depth + 1);
            }
        }
        match type_of(schema).as_str() {
            "object" => self.object(schema, dice, depth),
            "array" => self.array(schema, dice, depth),
            "integer" => self.number(schema, dice, true),
            "number" => self.number(schema, dice, false),
            "boolean" => Value::Bool(dice.bits(Purpose::Json) & 1 == 1),
            "null" => Value::Null,
            _ => self.text(schema, dice),
        }
    }

    /// One of the values. A judge with a skill says pass as often as that, and otherwise fail.
    fn chosen(&self, allowed: &[Value], dice: Dice) -> Value {
        let is_verdict = allowed.iter().any(|one| one == "pass");
        match self.wanted.skill.filter(|_| is_verdict) {
            Some(skill) if dice.share(Purpose::Json) * 100.0 < skill as f64 => json!("pass"),
            Some(_) => json!("fail"),
            None => allowed[dice.index(Purpose::Json, allowed.len())].clone(),
        }
    }

    /// One entry for each item of the question, by the id in its heading, as its own text decides.
    fn items(&self, entry: &Value, depth: u32) -> Option<Value> {
        entry.pointer("/properties/id")?;
        let parts = self.wanted.question.split("\n# Item ").skip(1);
        let items = parts.map(|part| {
            let (id, text) = part.split_once('\n').unwrap_or((part, ""));
            let letters = text.bytes().filter(|byte| !byte.is_ascii_hexdigit());
            let key = letters
                .fold(0_u128, |key, byte| key.wrapping_mul(31).wrapping_add(u128::from(byte)));
            let mut entry = self.of(entry, Dice::new(0, key), depth + 1);
            entry["id"] = Value::from(id);
            entry
        });
        let items: Vec<Value> = items.collect();
        (!items.is_empty()).then_some(Value::Array(items))
    }

    fn definition(&self, path: &str) -> Option<&Value> {
        self.root.pointer(path.strip_prefix('#')?)
    }

    fn object(&self, schema: &Value, dice: Dice, depth: u32) -> Value {
        let mut fields = Map::new();
        let properties = schema.get("properties").and_then(Value::as_object);
        for (index, (name, property)) in properties.into_iter().flatten().enumerate() {
            fields.insert(name.clone(), self.of(property, dice.with(index as u64), depth + 1));
        }
        let required = schema.get("required").and_then(Value::as_array);
        for name in required.into_iter().flatten().filter_map(Value::as_str) {
            fields.entry(name).or_insert_with(|| Value::from(word(dice)));
        }
        Value::Object(fields)
    }

    fn array(&self, schema: &Value, dice: Dice, depth: u32) -> Value {
        const MOST_ITEMS: u64 = 1_000;
        let bound = |name| schema.get(name).and_then(Value::as_u64);
        let length =
            bound("minItems").unwrap_or(1).max(1).min(bound("maxItems").unwrap_or(u64::MAX));
        let any = Value::Bool(true);
        let items = schema.get("items").unwrap_or(&any);
        if let Some(of_question) = self.items(items, depth) {
            return of_question;
        }
        (0..length.min(MOST_ITEMS))
            .map(|index| self.of(items, dice.with(index), depth + 1))
            .collect()
    }

    fn number(&self, schema: &Value, dice: Dice, whole: bool) -> Value {
        let bound = |name| schema.get(name).and_then(Value::as_f64);
        let least = bound("minimum").or(bound("exclusiveMinimum").map(|least| least + 1.0));
        let most = bound("maximum").or(bound("exclusiveMaximum").map(|most| most - 1.0));
        let fits = |value: &f64| {
            least.is_none_or(|least| *value >= least) && most.is_none_or(|most| *value <= most)
        };
        let solution = self.solution.and_then(|solution| solution.parse::<f64>().ok());
        let drawn = match (least, most) {
            (Some(least), Some(most)) => least + dice.share(Purpose::Json) * (most - least),
            (Some(least), None) => least + dice.share(Purpose::Json) * 100.0,
            (None, Some(most)) => most - dice.share(Purpose::Json) * 100.0,
            (None, None) => dice.share(Purpose::Json) * 100.0,
        };
        let value = solution.filter(fits).unwrap_or(drawn);
        if whole {
            let rounded = if fits(&value.floor()) { value.floor() } else { value.ceil() };
            return Value::from(rounded as i64);
        }
        let rounded = (value * 100.0).round() / 100.0;
        Value::from(if fits(&rounded) { rounded } else { value })
    }

    fn text(&self, schema: &Value, dice: Dice) -> Value {
        let bound = |name| {
            schema.get(name).and_then(Value::as_u64).and_then(|bound| usize::try_from(bound).ok())
        };
        let mut text = self.solution.map_or_else(|| word(dice).to_owned(), str::to_owned);
        const LONGEST: usize = 100_000;
        while text.len() < bound("minLength").unwrap_or(0).min(LONGEST) {
            text.push(' ');
            text.push_str(word(dice.with(text.len() as u64)));
        }
        if let Some(most) = bound("maxLength") {
            text.truncate(most);
        }
        Value::String(text)
    }
}

/// The type's name in small letters, as Gemini writes them in capitals; the first that is not null of several.
fn type_of(schema: &Value) -> String {
    let named = match schema.get("type") {
        Some(Value::Array(types)) => {
            types.iter().find(|name| *name != "null").and_then(Value::as_str)
        }
        Some(one) => one.as_str(),
        None if schema.get("properties").is_some() => Some("object"),
        None => None,
    };
    named.unwrap_or("string").to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn instance(schema: &Value, solution: Option<&str>) -> Value {
        let wanted = Wanted { solution, ..Wanted::default() };
        serde_json::from_str(&json_answer(Some(schema), &wanted, Dice::new(1, 2))).unwrap()
    }

    #[test]
    fn simple_schemas_are_satisfied() {
        let schema = json!({
            "type": "object",
            "properties": {
                "answer": { "type": "integer", "minimum": 0, "maximum": 1000 },
                "label": { "enum": ["yes", "no"] },
                "sure": { "type": "boolean" },
                "tags": { "type": "array", "items": { "$ref": "#/$defs/tag" }, "minItems": 2 },
                "note": { "type": ["null", "string"], "maxLength": 3 },
            },
            "required": ["answer", "extra"],
            "$defs": { "tag": { "type": "string", "minLength": 10 } },
        });
        let found = instance(&schema, Some("391"));
        assert_eq!(found["answer"], 391);
        assert!(found["label"] == "yes" || found["label"] == "no");
        assert!(found["sure"].is_boolean() && found["extra"].is_string());
        assert_eq!(found["tags"].as_array().unwrap().len(), 2);
        assert!(found["tags"][0].as_str().unwrap().len() >= 10);
        assert!(found["note"].as_str().unwrap().len() <= 3);
    }

    #[test]
    fn geminis_capital_types_and_endless_schemas_are_understood() {
        let capital = json!({"type": "OBJECT", "properties": {"n": {"type": "NUMBER"}}});
        assert!(instance(&capital, None)["n"].is_number());
        let endless = json!({"type": "object", "properties": {"next": {"$ref": "#"}}});
        assert!(instance(&endless, None).is_object());
    }

    #[test]
    fn json_without_a_schema_is_an_object() {
        let wanted = Wanted { solution: Some("7"), ..Wanted::default() };
        assert_eq!(json_answer(None, &wanted, Dice::new(1, 2)), r#"{"answer":"7"}"#);
    }

    #[test]
    fn items_are_answered_by_their_ids_and_a_skilled_judge_passes_that_share() {
        let verdict = json!({"enum": ["pass", "fail", "unsure"]});
        let entry =
            json!({"type": "object", "properties": {"id": {"type": "string"}, "verdict": verdict}});
        let schema = json!({"type": "object", "properties": {"judgements": {"type": "array", "items": entry}}});
        let question = "Judge.\n\n# Item a1\nfirst\n\n# Item b2\nsecond\n\n# Your task\n";
        let of = |skill| {
            let wanted = Wanted { question, skill: Some(skill), ..Wanted::default() };
            let text = json_answer(Some(&schema), &wanted, Dice::new(1, 2));
            serde_json::from_str::<Value>(&text).unwrap()
        };
        let all = of(100);
        assert_eq!(all["judgements"][1], json!({"id": "b2", "verdict": "pass"}));
        assert_eq!(of(0)["judgements"][0]["verdict"], "fail");
    }
}
