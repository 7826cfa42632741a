//! Confidence intervals.

mod bootstrap;
mod clustered;
mod mean;
mod paired;
mod proportion;

pub use bootstrap::{Bootstrap, BootstrapInterval, BootstrapMethod};
pub use clustered::{ClusteredMean, clustered_mean};
pub use mean::{ClusterSums, mean_interval};
pub use paired::PairedProportions;
pub use proportion::{clopper_pearson_interval, wilson_interval};

pub(crate) use clustered::by_cluster;
pub(crate) use mean::{around, unless_overflowed};
pub(crate) use proportion::wilson_ends;

use serde::{Deserialize, Serialize};

/// A confidence interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}
