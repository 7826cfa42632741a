//! How sure a score is, and whether one system is better than another: bootstrap intervals and paired tests.
//!
//! With the same seed, samples and order of segments, intervals and p-values equal those of sacreBLEU, whose random
//! numbers are numpy's and whose resampling is in single precision. Scores that are averaged, such as ROUGE's, are
//! resampled the same way, in double precision: [`Statistics::of_scores`](crate::Statistics::of_scores) with
//! [`Mean`](crate::corpus::Mean).

mod interval;
mod paired;
mod random;

pub use interval::{BootstrapInterval, Resampling, bootstrap};
pub use paired::{
    PairedResult, Randomization, UnequalSystems, paired_bootstrap, paired_randomization,
};
