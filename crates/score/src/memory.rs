//! What scorers keep from one run to the next, and where: the engine gives them the store's.

use std::sync::Arc;

use async_trait::async_trait;
use fullbench_judge::StepsStore;
use fullbench_types::{ContentHash, NanoDollars, Score};

/// An output that a judge judged, kept so that one that says the same need not be.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgedOutput {
    /// The case it answers.
    pub case: String,
    /// What was asked.
    pub input: String,
    /// The output.
    pub output: String,
    /// Its embedding, together with the input's.
    pub vector: Vec<f32>,
    /// The score, without what the judge was asked and said.
    pub score: Score,
    /// What it cost, or had cost when it was made.
    pub full_cost: Option<NanoDollars>,
}

/// Keeps judged outputs by all that must be the same for one to stand for another: judge, prompt, criterion, reference, context.
#[async_trait]
pub trait JudgedStore: Send + Sync {
    /// The judged outputs of a space, the oldest first.
    async fn judged(&self, space: &ContentHash) -> Vec<JudgedOutput>;

    /// Keeps one; the same text in the same space is kept once.
    async fn keep(&self, space: &ContentHash, judged: &JudgedOutput);
}

/// Places for what is kept.
#[derive(Clone)]
pub struct Memory {
    /// For evaluation steps.
    pub steps: Arc<dyn StepsStore>,
    /// For judged outputs; none where nothing may be taken from them.
    pub judged: Option<Arc<dyn JudgedStore>>,
}
