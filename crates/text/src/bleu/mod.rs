//! BLEU (Papineni et al., 2002), as sacreBLEU (Post, 2018) computes it.

mod options;

use std::cell::RefCell;

pub use options::{BleuOptions, BleuTokenizer, Smoothing};

use crate::InvalidOptions;
use crate::corpus::{Aggregate, CorpusMetric, Precision};
use crate::intern::Interner;
use crate::ngram::{NgramMatcher, Sequences};
use crate::real::Real;
use crate::signature::{Conditions, Signature};
use crate::tokenize::{Preparation, tokens};

/// The longest n-grams BLEU counts.
pub const MAX_BLEU_ORDER: usize = 4;

/// sacreBLEU's logarithm of nothing.
const LOG_OF_ZERO: f64 = -9_999_999_999.0;

const HYPOTHESIS_LENGTH: usize = 0;
const REFERENCE_LENGTH: usize = 1;
const CORRECT: usize = 2;

/// BLEU with its options.
#[derive(Clone, PartialEq, Debug)]
pub struct Bleu {
    options: BleuOptions,
}

/// A BLEU score with what it is made of. Orders above the options' are zero.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BleuScore {
    /// The score, from 0 to 100.
    pub score: f64,
    /// Matching n-grams of each order.
    pub counts: [f64; MAX_BLEU_ORDER],
    /// The hypothesis's n-grams of each order.
    pub totals: [f64; MAX_BLEU_ORDER],
    /// The smoothed precision of each order, from 0 to 100.
    pub precisions: [f64; MAX_BLEU_ORDER],
    /// The factor for too short hypotheses, from 0 to 1.
    pub brevity_penalty: f64,
    /// Tokens of the hypotheses.
    pub hypothesis_length: f64,
    /// Tokens of the references, the nearest in length of each segment.
    pub reference_length: f64,
}

#[derive(Default)]
struct Scratch {
    interner: Interner,
    sequences: Sequences,
    matcher: NgramMatcher,
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

impl Bleu {
    /// Fails on an order that is not from 1 to 4, and on a smoothing value that is negative or not a number.
    pub fn new(options: BleuOptions) -> Result<Self, InvalidOptions> {
        if !(1..=MAX_BLEU_ORDER).contains(&options.max_order) {
            return Err(InvalidOptions::new("max_order", "must be from 1 to 4"));
        }
        if options.smoothing_value.is_some_and(|value| !(value >= 0.0 && value.is_finite())) {
            return Err(InvalidOptions::new(
                "smoothing_value",
                "must be a number, and not negative",
            ));
        }
        Ok(Self { options })
    }

    /// The options.
    pub fn options(&self) -> &BleuOptions {
        &self.options
    }

    /// The score of summed numbers with its parts.
    pub fn details(&self, total: &[f64]) -> BleuScore {
        self.compute(total)
    }

