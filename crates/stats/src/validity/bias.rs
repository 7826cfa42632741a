//! How far a judge is from people, and whether that grows with the score (Bland and Altman 1986, 1999).

use std::collections::BTreeMap;

use serde::Serialize;

use super::line::{Line, Points, ROUNDING, largest, line};
use super::{check_pairs, value_or_reason};
use crate::{
    ClusterSums, Interval, Moments, Undefined, mean_interval, normal_quantile, student_t_quantile,
};

/// The differences judge − human.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Bias {
    /// How many pairs.
    pub pairs: usize,
    /// How many clusters, where pairs come in clusters.
    pub clusters: Option<usize>,
    /// Mean difference: above 0, the judge scores higher than people.
    pub mean_difference: f64,
    /// t interval of the mean difference; with clusters, by their standard error.
    #[serde(serialize_with = "value_or_reason")]
    pub interval: Result<Interval, Undefined>,
    /// Standard deviation of the differences.
    pub standard_deviation: f64,
    /// Limits of agreement: where the difference of a single score lies, with the given confidence, if differences are roughly
    /// normal (`mean ± 1.96 · standard deviation` at 95%).
    #[serde(serialize_with = "value_or_reason")]
    pub limits: Result<Interval, Undefined>,
    /// How far each limit itself may be off (Bland and Altman 1999); none for pairs in clusters.
    pub limit_error: Option<f64>,
}

/// Mean difference and limits of agreement of a judge, both sides on the same scale (Bland and Altman 1986).
///
/// Pairs are independent, or come in independent clusters, whose codes are then given. It needs two pairs. Interval and limits
/// are undefined when all differences are equal, and the interval for fewer than two clusters.
pub fn bias(
    judge: &[f64],
    human: &[f64],
    clusters: Option<&[u32]>,
    confidence: f64,
) -> Result<Bias, Undefined> {
    Undefined::unless_share("confidence", confidence)?;
    check_pairs(judge, human, 2)?;
    let differences: Vec<f64> =
        judge.iter().zip(human).map(|(judge, human)| judge - human).collect();
    Undefined::unless_finite("difference", &differences)?;
    let moments: Moments = differences.iter().copied().collect();
    let mean_difference = moments.mean()?;
    // Welford's sum loses its way where squares overflow.
    let squares: f64 = differences.iter().map(|value| (value - mean_difference).powi(2)).sum();
    Undefined::unless_finite("difference", &[squares])?;
    let standard_deviation = moments.variance()?.sqrt();
    let (pairs, n) = (differences.len(), differences.len() as f64);
    let no_variation = Undefined::NoVariation { what: "differences" };
    let varies = standard_deviation > ROUNDING * largest(judge).max(largest(human));
    let (interval, clusters) = match clusters {
        None => (mean_interval(&moments, confidence), None),
        Some(clusters) => {
            Undefined::unless_paired("pairs and clusters", pairs, clusters.len())?;
            let mut members: BTreeMap<u32, (f64, u64)> = BTreeMap::new();
            for (cluster, difference) in clusters.iter().zip(&differences) {
                let member = members.entry(*cluster).or_default();
                *member = (member.0 + difference, member.1 + 1);
            }
            let mut sums = ClusterSums::default();
            members.values().for_each(|&(sum, count)| sums.add(sum, count));
            (sums.interval(confidence), Some(members.len()))
        }
    };
    let interval = if varies { interval } else { Err(no_variation.clone()) };
    let upper = f64::midpoint(1.0, confidence);
    let z = normal_quantile(upper)?;
    let limits = if varies {
        let reach = z * standard_deviation;
        Ok(Interval { low: mean_difference - reach, high: mean_difference + reach })
    } else {
        Err(no_variation)
    };
    let limit_error = match clusters {
        None if varies => {
            let scale = (1.0 / n + z * z / (2.0 * (n - 1.0))).sqrt();
            Some(student_t_quantile(upper, n - 1.0)? * standard_deviation * scale)
        }
        _ => None,
    };
    Ok(Bias { pairs, clusters, mean_difference, interval, standard_deviation, limits, limit_error })
}

/// What the difference is regressed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Against {
    /// The mean of both scores: neither side is taken as the truth (Bland and Altman 1999). The slope is 0 where both sides
    /// spread equally.
    Mean,
    /// The human score. Noise in it alone makes the slope negative: what is high by chance is followed by a lower judge score
    /// (regression dilution, Spearman 1904; Hutcheon, Chiolero and Hanley 2010).
    Human,
}

/// The straight line through the differences judge − human.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BiasSlope {
    /// What the difference is regressed on.
    pub against: Against,
    /// Where the line is at a score of 0.
    pub intercept: f64,
    /// Change of the difference for each point of the score.
    pub slope: f64,
    /// Standard error of the slope: HC3, or by clusters.
    pub standard_error: f64,
    /// t interval of the slope.
    pub interval: Interval,
    /// Two-sided p-value that the slope is 0.
    pub p_value: f64,
}

/// Whether a judge's bias grows with the score: least squares of judge − human on the mean of both or on the human score, both
/// sides on the same scale.
///
/// The line, its standard error and what is undefined are those of [`robust_line`](super::robust_line): the spread may change
/// with the score. It needs three pairs or clusters.
pub fn bias_slope(
    judge: &[f64],
    human: &[f64],
    against: Against,
    clusters: Option<&[u32]>,
    confidence: f64,
) -> Result<BiasSlope, Undefined> {
    Undefined::unless_share("confidence", confidence)?;
    check_pairs(judge, human, 3)?;
    let pairs = || judge.iter().zip(human);
    let differences: Vec<f64> = pairs().map(|(judge, human)| judge - human).collect();
    let scores: Vec<f64> = match against {
        Against::Mean => pairs().map(|(judge, human)| f64::midpoint(*judge, *human)).collect(),
        Against::Human => human.to_vec(),
    };
    Undefined::unless_finite("difference", &differences)?;
    let scale = largest(judge).max(largest(human));
    let names = ["scores", "scores but one"];
    let points = Points { x: &scores, y: &differences, x_scale: scale, y_scale: scale, names };
    let Line { intercept, slope, standard_error, interval, p_value } =
        line(points, clusters, confidence)?;
    Ok(BiasSlope { against, intercept, slope, standard_error, interval, p_value })
}

/// The sums of values by cluster.
pub(super) fn cluster_totals(values: &[f64], clusters: &[u32]) -> Vec<f64> {
    let mut totals: BTreeMap<u32, f64> = BTreeMap::new();
    for (cluster, value) in clusters.iter().zip(values) {
        *totals.entry(*cluster).or_default() += value;
    }
    totals.into_values().collect()
}
