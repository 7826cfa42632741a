//! The middle of ordered labels.

use rayon::prelude::*;

use super::vote::{Decision, Vote, unless_weights};
use crate::Undefined;
use crate::agreement::Ratings;

/// Sums of weights that differ by less than this share are equal: what is left is rounding.
const SAME: f64 = 1e-12;

/// The weighted lower median of each item's labels, for labels with an order: the lowest that has at least half of the weight at
/// or below it (Edgeworth 1888). It is always a label that someone gave, which a rounded mean need not be.
///
/// `weights` has one for each annotator; without them all count alike. Where exactly half of the weight lies at or below the median and the
/// other half above it, the middle is between two labels: that is a tie, the label is the lower of them, and the item needs
/// adjudication. `share` is the share of the weight that gave the median itself. Undefined for weights as for
/// [`weighted_majority`](super::weighted_majority).
pub fn lower_median(ratings: &Ratings, weights: Option<&[f64]>) -> Result<Vec<Vote>, Undefined> {
    if let Some(weights) = weights {
        unless_weights(ratings, weights)?;
    }
    let weight = |annotator: u32| weights.map_or(1.0, |weights| weights[annotator as usize]);
    let median = |votes: &mut Vec<(u32, f64)>, item| {
        votes.clear();
        let (annotators, values) = ratings.item(item);
        let weighted = values.iter().zip(annotators).map(|(&value, &who)| (value, weight(who)));
        votes.extend(weighted.filter(|(_, weight)| *weight > 0.0));
        votes.sort_unstable_by_key(|(value, _)| *value);
        middle(votes)
    };
    let items = (0..ratings.items()).into_par_iter().with_min_len(4_096);
    Ok(items.map_init(Vec::new, median).collect())
}

/// The lower median of votes, as (label, weight) in the order of labels.
fn middle(votes: &[(u32, f64)]) -> Vote {
    let total: f64 = votes.iter().map(|(_, weight)| weight).sum();
    let mut below = 0.0;
    for same in votes.chunk_by(|a, b| a.0 == b.0) {
        let sum: f64 = same.iter().map(|(_, weight)| weight).sum();
        below += sum;
        if below >= total / 2.0 - SAME * total {
            let tie = below <= total / 2.0 + SAME * total;
            let decision = match (votes.len(), tie) {
                (..2, _) => Decision::Insufficient,
                (_, true) => Decision::NeedsAdjudication,
                (_, false) => Decision::Consensus,
            };
            return Vote { label: Some(same[0].0), share: sum / total, tie, decision };
        }
    }
    Vote { label: None, share: 0.0, tie: false, decision: Decision::Insufficient }
}
