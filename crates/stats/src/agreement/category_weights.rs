//! How much two categories agree that are not the same.

use super::unless_categories;
use crate::Undefined;

/// A matrix of agreement weights: 1 for equal categories, down to 0 for those furthest apart.
#[derive(Debug, Clone, PartialEq)]
pub struct CategoryWeights {
    size: usize,
    weights: Vec<f64>,
    identity: bool,
}

impl CategoryWeights {
    /// Only equal categories agree. Undefined for more than 1,000 categories.
    pub fn identity(categories: usize) -> Result<Self, Undefined> {
        Self::from_distance(categories, true, |a, b| f64::from(u8::from(a != b)))
    }

    /// `1 − |a − b| / range` (Cicchetti and Allison 1971) over the categories' numbers; with evenly spaced numbers, the linear weights of
    /// Cohen's kappa. Undefined for more than 1,000 categories, and for numbers that are all equal or not finite.
    pub fn linear(numbers: &[f64]) -> Result<Self, Undefined> {
        let range = range(numbers)?;
        Self::from_distance(numbers.len(), false, |a, b| ((numbers[a] - numbers[b]) / range).abs())
    }

    /// `1 − (a − b)² / range²` (Cohen 1968; Fleiss and Cohen 1973) over the categories' numbers. Undefined as for linear weights.
    pub fn quadratic(numbers: &[f64]) -> Result<Self, Undefined> {
        let range = range(numbers)?;
        Self::from_distance(numbers.len(), false, |a, b| {
            ((numbers[a] - numbers[b]) / range).powi(2)
        })
    }

    /// Ordinal weights (Gwet 2014): 1 − the number of pairs of categories from one to the other, as a share of all pairs. Only the
    /// order of categories counts. Undefined for fewer than two or more than 1,000 categories.
    pub fn ordinal(categories: usize) -> Result<Self, Undefined> {
        Undefined::unless_enough("categories", categories, 2)?;
        let pairs = |steps: usize| (steps * (steps + 1) / 2) as f64;
        let all = pairs(categories - 1);
        Self::from_distance(categories, categories == 2, |a, b| pairs(a.abs_diff(b)) / all)
    }

    fn from_distance(
        size: usize,
        identity: bool,
        distance: impl Fn(usize, usize) -> f64,
    ) -> Result<Self, Undefined> {
        unless_categories(size)?;
        let cells = (0..size).flat_map(|a| (0..size).map(move |b| (a, b)));
        let weights = cells.map(|(a, b)| 1.0 - distance(a, b)).collect();
        Ok(Self { size, weights, identity })
    }

    /// How many categories there are.
    #[must_use]
    pub fn categories(&self) -> usize {
        self.size
    }

    /// Whether only equal categories agree.
    #[must_use]
    pub fn is_identity(&self) -> bool {
        self.identity
    }

    /// The weight of two categories.
    pub(super) fn of(&self, a: usize, b: usize) -> f64 {
        self.weights[a * self.size + b]
    }

    /// The sum of all weights.
    pub(super) fn total(&self) -> f64 {
        self.weights.iter().sum()
    }

    /// The matrix times a vector of shares.
    pub(super) fn times(&self, shares: &[f64]) -> Vec<f64> {
        let row = |row: &[f64]| row.iter().zip(shares).map(|(weight, share)| weight * share).sum();
        self.weights.chunks(self.size.max(1)).map(row).collect()
    }
}

fn range(numbers: &[f64]) -> Result<f64, Undefined> {
    Undefined::unless_finite("category", numbers)?;
    let low = numbers.iter().copied().fold(f64::INFINITY, f64::min);
    let high = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if high > low && (high - low).is_finite() {
        Ok(high - low)
    } else {
        Err(Undefined::NoVariation { what: "categories" })
    }
}
