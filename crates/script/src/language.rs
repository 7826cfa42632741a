//! The languages a script is written in.

use std::path::Path;

use serde::{Deserialize, Serialize};

/// The language of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Language {
    /// ECMAScript, as a module.
    JavaScript,
    /// TypeScript, whose types are removed and not checked.
    TypeScript,
}

impl Language {
    /// The language of a file by its ending: `js` and `mjs`, `ts` and `mts`.
    pub fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "js" | "mjs" => Some(Self::JavaScript),
            "ts" | "mts" => Some(Self::TypeScript),
            _ => None,
        }
    }
}
