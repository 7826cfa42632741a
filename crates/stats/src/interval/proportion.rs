//! Confidence intervals of a proportion.

use super::Interval;
use crate::{Undefined, beta_quantile, normal_quantile};

/// Interval of a proportion after Wilson (1927): independent yes/no observations. Its coverage is close to nominal on
/// average, also for few observations. Undefined for no observations.
pub fn wilson_interval(successes: u64, count: u64, confidence: f64) -> Result<Interval, Undefined> {
    check(successes, count, confidence)?;
    let z = normal_quantile(f64::midpoint(1.0, confidence))?;
    let (low, high) = wilson_ends(successes as f64 / count as f64, count as f64, z);
    let low = if successes == 0 { 0.0 } else { low };
    let high = if successes == count { 1.0 } else { high };
    Ok(Interval { low, high })
}

/// The ends for a share of so many observations, which need not be a whole number, `z` standard errors away.
pub(crate) fn wilson_ends(share: f64, n: f64, z: f64) -> (f64, f64) {
    let scale = 1.0 + z * z / n;
    let center = (share + z * z / (2.0 * n)) / scale;
    let half_width = z * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt() / scale;
    ((center - half_width).max(0.0), (center + half_width).min(1.0))
}

/// Exact interval of a proportion after Clopper and Pearson (1934): independent yes/no observations. It never covers less
/// than it says, and usually more. Undefined for no observations.
pub fn clopper_pearson_interval(
    successes: u64,
    count: u64,
    confidence: f64,
) -> Result<Interval, Undefined> {
    check(successes, count, confidence)?;
    let tail = (1.0 - confidence) / 2.0;
    let (passed, failed) = (successes as f64, (count - successes) as f64);
    let low = if successes == 0 { 0.0 } else { beta_quantile(tail, passed, failed + 1.0)? };
    let high =
        if successes == count { 1.0 } else { beta_quantile(1.0 - tail, passed + 1.0, failed)? };
    Ok(Interval { low, high })
}

fn check(successes: u64, count: u64, confidence: f64) -> Result<(), Undefined> {
    Undefined::unless_enough("observations", count as usize, 1)?;
    Undefined::unless_share("confidence", confidence)?;
    if successes > count {
        let value = successes as f64;
        return Err(Undefined::OutOfRange {
            what: "the number of successes",
            value,
            allowed: "at most the count",
        });
    }
    Ok(())
}
