//! Nearness in meaning, by models that turn texts into vectors: `semantic_similarity` and `bert_score`.

mod bert_score;
mod similarity;
#[cfg(test)]
mod tests;

use fullbench_embed::EmbedError;
use fullbench_types::{Score, UnscoredReason, text_of};

use super::expectation::{expected, missing_reference};
use crate::registry::ScorerConfigError;
use crate::scorer::Item;

pub(crate) use bert_score::BertScoreParameters;
pub(crate) use similarity::SemanticSimilarity;

/// Told with a score that does not see the whole of a text.
const TRUNCATED: &str = "a text is longer than the model reads; the rest of it does not count";

/// Refuses a threshold that no value can be compared with.
fn checked_threshold(threshold: Option<f64>) -> Result<(), ScorerConfigError> {
    match threshold {
        Some(threshold) if !(0.0..=1.0).contains(&threshold) => {
            Err(ScorerConfigError::at("threshold", format!("{threshold} is not between 0 and 1")))
        }
        _ => Ok(()),
    }
}

/// What is wrong with a model, at the entry's parameter that names it.
fn model_problem(error: &EmbedError) -> ScorerConfigError {
    let field = match error {
        EmbedError::BadOption(_) => None,
        _ => Some("model".to_owned()),
    };
    ScorerConfigError { field, message: error.to_string(), hint: error.hint() }
}

/// The references of an item; none where there is nothing to compare with.
fn references(item: &Item<'_>) -> Option<Vec<String>> {
    let values = expected(None, item)?.iter().filter(|value| !value.is_null());
    Some(values.map(|value| text_of(value).into_owned()).collect())
}

/// The scores of items when the model failed.
fn failed(items: &[Item<'_>], error: &EmbedError) -> Vec<Score> {
    // What a provider failed to do it may do later; the run then goes on from there.
    let reason = match error {
        EmbedError::Provider(_) => UnscoredReason::ProviderError,
        _ => UnscoredReason::ScorerError,
    };
    let failed = Score::unscored(reason).because(error.to_string());
    let score = |item: &Item<'_>| match expected(None, item) {
        Some(_) => failed.clone(),
        None => missing_reference(),
    };
    items.iter().map(score).collect()
}

/// A number that is 1 but for rounding, so that a text passes every threshold against itself.
fn settled(number: f64) -> f64 {
    const ROUNDING: f64 = 1e-6;
    if (number - 1.0).abs() < ROUNDING { 1.0 } else { number }
}
