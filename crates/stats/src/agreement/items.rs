//! How much each item is disputed.

use rayon::prelude::*;
use serde::Serialize;

use super::alpha::Units;
use super::ratings::Ratings;
use super::scale::{Level, runs};
use crate::Undefined;

/// The disagreement about each item.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ItemDisagreements {
    /// For each item the mean squared distance of its pairs of values divided by the expected disagreement of the whole data: 0
    /// for full agreement, 1 for values as far apart as those of any two items. None with fewer than two ratings.
    pub relative: Vec<Option<f64>>,
    /// The expected disagreement, in squared units of the data.
    pub expected_disagreement: f64,
}

/// Each item's observed disagreement against the expected one of all items (the parts that
/// [`alpha`](super::alpha) is made of, Krippendorff 2011): weighted by their numbers of ratings, they have the mean 1 − α.
///
/// An alpha of a single item would be 0 for any disagreement and undefined otherwise, since it would take the item's own values
/// for what chance gives. Undefined where alpha is.
pub fn item_disagreements(ratings: &Ratings, level: Level) -> Result<ItemDisagreements, Undefined> {
    let units = Units::new(ratings, level)?;
    let alpha = units.alpha(level)?;
    let positions = units.scale.positions(&units.value_counts());
    let expected = alpha.expected_disagreement / units.scale.squared_unit();
    let relative = (0..ratings.items())
        .into_par_iter()
        .with_min_len(4_096)
        .map_init(Vec::new, |values: &mut Vec<u32>, item| {
            values.clear();
            values.extend_from_slice(ratings.values_of(item));
            values.sort_unstable();
            let count = values.len() as f64;
            let pairs = count * (count - 1.0);
            (values.len() > 1)
                .then(|| units.scale.pair_sum(&positions, runs(values)) / pairs / expected)
        })
        .collect();
    Ok(ItemDisagreements { relative, expected_disagreement: alpha.expected_disagreement })
}
