//! How far each annotator agrees with the others.

use rayon::prelude::*;
use serde::Serialize;

use super::alpha::Units;
use super::ratings::Ratings;
use super::scale::{Level, Scale};
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
    // The number of parts depends on the data alone, so that sums are the same for any number of threads.
    let parts = (ratings.len() / (4 * ratings.annotators())).clamp(1, 32);
    let part = ratings.items().div_ceil(parts);
    let starts: Vec<usize> = (0..ratings.items()).step_by(part).collect();
    let of_parts: Vec<Vec<Sums>> = starts
        .into_par_iter()
        .map(|start| {
            let mut sums = vec![Sums::default(); ratings.annotators()];
            let mut sorted = Vec::new();
            for item in start..(start + part).min(ratings.items()) {
                add_item(ratings, item, &units.scale, &positions, &mut sorted, &mut sums);
            }
            sums
        })
        .collect();
    let mut sums = vec![Sums::default(); ratings.annotators()];
    for part in &of_parts {
        for (sum, more) in sums.iter_mut().zip(part) {
            sum.ratings += more.ratings;
            sum.compared += more.compared;
            sum.same += more.same;
            sum.distance += more.distance;
        }
    }
    let agreement = |sums: Sums| {
        let mean = |sum: f64| (sums.compared > 0).then(|| sum / sums.compared as f64);
        let distance = mean(sums.distance).zip(expected);
        AnnotatorAgreement {
            ratings: sums.ratings,
            compared: sums.compared,
            agreement: mean(sums.same),
            relative_disagreement: distance.map(|(distance, expected)| distance / expected),
        }
    };
    Ok(sums.into_iter().map(agreement).collect())
}

/// What is added up for an annotator.
#[derive(Clone, Default)]
struct Sums {
    ratings: usize,
    compared: usize,
    /// Of the shares of others with the same value.
    same: f64,
    /// Of the mean squared distances from the others.
    distance: f64,
}

/// Adds the ratings of an item to the sums of its annotators.
fn add_item(
    ratings: &Ratings,
    item: usize,
    scale: &Scale,
    positions: &[f64],
    sorted: &mut Vec<(u32, u32)>,
    sums: &mut [Sums],
) {
    let (annotators, values) = ratings.item(item);
    let others = values.len().saturating_sub(1) as f64;
    for &annotator in annotators {
        let sums = &mut sums[annotator as usize];
        sums.ratings += 1;
        sums.compared += usize::from(others > 0.0);
    }
    if others == 0.0 {
        return;
    }
    sorted.clear();
    sorted.extend(values.iter().copied().zip(annotators.iter().copied()));
    sorted.sort_unstable();
    let runs = || {
        let runs = sorted.chunk_by(|a, b| a.0 == b.0);
        runs.map(|run| (run[0].0 as usize, run.len() as f64))
    };
    for run in sorted.chunk_by(|a, b| a.0 == b.0) {
        let distance = scale.sum_from(positions, run[0].0 as usize, runs());
        for &(_, annotator) in run {
            let sums = &mut sums[annotator as usize];
            sums.same += (run.len() as f64 - 1.0) / others;
            sums.distance += distance / others;
        }
    }
}
