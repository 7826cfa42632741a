//! Votes, and scores of several kinds put together.

use crate::Undefined;

/// The top of the scale on which scores are put together.
const TOP: f64 = 10.0;

/// One voter's order of candidates.
#[derive(Debug, Clone, PartialEq)]
pub struct Vote {
    /// The candidates, best first. Those a voter may not or would not judge, itself above all, are left out.
    pub ranking: Vec<usize>,
    /// How sure the voter is, from 0 to 1.
    pub confidence: f64,
}

/// The share of Borda's (1781) points that each candidate got, weighted by the voters' confidence: 1 for always first, 0 for
/// always last. None for a candidate without a vote of positive confidence.
///
/// A vote on `m` candidates gives `(m − position) / (m − 1)`, position counted from 1. A candidate's share is the mean
/// over the votes that have it, so that a voter who leaves itself out neither helps nor harms itself. Undefined for no votes,
/// for a vote on fewer than two candidates, on one twice or on one that does not exist, and for a confidence
/// outside 0 to 1.
pub fn borda(candidates: usize, votes: &[Vote]) -> Result<Vec<Option<f64>>, Undefined> {
    Undefined::unless_enough("votes", votes.len(), 1)?;
    let mut points = vec![0.0; candidates];
    let mut weights = vec![0.0; candidates];
    for vote in votes {
        Undefined::unless_enough("candidates in a vote", vote.ranking.len(), 2)?;
        let confidence = vote.confidence;
        if !(0.0..=1.0).contains(&confidence) {
            return Err(Undefined::OutOfRange {
                what: "confidence",
                value: confidence,
                allowed: "from 0 to 1",
            });
        }
        let mut seen = vec![false; candidates];
        let last = vote.ranking.len() - 1;
        for (position, &candidate) in vote.ranking.iter().enumerate() {
            match seen.get_mut(candidate) {
                Some(seen) if !*seen => *seen = true,
                _ => {
                    return Err(Undefined::OutOfRange {
                        what: "the number of a candidate",
                        value: candidate as f64,
                        allowed: "below the number of candidates, once in each vote",
                    });
                }
            }
            points[candidate] += confidence * (last - position) as f64 / last as f64;
            weights[candidate] += confidence;
        }
    }
    let share = |(points, weight): (f64, f64)| (weight > 0.0).then(|| points / weight);
    Ok(points.into_iter().zip(weights).map(share).collect())
}

/// Consensus on a scale from 0 to 10: ten times the confidence-weighted [`borda`] share. Undefined as that is.
pub fn consensus(candidates: usize, votes: &[Vote]) -> Result<Vec<Option<f64>>, Undefined> {
    let shares = borda(candidates, votes)?;
    Ok(shares.into_iter().map(|share| share.map(|share| TOP * share)).collect())
}

/// The weighted mean of the parts that exist, each on a scale from 0 to 10 (a win rate times ten), with the weights of those
/// parts made to sum to one.
///
/// Undefined when no part with a positive weight exists, for a part outside 0 to 10, and for a negative weight.
pub fn weighted_score(parts: &[Option<f64>], weights: &[f64]) -> Result<f64, Undefined> {
    Undefined::unless_paired("parts and weights", parts.len(), weights.len())?;
    Undefined::unless_finite("weight", weights)?;
    let (mut sum, mut total, mut count) = (0.0, 0.0, 0);
    for (part, &weight) in parts.iter().zip(weights) {
        if weight < 0.0 {
            let (what, allowed) = ("weight", "0 or more");
            return Err(Undefined::OutOfRange { what, value: weight, allowed });
        }
        let Some(part) = *part else { continue };
        if !(0.0..=TOP).contains(&part) {
            let (what, allowed) = ("a part", "from 0 to 10");
            return Err(Undefined::OutOfRange { what, value: part, allowed });
        }
        sum += weight * part;
        total += weight;
        count += usize::from(weight > 0.0);
    }
    Undefined::unless_enough("parts with a weight", count, 1)?;
    Ok(sum / total)
}
