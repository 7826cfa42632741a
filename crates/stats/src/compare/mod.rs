//! Comparing two samples: tests, effect sizes, equivalence, many tests at once, power.
//!
//! A difference is always second minus first: treatment − control, after − before.

mod adjust;
mod effect;
mod margin;
mod mean;
mod noncentral;
mod power;
mod proportion;

pub use adjust::{Adjustment, adjust};
pub use effect::{
    EffectSize, Magnitude, cliffs_delta, cohen_d, cohen_dz, hedges_correction, hedges_g,
    hedges_g_approximate,
};
pub use margin::{Equivalence, OneSided, equivalence, non_inferiority};
pub use mean::{MeanComparison, clustered_paired_t, paired_t, welch_t};
pub use power::minimum_detectable_effect;
pub use proportion::mcnemar_exact;
