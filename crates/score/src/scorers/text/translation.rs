//! `bleu`, `chrf` and `ter`: the metrics of machine translation, as sacreBLEU has them, sentence by sentence.

use fullbench_text::{
    Bleu, BleuOptions, BleuTokenizer, Chrf, ChrfOptions, CorpusMetric, Smoothing, Ter, TerOptions,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Comparison, Graded, Measured, refused};
use crate::registry::ScorerConfigError;
use crate::scorers::Parameters;

/// Parameters of `bleu`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct BleuParameters {
    /// How texts are split into tokens: `13a` for languages with spaces between words, `zh` for Chinese, `char` for
    /// others without spaces, `intl` for punctuation beyond ASCII, `none` for text that is already tokenized.
    tokenizer: BleuTokenizer,
    /// What is done when no n-gram of an order matches: `exp`, `floor`, `add-k` or `none`.
    smoothing: Smoothing,
    /// The value of the smoothing `floor` (0.1 unless given) or `add-k` (1 unless given).
    smoothing_value: Option<f64>,
    /// Leave out the orders for which an output is too short, as is right for single sentences.
    effective_order: bool,
    /// Take small and capital letters as the same.
    lowercase: bool,
    /// The longest n-grams to count, from 1 to 4.
    #[schemars(range(min = 1, max = 4))]
    max_order: usize,
    /// Passed when the value, BLEU / 100, is at least this much.
    #[schemars(range(min = 0.0, max = 1.0))]
    threshold: Option<f64>,
}

impl Default for BleuParameters {
    fn default() -> Self {
        let BleuOptions {
            tokenizer,
            smoothing,
            smoothing_value,
            effective_order,
            lowercase,
            max_order,
        } = BleuOptions::for_sentences();
        let threshold = None;
        Self {
            tokenizer,
            smoothing,
            smoothing_value,
            effective_order,
            lowercase,
            max_order,
            threshold,
        }
    }
}

impl Parameters for BleuParameters {
    type Scorer = Graded<Bleu>;

    const KIND: &'static str = "bleu";
    const SUMMARY: &'static str =
        "Sentence BLEU as sacreBLEU computes it: n-grams of the output that are in a reference.";
    const EXAMPLE: &'static str = "{ type: bleu, tokenizer: 13a }";
    const NEEDS_REFERENCE: bool = true;
    const BINARY: bool = false;

    fn build(self) -> Result<Graded<Bleu>, ScorerConfigError> {
        let Self {
            tokenizer,
            smoothing,
            smoothing_value,
            effective_order,
            lowercase,
            max_order,
            threshold,
        } = self;
        let options = BleuOptions {
            tokenizer,
            smoothing,
            smoothing_value,
            effective_order,
            lowercase,
            max_order,
        };
        Graded::new(Bleu::new(options).map_err(|error| refused(&error))?, threshold)
    }
}

/// Parameters of `chrf`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ChrfParameters {
    /// The longest n-grams of characters to count, up to 16.
    #[schemars(range(max = 16))]
    char_order: usize,
    /// The longest n-grams of words to count, up to 16: 0 is chrF, 2 is chrF++.
    #[schemars(range(max = 16))]
    word_order: usize,
    /// How many times as important recall is as precision.
    beta: u32,
    /// Take small and capital letters as the same.
    lowercase: bool,
    /// Count white space as characters.
    whitespace: bool,
    /// Count orders for which a text is too short as nearly zero, rather than leave them out.
    eps_smoothing: bool,
    /// Passed when the value, chrF / 100, is at least this much.
    #[schemars(range(min = 0.0, max = 1.0))]
    threshold: Option<f64>,
}

impl Default for ChrfParameters {
    fn default() -> Self {
        let ChrfOptions { char_order, word_order, beta, lowercase, whitespace, eps_smoothing } =
            ChrfOptions::default();
        let threshold = None;
        Self { char_order, word_order, beta, lowercase, whitespace, eps_smoothing, threshold }
    }
}

impl Parameters for ChrfParameters {
    type Scorer = Graded<Chrf>;

    const KIND: &'static str = "chrf";
    const SUMMARY: &'static str =
        "chrF (or chrF++ with `word_order: 2`) as sacreBLEU computes it: n-grams of characters.";
    const EXAMPLE: &'static str = "{ type: chrf, word_order: 2 }";
    const NEEDS_REFERENCE: bool = true;
    const BINARY: bool = false;

