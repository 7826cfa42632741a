//! Attention of every token of a text on every other (Vaswani et al. 2017).

use pulp::Arch;

use super::activation::softmax;
use super::matrix::{Before, Rows, multiply, multiply_by_transposed};

/// The shape of attention.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Attention {
    pub(crate) heads: usize,
    pub(crate) head_size: usize,
}

impl Attention {
    /// Mixes the values of one text. `mapped` has a row of queries, keys and values for each token; `mixed` takes a row
    /// of mixed values for each; `scores` is room for a square of tokens.
    pub(crate) fn mix(
        self,
        arch: Arch,
        mapped: &[f32],
        mixed: &mut [f32],
        scores: &mut Vec<f32>,
        tokens: usize,
    ) {
        let size = self.heads * self.head_size;
        let scale = 1.0 / (self.head_size as f32).sqrt();
        scores.resize(tokens * tokens, 0.0);
        let part = |start: usize| Rows {
            values: &mapped[start..],
            rows: tokens,
            columns: self.head_size,
            stride: 3 * size,
        };
        for head in 0..self.heads {
            let start = head * self.head_size;
            let (queries, keys, values) = (part(start), part(size + start), part(2 * size + start));
            multiply_by_transposed(scores, tokens, queries, keys, scale, Before::Replaced);
            softmax(arch, scores, tokens);
            let weights = Rows::dense(scores, tokens, tokens);
            multiply(&mut mixed[start..], size, weights, values, 1.0, Before::Replaced);
        }
    }
}
