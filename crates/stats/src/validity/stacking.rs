//! Weights of the members of a panel, learned from scores of people (Breiman 1996).

use faer::Mat;
use rand::seq::SliceRandom;
use serde::Serialize;

use super::simplex::smallest_on_simplex;
use super::value_or_reason;
use crate::interval::{around, unless_overflowed};
use crate::{Interval, Moments, Undefined, random_stream};

/// This share of the largest squared error is added to the diagonal: it chooses among weights that fit equally well.
const RIDGE: f64 = 1e-10;

/// How learned weights are tested on items that they were not learned from.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CrossValidation {
    /// How many parts the items are put in; with fewer items each is a part of its own.
    pub folds: usize,
    /// What decides which item goes where.
    pub seed: u64,
    /// Confidence of the intervals, between 0 and 1.
    pub confidence: f64,
}

impl Default for CrossValidation {
    fn default() -> Self {
        Self { folds: 10, seed: 1, confidence: 0.95 }
    }
}

/// A difference of mean squared errors: below 0, the learned weights are better.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ErrorDifference {
    /// The cross-validated mean squared error of the learned weights less that of the other way.
    pub estimate: f64,
    /// Student's t interval over items, with the correction of Nadeau and Bengio (2003); undefined when the two ways are
    /// equally far apart on every item.
    #[serde(serialize_with = "value_or_reason")]
    pub interval: Result<Interval, Undefined>,
}

/// Learned weights of a panel.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StackedWeights {
    /// How many items.
    pub items: usize,
    /// The weight of each member: at least 0, together 1.
    pub weights: Vec<f64>,
    /// The smallest and the largest weight of each member over the folds.
    pub fold_weights: Vec<Interval>,
    /// Mean squared error of each member alone.
    pub member_errors: Vec<f64>,
    /// Mean squared error of the weights on the items they were learned from: too good.
    pub apparent_error: f64,
    /// How many folds there were.
    pub folds: usize,
    /// Cross-validated mean squared error of learned weights.
    pub learned_error: f64,
    /// Mean squared error of equal weights, on the same items.
    pub equal_error: f64,
    /// Cross-validated mean squared error of the best single member, which each fold chose by the other folds.
    pub best_single_error: f64,
    /// Learned less equal weights.
    pub against_equal: ErrorDifference,
    /// Learned weights less the best single member.
    pub against_best_single: ErrorDifference,
}

/// The weights (at least 0, together 1) at which the weighted mean of the members has the smallest mean squared error against the
/// scores of people: stacked regressions (Breiman 1996), with weights that sum to 1 so that the panel stays on its scale.
///
/// `members` has the scores of each member, one for each item, on the scale of `human`: no weight corrects a panel that is too
/// generous as a whole. Weights that fit equally well are decided by their squares: identical members get equal shares, and of a
/// member and others that add up to it the weight is spread. (A ridge of 1e-10 of the largest squared error does that; it moves
/// other weights by about as little.)
///
/// Whether learning pays is tested by cross-validation: each fold is predicted by weights learned from the others. Items are
/// independent. Errors of folds are not, as their weights were learned from nearly the same items: Student's t over items
/// covers as little as 78% in place of 95% where learned weights are hardly better. The intervals therefore have the variance
/// of Nadeau and Bengio (2003), which is larger by 1 + k/(k − 1) with k folds. Fewer items than folds make as many folds as
/// items.
///
/// A single member gets the weight 1 and differences of 0 without interval. Undefined for no members, fewer than two items or
/// folds, scores that are not finite or whose squares are not, and human scores that are all equal: nothing can be learned
/// from them.
pub fn stacked_weights(
    members: &[&[f64]],
    human: &[f64],
    how: &CrossValidation,
) -> Result<StackedWeights, Undefined> {
    Undefined::unless_share("confidence", how.confidence)?;
    Undefined::unless_enough("folds", how.folds, 2)?;
    check(members, human)?;
    let panel = Panel::of(members, human);
    let folds = how.folds.min(human.len());
    let fold_of = fold_of_each(human.len(), folds, how.seed);
    let products: Vec<Mat<f64>> =
        (0..folds).map(|fold| panel.products(|item| fold_of[item] == fold)).collect();
    let whole = sum(products.iter(), panel.distinct.len());
    for member in 0..whole.nrows() {
        unless_overflowed("the sum of squared errors", whole[(member, member)])?;
    }
    let learned = panel.learned(&whole)?;
    let mut fold_shares = Vec::new();
    let mut best_members = Vec::new();
    for fold in 0..folds {
        let others = products.iter().enumerate().filter(|(other, _)| *other != fold);
        let others = sum(others.map(|(_, products)| products), panel.distinct.len());
        fold_shares.push(panel.learned(&others)?);
        let error = |member: &usize| others[(*member, *member)];
        let members = 0..panel.distinct.len();
        best_members.push(members.min_by(|a, b| error(a).total_cmp(&error(b))).unwrap_or(0));
    }
    let squares = |item: usize| {
        let fold = fold_of[item];
        let learned = panel.error(item, &fold_shares[fold]).powi(2);
        let single = panel.errors[best_members[fold]][item].powi(2);
        (learned, panel.error(item, &panel.equal).powi(2), single)
    };
    let squares: Vec<(f64, f64, f64)> = (0..human.len()).map(squares).collect();
    let n = human.len() as f64;
    let mean = |of: fn(&(f64, f64, f64)) -> f64| squares.iter().map(of).sum::<f64>() / n;
    let difference = |of: fn(&(f64, f64, f64)) -> f64| -> Result<ErrorDifference, Undefined> {
        let moments: Moments = squares.iter().map(of).collect();
        let estimate = moments.mean()?;
        let k = folds as f64;
        let standard_error = moments.standard_error()? * (1.0 + k / (k - 1.0)).sqrt();
        let interval = around(estimate, standard_error, n - 1.0, how.confidence);
        Ok(ErrorDifference { estimate, interval })
    };
    let spread = |member: usize| {
        let weights = fold_shares.iter().map(|shares| panel.weight(member, shares));
        Interval { low: weights.clone().fold(1.0, f64::min), high: weights.fold(0.0, f64::max) }
    };
    let member_error = |member: usize| {
        let distinct = panel.distinct_of[member];
        whole[(distinct, distinct)] / n
    };
    Ok(StackedWeights {
        items: human.len(),
        weights: (0..members.len()).map(|member| panel.weight(member, &learned)).collect(),
        fold_weights: (0..members.len()).map(spread).collect(),
        member_errors: (0..members.len()).map(member_error).collect(),
        apparent_error: (0..human.len())
            .map(|item| panel.error(item, &learned).powi(2))
            .sum::<f64>()
            / n,
        folds,
        learned_error: mean(|square| square.0),
        equal_error: mean(|square| square.1),
        best_single_error: mean(|square| square.2),
        against_equal: difference(|square| square.0 - square.1)?,
        against_best_single: difference(|square| square.0 - square.2)?,
    })
}

