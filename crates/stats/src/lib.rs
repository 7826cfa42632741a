//! Descriptive statistics and confidence intervals: pure functions, each with its source and its assumptions.
//!
//! What cannot be computed is `None`, never NaN.

mod distribution;
mod interval;
mod moments;
mod quantile;

pub use distribution::{normal_quantile, student_t_quantile};
pub use interval::{ClusterSums, Interval, mean_interval, wilson_interval};
pub use moments::Moments;
pub use quantile::ValueCounts;
