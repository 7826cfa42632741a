//! BERTScore (Zhang et al. 2020): how well the tokens of a text match those of a reference, by what they mean in place.
//!
//! The numbers are those of the `bert-score` library, but that a token always gets its nearest cosine: the library
//! raises negative ones to 0 where it happened to pad a batch.

mod layers;
mod matching;
mod options;

use std::collections::{HashMap, HashSet};
use std::path::Path;

use rayon::prelude::*;

use self::matching::{Matched, Weighted};
pub use self::options::{Baseline, BertScoreOptions};
use crate::encoder::Encoder;
use crate::tokens::{TextTokenizer, Tokens, max_tokens, stripped};
use crate::{EmbedError, batch};

/// The version of the library whose numbers these are.
const LIBRARY_VERSION: &str = "0.3.13";

/// Tokens whose hidden values are kept at the same time.
const TOKENS_AT_ONCE: usize = 32_768;

/// A model that scores texts against references, loaded once.
#[derive(Debug)]
pub struct BertScore {
    name: String,
    encoder: Encoder,
    tokenizer: TextTokenizer,
    layer: usize,
    idf: bool,
    baseline: Option<Baseline>,
    /// The tokens of the empty text, which count nothing.
    special: Vec<u32>,
}

/// The score of one text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BertScoreResult {
    /// How much of the text is in the reference.
    pub precision: f64,
    /// How much of the reference is in the text.
    pub recall: f64,
    /// The harmonic mean of both.
    pub f1: f64,
    /// The text or a reference was longer than the model reads: the rest of it does not count.
    pub truncated: bool,
}

/// A text and its references, as places in the list of all distinct texts.
struct Pair {
    hypothesis: usize,
    references: Vec<usize>,
}

impl BertScore {
    /// Reads a folder with `config.json`, `model.safetensors` and `tokenizer.json` of a model built like BERT or
    /// RoBERTa. `name` is what the model is called in signatures, and by which its layer is chosen.
    ///
    /// # Errors
    /// Names the file that is missing, broken or of a kind not known here, or the option that does not fit.
    pub fn load(name: &str, folder: &Path, options: &BertScoreOptions) -> Result<Self, EmbedError> {
        let mut encoder = Encoder::load(folder)?;
        let last = encoder.config().num_hidden_layers;
        let layer = options.layer.or_else(|| layers::tuned(name)).unwrap_or(last);
        if layer > last {
            let message = format!("there is no layer {layer}: the last of `{name}` is {last}");
            return Err(EmbedError::BadOption(message));
        }
        encoder.keep_layers(layer);
        let most = max_tokens(folder)?.unwrap_or(usize::MAX).min(encoder.config().max_tokens());
        let tokenizer = TextTokenizer::load(folder, most)?;
        Ok(Self {
            name: name.to_owned(),
            special: tokenizer.tokens("")?.ids,
            tokenizer,
            layer,
            idf: options.idf,
            baseline: options.baseline_of(layer)?,
            encoder,
        })
    }

    /// The scores of texts, each against its references, in their order. Of several references the best precision, the
    /// best recall and the best F1 count, each for itself. A text without words scores 0, before rescaling.
    ///
    /// # Errors
    /// When a text has no reference, or cannot be split into tokens.
    pub fn score<H, R>(&self, pairs: &[(H, Vec<R>)]) -> Result<Vec<BertScoreResult>, EmbedError>
    where
        H: AsRef<str> + Sync,
        R: AsRef<str> + Sync,
    {
        let mut places = HashMap::new();
        let mut texts = Vec::new();
        let mut place_of = |text| {
            *places.entry(text).or_insert_with(|| {
                texts.push(text);
                texts.len() - 1
            })
        };
        let mut placed = Vec::with_capacity(pairs.len());
        for (index, (hypothesis, references)) in pairs.iter().enumerate() {
            if references.is_empty() {
                return Err(EmbedError::NoReference { index });
            }
            placed.push(Pair {
                hypothesis: place_of(stripped(hypothesis.as_ref())),
                references: references
                    .iter()
                    .map(|text| place_of(stripped(text.as_ref())))
                    .collect(),
            });
        }
        let tokens: Vec<Tokens> =
            texts.par_iter().map(|text| self.tokens(text)).collect::<Result<_, _>>()?;
        let weights = self.weights(&placed, &tokens);
        let mut results = Vec::with_capacity(pairs.len());
        for pairs in chunked(&placed, &tokens) {
            results.extend(self.score_at_once(pairs, &tokens, &weights)?);
        }
        Ok(results)
    }

