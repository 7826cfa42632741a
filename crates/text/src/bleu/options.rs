//! The options of BLEU, as a user writes them.

use std::fmt::Display;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How BLEU is computed. The defaults are sacreBLEU's for a corpus.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BleuOptions {
    /// How texts are split into tokens. `13a` suits languages with spaces between words, `zh` Chinese, `char` other
    /// languages without spaces, `intl` text with punctuation beyond ASCII; `none` splits at white space, for text
    /// that is already tokenized.
    pub tokenizer: BleuTokenizer,
    /// What is done when no n-gram of an order matches, which would make the score zero.
    pub smoothing: Smoothing,
    /// The value of the smoothing `floor` (0.1 unless given) or `add-k` (1 unless given).
    pub smoothing_value: Option<f64>,
    /// Leave out the orders for which a text is too short. Recommended for the scores of single sentences.
    pub effective_order: bool,
    /// Take small and capital letters as the same.
    pub lowercase: bool,
    /// The longest n-grams to count, from 1 to 4.
    #[schemars(range(min = 1, max = 4))]
    pub max_order: usize,
}

impl Default for BleuOptions {
    fn default() -> Self {
        Self {
            tokenizer: BleuTokenizer::default(),
            smoothing: Smoothing::default(),
            smoothing_value: None,
            effective_order: false,
            lowercase: false,
            max_order: super::MAX_BLEU_ORDER,
        }
    }
}

impl BleuOptions {
    /// The defaults of sacreBLEU for single sentences: with effective order.
    pub fn for_sentences() -> Self {
        Self { effective_order: true, ..Self::default() }
    }

    /// The smoothing's value, given or by default.
    pub(super) fn smoothing_value(&self) -> f64 {
        self.smoothing_value.unwrap_or(match self.smoothing {
            Smoothing::Floor => 0.1,
            Smoothing::AddK => 1.0,
            Smoothing::Exp | Smoothing::None => 0.0,
        })
    }
}

/// How texts are split into tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BleuTokenizer {
    /// The tokenizer of mteval-v13a, used by WMT.
    #[default]
    #[serde(rename = "13a")]
    Mteval13a,
    /// The tokenizer of mteval-v14: all punctuation and symbols of Unicode stand alone, except between digits.
    Intl,
    /// Every character is a token.
    Char,
    /// Every Chinese character is a token, and the rest as in `13a`.
    Zh,
    /// Tokens are separated by white space.
    None,
}

impl Display for BleuTokenizer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Mteval13a => "13a",
            Self::Intl => "intl",
            Self::Char => "char",
            Self::Zh => "zh",
            Self::None => "none",
        })
    }
}

/// What is done about orders without a match (Chen and Cherry, 2014).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Smoothing {
    /// Half a match for the first such order, a quarter for the next, and so on.
    #[default]
    Exp,
    /// A small value in place of zero matches.
    Floor,
    /// A value added to matches and totals of all orders above 1.
    AddK,
    /// Nothing: the score is zero.
    None,
}

impl Display for Smoothing {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Exp => "exp",
            Self::Floor => "floor",
            Self::AddK => "add-k",
            Self::None => "none",
        })
    }
}