fn check(members: &[&[f64]], human: &[f64]) -> Result<(), Undefined> {
    Undefined::unless_enough("members", members.len(), 1)?;
    Undefined::unless_enough("items", human.len(), 2)?;
    Undefined::unless_finite("human score", human)?;
    for member in members {
        let what = "scores of a member and of people";
        Undefined::unless_paired(what, member.len(), human.len())?;
        Undefined::unless_finite("score of a member", member)?;
    }
    if human.iter().all(|score| *score == human[0]) {
        return Err(Undefined::NoVariation { what: "human scores" });
    }
    Ok(())
}

/// The fold of each item: sizes differ by at most 1, and chance decides who is where.
fn fold_of_each(items: usize, folds: usize, seed: u64) -> Vec<usize> {
    let mut fold_of: Vec<usize> = (0..items).map(|item| item % folds).collect();
    fold_of.shuffle(&mut random_stream(seed, 0));
    fold_of
}

fn sum<'a>(parts: impl Iterator<Item = &'a Mat<f64>>, size: usize) -> Mat<f64> {
    parts.fold(Mat::zeros(size, size), |sum, part| sum + part)
}

/// Members as their errors. As weights sum to 1, the error of a weighted mean is the weighted mean of the errors.
struct Panel {
    /// The errors of each distinct member, item by item.
    errors: Vec<Vec<f64>>,
    /// How many members have these same scores.
    distinct: Vec<f64>,
    /// Which distinct member each member is.
    distinct_of: Vec<usize>,
    /// The shares of distinct members where all members have equal weights.
    equal: Vec<f64>,
}

impl Panel {
    fn of(members: &[&[f64]], human: &[f64]) -> Self {
        let mut kinds: Vec<(&[f64], f64)> = Vec::new();
        let mut distinct_of = Vec::new();
        for &member in members {
            let known = kinds.iter().position(|(scores, _)| *scores == member);
            let kind = known.unwrap_or_else(|| {
                kinds.push((member, 0.0));
                kinds.len() - 1
            });
            kinds[kind].1 += 1.0;
            distinct_of.push(kind);
        }
        let errors = |(scores, _): &(&[f64], f64)| {
            scores.iter().zip(human).map(|(score, human)| score - human).collect()
        };
        let distinct: Vec<f64> = kinds.iter().map(|(_, count)| *count).collect();
        let equal = distinct.iter().map(|count| count / members.len() as f64).collect();
        Self { errors: kinds.iter().map(errors).collect(), distinct, distinct_of, equal }
    }

    /// The sums of products of errors over the items that are asked for.
    fn products(&self, wanted: impl Fn(usize) -> bool) -> Mat<f64> {
        let size = self.errors.len();
        let mut products = Mat::zeros(size, size);
        for item in (0..self.errors[0].len()).filter(|item| wanted(*item)) {
            for row in 0..size {
                for column in 0..=row {
                    products[(row, column)] += self.errors[row][item] * self.errors[column][item];
                }
            }
        }
        for row in 0..size {
            for column in 0..row {
                products[(column, row)] = products[(row, column)];
            }
        }
        products
    }

    /// The shares of distinct members with the smallest sum of squared errors, and of equals those with the smallest squares of
    /// weights: k identical members with a share s in common have s²/k.
    fn learned(&self, products: &Mat<f64>) -> Result<Vec<f64>, Undefined> {
        let size = products.nrows();
        let largest = (0..size).map(|member| products[(member, member)]).fold(0.0, f64::max);
        if size == 1 || largest == 0.0 {
            return Ok(self.equal.clone());
        }
        let form = Mat::from_fn(size, size, |row, column| {
            let ridge = if row == column { RIDGE / self.distinct[row] } else { 0.0 };
            products[(row, column)] / largest + ridge
        });
        smallest_on_simplex(&form)
    }

    /// The error of the weighted mean on an item.
    fn error(&self, item: usize, shares: &[f64]) -> f64 {
        self.errors.iter().zip(shares).map(|(errors, share)| errors[item] * share).sum()
    }

    /// The weight of one member among those that share.
    fn weight(&self, member: usize, shares: &[f64]) -> f64 {
        let kind = self.distinct_of[member];
        shares[kind] / self.distinct[kind]
    }
}
