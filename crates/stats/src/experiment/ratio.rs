//! Sample-ratio mismatch: whether the arms have the sizes they should have.

use serde::Serialize;

use crate::{Undefined, chi_square_sf};

/// Whether units arrived in the arms as they were meant to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RatioCheck {
    /// Pearson's chi-square.
    pub chi_square: f64,
    /// Its degrees of freedom: one less than there are arms.
    pub degrees_of_freedom: f64,
    /// How probable counts at least this far from the plan are if assignment works.
    pub p_value: f64,
}

/// Compares the counts of the arms with the shares that were planned, by Pearson's chi-square test (Pearson 1900; for
/// experiments, Fabijan et al. 2019). Shares need not sum to 1. Assumes independent assignment, and about five expected units or more in each
/// arm. Undefined for fewer than two arms, no units at all, and shares that are not positive.
pub fn sample_ratio(counts: &[u64], shares: &[f64]) -> Result<RatioCheck, Undefined> {
    Undefined::unless_enough("arms", counts.len(), 2)?;
    Undefined::unless_paired("counts and shares", counts.len(), shares.len())?;
    for share in shares {
        Undefined::unless_positive("a share", *share)?;
    }
    let total: u64 = counts.iter().sum();
    Undefined::unless_enough("units", total as usize, 1)?;
    let whole: f64 = shares.iter().sum();
    let mut chi_square = 0.0;
    for (count, share) in counts.iter().zip(shares) {
        let expected = total as f64 * share / whole;
        chi_square += (*count as f64 - expected).powi(2) / expected;
    }
    let degrees_of_freedom = (counts.len() - 1) as f64;
    let p_value = chi_square_sf(chi_square, degrees_of_freedom);
    Ok(RatioCheck { chi_square, degrees_of_freedom, p_value })
}
