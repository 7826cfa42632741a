//! Statistics of evaluations: pure functions on slices, each with its assumptions and its source.
//!
//! What cannot be computed is an [`Undefined`] that names the reason, never NaN and never a made-up number. Everything
//! random takes a seed. Nothing here reads files or prints.

pub mod agreement;
pub mod compare;
mod descriptive;
mod distribution;
pub mod experiment;
mod interval;
pub mod labels;
mod numeric;
mod random;
pub mod ranking;
pub mod sampling;
mod undefined;
pub mod validity;

pub use descriptive::{Moments, ValueCounts, quantile};
pub use distribution::{
    beta_cdf, beta_quantile, binomial_cdf, binomial_pmf, chi_square_sf, normal_cdf, normal_pdf,
    normal_quantile, student_t_cdf, student_t_quantile, student_t_sf,
};
pub use interval::{
    Bootstrap, BootstrapInterval, BootstrapMethod, ClusterSums, ClusteredMean, Interval,
    PairedProportions, clopper_pearson_interval, clustered_mean, mean_interval, wilson_interval,
};
pub use random::random_stream;
pub use undefined::Undefined;
