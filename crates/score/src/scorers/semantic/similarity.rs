//! `semantic_similarity`: the cosine between the sentence embeddings of output and reference.

use std::collections::HashMap;

use async_trait::async_trait;
use fullbench_embed::{DEFAULT_MODEL, EmbedError, Embedding, ModelChoice, cosine};
use fullbench_llm::ModelConfig;
use fullbench_types::Score;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{TRUNCATED, checked_threshold, failed, model_problem, references, settled};
use crate::registry::ScorerConfigError;
use crate::scorer::Item;
use crate::scorers::expectation::missing_reference;
use crate::scorers::{BatchScorer, Parameters};

/// Parameters of `semantic_similarity`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct SemanticSimilarity {
    /// The model of sentence embeddings: a name that `fullbench weights list` shows, the path of a folder, or a provider's model, such as `openai:text-embedding-3-small`.
    model: String,
    /// Where the provider is served, when not at its usual address: any server with `/embeddings` in OpenAI's format.
    base_url: Option<String>,
    /// Name of the environment variable with the provider's key. With a `base_url` no key is sent unless this is given.
    api_key_env: Option<String>,
    /// Values of the provider's vectors, for models that can shorten them.
    dimensions: Option<u32>,
    /// Passed when the value, (cosine + 1) / 2, is at least this much.
    #[schemars(range(min = 0.0, max = 1.0))]
    threshold: Option<f64>,
}

impl Default for SemanticSimilarity {
    fn default() -> Self {
        Self {
            model: DEFAULT_MODEL.to_owned(),
            base_url: None,
            api_key_env: None,
            dimensions: None,
            threshold: None,
        }
    }
}

impl Parameters for SemanticSimilarity {
    type Scorer = Self;

    const KIND: &'static str = "semantic_similarity";
    const SUMMARY: &'static str =
        "Nearness in meaning: the cosine between sentence embeddings of output and reference.";
    const EXAMPLE: &'static str = "{ type: semantic_similarity, threshold: 0.8 }";
    const NEEDS_REFERENCE: bool = true;
    const BINARY: bool = false;
    const MODEL_PARAMETERS: &'static [&'static str] = &["model"];

    fn build(self) -> Result<Self, ScorerConfigError> {
        checked_threshold(self.threshold)?;
        Ok(self)
    }
}

#[async_trait]
impl BatchScorer for SemanticSimilarity {
    fn ready(&self) -> Result<(), ScorerConfigError> {
        self.choice().embedder().map(|_| ()).map_err(|error| model_problem(&error))
    }

    fn embedders(&self) -> Vec<ModelConfig> {
        self.choice().at_provider().into_iter().collect()
    }

    async fn score_items(&self, items: &[Item<'_>]) -> Vec<Score> {
        match self.score_together(items).await {
            Ok(scores) => scores,
            // One text that is refused must not cost the others their scores.
            Err(EmbedError::Refused(_)) if items.len() > 1 => {
                let mut scores = Vec::with_capacity(items.len());
                for item in items {
                    let alone = std::slice::from_ref(item);
                    scores.extend(match self.score_together(alone).await {
                        Ok(scores) => scores,
                        Err(error) => failed(alone, &error),
                    });
                }
                scores
            }
            Err(error) => failed(items, &error),
        }
    }
}

impl SemanticSimilarity {
    fn choice(&self) -> ModelChoice {
        ModelChoice {
            model: self.model.clone(),
            base_url: self.base_url.clone(),
            api_key_env: self.api_key_env.clone(),
            dimensions: self.dimensions,
        }
    }

    async fn score_together(&self, items: &[Item<'_>]) -> Result<Vec<Score>, EmbedError> {
        let mut texts = Texts::default();
        let placed: Vec<Option<(usize, Vec<usize>)>> = items
            .iter()
            .map(|item| {
                let references = references(item)?;
                let output = texts.place(item.generation.text.clone());
                Some((output, references.into_iter().map(|text| texts.place(text)).collect()))
            })
            .collect();
        let embeddings = self.choice().embedder()?.embed(&texts.distinct).await?;
        Ok(placed.into_iter().map(|places| self.score_of(places, &embeddings)).collect())
    }

    /// The score of an output and its references, given by their places among the embeddings.
    fn score_of(&self, places: Option<(usize, Vec<usize>)>, embeddings: &[Embedding]) -> Score {
        let Some((output, references)) = places else { return missing_reference() };
        let output = &embeddings[output];
        let references = references.iter().map(|place| &embeddings[*place]);
        let cosines = references.clone().map(|other| cosine(&output.vector, &other.vector));
        let best = settled(cosines.fold(-1.0, f64::max));
        let score = Score::graded(best, f64::midpoint(best, 1.0), self.threshold);
        let truncated = output.truncated || references.clone().any(|other| other.truncated);
        if truncated { score.because(TRUNCATED) } else { score }
    }
}

/// Texts, each of them once: references repeat from model to model.
#[derive(Default)]
struct Texts {
    distinct: Vec<String>,
    places: HashMap<String, usize>,
}

impl Texts {
    fn place(&mut self, text: String) -> usize {
        *self.places.entry(text).or_insert_with_key(|text| {
            self.distinct.push(text.clone());
            self.distinct.len() - 1
        })
    }
}
