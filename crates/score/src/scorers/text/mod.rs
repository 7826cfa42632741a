//! Lexical metrics as scorers: the best match among the references counts, as each metric's own library has it.

mod overlap;
mod rouge;
mod translation;

use fullbench_types::{Score, text_of};

use super::ItemScorer;
use super::expectation::{expected, missing_reference};
use crate::registry::ScorerConfigError;
use crate::scorer::Item;

pub(crate) use overlap::{BagCosine, EditSimilarity, Jaccard, SquadExactMatch, TokenF1};
pub(crate) use rouge::{Rouge1, Rouge2, RougeL, RougeLsum};
pub(crate) use translation::{BleuParameters, ChrfParameters, TerParameters};

/// A number on the metric's own scale, and from 0 to 1 with higher better.
pub(crate) struct Measured {
    raw: f64,
    value: f64,
    detail: Option<String>,
}

impl Measured {
    /// A metric whose own scale is from 0 to 1.
    fn share(value: f64) -> Self {
        Self { raw: value, value, detail: None }
    }
}

/// Compares an output with references, of which there is at least one.
pub(crate) trait Comparison: Send + Sync + 'static {
    fn compare(&self, output: &str, references: &[&str]) -> Measured;
}

/// A comparison whose number passes or fails by a threshold, where there is one.
pub(crate) struct Graded<C> {
    comparison: C,
    threshold: Option<f64>,
}

impl<C: Comparison> Graded<C> {
    fn new(comparison: C, threshold: Option<f64>) -> Result<Self, ScorerConfigError> {
        match threshold {
            Some(threshold) if !(0.0..=1.0).contains(&threshold) => Err(ScorerConfigError::at(
                "threshold",
                format!("{threshold} is not between 0 and 1"),
            )
            .hint("a threshold is on the value from 0 to 1: 0.3 for a BLEU of 30")),
            threshold => Ok(Self { comparison, threshold }),
        }
    }
}

impl<C: Comparison> ItemScorer for Graded<C> {
    fn is_binary(&self) -> bool {
        false
    }

    fn score_item(&self, item: &Item<'_>) -> Score {
        let Some(values) = expected(None, item) else { return missing_reference() };
        let texts: Vec<_> =
            values.iter().filter(|value| !value.is_null()).map(|value| text_of(value)).collect();
        let references: Vec<&str> = texts.iter().map(|text| text.as_ref()).collect();
        let measured = self.comparison.compare(&item.generation.text, &references);
        let score = Score::graded(measured.raw, measured.value, self.threshold);
        match measured.detail {
            Some(detail) => score.because(detail),
            None => score,
        }
    }
}

/// An option that a metric refuses, as the field of its entry.
fn refused(error: &fullbench_text::InvalidOptions) -> ScorerConfigError {
    ScorerConfigError::at(error.option, format!("{} {}", error.option, error.problem))
}
