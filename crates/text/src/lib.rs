//! Text metrics: pure functions, each equal to its reference library, each score with a signature of how it was
//! made.
//!
//! - [`Bleu`], [`Chrf`] and [`Ter`] are corpus metrics as in sacreBLEU: the [`corpus`] module sums and scores them
//!   on all cores.
//! - [`Rouge`] is google's `rouge_score`; [`squad`] the evaluation script of SQuAD 1.1.
//! - [`edit`] and [`bag`] compare two texts by characters and by words.
//! - [`significance`] has intervals and paired tests, with sacreBLEU's random numbers.
//!
//! Nothing here fails on a text, however strange; only options can be refused.

pub mod bag;
mod bleu;
mod characters;
mod chrf;
pub mod corpus;
pub mod edit;
mod intern;
mod ngram;
mod positions;
mod real;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod reference;
mod rouge;
mod signature;
pub mod significance;
pub mod squad;
mod subsequence;
mod ter;
mod tokenize;

pub use bleu::{Bleu, BleuOptions, BleuScore, BleuTokenizer, MAX_BLEU_ORDER, Smoothing};
pub use chrf::{Chrf, ChrfOptions};
pub use corpus::{Aggregate, CorpusMetric, Segment, Statistics};
pub use rouge::{Rouge, RougeKind, RougeOptions, RougeScore, UnknownRouge};
pub use signature::{Conditions, ReferenceCount};
pub use ter::{Ter, TerOptions};

/// An option has a value that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{option} {problem}")]
pub struct InvalidOptions {
    /// The option's name.
    pub option: &'static str,
    /// What is wrong with it.
    pub problem: &'static str,
}

impl InvalidOptions {
    pub(crate) fn new(option: &'static str, problem: &'static str) -> Self {
        Self { option, problem }
    }
}
