//! An entry of `scorers:` inside the parameters of another scorer.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};

use crate::registry::{ScorerConfig, build};

/// A scorer as part of another one: its name, or a map with `type` and its parameters.
#[derive(Debug, Clone, Deserialize)]
#[serde(transparent)]
pub(crate) struct NestedScorer(pub(crate) ScorerConfig);

/// Written by what its scores depend on, so that two spellings of the same scorer are the same parameter.
impl Serialize for NestedScorer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Ok(built) = build(&self.0) else { return self.0.serialize(serializer) };
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("type", &self.0.kind)?;
        map.serialize_entry("hash", &built.hash.to_string())?;
        map.end()
    }
}

impl JsonSchema for NestedScorer {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "NestedScorer".into()
    }

    /// A reference to the schema of all scorers; in a page that stands alone a sentence has to do.
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        if generator.settings().inline_subschemas {
            return json_schema!({ "type": ["string", "object"] });
        }
        generator.subschema_for::<ScorerConfig>()
    }
}
