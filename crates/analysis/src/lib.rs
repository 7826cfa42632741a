//! Statistics of files: ratings, duels and measurements in, a report in numbers and plain words out.
//!
//! One module for each verb of `fullbench stats`: it reads a [`table::Table`], calls `fullbench-stats`, and says what the
//! numbers mean and what would make the conclusion firmer. [`threshold`] and [`stacking`] take slices instead of a file. How
//! a report is printed is not decided here.

pub mod ab;
pub mod aggregate;
pub mod agreement;
mod columns;
pub mod correlate;
mod error;
mod measured;
pub mod power;
pub mod ppi;
pub mod rank;
mod ratings;
mod report;
pub mod stacking;
pub mod table;
pub mod threshold;

pub use error::AnalysisError;
pub use measured::Measured;
pub use report::{Conclusion, Grid, Report, level, number, p_value, share};
