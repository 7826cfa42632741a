//! The bootstrap of paired differences.

use rand::RngExt;
use rayon::prelude::*;
use serde::Serialize;

use super::mean::{differences, unless_rounding};
use crate::interval::by_cluster;
use crate::{Bootstrap, Interval, Moments, Undefined, random_stream};

/// A bootstrap of paired differences.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PairedBootstrap {
    /// The mean of after − before.
    pub difference: f64,
    /// The standard deviation of its resamples.
    pub standard_error: f64,
    /// Its confidence interval, by the bootstrap's method.
    pub interval: Interval,
    /// Two-sided p-value of no difference.
    pub p_value: f64,
}

/// The paired bootstrap of a mean difference: cases are drawn with replacement, both sides of a case together; with clusters,
/// whole clusters. The p-value is the share of resamples as far from the observed difference as that is from zero, the
/// observed one counted in (Efron and Tibshirani 1993, section 16.4; for language, Berg-Kirkpatrick et al. 2012). Pairs (or
/// clusters) are independent. Undefined as [`Bootstrap::interval`], and when all differences are equal.
pub fn paired_bootstrap(
    before: &[f64],
    after: &[f64],
    clusters: Option<&[u32]>,
    how: &Bootstrap,
) -> Result<PairedBootstrap, Undefined> {
    let differences = differences(before, after)?;
    let moments: Moments = differences.iter().copied().collect();
    unless_rounding(moments.variance()?, &[before, after], "differences")?;
    let mean = |drawn: &[usize]| {
        Ok(drawn.iter().map(|&index| differences[index]).sum::<f64>() / drawn.len() as f64)
    };
    let found = match clusters {
        Some(clusters) => {
            Undefined::unless_paired("pairs and clusters", differences.len(), clusters.len())?;
            how.clustered_interval(clusters, mean)?
        }
        None => how.interval(differences.len(), mean)?,
    };
    let units: Vec<(f64, f64)> = match clusters {
        Some(clusters) => by_cluster(clusters)
            .iter()
            .map(|members| {
                let sum = members.iter().map(|&index| differences[index] - found.estimate).sum();
                (sum, members.len() as f64)
            })
            .collect(),
        None => differences.iter().map(|value| (value - found.estimate, 1.0)).collect(),
    };
    let distance = found.estimate.abs() * (1.0 - 1e-12);
    let as_far = (0..how.rounds as u64)
        .into_par_iter()
        .filter(|round| {
            let mut random = random_stream(how.seed, *round);
            let (mut sum, mut count) = (0.0, 0.0);
            for _ in 0..units.len() {
                let (part, size) = units[random.random_range(0..units.len())];
                sum += part;
                count += size;
            }
            (sum / count).abs() >= distance
        })
        .count();
    Ok(PairedBootstrap {
        difference: found.estimate,
        standard_error: found.standard_error,
        interval: found.interval,
        p_value: (as_far + 1) as f64 / (how.rounds + 1) as f64,
    })
}
