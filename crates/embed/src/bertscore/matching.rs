//! Greedy matching of the tokens of two texts by the cosine of their hidden values.

use crate::encoder::{Before, Rows, multiply_by_transposed};

/// A text as BERTScore sees it.
#[derive(Debug)]
pub(super) struct Weighted {
    /// A row of length 1 for each token.
    rows: Vec<f32>,
    /// What each token counts.
    weights: Vec<f64>,
}

/// Precision, recall and F1 of a text against one reference.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Matched {
    pub(super) precision: f64,
    pub(super) recall: f64,
    pub(super) f1: f64,
}

impl Weighted {
    /// A text without words, which nothing matches.
    pub(super) const EMPTY: Self = Self { rows: Vec::new(), weights: Vec::new() };

    pub(super) fn new(mut rows: Vec<f32>, weights: Vec<f64>) -> Self {
        let size = rows.len() / weights.len().max(1);
        for row in rows.chunks_exact_mut(size.max(1)) {
            let length = row.iter().map(|value| value * value).sum::<f32>().sqrt();
            if length > 0.0 {
                row.iter_mut().for_each(|value| *value /= length);
            }
        }
        Self { rows, weights }
    }

    fn as_rows(&self) -> Rows<'_> {
        Rows::dense(&self.rows, self.weights.len(), self.rows.len() / self.weights.len().max(1))
    }
}

impl Matched {
    pub(super) const NOTHING: Self = Self { precision: 0.0, recall: 0.0, f1: 0.0 };

    /// Every token of one text with the nearest of the other; special tokens may be matched too.
    pub(super) fn new(hypothesis: &Weighted, reference: &Weighted) -> Self {
        let (rows, columns) = (hypothesis.weights.len(), reference.weights.len());
        if rows == 0 || columns == 0 {
            return Self::NOTHING;
        }
        let mut cosines = vec![0.0; rows * columns];
        let (left, right) = (hypothesis.as_rows(), reference.as_rows());
        multiply_by_transposed(&mut cosines, columns, left, right, 1.0, Before::Replaced);
        let mut of_hypothesis = vec![f32::NEG_INFINITY; rows];
        let mut of_reference = vec![f32::NEG_INFINITY; columns];
        for (row, best) in cosines.chunks_exact(columns).zip(&mut of_hypothesis) {
            for (cosine, best_of_column) in row.iter().zip(&mut of_reference) {
                *best = best.max(*cosine);
                *best_of_column = best_of_column.max(*cosine);
            }
        }
        let precision = weighted_mean(&of_hypothesis, &hypothesis.weights);
        let recall = weighted_mean(&of_reference, &reference.weights);
        let sum = precision + recall;
        let f1 = if sum == 0.0 { 0.0 } else { 2.0 * precision * recall / sum };
        Self { precision, recall, f1 }
    }

    /// The best of each value.
    pub(super) fn best(self, other: Self) -> Self {
        Self {
            precision: self.precision.max(other.precision),
            recall: self.recall.max(other.recall),
            f1: self.f1.max(other.f1),
        }
    }
}

/// 0 where no token counts.
fn weighted_mean(values: &[f32], weights: &[f64]) -> f64 {
    let total: f64 = weights.iter().sum();
    let terms = values.iter().zip(weights).map(|(value, weight)| f64::from(*value) * weight);
    if total > 0.0 { terms.sum::<f64>() / total } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_token_is_matched_with_the_nearest_and_counts_its_weight() {
        let text = Weighted::new(vec![2.0, 0.0, 0.0, 3.0], vec![1.0, 3.0]);
        let reference = Weighted::new(vec![5.0, 0.0], vec![1.0]);
        let matched = Matched::new(&text, &reference);
        assert!((matched.precision - 0.25).abs() < 1e-9, "{matched:?}");
        assert!((matched.recall - 1.0).abs() < 1e-9, "{matched:?}");
        assert!((matched.f1 - 0.4).abs() < 1e-9, "{matched:?}");
    }

    #[test]
    fn where_no_token_counts_the_score_is_zero() {
        let text = Weighted::new(vec![1.0, 0.0], vec![1.0]);
        let weightless = Weighted::new(vec![1.0, 0.0], vec![0.0]);
        let matched = Matched::new(&text, &weightless);
        assert_eq!(matched, Matched { precision: 1.0, recall: 0.0, f1: 0.0 });
        assert_eq!(Matched::new(&Weighted::EMPTY, &text), Matched::NOTHING);
        assert_eq!(Matched::new(&text, &Weighted::EMPTY), Matched::NOTHING);
    }
}
