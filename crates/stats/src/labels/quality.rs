//! How good each annotator seems, beside the labels that were decided.

use serde::Serialize;

use crate::agreement::Ratings;
use crate::{Interval, Undefined, wilson_interval};

/// How often one annotator gave the label that was decided.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AnnotatorQuality {
    /// Ratings the annotator gave.
    pub ratings: u64,
    /// Of these, ratings of items that have a label.
    pub compared: u64,
    /// Of these, ratings that are the label.
    pub agreed: u64,
    /// `agreed / compared`; none when nothing can be compared.
    pub share: Option<f64>,
    /// Wilson interval of the share; none when nothing can be compared.
    pub interval: Option<Interval>,
}

/// Compares each annotator's ratings with the label of each item, none where an item has none. The interval is Wilson's (1927), for
/// items that are independent.
///
/// When the labels were decided by these same annotators, each is compared with something their own vote took part in, and the
/// share is too high, most for few annotators; against known answers it is an accuracy. Undefined when there are not
/// as many labels as items.
pub fn annotator_quality(
    ratings: &Ratings,
    labels: &[Option<u32>],
    confidence: f64,
) -> Result<Vec<AnnotatorQuality>, Undefined> {
    Undefined::unless_share("confidence", confidence)?;
    Undefined::unless_paired("items and labels", ratings.items(), labels.len())?;
    let mut sums = vec![(0, 0, 0); ratings.annotators()];
    for (item, label) in labels.iter().enumerate() {
        let (annotators, values) = ratings.item(item);
        for (&annotator, &value) in annotators.iter().zip(values) {
            let (ratings, compared, agreed) = &mut sums[annotator as usize];
            *ratings += 1;
            if let Some(label) = *label {
                *compared += 1;
                *agreed += u64::from(label == value);
            }
        }
    }
    let quality = |(ratings, compared, agreed): (u64, u64, u64)| AnnotatorQuality {
        ratings,
        compared,
        agreed,
        share: (compared > 0).then(|| agreed as f64 / compared as f64),
        interval: wilson_interval(agreed, compared, confidence).ok(),
    };
    Ok(sums.into_iter().map(quality).collect())
}

/// Whether a share is below a threshold beyond doubt: at least `minimum` were counted, and the whole Wilson interval (1927) lies
/// below. One slip in three is no reason to stop a good annotator. Undefined for a confidence or a threshold outside of 0 to 1, and
/// for more agreed than compared.
pub fn clearly_below(
    agreed: u64,
    compared: u64,
    threshold: f64,
    minimum: u64,
    confidence: f64,
) -> Result<bool, Undefined> {
    Undefined::unless_share("threshold", threshold)?;
    Undefined::unless_share("confidence", confidence)?;
    if compared < minimum.max(1) {
        return Ok(false);
    }
    Ok(wilson_interval(agreed, compared, confidence)?.high < threshold)
}
