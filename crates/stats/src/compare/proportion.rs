//! Tests of counts: two shares, and what changed between two runs.

use serde::Serialize;

use crate::{Undefined, binomial_cdf, binomial_pmf, normal_cdf};

/// Tables whose probabilities differ by less than this share count as equally likely, as in R.
const EQUALLY_LIKELY: f64 = 1e-7;

/// A test of a difference of two shares.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ProportionComparison {
    /// Second share minus first.
    pub difference: f64,
    /// The difference in standard errors under no difference.
    pub statistic: f64,
    /// Two-sided p-value of no difference.
    pub p_value: f64,
}

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

/// The z test of two independent shares with a pooled standard error (Pearson 1900): many observations, at least some five
/// successes and failures expected on each side; for fewer, [`fisher_exact`]. Each side is (successes, count). Undefined for
/// an empty side, more successes than observations, and when all outcomes are equal.
pub fn two_proportion_z(
    control: (u64, u64),
    treatment: (u64, u64),
) -> Result<ProportionComparison, Undefined> {
    check(control, treatment)?;
    let (first, second) = (control.1 as f64, treatment.1 as f64);
    let difference = treatment.0 as f64 / second - control.0 as f64 / first;
    let pooled = (control.0 + treatment.0) as f64 / (first + second);
    let standard_error = (pooled * (1.0 - pooled) * (1.0 / first + 1.0 / second)).sqrt();
    let statistic = difference / standard_error;
    let p_value = (2.0 * normal_cdf(-statistic.abs())).min(1.0);
    Ok(ProportionComparison { difference, statistic, p_value })
}

/// Fisher's exact test (Fisher 1935) of two independent shares: the two-sided p-value, the probability of all tables with the
/// same margins that are no more likely than this one. Each side is (successes, count). It never rejects more often than its
/// level. Undefined as [`two_proportion_z`].
pub fn fisher_exact(control: (u64, u64), treatment: (u64, u64)) -> Result<f64, Undefined> {
    check(control, treatment)?;
    let successes = control.0 + treatment.0;
    let share = successes as f64 / (control.1 + treatment.1) as f64;
    // A hypergeometric probability is a product of binomial ones, of any success probability, up to a constant factor.
    let likelihood = |k: u64| {
        binomial_pmf(k, control.1, share) * binomial_pmf(successes - k, treatment.1, share)
    };
    let observed = likelihood(control.0) * (1.0 + EQUALLY_LIKELY);
    let (mut unlikely, mut total) = (0.0, 0.0);
    for k in successes.saturating_sub(treatment.1)..=successes.min(control.1) {
        let likelihood = likelihood(k);
        total += likelihood;
        if likelihood <= observed {
            unlikely += likelihood;
        }
    }
    Ok((unlikely / total).min(1.0))
}

fn check(control: (u64, u64), treatment: (u64, u64)) -> Result<(), Undefined> {
    for (successes, count) in [control, treatment] {
        Undefined::unless_enough("observations on a side", count as usize, 1)?;
        if successes > count {
            return Err(Undefined::OutOfRange {
                what: "the number of successes",
                value: successes as f64,
                allowed: "at most the count",
            });
        }
    }
    let successes = control.0 + treatment.0;
    if successes == 0 || successes == control.1 + treatment.1 {
        return Err(Undefined::NoVariation { what: "outcomes" });
    }
    Ok(())
}
