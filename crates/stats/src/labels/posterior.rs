//! Probabilities of labels.

use serde::Serialize;

use crate::Undefined;

/// More probabilities than this are refused: two gigabytes.
const MAX_PROBABILITIES: usize = 1 << 28;

/// For each item the probability of each label.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Posteriors {
    pub(super) labels: usize,
    /// Item by item.
    pub(super) probabilities: Vec<f64>,
}

impl Posteriors {
    pub(super) fn zeros(items: usize, labels: usize) -> Result<Self, Undefined> {
        let size = unless_small("the number of items times labels", items, labels)?;
        Ok(Self { labels, probabilities: vec![0.0; size] })
    }

    /// How many items there are.
    #[must_use]
    pub fn items(&self) -> usize {
        self.probabilities.len() / self.labels.max(1)
    }

    /// The probabilities of an item's labels, which sum to 1, or are all 0 for an item without ratings; empty for an item that does
    /// not exist.
    #[must_use]
    pub fn of(&self, item: usize) -> &[f64] {
        let start = item.saturating_mul(self.labels);
        self.probabilities.get(start..start + self.labels).unwrap_or_default()
    }

    /// The most probable label of an item with its probability, and whether others are as probable; the lowest of
    /// those that are. None for an item without ratings.
    #[must_use]
    pub fn best(&self, item: usize) -> Option<(u32, f64, bool)> {
        let all = self.of(item);
        let most = all.iter().copied().reduce(f64::max).filter(|most| *most > 0.0)?;
        let mut leading = all.iter().enumerate().filter(|(_, share)| **share >= most - 1e-9);
        let (label, _) = leading.next()?;
        Some((label as u32, most, leading.next().is_some()))
    }
}

/// The product of two numbers of things that are kept in memory, unless it is too large.
pub(super) fn unless_small(what: &'static str, a: usize, b: usize) -> Result<usize, Undefined> {
    let size = a.saturating_mul(b);
    if size > MAX_PROBABILITIES {
        return Err(Undefined::OutOfRange { what, value: size as f64, allowed: "at most 2^28" });
    }
    Ok(size)
}

/// Turns logarithms of likelihoods into probabilities that sum to 1, and gives the logarithm of their sum.
pub(super) fn normalize_logarithms(logarithms: &mut [f64]) -> f64 {
    let most = logarithms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut sum = 0.0;
    for value in logarithms.iter_mut() {
        *value = (*value - most).exp();
        sum += *value;
    }
    for value in logarithms.iter_mut() {
        *value /= sum;
    }
    most + sum.ln()
}
