//! Correlation of pairs: Pearson, Spearman and Kendall, each with an interval and a p-value.

mod kendall;
mod pearson;
mod spearman;

use serde::Serialize;

use super::{check_pairs, value_or_reason};
use crate::{Interval, Undefined, normal_quantile, student_t_quantile, student_t_sf};

/// A coefficient of correlation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Coefficient {
    /// How closely the pairs lie on a straight line (Pearson 1896).
    Pearson,
    /// Pearson's coefficient of the ranks, ties sharing the mean of theirs (Spearman 1904): how closely they lie on any
    /// rising or falling curve.
    Spearman,
    /// Pairs of observations in the same order minus those in the opposite one, corrected for ties: tau-b (Kendall 1945).
    #[serde(rename = "kendall_tau_b")]
    Kendall,
}

impl Coefficient {
    /// All three.
    pub const ALL: [Self; 3] = [Self::Pearson, Self::Spearman, Self::Kendall];
}

/// A correlation of independent pairs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Correlation {
    /// Which coefficient it is.
    pub coefficient: Coefficient,
    /// Its value, from −1 to 1.
    pub value: f64,
    /// How many pairs.
    pub pairs: usize,
    /// The interval; see [`correlate`].
    #[serde(serialize_with = "value_or_reason")]
    pub interval: Result<Interval, Undefined>,
    /// Two-sided p-value of no association; see [`correlate`].
    #[serde(serialize_with = "value_or_reason")]
    pub p_value: Result<f64, Undefined>,
}

/// From here on a coefficient is perfect but for rounding.
const PERFECT: f64 = 1.0 - 1e-14;

/// A coefficient of correlation alone. It needs two pairs (of two, it is −1 or 1 whatever they are), and is undefined when one
/// side does not vary: such data say nothing about association, and nothing is not zero.
pub fn correlation(
    coefficient: Coefficient,
    first: &[f64],
    second: &[f64],
) -> Result<f64, Undefined> {
    check_pairs(first, second, 2)?;
    match coefficient {
        Coefficient::Pearson => pearson::value(first, second),
        Coefficient::Spearman => spearman::value(first, second),
        Coefficient::Kendall => Ok(kendall::Counts::of(first, second)?.tau()),
    }
}

/// A coefficient of correlation with its interval and p-value, for independent pairs.
///
/// | | interval, on Fisher's scale `atanh` | p-value, as scipy computes it |
/// |---|---|---|
/// | Pearson | standard error `1/√(n−3)` (Fisher 1921); assumes roughly normal pairs | Student's t |
/// | Spearman | `√((1 + r²/2)/(n−3))` (Bonett and Wright 2000) | Student's t |
/// | Kendall | the delta method on the counts of pairs (Brown and Benedetti 1977), which allows for ties, with n−1 degrees of freedom | exact for up to 33 pairs without ties (Kendall 1970), else normal with the variance for ties (Noether 1967) |
///
/// Undefined as [`correlation`] is. Interval and p-value need more: four pairs for the interval (Kendall: three) and three for
/// the p-value (Kendall: two). When all pairs lie exactly on a line or curve, the interval is undefined, and so are the p-values
/// by Student's t: without a spread around it they would be a point and zero.
pub fn correlate(
    coefficient: Coefficient,
    first: &[f64],
    second: &[f64],
    confidence: f64,
) -> Result<Correlation, Undefined> {
    Undefined::unless_share("confidence", confidence)?;
    check_pairs(first, second, 2)?;
    let pairs = first.len();
    let n = pairs as f64;
    let (value, error, p_value) = match coefficient {
        Coefficient::Pearson => {
            let value = pearson::value(first, second)?;
            let error =
                Undefined::unless_enough("pairs", pairs, 4).map(|()| 1.0 / (n - 3.0).sqrt());
            (value, error, student_p_value(value, pairs))
        }
        Coefficient::Spearman => {
            let value = spearman::value(first, second)?;
            let error = Undefined::unless_enough("pairs", pairs, 4)
                .map(|()| ((1.0 + value * value / 2.0) / (n - 3.0)).sqrt());
            (value, error, student_p_value(value, pairs))
        }
        Coefficient::Kendall => {
            let counts = kendall::Counts::of(first, second)?;
            let value = counts.tau();
            let error = Undefined::unless_enough("pairs", pairs, 3).and_then(|()| {
                let squares: f64 =
                    kendall::influence(first, second)?.iter().map(|part| part * part).sum();
                Ok((squares / (n * (n - 1.0))).sqrt() / (1.0 - value * value))
            });
            (value, error, Ok(counts.p_value()))
        }
    };
    let interval = error.and_then(|error| {
        let upper = f64::midpoint(1.0, confidence);
        let quantile = match coefficient {
            Coefficient::Kendall => student_t_quantile(upper, n - 1.0)?,
            _ => normal_quantile(upper)?,
        };
        fisher_interval(value, error, quantile)
    });
    Ok(Correlation { coefficient, value, pairs, interval, p_value })
}

