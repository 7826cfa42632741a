//! The mean of values that come in clusters.

use serde::Serialize;

use super::{Interval, around};
use crate::Undefined;

/// A mean with its cluster-robust standard error.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ClusteredMean {
    /// The mean of all values.
    pub mean: f64,
    /// Its cluster-robust standard error.
    pub standard_error: f64,
    /// How many clusters there are.
    pub clusters: usize,
}

impl ClusteredMean {
    /// t interval of the mean with one degree of freedom less than there are clusters; undefined without variation between
    /// them.
    pub fn interval(&self, confidence: f64) -> Result<Interval, Undefined> {
        around(self.mean, self.standard_error, self.clusters as f64 - 1.0, confidence)
    }
}

/// The mean of values in clusters, with the standard error of [`crate::ClusterSums`] (Liang and Zeger 1986; Miller 2024,
/// corrected by C/(C−1)) computed in two passes. Clusters are independent of each other; values within one need not be.
/// Undefined for fewer than two clusters.
pub fn clustered_mean(values: &[f64], clusters: &[u32]) -> Result<ClusteredMean, Undefined> {
    Undefined::unless_paired("values and clusters", values.len(), clusters.len())?;
    Undefined::unless_finite("value", values)?;
    let members = by_cluster(clusters);
    Undefined::unless_enough("clusters", members.len(), 2)?;
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let residual = |cluster: &Vec<usize>| -> f64 {
        cluster.iter().map(|&index| values[index] - mean).sum::<f64>().powi(2)
    };
    let squares: f64 = members.iter().map(residual).sum();
    let count = members.len() as f64;
    let standard_error = (squares * count / (count - 1.0)).sqrt() / n;
    Ok(ClusteredMean { mean, standard_error, clusters: members.len() })
}

/// The positions of each cluster's values, clusters in ascending order of their ids.
pub(crate) fn by_cluster(clusters: &[u32]) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..clusters.len()).collect();
    order.sort_by_key(|&index| clusters[index]);
    order.chunk_by(|&a, &b| clusters[a] == clusters[b]).map(<[usize]>::to_vec).collect()
}
