//! chrF (Popović, 2015) and chrF++ (Popović, 2017), as sacreBLEU computes them.

use std::borrow::Cow;
use std::cell::RefCell;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::InvalidOptions;
use crate::characters::{is_ascii_punctuation, is_space, words};
use crate::corpus::{Aggregate, CorpusMetric, Precision};
use crate::intern::Interner;
use crate::ngram::{MAX_ORDER, NgramMatcher, Sequences};
use crate::real::Real;
use crate::signature::{Conditions, Signature};

/// A precision or recall of nothing.
const EPSILON: f64 = 1e-16;

/// How chrF is computed. The defaults are sacreBLEU's; chrF++ has a `word_order` of 2.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ChrfOptions {
    /// The longest n-grams of characters to count, up to 16.
    #[schemars(range(max = 16))]
    pub char_order: usize,
    /// The longest n-grams of words to count, up to 16. 0 is chrF, 2 is chrF++.
    #[schemars(range(max = 16))]
    pub word_order: usize,
    /// How many times as important recall is as precision.
    pub beta: u32,
    /// Take small and capital letters as the same.
    pub lowercase: bool,
    /// Count white space as characters.
    pub whitespace: bool,
    /// Count orders for which a text is too short as nearly zero, as Moses and NLTK do, rather than leave them out.
    pub eps_smoothing: bool,
}

impl Default for ChrfOptions {
    fn default() -> Self {
        Self {
            char_order: 6,
            word_order: 0,
            beta: 2,
            lowercase: false,
            whitespace: false,
            eps_smoothing: false,
        }
    }
}

impl ChrfOptions {
    /// chrF++: words and pairs of words too.
    pub fn plus_plus() -> Self {
        Self { word_order: 2, ..Self::default() }
    }
}

/// chrF or chrF++ with its options.
#[derive(Clone, PartialEq, Debug)]
pub struct Chrf {
    options: ChrfOptions,
}

#[derive(Default)]
struct Scratch {
    interner: Interner,
    characters: Sequences,
    words: Sequences,
    matcher: NgramMatcher,
    row: Vec<f64>,
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

impl Chrf {
    /// Fails on orders above 16, and when there is nothing to count.
    pub fn new(options: ChrfOptions) -> Result<Self, InvalidOptions> {
        if options.char_order > MAX_ORDER {
            return Err(InvalidOptions::new("char_order", "must not be above 16"));
        }
        if options.word_order > MAX_ORDER {
            return Err(InvalidOptions::new("word_order", "must not be above 16"));
        }
        if options.char_order + options.word_order == 0 {
            return Err(InvalidOptions::new("char_order", "must not be 0 when word_order is"));
        }
        Ok(Self { options })
    }

    /// The options.
    pub fn options(&self) -> &ChrfOptions {
        &self.options
    }

    fn order(&self) -> usize {
        self.options.char_order + self.options.word_order
    }

    /// The mean of the orders' F scores, or the F score of their mean precision and recall.
    fn compute<R: Real>(&self, total: &[R]) -> R {
        let number = |value: f64| R::nearest(value);
        let zero = number(0.0);
        let factor = f64::from(self.options.beta).powi(2);
        let (mut score, mut precisions, mut recalls) = (zero, zero, zero);
        let mut effective_order = 0;
        for counts in total.chunks_exact(3) {
            let (hypothesis, reference, matches) = (counts[0], counts[1], counts[2]);
            let precision = if hypothesis > zero { matches / hypothesis } else { number(EPSILON) };
            let recall = if reference > zero { matches / reference } else { number(EPSILON) };
            let denominator = number(factor) * precision + recall;
            score = score
                + if denominator > zero {
                    number(1.0 + factor) * precision * recall / denominator
                } else {
                    number(EPSILON)
                };
            if hypothesis > zero && reference > zero {
                precisions = precisions + precision;
                recalls = recalls + recall;
                effective_order += 1;
            }
        }
        if self.options.eps_smoothing {
            return number(100.0) * score / number(self.order() as f64);
        }
        if effective_order == 0 {
            return zero;
        }
        let precision = precisions / number(f64::from(effective_order));
        let recall = recalls / number(f64::from(effective_order));
        if precision + recall == zero {
            return zero;
        }
        let mean =
            number(1.0 + factor) * precision * recall / (number(factor) * precision + recall);
        number(100.0) * mean
    }
}

impl Aggregate for Chrf {
    fn width(&self) -> usize {
        3 * self.order()
    }

    fn score(&self, total: &[f64]) -> f64 {
        self.compute(total)
    }

