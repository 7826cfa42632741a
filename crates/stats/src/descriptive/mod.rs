//! Descriptive statistics: moments and quantiles.

mod moments;
mod quantile;

pub use moments::Moments;
pub use quantile::{ValueCounts, quantile};

pub(crate) use quantile::quantile_of_sorted;
