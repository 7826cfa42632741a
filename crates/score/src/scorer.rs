//! What a scorer is.

use std::sync::Arc;

use async_trait::async_trait;
use fullbench_llm::{ModelConfig, ModelHandle};
use fullbench_types::{Criterion, Generation, Message, Score, TestCase};

use crate::memory::Memory;
use crate::registry::ScorerConfigError;

/// One output to score, with the case it answers.
#[derive(Debug, Clone, Copy)]
pub struct Item<'unit> {
    /// The case.
    pub case: &'unit TestCase,
    /// The answer.
    pub generation: &'unit Generation,
    /// Which of the model's answers to the case it is, counted from 0.
    pub repetition: u32,
    /// How often a judge was asked about it before: in another round it is asked anew, not read from the response cache.
    pub round: u32,
    /// The answer of the scorer's opponent to the same case, for scorers that have one.
    pub other: Option<Opposed<'unit>>,
}

/// What a scorer's opponent answered.
#[derive(Debug, Clone, Copy)]
pub enum Opposed<'unit> {
    /// The item is the opponent's own.
    Itself,
    /// The opponent has no answer yet.
    Missing,
    /// Its answer.
    Answer(&'unit str),
}

impl<'unit> Item<'unit> {
    /// An output that is scored for the first time.
    #[must_use]
    pub fn new(case: &'unit TestCase, generation: &'unit Generation) -> Self {
        Self { case, generation, repetition: 0, round: 0, other: None }
    }
}

/// A call that scoring an output takes.
#[derive(Debug, Clone)]
pub struct AskedCall {
    /// The model that is asked.
    pub model: ModelConfig,
    /// The prompt.
    pub messages: Vec<Message>,
    /// How often it is asked for one output, at least and at most.
    pub times: (u32, u32),
    /// How many outputs share the call: each adds its own text, and what is common is sent once.
    pub together: u32,
    /// The text of the prompt that is this output's own.
    pub own: String,
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

    /// The models of embeddings that it asks at providers, where texts go and what costs money: most scorers ask none.
    fn embedders(&self) -> Vec<ModelConfig> {
        Vec::new()
    }

    /// Gives it the models it asks, in the order of [`Scorer::models`]; called before the first score is asked for.
    fn connect(&self, _models: Vec<Arc<ModelHandle>>) {}

    /// How many outputs it wants to see together: more than one where that is cheaper.
    fn batch_size(&self) -> usize {
        1
    }

    /// Gives it places for what it keeps from one run to the next; called before the first score is asked for.
    fn remember(&self, _memory: &Memory) {}

    /// What it judges by, where a model judges by a criterion.
    fn criterion(&self) -> Option<&Criterion> {
        None
    }

    /// The tiers that outputs go through, by name; none where every output is scored in the same way.
    fn tiers(&self) -> Vec<String> {
        Vec::new()
    }

    /// Scores say which way an output took, and numbers of a run must take that into account.
    fn has_paths(&self) -> bool {
        false
    }

    /// The model of the run whose answers the outputs are compared with: it answers before the others, and items carry its answer.
    fn opponent(&self) -> Option<&str> {
        None
    }

    /// What would be asked about an output; nothing is asked.
    fn calls(&self, _item: &Item<'_>) -> Vec<AskedCall> {
        Vec::new()
    }

    /// What would be asked if every output were judged as the dearest part of it does; the same as [`Scorer::calls`] for most.
    fn calls_for_all(&self, item: &Item<'_>) -> Vec<AskedCall> {
        self.calls(item)
    }

    /// One score for each item, in the same order.
    ///
    /// A score that is missing because the budget is used up or the run was stopped is unscored for that reason, and is never
    /// stored: it is asked for again when the run goes on.
    async fn score(&self, items: &[Item<'_>]) -> Vec<Score>;
}
