//! ROUGE (Lin, 2004), as google's `rouge_score` computes it.

mod options;
mod stem;
mod summary;
mod vocabulary;

use std::cell::RefCell;

pub use options::{RougeKind, RougeOptions, UnknownRouge};

use crate::InvalidOptions;
use crate::ngram::{NgramMatcher, Sequences};
use crate::signature::Signature;
use crate::subsequence::Subsequence;
use summary::Summaries;
use vocabulary::Vocabulary;

/// ROUGE with its options.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rouge {
    options: RougeOptions,
}

/// The share of the hypothesis that is in the reference, the share of the reference that is in the hypothesis, and
/// their harmonic mean.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct RougeScore {
    /// Matches over the hypothesis.
    pub precision: f64,
    /// Matches over the reference.
    pub recall: f64,
    /// The harmonic mean of both.
    pub f_measure: f64,
}

impl RougeScore {
    /// From counts; nothing of nothing is zero.
    fn of(matches: usize, hypothesis: usize, reference: usize) -> Self {
        let precision = matches as f64 / hypothesis.max(1) as f64;
        let recall = matches as f64 / reference.max(1) as f64;
        let sum = precision + recall;
        let f_measure = if sum > 0.0 { 2.0 * precision * recall / sum } else { 0.0 };
        Self { precision, recall, f_measure }
    }
}

struct Scratch {
    whole: Vocabulary,
    stemmed: Vocabulary,
    sequences: Sequences,
    matcher: NgramMatcher,
    subsequence: Subsequence,
    summaries: Summaries,
}

impl Default for Scratch {
    fn default() -> Self {
        Self {
            whole: Vocabulary::new(false),
            stemmed: Vocabulary::new(true),
            sequences: Sequences::default(),
            matcher: NgramMatcher::default(),
            subsequence: Subsequence::default(),
            summaries: Summaries::default(),
        }
    }
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

impl Rouge {
    /// Fails on n-grams that are not from 1 to 9 words long.
    pub fn new(options: RougeOptions) -> Result<Self, InvalidOptions> {
        match options.kind {
            RougeKind::N(order) if !(1..=9).contains(&order) => {
                Err(InvalidOptions::new("kind", "must be from rouge_1 to rouge_9"))
            }
            _ => Ok(Self { options }),
        }
    }

    /// The options.
    pub fn options(&self) -> &RougeOptions {
        &self.options
    }

    /// The score against the reference with the highest F measure, the first of those that are equal. Without
    /// references it is zero.
    pub fn score(&self, hypothesis: &str, references: &[&str]) -> RougeScore {
        SCRATCH.with_borrow_mut(|scratch| {
            let mut best: Option<RougeScore> = None;
            for reference in references {
                let score = scratch.score(hypothesis, reference, &self.options);
                if best.is_none_or(|best| score.f_measure > best.f_measure) {
                    best = Some(score);
                }
            }
            best.unwrap_or_default()
        })
    }

    /// How the score was made.
    pub fn signature(&self) -> String {
        let mut signature = Signature::named(self.options.kind);
        signature.add_flag("stemmer", self.options.stemmer);
        signature.add("tok", "rouge_score");
        signature.add("refs", "best_f");
        signature.finish()
    }
}

impl Scratch {
    fn score(&mut self, hypothesis: &str, reference: &str, options: &RougeOptions) -> RougeScore {
        let vocabulary = if options.stemmer { &mut self.stemmed } else { &mut self.whole };
        vocabulary.start_pair();
        if options.kind == RougeKind::Lsum {
            return self.summaries.score(hypothesis, reference, vocabulary, &mut self.subsequence);
        }
        self.sequences.clear();
        for text in [hypothesis, reference] {
            vocabulary.read(text, self.sequences.open());
            self.sequences.close();
        }
        let (hypothesis, reference) = (self.sequences.get(0), self.sequences.get(1));
        let largest = vocabulary.largest();
        match options.kind {
            RougeKind::N(order) => {
                let order = usize::from(order);
                let matches = self.matcher.matches(&self.sequences, order, largest)[order - 1];
                let grams = |length: usize| (length + 1).saturating_sub(order);
                RougeScore::of(matches as usize, grams(hypothesis.len()), grams(reference.len()))
            }
            RougeKind::L | RougeKind::Lsum => {
                let matches = self.subsequence.length(reference, hypothesis, largest);
                RougeScore::of(matches, hypothesis.len(), reference.len())
            }
        }
    }
}
