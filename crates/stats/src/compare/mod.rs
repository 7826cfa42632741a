//! Comparing two samples: tests, effect sizes, equivalence, many tests at once, power.
//!
//! A difference is always second minus first: treatment − control, after − before.

mod adjust;
mod effect;
mod margin;
mod mean;
mod permutation;
mod power;
mod proportion;
mod rank;
mod resample;

pub use adjust::{Adjustment, adjust};
pub use effect::{
    EffectSize, Magnitude, cliffs_delta, cohen_d, cohen_dz, hedges_correction, hedges_g,
    hedges_g_approximate,
};
pub use margin::{Equivalence, OneSided, equivalence, non_inferiority};
pub use mean::{MeanComparison, clustered_paired_t, paired_t, student_t, welch_t};
pub use permutation::{Permutation, permutation_test, sign_flip_test};
pub use power::{
    Design, VarianceComponents, mcnemar_detectable_difference, mcnemar_pairs_needed, mcnemar_power,
    minimum_detectable_effect, paired_deviation, paired_rate_deviation, proportion_power,
    proportion_sample_size, rate_deviation, repeated_deviation, variance_components,
};
pub use proportion::{ProportionComparison, fisher_exact, mcnemar_exact, two_proportion_z};
pub use rank::{MannWhitney, Wilcoxon, mann_whitney, wilcoxon};
pub use resample::{PairedBootstrap, paired_bootstrap};