    fn build(self) -> Result<Graded<Chrf>, ScorerConfigError> {
        let Self { char_order, word_order, beta, lowercase, whitespace, eps_smoothing, threshold } =
            self;
        let options =
            ChrfOptions { char_order, word_order, beta, lowercase, whitespace, eps_smoothing };
        Graded::new(Chrf::new(options).map_err(|error| refused(&error))?, threshold)
    }
}

/// Parameters of `ter`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct TerParameters {
    /// Set punctuation apart from words, join lines and replace entities such as `&amp;`, as Tercom does.
    normalized: bool,
    /// Leave out punctuation.
    no_punctuation: bool,
    /// With `normalized`, take each ideograph as a word; with `no_punctuation`, leave out Asian punctuation too.
    asian_support: bool,
    /// Tell small from capital letters.
    case_sensitive: bool,
    /// Passed when the value, 1 - TER / 100 and at least 0, is at least this much.
    #[schemars(range(min = 0.0, max = 1.0))]
    threshold: Option<f64>,
}

impl Parameters for TerParameters {
    type Scorer = Graded<Ter>;

    const KIND: &'static str = "ter";
    const SUMMARY: &'static str = "Translation edit rate as sacreBLEU computes it: edits and shifts of words to the nearest reference.";
    const EXAMPLE: &'static str = "{ type: ter, normalized: true }";
    const NEEDS_REFERENCE: bool = true;
    const BINARY: bool = false;

    fn build(self) -> Result<Graded<Ter>, ScorerConfigError> {
        let Self { normalized, no_punctuation, asian_support, case_sensitive, threshold } = self;
        let options = TerOptions { normalized, no_punctuation, asian_support, case_sensitive };
        Graded::new(Ter::new(options), threshold)
    }
}

impl Comparison for Bleu {
    fn compare(&self, output: &str, references: &[&str]) -> Measured {
        of_hundred(self, output, references)
    }
}

impl Comparison for Chrf {
    fn compare(&self, output: &str, references: &[&str]) -> Measured {
        of_hundred(self, output, references)
    }
}

impl Comparison for Ter {
    fn compare(&self, output: &str, references: &[&str]) -> Measured {
        of_hundred(self, output, references)
    }
}

fn of_hundred(metric: &impl CorpusMetric, output: &str, references: &[&str]) -> Measured {
    let raw = metric.score(&metric.statistics(output, references));
    let share = (raw / 100.0).clamp(0.0, 1.0);
    Measured {
        raw,
        value: if metric.lower_is_better() { 1.0 - share } else { share },
        detail: None,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use fullbench_types::Outcome;
    use serde_json::json;

    use crate::scorers::fixture::{refused, score, scorer};

    const OUTPUT: &str = "the cat sat on the mat";
    const REFERENCE: &str = "the cat is sitting on the mat";

    #[test]
    fn bleu_is_that_of_sacrebleu_for_sentences() {
        let bleu = score(&scorer(json!("bleu")), OUTPUT, json!(REFERENCE));
        assert!((bleu.raw.unwrap() - 32.159351091190125).abs() < 1e-9);
        assert!((bleu.value.unwrap() - 0.32159351091190125).abs() < 1e-11);
        assert_eq!(bleu.outcome, Outcome::Scored);
        let strict = scorer(json!({"type": "bleu", "threshold": 0.5}));
        assert_eq!(score(&strict, OUTPUT, json!(REFERENCE)).outcome, Outcome::Failed);
        assert_eq!(score(&strict, REFERENCE, json!(REFERENCE)).outcome, Outcome::Passed);
    }

    #[test]
    fn an_equal_text_is_perfect_and_another_is_not() {
        for kind in ["bleu", "chrf", "ter"] {
            let scorer = scorer(json!(kind));
            assert!(
                (score(&scorer, REFERENCE, json!(REFERENCE)).value.unwrap() - 1.0).abs() < 1e-9,
                "{kind}"
            );
            assert!(
                score(&scorer, "völlig anders", json!(REFERENCE)).value.unwrap() < 0.2,
                "{kind}"
            );
        }
    }

    #[test]
    fn options_that_make_no_sense_are_refused() {
        let error = refused(json!({"type": "bleu", "max_order": 9}));
        assert_eq!(error.field.as_deref(), Some("max_order"));
        let error = refused(json!({"type": "chrf", "threshold": 30}));
        assert!(error.hint.unwrap().contains("from 0 to 1"));
        let error = refused(json!({"type": "bleu", "tokeniser": "13a"}));
        assert!(error.hint.unwrap().starts_with("did you mean `tokenizer`?"));
    }
}
