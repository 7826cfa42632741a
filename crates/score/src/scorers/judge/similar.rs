//! The semantic cache of a judge: an output that says the same as one judged before takes its score.
//!
//! Nearness of embeddings only finds candidates: "42" and "43" are nearer than two ways to say one thing. A score is taken only
//! within the same judge, prompt, criterion, reference and context, and only where a guard finds no difference that matters in
//! input and output. What was taken is marked, is never itself taken from, and a share of it is judged all the same.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use fullbench_embed::{DEFAULT_MODEL, EmbedError, ModelChoice, SimilarityIndex, differs};
use fullbench_judge::{Judge, Subject};
use fullbench_llm::ModelConfig;
use fullbench_types::{ContentHash, NanoDollars, Outcome, Score, ScorePath, SimilarPath};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::sync::Mutex;

use crate::memory::{JudgedOutput, JudgedStore};
use crate::registry::ScorerConfigError;
use crate::scorer::Item;
use crate::scorers::composite::chance;

/// Neighbours that the guard looks at.
const CANDIDATES: usize = 8;
/// Vectors up to which every one is looked at: an index pays beyond.
const FEW: usize = 64;

/// When a judgement of a similar output may be taken.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct SimilarParameters {
    /// Least cosine between the embeddings, 0 to 1. What differs in a number, a name, a negation, a date or a unit is never taken, however near.
    #[schemars(range(min = 0.0, max = 1.0))]
    threshold: f64,
    /// The share of similar outputs that are judged all the same, 0 to 1: the report says how often the judge differs.
    #[schemars(range(min = 0.0, max = 1.0))]
    audit: f64,
    /// The model of sentence embeddings: a name that `fullbench weights list` shows, the path of a folder, or a provider's model.
    model: String,
    /// Where the provider of the embeddings is served, when not at its usual address.
    base_url: Option<String>,
    /// Name of the environment variable with the key of the embeddings' provider.
    api_key_env: Option<String>,
    /// The seed of the draws.
    seed: u64,
}

impl Default for SimilarParameters {
    fn default() -> Self {
        Self {
            threshold: 0.95,
            audit: 0.1,
            model: DEFAULT_MODEL.to_owned(),
            base_url: None,
            api_key_env: None,
            seed: 0,
        }
    }
}

impl SimilarParameters {
    pub(super) fn check(&self) -> Result<(), ScorerConfigError> {
        for (field, share) in [("threshold", self.threshold), ("audit", self.audit)] {
            if !(0.0..=1.0).contains(&share) {
                return Err(ScorerConfigError::at(
                    format!("similar.{field}"),
                    format!("{share} is not from 0 to 1"),
                ));
            }
        }
        Ok(())
    }

    fn choice(&self) -> ModelChoice {
        ModelChoice {
            model: self.model.clone(),
            base_url: self.base_url.clone(),
            api_key_env: self.api_key_env.clone(),
            dimensions: None,
        }
    }
}

/// The judged outputs of one space.
#[derive(Default)]
struct Space {
    judged: Vec<JudgedOutput>,
    index: Option<SimilarityIndex>,
}

/// What a judge has judged before.
pub(super) struct SemanticCache {
    parameters: SimilarParameters,
    /// Everything of the judge that a score depends on.
    judge: ContentHash,
    store: OnceLock<Arc<dyn JudgedStore>>,
    spaces: Mutex<HashMap<ContentHash, Space>>,
}

/// A judged output that an item says the same as.
struct Found {
    score: Score,
    path: SimilarPath,
    case: String,
}

/// An item with where it belongs and what stands for it.
pub(super) struct Looked {
    space: ContentHash,
    vector: Vec<f32>,
    found: Option<Found>,
}

impl SemanticCache {
    pub(super) fn new(parameters: SimilarParameters, judge: &Judge) -> Self {
        let config = serde_json::to_string(judge.config()).unwrap_or_default();
        let criterion = serde_json::to_string(judge.criterion()).unwrap_or_default();
        let judge = ContentHash::of_parts(&[
            b"semantic cache 1",
            config.as_bytes(),
            criterion.as_bytes(),
            &judge.template().0,
            parameters.model.as_bytes(),
        ]);
        Self { parameters, judge, store: OnceLock::new(), spaces: Mutex::default() }
    }

    pub(super) fn ready(&self) -> Result<(), ScorerConfigError> {
        self.parameters.choice().embedder().map(|_| ()).map_err(|error| ScorerConfigError {
            field: Some("similar.model".to_owned()),
            message: error.to_string(),
            hint: error.hint(),
        })
    }

    /// The model of the embeddings, where a provider serves it.
    pub(super) fn embedder(&self) -> Option<ModelConfig> {
        self.parameters.choice().at_provider()
    }

    pub(super) fn keep_in(&self, store: &Arc<dyn JudgedStore>) {
        // A cache that has a place keeps it: it is one of the same run.
        let _ = self.store.set(Arc::clone(store));
    }

