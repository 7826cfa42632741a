//! Tests of counts: what changed between two runs.

use crate::{Undefined, binomial_cdf};

/// McNemar's exact test (McNemar 1947) of paired yes/no outcomes: the two-sided binomial p-value of `fixed` (no before, yes
/// after) against `broken` (yes before, no after). Pairs are independent; pairs that did not change say nothing. It never
/// rejects more often than its level. Undefined when nothing changed.
pub fn mcnemar_exact(fixed: u64, broken: u64) -> Result<f64, Undefined> {
    let changed = fixed + broken;
    if changed == 0 {
        return Err(Undefined::NoVariation { what: "pairs" });
    }
    Ok((2.0 * binomial_cdf(fixed.min(broken), changed, 0.5)).min(1.0))
}