    /// The model and how its scores are made, in one line, as the library writes it.
    #[must_use]
    pub fn signature(&self) -> String {
        let Self { name, layer, .. } = self;
        let idf = if self.idf { "idf" } else { "no-idf" };
        let version = env!("CARGO_PKG_VERSION");
        let rescaled = self.baseline.map_or_else(String::new, |baseline| {
            let Baseline { precision, recall, f1 } = baseline;
            format!("-custom-rescaled({precision},{recall},{f1})")
        });
        format!("{name}_L{layer}_{idf}_version={LIBRARY_VERSION}(fullbench={version}){rescaled}")
    }

    /// The library sets a space before a text where the tokenizer would see a difference.
    fn tokens(&self, text: &str) -> Result<Tokens, EmbedError> {
        if self.tokenizer.tells_spaces_apart() && !text.is_empty() {
            return self.tokenizer.tokens(&format!(" {text}"));
        }
        self.tokenizer.tokens(text)
    }

    /// What tokens count that do not count 1, or with `idf` those that are in any reference.
    fn weights(&self, pairs: &[Pair], tokens: &[Tokens]) -> Weights {
        if !self.idf {
            let of_token = self.special.iter().map(|id| (*id, 0.0)).collect();
            return Weights { of_token, other: 1.0 };
        }
        let mut counts: HashMap<u32, usize> = HashMap::new();
        let references: Vec<usize> =
            pairs.iter().flat_map(|pair| pair.references.iter().copied()).collect();
        for reference in &references {
            let distinct: HashSet<u32> = tokens[*reference].ids.iter().copied().collect();
            for id in distinct {
                *counts.entry(id).or_default() += 1;
            }
        }
        let all = (references.len() + 1) as f64;
        let of_token = counts.into_iter().map(|(id, count)| (id, (all / (count + 1) as f64).ln()));
        Weights { of_token: of_token.collect(), other: all.ln() }
    }

    fn score_at_once(
        &self,
        pairs: &[Pair],
        tokens: &[Tokens],
        weights: &Weights,
    ) -> Result<Vec<BertScoreResult>, EmbedError> {
        let mut used: Vec<usize> = pairs.iter().flat_map(Pair::texts).collect();
        used.sort_unstable();
        used.dedup();
        used.retain(|place| tokens[*place].ids.len() > self.special.len());
        let used_tokens: Vec<&Tokens> = used.iter().map(|place| &tokens[*place]).collect();
        let rows = batch::encode(&self.encoder, &used_tokens, <[f32]>::to_vec)?;
        let texts: HashMap<usize, Weighted> = used
            .into_iter()
            .zip(rows)
            .map(|(place, rows)| (place, Weighted::new(rows, weights.of(&tokens[place]))))
            .collect();
        let empty = Weighted::EMPTY;
        let text = |place: usize| texts.get(&place).unwrap_or(&empty);
        let score = |pair: &Pair| {
            let hypothesis = text(pair.hypothesis);
            let matched =
                pair.references.iter().map(|place| Matched::new(hypothesis, text(*place)));
            let best = matched.reduce(Matched::best).unwrap_or(Matched::NOTHING);
            self.result(best, pair.texts().any(|place| tokens[place].truncated))
        };
        Ok(pairs.par_iter().map(score).collect())
    }

    fn result(&self, matched: Matched, truncated: bool) -> BertScoreResult {
        let Matched { precision, recall, f1 } = matched;
        let Some(baseline) = self.baseline else {
            return BertScoreResult { precision, recall, f1, truncated };
        };
        BertScoreResult {
            precision: Baseline::rescaled(precision, baseline.precision),
            recall: Baseline::rescaled(recall, baseline.recall),
            f1: Baseline::rescaled(f1, baseline.f1),
            truncated,
        }
    }
}

impl Pair {
    fn texts(&self) -> impl Iterator<Item = usize> {
        std::iter::once(self.hypothesis).chain(self.references.iter().copied())
    }
}

/// What tokens count.
struct Weights {
    of_token: HashMap<u32, f64>,
    other: f64,
}

impl Weights {
    fn of(&self, tokens: &Tokens) -> Vec<f64> {
        let weight = |id| self.of_token.get(id).copied().unwrap_or(self.other);
        tokens.ids.iter().map(weight).collect()
    }
}

/// Pairs in groups whose texts can be kept at the same time.
fn chunked<'pairs>(pairs: &'pairs [Pair], tokens: &[Tokens]) -> Vec<&'pairs [Pair]> {
    let sizes = pairs.iter().map(|pair| pair.texts().map(|place| tokens[place].ids.len()).sum());
    batch::ranges(sizes, TOKENS_AT_ONCE).into_iter().map(|range| &pairs[range]).collect()
}
