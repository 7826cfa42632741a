//! How the numbers of a run are made: what the evaluation file may say about it.

use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Visitor;
use serde::{Deserialize, Deserializer};

/// The field that groups cases where the evaluation file names none.
pub(crate) const DEFAULT_GROUP: &str = "group";

/// How the numbers of a run are made.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Statistics")]
pub struct StatisticsConfig {
    /// The field whose values group cases that resemble each other (questions on one text, turns of one conversation), so
    /// that intervals and tests count groups, not cases. Default: `group` where the data has it; `false` for none.
    #[serde(default)]
    pub group: GroupField,
}

/// The field that groups cases.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum GroupField {
    /// `group`, where the data has it.
    #[default]
    Default,
    /// No field: every case counts by itself.
    Off,
    /// This field, which the data must have.
    Named(String),
}

impl<'de> Deserialize<'de> for GroupField {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FieldOrSwitch;
        impl Visitor<'_> for FieldOrSwitch {
            type Value = GroupField;
            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("the name of a field, or false")
            }
            fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
                Ok(GroupField::Named(name.to_owned()))
            }
            fn visit_bool<E>(self, on: bool) -> Result<Self::Value, E> {
                Ok(if on { GroupField::Default } else { GroupField::Off })
            }
            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(GroupField::Default)
            }
        }
        deserializer.deserialize_any(FieldOrSwitch)
    }
}

impl JsonSchema for GroupField {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "GroupField".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [{ "type": "string" }, { "type": "boolean" }] })
    }
}
