//! Where the spread of a planned study comes from.

use serde::Serialize;

use super::super::mean::unless_rounding;
use super::{at_least, from_zero_to_one};
use crate::interval::by_cluster;
use crate::{Moments, Undefined};

/// The variance of single values, split into what differs between clusters (or cases) and what differs within one (among the
/// repetitions of a case).
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct VarianceComponents {
    /// Variance of the clusters' true means; negative where chance made them more alike than independent values would be.
    pub between: f64,
    /// Variance of values around their cluster's true mean.
    pub within: f64,
    /// `between / (between + within)`: the correlation of two values of a cluster; may be negative by chance.
    pub intra_cluster_correlation: f64,
    /// How many clusters there are.
    pub clusters: usize,
    /// Values in a cluster, on average.
    pub cluster_size: f64,
    /// Coefficient of variation of the cluster sizes.
    pub size_variation: f64,
}

/// Variance components by the analysis of variance of one random factor (Fisher 1925; for unequal sizes, Donner 1986).
/// Clusters are independent, and the variance within is the same in each. Undefined for fewer than two clusters, where no
/// cluster has two values, and when all values are equal.
pub fn variance_components(
    values: &[f64],
    clusters: &[u32],
) -> Result<VarianceComponents, Undefined> {
    Undefined::unless_paired("values and clusters", values.len(), clusters.len())?;
    Undefined::unless_finite("value", values)?;
    let members = by_cluster(clusters);
    let (count, n) = (members.len(), values.len());
    Undefined::unless_enough("clusters", count, 2)?;
    Undefined::unless_enough("values in all the clusters together", n, count + 1)?;
    let mean = values.iter().sum::<f64>() / n as f64;
    let (mut squares_between, mut squares_within, mut squared_sizes) = (0.0, 0.0, 0.0);
    let mut sizes = Moments::default();
    for cluster in &members {
        let size = cluster.len() as f64;
        let own = cluster.iter().map(|&index| values[index]).sum::<f64>() / size;
        squares_between += size * (own - mean) * (own - mean);
        squares_within += cluster.iter().map(|&index| (values[index] - own).powi(2)).sum::<f64>();
        squared_sizes += size * size;
        sizes.add(size);
    }
    unless_rounding(squares_between + squares_within, &[values], "values")?;
    let within = squares_within / (n - count) as f64;
    let typical_size = (n as f64 - squared_sizes / n as f64) / (count - 1) as f64;
    let between = (squares_between / (count - 1) as f64 - within) / typical_size;
    let cluster_size = sizes.mean()?;
    let population_variance = sizes.variance()? * (count - 1) as f64 / count as f64;
    Ok(VarianceComponents {
        between,
        within,
        intra_cluster_correlation: between / (between + within),
        clusters: count,
        cluster_size,
        size_variation: population_variance.sqrt() / cluster_size,
    })
}

/// The standard deviation of yes/no values of this rate; undefined unless the rate is between 0 and 1.
pub fn rate_deviation(rate: f64) -> Result<f64, Undefined> {
    Undefined::unless_share("rate", rate)?;
    Ok((rate * (1.0 - rate)).sqrt())
}

/// The standard deviation of the differences of paired values with these deviations and this correlation. Undefined for
/// negative deviations, a correlation outside of −1 to 1, and where nothing is left of the deviation.
pub fn paired_deviation(first: f64, second: f64, correlation: f64) -> Result<f64, Undefined> {
    at_least("standard deviation", first, 0.0, "0 or positive")?;
    at_least("standard deviation", second, 0.0, "0 or positive")?;
    if !(-1.0..=1.0).contains(&correlation) {
        return Err(Undefined::OutOfRange {
            what: "correlation",
            value: correlation,
            allowed: "from -1 to 1",
        });
    }
    let variance = (first - second).powi(2) + 2.0 * (1.0 - correlation) * first * second;
    if variance <= 0.0 {
        return Err(Undefined::NoVariation { what: "differences" });
    }
    Ok(variance.sqrt())
}

/// The standard deviation of the differences of paired yes/no values, of which a share `changed` differs and the rate moves by
/// `difference`: √(changed − difference²). Undefined unless changed is between 0 and 1 and at least the difference; with all
/// changes in one direction the least is left.
pub fn paired_rate_deviation(changed: f64, difference: f64) -> Result<f64, Undefined> {
    if !(changed > 0.0 && changed <= 1.0) {
        return Err(Undefined::OutOfRange {
            what: "the share of changed cases",
            value: changed,
            allowed: "more than 0 and at most 1",
        });
    }
    if !(difference.abs() <= changed && difference.abs() < 1.0) {
        return Err(Undefined::OutOfRange {
            what: "the difference of rates",
            value: difference,
            allowed: "at most the share of changed cases",
        });
    }
    Ok((changed - difference * difference).sqrt())
}

/// The standard deviation of the mean of `repetitions` of a case, where a share `within` of the variance of single values is
/// chance within the case: √(1 − w + w/K) times that of single values (Miller 2024). Undefined unless the
/// deviation is positive, w from 0 to 1, and K at least 1.
pub fn repeated_deviation(
    standard_deviation: f64,
    within: f64,
    repetitions: f64,
) -> Result<f64, Undefined> {
    Undefined::unless_positive("standard deviation", standard_deviation)?;
    from_zero_to_one("the share of variance within cases", within)?;
    at_least("repetitions", repetitions, 1.0, "at least 1")?;
    let left = 1.0 - within + within / repetitions;
    Ok(standard_deviation * left.sqrt())
}
