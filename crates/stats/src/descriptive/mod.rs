//! Descriptive statistics: moments and quantiles.

mod moments;
mod quantile;

pub use moments::Moments;
pub use quantile::{ValueCounts, quantile};

pub(crate) use quantile::{
    EXACT_UP_TO, ordered, quantile_of_sorted, rounded, unless_probability, unordered,
};