    /// For each subject what stands for it; none of them without a place to keep them, and where the embeddings cannot be made.
    pub(super) async fn look(&self, subjects: &[Subject<'_>]) -> Option<Vec<Looked>> {
        self.store.get()?;
        let texts: Vec<String> = subjects
            .iter()
            .map(|subject| format!("{}\n\n{}", subject.input, subject.output))
            .collect();
        let vectors = self.vectors(&texts).await.ok()?;
        let mut looked = Vec::with_capacity(subjects.len());
        for (subject, vector) in subjects.iter().zip(vectors) {
            let space = self.space_of(subject);
            let found = self.find(&space, subject, &vector).await;
            looked.push(Looked { space, vector, found });
        }
        Some(looked)
    }

    async fn vectors(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let embeddings = self.parameters.choice().embedder()?.embed(texts).await?;
        Ok(embeddings.into_iter().map(|embedding| embedding.vector).collect())
    }

    /// What must be the same: the judge with its prompt and criterion, the references, the context.
    fn space_of(&self, subject: &Subject<'_>) -> ContentHash {
        let of = |texts: &[&str]| {
            let parts: Vec<&[u8]> = texts.iter().map(|text| text.as_bytes()).collect();
            ContentHash::of_parts(&parts).0
        };
        ContentHash::of_parts(&[&self.judge.0, &of(subject.references), &of(subject.context)])
    }

    /// The judged output nearest to a subject that says the same; one with the very same text is left to the response cache.
    async fn find(
        &self,
        space: &ContentHash,
        subject: &Subject<'_>,
        vector: &[f32],
    ) -> Option<Found> {
        let mut spaces = self.spaces.lock().await;
        if !spaces.contains_key(space) {
            let mut loaded = Space::default();
            if let Some(store) = self.store.get() {
                for judged in store.judged(space).await {
                    loaded.add(judged);
                }
            }
            spaces.insert(*space, loaded);
        }
        let space = spaces.get(space)?;
        let near = space.near(vector);
        if near.iter().any(|(at, _)| space.judged[*at].is(subject)) {
            return None;
        }
        let says_the_same = |(at, similarity): &&(usize, f64)| {
            let judged = &space.judged[*at];
            *similarity >= self.parameters.threshold
                && differs(&judged.input, subject.input).is_none()
                && differs(&judged.output, subject.output).is_none()
        };
        let (at, similarity) = near.iter().find(says_the_same)?;
        let judged = &space.judged[*at];
        Some(Found {
            score: judged.score.clone(),
            path: SimilarPath {
                similarity: *similarity,
                taken: true,
                value: judged.score.value,
                saved: judged.full_cost,
            },
            case: judged.case.clone(),
        })
    }

    /// The score that is taken for an item; none where it is to be judged.
    pub(super) fn taken(&self, looked: &Looked, item: &Item<'_>) -> Option<Score> {
        let found = looked.found.as_ref()?;
        if chance("similar", self.parameters.seed, item) < self.parameters.audit {
            return None;
        }
        let similarity = found.path.similarity;
        let why = format!(
            "taken from the judgement of a similar output of case `{}` (cosine {similarity:.3})",
            found.case
        );
        let said = found.score.reasoning.as_deref();
        Some(Score {
            evidence: Some(json!({ "similar": {
                "case": found.case, "similarity": similarity, "evidence": found.score.evidence } })),
            reasoning: Some(match said {
                Some(said) => format!("{why}: {said}"),
                None => why,
            }),
            cost: Some(NanoDollars::ZERO),
            cached: true,
            judgement: None,
            path: Some(Box::new(ScorePath::Similar(found.path.clone()))),
            ..found.score.clone()
        })
    }

    /// Keeps what a judge said of an output, and marks it where another would have stood for it.
    pub(super) async fn keep(
        &self,
        looked: Looked,
        subject: &Subject<'_>,
        mut score: Score,
    ) -> Score {
        if !matches!(score.outcome, Outcome::Unscored(_)) {
            let full_cost = score.judgement.as_ref().and_then(|judgement| judgement.full_cost());
            let judged = JudgedOutput {
                case: subject.key.to_owned(),
                input: subject.input.to_owned(),
                output: subject.output.to_owned(),
                vector: looked.vector,
                score: Score {
                    judgement: None,
                    cost: None,
                    path: None,
                    cached: false,
                    ..score.clone()
                },
                full_cost,
            };
            if let Some(store) = self.store.get() {
                store.keep(&looked.space, &judged).await;
            }
            self.spaces.lock().await.entry(looked.space).or_default().add(judged);
        }
        if let Some(found) = looked.found {
            let path = SimilarPath { taken: false, saved: None, ..found.path };
            score.path = Some(Box::new(ScorePath::Similar(path)));
        }
        score
    }
}

impl JudgedOutput {
    fn is(&self, subject: &Subject<'_>) -> bool {
        self.output == subject.output && self.input == subject.input
    }
}

impl Space {
    fn add(&mut self, judged: JudgedOutput) {
        let same =
            |other: &JudgedOutput| other.output == judged.output && other.input == judged.input;
        if self.judged.len() <= FEW && self.judged.iter().any(same) {
            return;
        }
        let place = self.judged.len().to_string();
        if let Some(index) = &mut self.index {
            // A vector that does not fit, of another model, is never found.
            let _ = index.insert(place, judged.vector.clone());
        }
        self.judged.push(judged);
        if self.index.is_none() && self.judged.len() > FEW {
            let vectors = self.judged.iter().enumerate();
            let vectors = vectors.map(|(at, judged)| (at.to_string(), judged.vector.clone()));
            self.index = SimilarityIndex::build(vectors.collect()).ok();
        }
    }

    /// The nearest judged outputs with their cosines, nearest first.
    fn near(&self, vector: &[f32]) -> Vec<(usize, f64)> {
        if let Some(index) = &self.index {
            let found = index.nearest(vector, CANDIDATES).unwrap_or_default();
            return found
                .into_iter()
                .filter_map(|(at, cosine)| Some((at.parse().ok()?, cosine)))
                .collect();
        }
        let cosines =
            self.judged.iter().map(|judged| fullbench_embed::cosine(&judged.vector, vector));
        let mut near: Vec<(usize, f64)> = cosines.enumerate().collect();
        near.sort_by(|left, right| right.1.total_cmp(&left.1));
        near.truncate(CANDIDATES);
        near
    }
}
