//! Judges against people: correlation, bias, and estimates corrected by a few human labels.
//!
//! Correlation of scores at the level of items, groups and systems; how far a judge is off and whether that grows with the
//! score; the confusion table of labels; means and rates estimated from many judge scores and few human labels; how many
//! labels are still needed; a pass mark that fits labels, and weights of a panel that fit scores. Agreement beyond chance is
//! in [`crate::agreement`].

mod auc;
mod bias;
mod confusion;
mod correlation;
mod labels_needed;
mod levels;
mod line;
mod marks;
mod prediction_powered;
mod prevalence;
mod resample;
mod simplex;
mod stacking;
mod threshold;

pub use auc::{AreaUnderCurve, area_under_curve};
pub use bias::{Against, Bias, BiasSlope, bias, bias_slope};
pub use confusion::{Class, Confusion, confusion};
pub use correlation::{Coefficient, Correlation, clustered_interval, correlate, correlation};
pub use labels_needed::{LabelDesign, LabelsNeeded, labels_needed};
pub use levels::{
    GroupCorrelation, Resampled, SystemCorrelation, group_correlation, system_correlations,
};
pub use line::{Line, robust_line};
pub use marks::{Goal, MarkCounts};
pub use prediction_powered::{
    PartlyLabelled, PredictionPowered, PredictionPoweredDifference, prediction_powered_difference,
    prediction_powered_mean,
};
pub use prevalence::{JudgedRates, Prevalence, rogan_gladen};
pub use resample::Resampling;
pub use stacking::{CrossValidation, ErrorDifference, StackedWeights, stacked_weights};
pub use threshold::{SuggestedThreshold, suggest_threshold};

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::Undefined;

/// Serializes what exists as itself, and what does not as `{"undefined": reason}`.
pub fn value_or_reason<T: Serialize, S: Serializer>(
    result: &Result<T, Undefined>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match result {
        Ok(value) => value.serialize(serializer),
        Err(reason) => {
            let mut map = serializer.serialize_map(Some(1))?;
            map.serialize_entry("undefined", &reason.to_string())?;
            map.end()
        }
    }
}

/// What the errors about pairs call the two sides.
const SIDES: [&str; 2] = ["values of the first side", "values of the second side"];

/// Refuses pairs that are not pairs, too few, or not finite.
fn check_pairs(first: &[f64], second: &[f64], needed: usize) -> Result<(), Undefined> {
    Undefined::unless_paired("values of the two sides", first.len(), second.len())?;
    Undefined::unless_enough("pairs", first.len(), needed)?;
    Undefined::unless_finite("value of the first side", first)?;
    Undefined::unless_finite("value of the second side", second)
}
