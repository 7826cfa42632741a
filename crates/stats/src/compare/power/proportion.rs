//! Power of the z test of two independent shares.

use super::unless_power;
use crate::numeric::root_between;
use crate::{Undefined, normal_cdf, normal_quantile};

/// More observations than this are not looked for.
const MOST: f64 = 1e12;

/// The probability that the two-sided z test of two independent shares at level `alpha` finds the difference between `first`
/// and `second`, with `count` observations in the first sample and `ratio` times as many in the second (Fleiss 1981; normal
/// approximation without continuity correction). Undefined unless both shares and alpha are between 0 and 1, and count and
/// ratio positive.
pub fn proportion_power(
    first: f64,
    second: f64,
    count: f64,
    ratio: f64,
    alpha: f64,
) -> Result<f64, Undefined> {
    Undefined::unless_share("rate", first)?;
    Undefined::unless_share("rate", second)?;
    Undefined::unless_share("alpha", alpha)?;
    Undefined::unless_positive("the number of observations", count)?;
    Undefined::unless_positive("ratio of sample sizes", ratio)?;
    let pooled = (first + second * ratio) / (1.0 + ratio);
    let without = (pooled * (1.0 - pooled) * (1.0 + 1.0 / ratio)).sqrt();
    let with = (first * (1.0 - first) + second * (1.0 - second) / ratio).sqrt();
    let critical = normal_quantile(1.0 - alpha / 2.0)? * without / with;
    let shift = (second - first).abs() * count.sqrt() / with;
    Ok(normal_cdf(shift - critical) + normal_cdf(-shift - critical))
}

/// The number of observations in the first sample, not rounded, that finds the difference between two shares with probability
/// `power`; see [`proportion_power`]. Undefined for equal shares, and for more than 10¹² observations.
pub fn proportion_sample_size(
    first: f64,
    second: f64,
    ratio: f64,
    alpha: f64,
    power: f64,
) -> Result<f64, Undefined> {
    unless_power(alpha, power)?;
    Undefined::unless_positive("the difference of rates", (second - first).abs())?;
    let missing = |count: f64| {
        proportion_power(first, second, count, ratio, alpha).map(|found| found - power)
    };
    let mut most = 1.0;
    if missing(most)? >= 0.0 {
        return Ok(most);
    }
    while missing(most)? < 0.0 {
        most *= 2.0;
        if most > MOST {
            return Err(Undefined::OutOfRange {
                what: "the difference of rates",
                value: (second - first).abs(),
                allowed: "large enough to be found by fewer than 10^12 observations",
            });
        }
    }
    root_between(most / 2.0, most, |count| missing(count).unwrap_or(f64::NAN))
}