    fn resampling_precision(&self) -> Precision {
        Precision::Single
    }

    fn score_single(&self, total: &[f32]) -> f64 {
        f64::from(self.compute(total))
    }
}

impl CorpusMetric for Chrf {
    fn name(&self) -> String {
        format!("chrF{}{}", self.options.beta, "+".repeat(self.options.word_order))
    }

    fn count(&self, hypothesis: &str, references: &[&str], row: &mut [f64]) {
        let references = if references.is_empty() { &[""] } else { references };
        SCRATCH.with_borrow_mut(|scratch| {
            scratch.interner.clear();
            scratch.characters.clear();
            scratch.words.clear();
            let hypothesis_largest = scratch.read(hypothesis, &self.options);
            let mut candidate = std::mem::take(&mut scratch.row);
            let mut best = -1.0;
            for reference in references {
                scratch.characters.keep_first();
                scratch.words.keep_first();
                let largest = hypothesis_largest.max(scratch.read(reference, &self.options));
                candidate.clear();
                scratch.compare(largest, &self.options, &mut candidate);
                let score = if references.len() == 1 { 0.0 } else { self.compute(&candidate) };
                if score > best {
                    best = score;
                    row.copy_from_slice(&candidate);
                }
            }
            scratch.row = candidate;
        });
    }

    fn signature(&self, conditions: &Conditions) -> String {
        let options = &self.options;
        let mut signature = Signature::new(conditions);
        signature.add("case", if options.lowercase { "lc" } else { "mixed" });
        signature.add_flag("eff", !options.eps_smoothing);
        signature.add("nc", options.char_order);
        signature.add("nw", options.word_order);
        signature.add_flag("space", options.whitespace);
        signature.finish()
    }
}

impl Scratch {
    /// Reads a text as a sequence of characters and one of words; gives the largest character.
    fn read(&mut self, text: &str, options: &ChrfOptions) -> u32 {
        let text =
            if options.lowercase { Cow::Owned(text.to_lowercase()) } else { Cow::Borrowed(text) };
        let symbols = self.characters.open();
        let largest = if text.is_ascii() {
            read_ascii(text.as_bytes(), options.whitespace, symbols);
            128
        } else {
            let kept = text.chars().filter(|&character| options.whitespace || !is_space(character));
            let start = symbols.len();
            symbols.extend(kept.map(|character| u32::from(character) + 1));
            symbols[start..].iter().copied().max().unwrap_or(1)
        };
        self.characters.close();
        if options.word_order > 0 {
            for word in words(&text) {
                let (first, rest) = split_word(word);
                for part in [first, rest] {
                    if !part.is_empty() {
                        let number = self.interner.number(part.as_bytes(), 0, part.len());
                        self.words.open().push(number);
                    }
                }
            }
        }
        self.words.close();
        largest
    }

    /// Appends the counts of hypothesis, reference and matches for each order.
    fn compare(&mut self, largest: u32, options: &ChrfOptions, counts: &mut Vec<f64>) {
        let works = [
            (&self.characters, options.char_order, largest),
            (&self.words, options.word_order, self.interner.largest()),
        ];
        for (sequences, order, largest) in works {
            let matches = self.matcher.matches(sequences, order, largest);
            for (index, &matching) in matches[..order].iter().enumerate() {
                let hypothesis = sequences.length(0).saturating_sub(index);
                let reference = sequences.length(1).saturating_sub(index);
                // sacreBLEU does not count a hypothesis's n-grams when the reference has none.
                let hypothesis = if reference > 0 { hypothesis } else { 0 };
                counts.extend([hypothesis as f64, reference as f64, f64::from(matching)]);
            }
        }
    }
}

/// Appends bytes as symbols, without a branch for each.
fn read_ascii(bytes: &[u8], whitespace: bool, symbols: &mut Vec<u32>) {
    let mut end = symbols.len();
    symbols.resize(end + bytes.len(), 0);
    for &byte in bytes {
        symbols[end] = u32::from(byte) + 1;
        end += usize::from(whitespace || !is_space(char::from(byte)));
    }
    symbols.truncate(end);
}

/// A word with one punctuation mark at its end or else at its start split off.
fn split_word(word: &str) -> (&str, &str) {
    let mut characters = word.chars();
    let (Some(first), Some(last)) = (characters.next(), characters.next_back()) else {
        return (word, "");
    };
    if is_ascii_punctuation(last) {
        word.split_at(word.len() - 1)
    } else if is_ascii_punctuation(first) {
        word.split_at(1)
    } else {
        (word, "")
    }
}
