//! The options of ROUGE, as a user writes them.

use std::borrow::Cow;
use std::fmt::Display;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// How ROUGE is computed. The defaults are those of google's `rouge_score`, and ROUGE-L.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RougeOptions {
    /// Which ROUGE: `rouge_1` to `rouge_9` count n-grams, `rouge_l` takes the longest common subsequence, and
    /// `rouge_lsum` takes it line by line, for summaries with one sentence on each line.
    pub kind: RougeKind,
    /// Compare the stems of English words: `running` matches `runs`.
    pub stemmer: bool,
}

/// Which ROUGE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum RougeKind {
    /// N-grams of words, from 1 to 9 words long.
    N(u8),
    /// The longest common subsequence of the texts.
    #[default]
    L,
    /// The union of the longest common subsequences of the lines.
    Lsum,
}

impl Display for RougeKind {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::N(order) => write!(formatter, "rouge_{order}"),
            Self::L => formatter.write_str("rouge_l"),
            Self::Lsum => formatter.write_str("rouge_lsum"),
        }
    }
}

/// A name that is none of a [`RougeKind`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no kind of ROUGE: write rouge_1 to rouge_9, rouge_l or rouge_lsum")]
pub struct UnknownRouge(String);

impl FromStr for RougeKind {
    type Err = UnknownRouge;

    fn from_str(name: &str) -> Result<Self, UnknownRouge> {
        match name {
            "rouge_l" => Ok(Self::L),
            "rouge_lsum" => Ok(Self::Lsum),
            _ => match name.strip_prefix("rouge_").map(str::as_bytes) {
                Some(&[digit @ b'1'..=b'9']) => Ok(Self::N(digit - b'0')),
                _ => Err(UnknownRouge(name.to_owned())),
            },
        }
    }
}

impl TryFrom<String> for RougeKind {
    type Error = UnknownRouge;

    fn try_from(name: String) -> Result<Self, UnknownRouge> {
        name.parse()
    }
}

impl From<RougeKind> for String {
    fn from(kind: RougeKind) -> Self {
        kind.to_string()
    }
}

impl JsonSchema for RougeKind {
    fn schema_name() -> Cow<'static, str> {
        "RougeKind".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let kinds = (1..=9).map(Self::N).chain([Self::L, Self::Lsum]);
        let names: Vec<String> = kinds.map(String::from).collect();
        json_schema!({ "type": "string", "enum": names, "description": "Which ROUGE." })
    }
}