    fn compute<R: Real>(&self, total: &[R]) -> BleuScore {
        let order = self.options.max_order;
        let zero = R::nearest(0.0);
        let hypothesis_length = total[HYPOTHESIS_LENGTH].double();
        let reference_length = total[REFERENCE_LENGTH].double();
        let correct = &total[CORRECT..CORRECT + order];
        let totals = &total[CORRECT + order..CORRECT + 2 * order];
        let mut details = BleuScore {
            score: 0.0,
            counts: [0.0; MAX_BLEU_ORDER],
            totals: [0.0; MAX_BLEU_ORDER],
            precisions: [0.0; MAX_BLEU_ORDER],
            brevity_penalty: brevity_penalty(hypothesis_length, reference_length),
            hypothesis_length,
            reference_length,
        };
        for index in 0..order {
            details.counts[index] = correct[index].double();
            details.totals[index] = totals[index].double();
        }
        if correct.iter().all(|&count| count == zero) {
            return details;
        }
        let value = self.options.smoothing_value();
        let hundred = R::nearest(100.0);
        let mut halving = 1.0;
        let mut effective_order = order;
        for index in 0..order {
            let (mut count, mut total) = (correct[index], totals[index]);
            if self.options.smoothing == Smoothing::AddK && index > 0 {
                count = count + R::nearest(value);
                total = total + R::nearest(value);
            }
            if total == zero {
                break;
            }
            if self.options.effective_order {
                effective_order = index + 1;
            }
            let precision = if count != zero {
                hundred * count / total
            } else {
                match self.options.smoothing {
                    Smoothing::Exp => {
                        halving *= 2.0;
                        hundred / (R::nearest(halving) * total)
                    }
                    Smoothing::Floor => R::nearest(100.0 * value) / total,
                    Smoothing::AddK | Smoothing::None => zero,
                }
            };
            details.precisions[index] = precision.double();
        }
        let logarithms: f64 = details.precisions[..effective_order]
            .iter()
            .map(|&precision| if precision == 0.0 { LOG_OF_ZERO } else { precision.ln() })
            .sum();
        details.score = details.brevity_penalty * (logarithms / effective_order as f64).exp();
        details
    }
}

fn brevity_penalty(hypothesis_length: f64, reference_length: f64) -> f64 {
    if hypothesis_length >= reference_length {
        1.0
    } else if hypothesis_length > 0.0 {
        (1.0 - reference_length / hypothesis_length).exp()
    } else {
        0.0
    }
}

impl Aggregate for Bleu {
    fn width(&self) -> usize {
        CORRECT + 2 * self.options.max_order
    }

    fn score(&self, total: &[f64]) -> f64 {
        self.compute(total).score
    }

    fn resampling_precision(&self) -> Precision {
        Precision::SingleSums
    }

    fn score_single(&self, total: &[f32]) -> f64 {
        self.compute(total).score
    }
}

impl CorpusMetric for Bleu {
    fn name(&self) -> String {
        "BLEU".to_owned()
    }

    fn count(&self, hypothesis: &str, references: &[&str], row: &mut [f64]) {
        let order = self.options.max_order;
        let references = if references.is_empty() { &[""] } else { references };
        SCRATCH.with_borrow_mut(|scratch| {
            scratch.read(hypothesis, references, &self.options);
            let length = scratch.sequences.length(0);
            let nearest = (1..scratch.sequences.count())
                .map(|index| scratch.sequences.length(index))
                .min_by_key(|&other| (other.abs_diff(length), other))
                .unwrap_or(0);
            row[HYPOTHESIS_LENGTH] = length as f64;
            row[REFERENCE_LENGTH] = nearest as f64;
            let matches =
                scratch.matcher.matches(&scratch.sequences, order, scratch.interner.largest());
            for index in 0..order {
                row[CORRECT + index] = f64::from(matches[index]);
                row[CORRECT + order + index] = length.saturating_sub(index) as f64;
            }
        });
    }

    fn signature(&self, conditions: &Conditions) -> String {
        let options = &self.options;
        let mut signature = Signature::new(conditions);
        signature.add("case", if options.lowercase { "lc" } else { "mixed" });
        signature.add_flag("eff", options.effective_order);
        signature.add("tok", options.tokenizer);
        match options.smoothing {
            Smoothing::Exp | Smoothing::None => signature.add("smooth", options.smoothing),
            Smoothing::Floor | Smoothing::AddK => {
                signature.add(
                    "smooth",
                    format_args!("{}[{:.2}]", options.smoothing, options.smoothing_value()),
                );
            }
        }
        if options.max_order != MAX_BLEU_ORDER {
            signature.add("order", options.max_order);
        }
        signature.finish()
    }
}

impl Scratch {
    /// Numbers the tokens of the hypothesis and of each reference.
    fn read(&mut self, hypothesis: &str, references: &[&str], options: &BleuOptions) {
        self.interner.clear();
        self.sequences.clear();
        let preparation =
            Preparation { tokenizer: options.tokenizer, lowercase: options.lowercase };
        for text in std::iter::once(hypothesis).chain(references.iter().copied()) {
            let text = preparation.apply(text);
            let (interner, symbols) = (&mut self.interner, self.sequences.open());
            tokens(options.tokenizer, &text, |start, end| {
                symbols.push(interner.number(text.as_bytes(), start, end))
            });
            self.sequences.close();
        }
    }
}
