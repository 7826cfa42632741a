//! TER, the translation edit rate (Snover et al., 2006), as sacreBLEU computes it: edits and shifts of words, over
//! the reference's length.
//!
//! The search is Tercom's, with its limits: shifts of up to 10 words over up to 50 places, edits within a beam
//! around the diagonal, and at most 1,000 tried shifts. The time grows with the length of the texts, times that
//! number; only short texts have the best possible value.

mod beam;
mod options;
mod shift;

pub use options::TerOptions;

use crate::characters::words;
use crate::corpus::{Aggregate, CorpusMetric, Precision};
use crate::intern::Interner;
use crate::real::Real;
use crate::signature::{Conditions, Signature};
use crate::tokenize::tercom;

const EDITS: usize = 0;
const REFERENCE_LENGTH: usize = 1;

/// TER with its options.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ter {
    options: TerOptions,
}

impl Ter {
    /// All options can be used.
    pub fn new(options: TerOptions) -> Self {
        Self { options }
    }

    /// The options.
    pub fn options(&self) -> &TerOptions {
        &self.options
    }

    fn compute<R: Real>(total: &[R]) -> R {
        let (edits, length, zero) = (total[EDITS], total[REFERENCE_LENGTH], R::nearest(0.0));
        let rate = if length > zero {
            edits / length
        } else {
            R::nearest(if edits > zero { 1.0 } else { 0.0 })
        };
        R::nearest(100.0) * rate
    }
}

impl Aggregate for Ter {
    fn width(&self) -> usize {
        2
    }

    fn score(&self, total: &[f64]) -> f64 {
        Self::compute(total)
    }

    fn resampling_precision(&self) -> Precision {
        Precision::Single
    }

    fn score_single(&self, total: &[f32]) -> f64 {
        f64::from(Self::compute(total))
    }
}

impl CorpusMetric for Ter {
    fn name(&self) -> String {
        "TER".to_owned()
    }

    /// The fewest edits of any reference, and the mean length of the references.
    fn count(&self, hypothesis: &str, references: &[&str], row: &mut [f64]) {
        let references = if references.is_empty() { &[""] } else { references };
        let mut interner = Interner::default();
        let hypothesis = numbers(&tercom(hypothesis, &self.options), &mut interner);
        let (mut fewest, mut lengths) = (usize::MAX, 0);
        for reference in references {
            // sacreBLEU tokenizes references twice, which for some texts is not the same as once.
            let tokens = tercom(&tercom(reference, &self.options), &self.options);
            let reference = numbers(&tokens, &mut interner);
            lengths += reference.len();
            fewest = fewest.min(shift::edits(&hypothesis, &reference));
        }
        row[EDITS] = fewest as f64;
        row[REFERENCE_LENGTH] = lengths as f64 / references.len() as f64;
    }

    fn signature(&self, conditions: &Conditions) -> String {
        let options = &self.options;
        let mut signature = Signature::new(conditions);
        signature.add("case", if options.case_sensitive { "mixed" } else { "lc" });
        signature.add("tok", "tercom");
        signature.add_flag("norm", options.normalized);
        signature.add_flag("punct", !options.no_punctuation);
        signature.add_flag("asian", options.asian_support);
        signature.finish()
    }

    fn lower_is_better(&self) -> bool {
        true
    }
}

fn numbers(tokens: &str, interner: &mut Interner) -> Vec<u32> {
    words(tokens).map(|word| interner.number(word.as_bytes(), 0, word.len())).collect()
}
