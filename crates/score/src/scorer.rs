//! What a scorer is.

use std::sync::Arc;

use async_trait::async_trait;
use fullbench_llm::{ModelConfig, ModelHandle};
use fullbench_types::{Generation, Score, TestCase};

use crate::registry::ScorerConfigError;

/// One output to score, with the case it answers.
#[derive(Debug, Clone, Copy)]
pub struct Item<'unit> {
    /// The case.
    pub case: &'unit TestCase,
    /// The answer.
    pub generation: &'unit Generation,
}

/// Anything that turns a case and an output into a score.
#[async_trait]
pub trait Scorer: Send + Sync {
    /// How the number was made: type, parameters and version, in one line that can be compared.
    fn signature(&self) -> String;

    /// Every score is yes or no, so that a mean is a proportion.
    fn is_binary(&self) -> bool;

    /// Makes sure that everything is there that scoring needs, such as weights; asked before a run.
    ///
    /// # Errors
    /// Says what is missing and how to get it.
    fn ready(&self) -> Result<(), ScorerConfigError> {
        Ok(())
    }

    /// The models it asks, one entry for each kind of request it makes; most scorers ask none.
    fn models(&self) -> Vec<ModelConfig> {
        Vec::new()
    }

    /// Gives it the models it asks, in the order of [`Scorer::models`]; called before the first score is asked for.
    fn connect(&self, _models: Vec<Arc<ModelHandle>>) {}

    /// One score for each item, in the same order.
    ///
    /// A score that is missing because the budget is used up or the run was stopped is unscored for that reason, and is never
    /// stored: it is asked for again when the run goes on.
    async fn score(&self, items: &[Item<'_>]) -> Vec<Score>;
}
