//! Shapes of values that are read by hand, for the OpenAPI document.
#![allow(dead_code, reason = "they describe schemas, and are never made")]

use fullbench_engine::ModelEntry;
use schemars::JsonSchema;
use serde_json::{Map, Value};

/// An input: text, an object, or a conversation as a list of messages.
#[derive(JsonSchema)]
#[serde(untagged)]
pub(crate) enum Input {
    Text(String),
    Object(Map<String, Value>),
    Conversation(Vec<Value>),
}

/// A text, or a list of texts.
#[derive(JsonSchema)]
#[serde(untagged)]
pub(crate) enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

/// A metric by its name, or a scorer with its parameters.
#[derive(JsonSchema)]
#[serde(untagged)]
pub(crate) enum Metric {
    Name(String),
    Scorer(Scorer),
}

/// A scorer with its parameters, as in an evaluation file.
#[derive(JsonSchema)]
pub(crate) struct Scorer {
    /// Which scorer.
    #[serde(rename = "type")]
    kind: String,
    /// What its scores are called.
    #[serde(default)]
    name: Option<String>,
    /// The scorer's own parameters.
    #[serde(flatten)]
    parameters: Map<String, Value>,
}

/// A model: `provider:model`, or an object.
pub(crate) type Model = ModelEntry;
