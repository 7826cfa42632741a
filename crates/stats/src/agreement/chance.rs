//! Agreement of many annotators corrected for chance, and plain agreement.

use serde::Serialize;

use super::FEWEST_ITEMS;
use super::category_weights::CategoryWeights;
use super::classes::Classes;
use super::ratings::Ratings;
use super::scale::runs;
use crate::interval::around;
use crate::{Interval, Undefined};

/// A coefficient (observed − expected) / (1 − expected) of agreement.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChanceCorrected {
    /// The coefficient: 1 for perfect agreement, 0 for what chance gives.
    pub coefficient: f64,
    /// Mean agreement of two annotators on an item.
    pub observed: f64,
    /// Agreement that chance gives, as this coefficient understands chance.
    pub expected: f64,
    /// Standard error over items; none for a single item.
    pub standard_error: Option<f64>,
    /// t interval, cut off at −1 and 1; none for fewer than ten items, and when the items do not differ in their part of the coefficient.
    pub interval: Option<Interval>,
    /// Items with at least one rating.
    pub items: usize,
    /// Items with at least two ratings.
    pub paired_items: usize,
    /// Whether every item has the same number of ratings, which the original definitions ask for.
    pub balanced: bool,
}

/// Plain agreement of pairs of annotators.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PercentAgreement {
    /// The share of pairs of ratings of an item that are equal, averaged over items.
    pub agreement: f64,
    /// Items with at least two ratings.
    pub paired_items: usize,
    /// Of these, items on which all annotators agree.
    pub unanimous_items: usize,
}

/// The share of pairs of annotators that agree, averaged over items with two ratings or more. Not corrected for chance: with one
/// category in nine tenths of the cases, annotators who never look agree on 82%. Undefined when no item has two ratings.
pub fn percent_agreement(ratings: &Ratings) -> Result<PercentAgreement, Undefined> {
    let classes = ratings.classes();
    let paired_items = classes.paired_items();
    Undefined::unless_enough("items with two ratings", paired_items, 1)?;
    let mut sum = 0.0;
    let mut unanimous_items = 0;
    for (items, values) in classes.iter() {
        let count = values.len() as f64;
        let same: f64 = runs(values).map(|(_, count)| count * (count - 1.0)).sum();
        sum += f64::from(items) * same / (count * (count - 1.0));
        if values.first() == values.last() {
            unanimous_items += items as usize;
        }
    }
    Ok(PercentAgreement { agreement: sum / paired_items as f64, paired_items, unanimous_items })
}

/// Fleiss' kappa (Fleiss 1971), with weights and for items with different numbers of ratings as in Gwet (2014), chapter 2; for two
/// annotators it is Scott's pi. Chance: two annotators who each draw from the pooled distribution of categories.
///
/// The standard error is Gwet's (2008, 2014) and treats items as a sample. Undefined when no item has two ratings, when
/// the weights are not for these categories, and when all values are equal.
pub fn fleiss_kappa(
    ratings: &Ratings,
    weights: &CategoryWeights,
    confidence: f64,
) -> Result<ChanceCorrected, Undefined> {
    let summary = Summary::new(ratings, weights)?;
    let towards = weights.times(&summary.shares);
    let expected =
        summary.shares.iter().zip(&towards).map(|(share, towards)| share * towards).sum();
    summary.coefficient(expected, Some(&towards), confidence)
}

/// Gwet's AC1 (Gwet 2008), and with weights other than the identity AC2 (Gwet 2014, chapter 3). Chance: an annotator guesses among all
/// categories only where an item is hard, which keeps the coefficient near plain agreement when one category is frequent.
///
/// Standard error and missing ratings as for [`fleiss_kappa`]. Undefined when no item has two ratings, when the weights
/// are not for these categories, and for fewer than two categories.
pub fn gwet_ac(
    ratings: &Ratings,
    weights: &CategoryWeights,
    confidence: f64,
) -> Result<ChanceCorrected, Undefined> {
    let summary = Summary::new(ratings, weights)?;
    let categories = weights.categories() as f64;
    let scale = weights.total() / (categories * (categories - 1.0));
    let towards: Vec<f64> = summary.shares.iter().map(|share| scale * (1.0 - share)).collect();
    let expected =
        summary.shares.iter().zip(&towards).map(|(share, towards)| share * towards).sum();
    summary.coefficient(expected, Some(&towards), confidence)
}

