//! The test that a plan is for, and what it can find.

use fullbench_stats::Undefined;
use fullbench_stats::compare::{
    Design, mcnemar_detectable_difference, mcnemar_pairs_needed, mcnemar_power,
};

use super::{PowerDesign, PowerOptions};

/// A test, with all that its power depends on beside the number of cases, the difference and the level.
#[derive(Debug, Clone, Copy)]
pub(super) enum Test {
    /// A two-sided t test.
    Means(Design),
    /// McNemar's exact test of yes/no scores of which this share changes.
    Changes(f64),
}

impl Test {
    /// The test of a plan: that of changed cases where a case has one yes/no score on each side. Averages of several
    /// repetitions are no longer yes or no.
    pub(super) fn of(options: &PowerOptions, design: Design, repetitions: u32) -> Self {
        match options.changed {
            Some(changed) if options.design == PowerDesign::Paired && repetitions == 1 => {
                Self::Changes(changed)
            }
            _ => Self::Means(design),
        }
    }

    pub(super) fn power(self, units: u64, effect: f64, alpha: f64) -> Result<f64, Undefined> {
        match self {
            Self::Means(design) => design.power(units as f64, effect, alpha),
            Self::Changes(changed) => mcnemar_power(units, changed, effect, alpha),
        }
    }

    pub(super) fn detectable_effect(
        self,
        units: u64,
        alpha: f64,
        power: f64,
    ) -> Result<f64, Undefined> {
        match self {
            Self::Means(design) => design.detectable_effect(units as f64, alpha, power),
            Self::Changes(changed) => mcnemar_detectable_difference(units, changed, alpha, power),
        }
    }

    pub(super) fn units_needed(
        self,
        effect: f64,
        alpha: f64,
        power: f64,
    ) -> Result<u64, Undefined> {
        match self {
            Self::Means(design) => {
                let units = design.units_needed(effect, alpha, power)?;
                Ok((units - 1e-9).ceil().max(2.0) as u64)
            }
            Self::Changes(changed) => mcnemar_pairs_needed(changed, effect, alpha, power),
        }
    }

    /// What it is, in words.
    pub(super) fn method(self) -> &'static str {
        match self {
            Self::Means(_) => "two-sided t test, power by the noncentral t distribution",
            Self::Changes(_) => "McNemar's exact two-sided test, power by counting every outcome",
        }
    }
}
