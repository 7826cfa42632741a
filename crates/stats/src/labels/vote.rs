//! Votes.

use rayon::prelude::*;
use serde::Serialize;

use crate::Undefined;
use crate::agreement::Ratings;

/// Sums of weights that differ by less than this share are equal: what is left is rounding.
const SAME: f64 = 1e-12;

/// What the votes for an item come to.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Vote {
    /// The label with most weight; none for a tie and without votes.
    pub label: Option<u32>,
    /// The share of the weight that the leading label has; 0 without votes.
    pub share: f64,
    /// Whether labels share the lead.
    pub tie: bool,
    /// Whether it may stand.
    pub decision: Decision,
}

/// Whether the outcome of a vote may stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// Enough annotators agree.
    Consensus,
    /// Too few agree, or there is a tie: someone has to decide.
    NeedsAdjudication,
    /// Fewer than two votes.
    Insufficient,
}

/// Majority vote: for each item the label that most annotators gave.
///
/// There is a consensus when at least two thirds agree, that is `3 · count ≥ 2 · n`, and at least two voted. Ties are reported, not broken.
/// It assumes that annotators are equally good. Items without ratings have no label.
#[must_use]
pub fn majority(ratings: &Ratings) -> Vec<Vote> {
    votes(ratings, |_| 1.0)
}

/// Weighted majority vote: `weights` has one for each annotator, such as an accuracy measured on known answers. A consensus
/// has two thirds of the weight. Votes of weight 0 do not count.
///
/// Undefined when there are not as many weights as annotators, and for weights that are negative or not finite.
pub fn weighted_majority(ratings: &Ratings, weights: &[f64]) -> Result<Vec<Vote>, Undefined> {
    unless_weights(ratings, weights)?;
    Ok(votes(ratings, |annotator| weights[annotator as usize]))
}

/// Refuses weights that are not one for each annotator, finite and not negative.
pub(super) fn unless_weights(ratings: &Ratings, weights: &[f64]) -> Result<(), Undefined> {
    Undefined::unless_paired("annotators and weights", ratings.annotators(), weights.len())?;
    Undefined::unless_finite("weight", weights)?;
    match weights.iter().find(|weight| **weight < 0.0) {
        Some(&value) => {
            Err(Undefined::OutOfRange { what: "a weight", value, allowed: "zero or positive" })
        }
        None => Ok(()),
    }
}

fn votes(ratings: &Ratings, weight: impl Fn(u32) -> f64 + Sync) -> Vec<Vote> {
    let vote = |votes: &mut Vec<(u32, f64)>, item| {
        votes.clear();
        let (annotators, values) = ratings.item(item);
        let weighted = values.iter().zip(annotators).map(|(&value, &who)| (value, weight(who)));
        votes.extend(weighted.filter(|(_, weight)| *weight > 0.0));
        votes.sort_unstable_by_key(|(value, _)| *value);
        outcome(votes)
    };
    (0..ratings.items()).into_par_iter().with_min_len(4_096).map_init(Vec::new, vote).collect()
}

/// The outcome of votes, as (label, weight), with equal labels beside each other.
fn outcome(votes: &[(u32, f64)]) -> Vote {
    let total: f64 = votes.iter().map(|(_, weight)| weight).sum();
    let (mut label, mut most, mut tie) = (None, 0.0, false);
    for same in votes.chunk_by(|a, b| a.0 == b.0) {
        let sum: f64 = same.iter().map(|(_, weight)| weight).sum();
        if sum > most + SAME * total {
            (label, most, tie) = (Some(same[0].0), sum, false);
        } else if sum >= most - SAME * total {
            (label, tie) = (None, true);
        }
    }
    let share = if votes.is_empty() { 0.0 } else { most / total };
    let decision = if votes.len() < 2 {
        Decision::Insufficient
    } else if !tie && 3.0 * most >= 2.0 * total * (1.0 - SAME) {
        Decision::Consensus
    } else {
        Decision::NeedsAdjudication
    };
    Vote { label, share, tie, decision }
}
