//! How far each annotator agrees with the others.

use serde::Serialize;

use super::alpha::Units;
use super::ratings::Ratings;
use super::scale::Level;
use crate::Undefined;

/// How far one annotator agrees with the others on the same items.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AnnotatorAgreement {
    /// Ratings the annotator gave.
    pub ratings: usize,
    /// Of these, ratings of items that others rated too.
    pub compared: usize,
    /// Over these, the mean share of the others who gave exactly the same value; none when nothing can be compared.
    pub agreement: Option<f64>,
    /// Mean squared distance from the others' values, divided by the expected disagreement of the whole data: 0 for full
    /// agreement, 1 for what chance gives. None when nothing can be compared or all values are equal.
    pub relative_disagreement: Option<f64>,
}

/// The agreement of each annotator with the others. Each compared rating counts alike, however many others there are. The mean
/// share is plain agreement, not corrected for chance; the relative disagreement is, as in [`alpha`](super::alpha)
/// (Krippendorff 2011). Undefined at the ratio level for negative values, and when no item has two ratings.
pub fn annotator_agreements(
    ratings: &Ratings,
    level: Level,
) -> Result<Vec<AnnotatorAgreement>, Undefined> {
    let units = Units::new(ratings, level)?;
    let positions = units.scale.positions(&units.value_counts());
    let expected = units
        .alpha(level)
        .ok()
        .map(|alpha| alpha.expected_disagreement / units.scale.squared_unit());
    let mut sums = vec![(0usize, 0usize, 0.0, 0.0); ratings.annotators()];
    for item in 0..ratings.items() {
        let (annotators, values) = ratings.item(item);
        let others = values.len().saturating_sub(1);
        for (&annotator, &value) in annotators.iter().zip(values) {
            let sum = &mut sums[annotator as usize];
            sum.0 += 1;
            if others == 0 {
                continue;
            }
            sum.1 += 1;
            let same = values.iter().filter(|&&other| other == value).count() - 1;
            sum.2 += same as f64 / others as f64;
            let distance = |&other: &u32| {
                units.scale.squared_distance(&positions, value as usize, other as usize)
            };
            sum.3 += values.iter().map(distance).sum::<f64>() / others as f64;
        }
    }
    let agreement = |(ratings, compared, same, distance): (usize, usize, f64, f64)| {
        let mean = |sum: f64| (compared > 0).then(|| sum / compared as f64);
        AnnotatorAgreement {
            ratings,
            compared,
            agreement: mean(same),
            relative_disagreement: mean(distance)
                .zip(expected)
                .map(|(mean, expected)| mean / expected),
        }
    };
    Ok(sums.into_iter().map(agreement).collect())
}
