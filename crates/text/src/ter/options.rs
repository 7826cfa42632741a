//! The options of TER, as a user writes them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How TER is computed. The defaults are sacreBLEU's.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TerOptions {
    /// Set punctuation apart from words, join lines and replace entities such as `&amp;`, as Tercom does.
    pub normalized: bool,
    /// Leave out punctuation.
    pub no_punctuation: bool,
    /// With `normalized`, take each ideograph as a word; with `no_punctuation`, leave out Asian punctuation too.
    pub asian_support: bool,
    /// Tell small from capital letters.
    pub case_sensitive: bool,
}