/// Brennan and Prediger's coefficient (1981), which without weights is Randolph's free-marginal kappa (2005). Chance: every category
/// alike.
///
/// Standard error and missing ratings as for [`fleiss_kappa`]. Undefined when no item has two ratings, when the weights
/// are not for these categories, and for fewer than two categories.
pub fn brennan_prediger(
    ratings: &Ratings,
    weights: &CategoryWeights,
    confidence: f64,
) -> Result<ChanceCorrected, Undefined> {
    let summary = Summary::new(ratings, weights)?;
    let expected = weights.total() / (weights.categories() as f64).powi(2);
    summary.coefficient(expected, None, confidence)
}

/// What the three coefficients share.
struct Summary<'a> {
    classes: &'a Classes,
    /// For each class the weighted agreement of the pairs of an item.
    agreement: Vec<f64>,
    /// For each category the mean over items of its share of their ratings.
    shares: Vec<f64>,
    items: f64,
    paired: f64,
    balanced: bool,
}

impl<'a> Summary<'a> {
    fn new(ratings: &'a Ratings, weights: &CategoryWeights) -> Result<Self, Undefined> {
        let categories = ratings.numbers().len();
        Undefined::unless_paired("categories and weights", categories, weights.categories())?;
        Undefined::unless_enough("categories", categories, 2)?;
        let classes = ratings.classes();
        Undefined::unless_enough("items with two ratings", classes.paired_items(), 1)?;
        let paired = classes.paired_items() as f64;
        let single: f64 = classes.singles().iter().map(|&count| f64::from(count)).sum();
        let items = paired + single;
        let mut shares: Vec<f64> =
            classes.singles().iter().map(|&count| f64::from(count) / items).collect();
        let mut agreement = Vec::with_capacity(classes.len());
        for (number, values) in classes.iter() {
            let count = values.len() as f64;
            let mut sum = 0.0;
            for (value, times) in runs(values) {
                shares[value] += f64::from(number) * times / count / items;
                for (other, others) in runs(values) {
                    let pairs = if value == other { times * (times - 1.0) } else { times * others };
                    sum += weights.of(value, other) * pairs;
                }
            }
            agreement.push(sum / (count * (count - 1.0)));
        }
        let size = classes.values(0).len();
        let balanced = single == 0.0 && classes.iter().all(|(_, values)| values.len() == size);
        Ok(Self { classes, agreement, shares, items, paired, balanced })
    }

    /// The coefficient for an expected agreement. `towards` has for each category the derivative of the expected agreement by
    /// its share, halved; none where the expectation does not depend on the data.
    fn coefficient(
        self,
        expected: f64,
        towards: Option<&[f64]>,
        confidence: f64,
    ) -> Result<ChanceCorrected, Undefined> {
        Undefined::unless_share("confidence", confidence)?;
        let varied = self.shares.iter().filter(|share| **share > 0.0).count() > 1;
        let room = 1.0 - expected;
        if !varied && towards.is_some() || room <= 1e-12 {
            return Err(Undefined::NoVariation { what: "values" });
        }
        let weighted = self.classes.counts().iter().zip(&self.agreement);
        let observed =
            weighted.map(|(&items, agreement)| f64::from(items) * agreement).sum::<f64>()
                / self.paired;
        let coefficient = (observed - expected) / room;
        let deviation = |agreement: Option<f64>, chance: f64| {
            let own = agreement
                .map_or(0.0, |agreement| self.items / self.paired * (agreement - expected) / room);
            own - 2.0 * (1.0 - coefficient) * (chance - expected) / room - coefficient
        };
        let chance_of = |runs: &mut dyn Iterator<Item = (usize, f64)>, count: f64| match towards {
            Some(towards) => runs.map(|(value, times)| towards[value] * times / count).sum(),
            None => expected,
        };
        let mut squares = 0.0;
        for ((items, values), &agreement) in self.classes.iter().zip(&self.agreement) {
            let chance = chance_of(&mut runs(values), values.len() as f64);
            squares += f64::from(items) * deviation(Some(agreement), chance).powi(2);
        }
        for (value, &items) in self.classes.singles().iter().enumerate() {
            let chance = chance_of(&mut std::iter::once((value, 1.0)), 1.0);
            squares += f64::from(items) * deviation(None, chance).powi(2);
        }
        let standard_error =
            (self.items > 1.0).then(|| (squares / (self.items * (self.items - 1.0))).sqrt());
        let interval = standard_error
            .filter(|_| self.items >= FEWEST_ITEMS as f64)
            .and_then(|error| around(coefficient, error, self.items - 1.0, confidence).ok())
            .map(|ends| Interval { low: ends.low.max(-1.0), high: ends.high.min(1.0) });
        Ok(ChanceCorrected {
            coefficient,
            observed,
            expected,
            standard_error,
            interval,
            items: self.items as usize,
            paired_items: self.paired as usize,
            balanced: self.balanced,
        })
    }
}
