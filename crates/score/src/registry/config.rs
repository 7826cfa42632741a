//! An entry of the evaluation file's `scorers:`: a name, or a map with `type` and parameters.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::default_name;
use super::description::entry_schema;

/// A scorer as the evaluation file names it: `exact_match`, or `{ type: regex, patterns: ["^\\d+$"] }`.
#[derive(Debug, Clone, PartialEq)]
pub struct ScorerConfig {
    /// Which scorer.
    pub kind: String,
    /// What to call its scores, where that is given.
    pub name: Option<String>,
    /// The scorer's own parameters.
    pub parameters: Map<String, Value>,
}

impl ScorerConfig {
    /// A scorer of this kind with its default parameters.
    #[must_use]
    pub fn new(kind: impl Into<String>) -> Self {
        Self { kind: kind.into(), name: None, parameters: Map::new() }
    }

    /// What its scores are called: the name, or the kind (`latency_bound` and `cost_bound` for `latency` and `cost`,
    /// words that gates use for the run's own numbers).
    #[must_use]
    pub fn name(&self) -> &str {
        self.name.as_deref().unwrap_or_else(|| default_name(&self.kind))
    }
}

impl Serialize for ScorerConfig {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.name.is_none() && self.parameters.is_empty() {
            return serializer.serialize_str(&self.kind);
        }
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", &self.kind)?;
        if let Some(name) = &self.name {
            map.serialize_entry("name", name)?;
        }
        for (key, value) in &self.parameters {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for ScorerConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ConfigVisitor)
    }
}

struct ConfigVisitor;

impl<'de> Visitor<'de> for ConfigVisitor {
    type Value = ScorerConfig;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .write_str("the name of a scorer, or a map with `type` and the scorer's parameters")
    }

    fn visit_str<E>(self, kind: &str) -> Result<ScorerConfig, E> {
        Ok(ScorerConfig::new(kind))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<ScorerConfig, A::Error> {
        let (mut kind, mut name, mut parameters) = (None, None, Map::new());
        while let Some(key) = fields.next_key::<String>()? {
            let again = match key.as_str() {
                "type" => kind.replace(fields.next_value::<String>()?).is_some(),
                "name" => name.replace(fields.next_value::<Option<String>>()?).is_some(),
                _ => parameters.insert(key.clone(), fields.next_value()?).is_some(),
            };
            if again {
                return Err(A::Error::custom(format_args!("duplicate field `{key}`")));
            }
        }
        let kind = kind.ok_or_else(|| A::Error::missing_field("type"))?;
        Ok(ScorerConfig { kind, name: name.flatten(), parameters })
    }
}

impl JsonSchema for ScorerConfig {
    fn schema_name() -> Cow<'static, str> {
        "ScorerConfig".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        entry_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::json;

    use super::*;

    fn read(entry: Value) -> Result<ScorerConfig, String> {
        let entries = json!({ "scorers": [entry] });
        #[derive(Deserialize, Debug)]
        struct File {
            scorers: Vec<ScorerConfig>,
        }
        serde_path_to_error::deserialize::<_, File>(entries)
            .map(|mut file| file.scorers.remove(0))
            .map_err(|error| format!("{}: {}", error.path(), error.inner()))
    }

    #[test]
    fn an_entry_is_a_name_or_a_map_and_reads_back_as_it_was() {
        let plain = read(json!("exact_match")).unwrap();
        assert_eq!((plain.name(), plain.parameters.len()), ("exact_match", 0));
        assert_eq!(json!(plain), json!("exact_match"));
        let entry = json!({"type": "regex", "name": "digits", "patterns": ["\\d"]});
        let full = read(entry.clone()).unwrap();
        assert_eq!((full.name(), full.kind.as_str()), ("digits", "regex"));
        assert_eq!(json!(full), entry);
        assert_eq!(json!(read(json!({"type": "cost", "name": null})).unwrap()), json!("cost"));
    }

    #[test]
    fn a_wrong_shape_is_refused_with_its_place() {
        let expected = "the name of a scorer, or a map with `type` and the scorer's parameters";
        let cases = [
            (json!(7), format!("scorers[0]: invalid type: integer `7`, expected {expected}")),
            (json!(["a"]), format!("scorers[0]: invalid type: sequence, expected {expected}")),
            (json!({"patterns": []}), "scorers[0]: missing field `type`".to_owned()),
            (
                json!({"type": 3}),
                "scorers[0].type: invalid type: integer `3`, expected a string".to_owned(),
            ),
            (
                json!({"type": "cost", "name": 1}),
                "scorers[0].name: invalid type: integer `1`, expected a string".to_owned(),
            ),
        ];
        for (entry, message) in cases {
            assert_eq!(read(entry).unwrap_err(), message);
        }
        let twice =
            serde_json::from_str::<ScorerConfig>(r#"{"type":"cost","type":"cost"}"#).unwrap_err();
        assert!(twice.to_string().starts_with("duplicate field `type`"));
    }

    #[test]
    fn editors_get_a_schema_that_accepts_what_builds() {
        let schema = schemars::schema_for!(ScorerConfig).to_value();
        let validator = jsonschema::validator_for(&schema).unwrap();
        for good in [
            json!("exact_match"),
            json!({"type": "exact_match"}),
            json!({"type": "regex", "name": "digits", "patterns": ["\\d"], "mode": "any"}),
            json!({"type": "json_schema", "schema": {"type": "object"}}),
            json!({"type": "json_schema", "schema": "schemas/answer.json"}),
        ] {
            assert!(validator.is_valid(&good), "{good}");
        }
        for bad in [
            json!("exact_mach"),
            json!("regex"),
            json!({"type": "regex"}),
            json!({"type": "regex", "patterns": ["a"], "mode": "some"}),
            json!({"type": "exact_match", "patterns": ["a"]}),
        ] {
            assert!(!validator.is_valid(&bad), "{bad}");
        }
    }
}
