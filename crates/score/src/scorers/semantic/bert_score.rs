//! `bert_score`: how well the tokens of output and reference match by what they mean in place.

use async_trait::async_trait;
use fullbench_embed::{
    Baseline, BertScoreOptions, BertScoreResult, DEFAULT_MODEL, EmbedError, bert_score,
};
use fullbench_types::Score;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{TRUNCATED, checked_threshold, failed, model_problem, references, settled};
use crate::registry::ScorerConfigError;
use crate::scorer::Item;
use crate::scorers::expectation::missing_reference;
use crate::scorers::{BatchScorer, Parameters};

/// Parameters of `bert_score`.
///
/// There is no `idf` here: it depends on which answers are scored together, so a resumed run would give other numbers.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct BertScoreParameters {
    /// The model, built like BERT or RoBERTa: a name that `fullbench weights list` shows, or the path of a folder.
    model: String,
    /// The layer whose values are compared, from 0. Unless given, the one that the `bert-score` library tuned for a model of this name, else the last.
    layer: Option<usize>,
    /// Which of the three numbers is the score.
    measure: Measure,
    /// What unrelated sentences get with this model and layer: scores are rescaled so that this is 0. The raw score may then be negative; its value, and with it the mean, is cut at 0.
    baseline: Option<Baseline>,
    /// Passed when the value is at least this much.
    #[schemars(range(min = 0.0, max = 1.0))]
    threshold: Option<f64>,
}

/// The three numbers of BERTScore.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Measure {
    /// The harmonic mean of precision and recall.
    #[default]
    F1,
    /// How much of the output is in the reference.
    Precision,
    /// How much of the reference is in the output.
    Recall,
}

impl Default for BertScoreParameters {
    fn default() -> Self {
        Self {
            model: DEFAULT_MODEL.to_owned(),
            layer: None,
            measure: Measure::F1,
            baseline: None,
            threshold: None,
        }
    }
}

impl Parameters for BertScoreParameters {
    type Scorer = Self;

    const KIND: &'static str = "bert_score";
    const SUMMARY: &'static str = "BERTScore: how well the words of output and reference match by their meaning in the sentence.";
    const EXAMPLE: &'static str = "{ type: bert_score, model: models/roberta-large }";
    const NEEDS_REFERENCE: bool = true;
    const BINARY: bool = false;
    const MODEL_PARAMETERS: &'static [&'static str] = &["model"];

    fn build(self) -> Result<Self, ScorerConfigError> {
        checked_threshold(self.threshold)?;
        Ok(self)
    }
}

#[async_trait]
impl BatchScorer for BertScoreParameters {
    fn ready(&self) -> Result<(), ScorerConfigError> {
        bert_score(&self.model, &self.options()).map(|_| ()).map_err(|error| model_problem(&error))
    }

    async fn score_items(&self, items: &[Item<'_>]) -> Vec<Score> {
        let references: Vec<Option<Vec<String>>> = items.iter().map(references).collect();
        let pairs: Vec<(String, Vec<String>)> = items
            .iter()
            .zip(&references)
            .filter_map(|(item, known)| Some((item.generation.text.clone(), known.clone()?)))
            .collect();
        let (model, options) = (self.model.clone(), self.options());
        let scoring =
            tokio::task::spawn_blocking(move || bert_score(&model, &options)?.score(&pairs));
        match scoring.await.unwrap_or(Err(EmbedError::Interrupted)) {
            Ok(results) => {
                let mut results = results.into_iter();
                let score = |known: Option<Vec<String>>| match known.and_then(|_| results.next()) {
                    Some(result) => self.score_of(result),
                    None => missing_reference(),
                };
                references.into_iter().map(score).collect()
            }
            Err(error) => failed(items, &error),
        }
    }
}

impl BertScoreParameters {
    fn options(&self) -> BertScoreOptions {
        BertScoreOptions { layer: self.layer, baseline: self.baseline, ..Default::default() }
    }

    fn score_of(&self, result: BertScoreResult) -> Score {
        let BertScoreResult { precision, recall, f1, truncated } = result;
        let raw = match self.measure {
            Measure::F1 => f1,
            Measure::Precision => precision,
            Measure::Recall => recall,
        };
        let raw = settled(raw);
        let parts = format!("precision {precision:.4}, recall {recall:.4}, F1 {f1:.4}");
        let score = Score::graded(raw, raw.clamp(0.0, 1.0), self.threshold);
        score.because(if truncated { format!("{parts}; {TRUNCATED}") } else { parts })
    }
}