/// An interval of a correlation whose pairs come in clusters, such as the answers of several systems to one question: pairs
/// of one cluster may depend on each other in any way, clusters must be independent. `clusters` has a code for each pair.
///
/// The delta method with the influence of each pair, summed by cluster (Liang and Zeger 1986; for rank correlations the
/// influence of a U-statistic, Hoeffding 1948), on Fisher's scale, with one degree of freedom less than there are clusters.
/// It needs three clusters, and many to be trusted. Undefined as [`correlation`] is, and when all pairs lie on a line or curve.
pub fn clustered_interval(
    coefficient: Coefficient,
    first: &[f64],
    second: &[f64],
    clusters: &[u32],
    confidence: f64,
) -> Result<Interval, Undefined> {
    Undefined::unless_share("confidence", confidence)?;
    check_pairs(first, second, 2)?;
    Undefined::unless_paired("pairs and clusters", first.len(), clusters.len())?;
    let (value, influence) = match coefficient {
        Coefficient::Pearson => pearson::influence(first, second)?,
        Coefficient::Spearman => spearman::influence(first, second)?,
        Coefficient::Kendall => {
            (kendall::Counts::of(first, second)?.tau(), kendall::influence(first, second)?)
        }
    };
    let sums = super::bias::cluster_totals(&influence, clusters);
    Undefined::unless_enough("clusters", sums.len(), 3)?;
    let count = sums.len() as f64;
    let squares: f64 = sums.iter().map(|sum| sum * sum).sum();
    let error = (squares * count / (count - 1.0)).sqrt() / first.len() as f64;
    let quantile = student_t_quantile(f64::midpoint(1.0, confidence), count - 1.0)?;
    fisher_interval(value, error / (1.0 - value * value), quantile)
}

/// `tanh(atanh(value) ± quantile · error)`; undefined for a perfect correlation.
fn fisher_interval(value: f64, error: f64, quantile: f64) -> Result<Interval, Undefined> {
    if value.abs() >= PERFECT || !error.is_finite() || error <= 0.0 {
        return Err(NO_SPREAD);
    }
    let (center, half_width) = (value.atanh(), quantile * error);
    Ok(Interval { low: (center - half_width).tanh(), high: (center + half_width).tanh() })
}

const NO_SPREAD: Undefined =
    Undefined::NoVariation { what: "distances from a perfect correlation" };

/// Two-sided p-value of a coefficient that follows Student's t with n − 2 degrees of freedom when there is no association.
fn student_p_value(value: f64, pairs: usize) -> Result<f64, Undefined> {
    Undefined::unless_enough("pairs", pairs, 3)?;
    if value.abs() >= PERFECT {
        return Err(NO_SPREAD);
    }
    let degrees = pairs as f64 - 2.0;
    let t = value.abs() * (degrees / ((1.0 - value) * (1.0 + value))).sqrt();
    Ok((2.0 * student_t_sf(t, degrees)).min(1.0))
}
