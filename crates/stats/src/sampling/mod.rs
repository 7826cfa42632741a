//! Estimates from outputs that were judged with known, unequal probabilities.
//!
//! A cascade shows each output to its last judge with a probability that it knows and that depends on what cheaper
//! checks said of it; outputs are drawn independently of each other (Poisson sampling). The plain mean of what was judged
//! is then a mean of the suspicious. Here each judged output stands for `1/probability` outputs, and everything is made of
//! sums that can be merged, so that a million outputs need no memory. How often the intervals cover is in
//! `tests/sampling_coverage.rs`. Drawing is not done here.

mod cluster;
mod mean;
mod paired;
mod quantile;

pub use cluster::WeightedCluster;
pub use mean::WeightedSums;
pub use paired::{PairedWeightedCluster, PairedWeightedSums, WeightedDifference};
pub use quantile::WeightedValues;

use serde::Serialize;

use crate::{Interval, Undefined, student_t_quantile};

/// What an interval is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// The number that judging every output of this population would have given: the draw is all that is uncertain, and
    /// nothing is when everything was judged.
    ThisPopulation,
    /// The number for other outputs of the same kind: wider, since this population is itself one of many.
    OtherOutputs,
}

/// An estimate with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct WeightedEstimate {
    /// The estimate.
    pub estimate: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// Its interval.
    pub interval: Interval,
}

/// Refuses a probability with which nothing can have been drawn.
fn unless_probability(probability: f64) -> Result<(), Undefined> {
    if probability > 0.0 && probability <= 1.0 {
        return Ok(());
    }
    let what = "probability of being judged";
    Err(Undefined::OutOfRange { what, value: probability, allowed: "above 0 and at most 1" })
}

/// Kish's effective size (1965, section 11.7): how many equal weights are as good as these.
fn effective_size(weights: f64, squared_weights: f64) -> f64 {
    weights * weights / squared_weights
}

/// Quantile of Student's t with one degree of freedom less than the effective size; undefined below two. With a few heavy
/// weights the variance rests on those few, however many light ones there are beside them.
fn student_quantile(effective_size: f64, confidence: f64) -> Result<f64, Undefined> {
    Undefined::unless_share("confidence", confidence)?;
    let what = "judged outputs, by their weights";
    Undefined::unless_enough(what, effective_size as usize, 2)?;
    student_t_quantile(f64::midpoint(1.0, confidence), effective_size - 1.0)
}
