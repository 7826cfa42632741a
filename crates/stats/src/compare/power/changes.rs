//! Power of McNemar's exact test: what paired yes/no scores can show.

use super::{MOST_UNITS, unless_power};
use crate::numeric::root_between;
use crate::{Undefined, binomial_cdf, binomial_pmf, normal_cdf, normal_quantile};

/// Up to this many changed pairs expected, every number of them is counted; beyond, a normal approximation is closer than
/// 0.003 to that, or 0.02 where nearly every pair changes.
const COUNTED: f64 = 2000.0;
/// How many standard deviations around the expected number of changed pairs are counted, beside [`SLACK`] pairs for the long
/// upper tail of rare changes: less than 1e-15 lies beyond.
const REACH: f64 = 9.0;
const SLACK: f64 = 30.0;

/// The probability that McNemar's exact two-sided test at level `alpha` finds a true difference of rates with this many pairs,
/// of which a share `changed` is expected to differ between the two sides: the power given the number of changed pairs, over
/// the binomial distribution of that number (Duffy 1984). Pairs are independent, and the difference lies between −changed and
/// +changed. Where more than 2,000 changed pairs are expected, the normal approximation with a continuity correction (after
/// Miettinen 1968) stands in. Power does not always grow with pairs: an exact test wastes more or less of its level.
/// Undefined for no pairs, a share that is not above 0 and at most 1, and a difference larger than it.
pub fn mcnemar_power(
    pairs: u64,
    changed: f64,
    difference: f64,
    alpha: f64,
) -> Result<f64, Undefined> {
    unless_within(changed, difference)?;
    Ok(Changes::new(pairs, changed, alpha)?.power(difference))
}

/// The smallest true difference of rates that McNemar's exact test finds with probability `power`; see [`mcnemar_power`].
/// Undefined, with the number of pairs it takes, where the test has less power than that even if all changes go one way:
/// then no difference at all can be found so often.
pub fn mcnemar_detectable_difference(
    pairs: u64,
    changed: f64,
    alpha: f64,
    power: f64,
) -> Result<f64, Undefined> {
    unless_within(changed, 0.0)?;
    unless_power(alpha, power)?;
    let changes = Changes::new(pairs, changed, alpha)?;
    if changes.power(changed) < power {
        let needed = mcnemar_pairs_needed(changed, changed, alpha, power)?;
        return Err(Undefined::TooFew {
            what: "pairs",
            given: pairs as usize,
            needed: needed as usize,
        });
    }
    root_between(0.0, changed, |difference| changes.power(difference) - power)
}

/// A number of pairs with which McNemar's exact test finds a true difference of rates with probability `power`, and one pair
/// less does not; see [`mcnemar_power`], whose ups and downs may let a still smaller number do. Undefined for no difference,
/// and for more than 10¹² pairs.
pub fn mcnemar_pairs_needed(
    changed: f64,
    difference: f64,
    alpha: f64,
    power: f64,
) -> Result<u64, Undefined> {
    unless_within(changed, difference)?;
    unless_power(alpha, power)?;
    Undefined::unless_positive("the size of the difference", difference.abs())?;
    let found = |pairs: u64| -> Result<bool, Undefined> {
        Ok(Changes::new(pairs, changed, alpha)?.power(difference) >= power)
    };
    let (mut less, mut enough) = (0, 1);
    while !found(enough)? {
        (less, enough) = (enough, 2 * enough);
        if enough as f64 > MOST_UNITS {
            return Err(Undefined::OutOfRange {
                what: "the size of the difference",
                value: difference.abs(),
                allowed: "large enough to be found by fewer than 10^12 pairs",
            });
        }
    }
    while enough - less > 1 {
        let middle = less + (enough - less) / 2;
        if found(middle)? {
            enough = middle;
        } else {
            less = middle;
        }
    }
    Ok(enough)
}

/// The test for one number of pairs and share of changes.
enum Changes {
    /// Each number of changed pairs that may reject: how probable it is, and how many of them at most go the rarer way.
    Counted { changed: f64, numbers: Vec<(f64, u64, u64)> },
    /// So many that a normal distribution stands in.
    Many { changed: f64, pairs: f64, critical: f64 },
}

impl Changes {
    fn new(pairs: u64, changed: f64, alpha: f64) -> Result<Self, Undefined> {
        Undefined::unless_enough("pairs", pairs as usize, 1)?;
        Undefined::unless_share("alpha", alpha)?;
        let expected = pairs as f64 * changed;
        if expected > COUNTED {
            let critical = normal_quantile(1.0 - alpha / 2.0)?;
            return Ok(Self::Many { changed, pairs: pairs as f64, critical });
        }
        let reach = REACH * (expected * (1.0 - changed)).sqrt() + SLACK;
        let first = (expected - reach).max(1.0) as u64;
        let last = ((expected + reach).ceil() as u64).min(pairs);
        let rejects = |rarer: u64, number: u64| 2.0 * binomial_cdf(rarer, number, 0.5) <= alpha;
        // How many numbers of the rarer change reject: 0 to this, without it.
        let (mut rejecting, mut beyond) = (0, first);
        while rejecting < beyond {
            let middle = rejecting + (beyond - rejecting) / 2;
            if rejects(middle, first) {
                rejecting = middle + 1;
            } else {
                beyond = middle;
            }
        }
        let mut numbers = Vec::new();
        for number in first..=last {
            // One changed pair more lets at most one more of the rarer change reject.
            if number > first && rejects(rejecting, number) {
                rejecting += 1;
            }
            if rejecting > 0 {
                numbers.push((binomial_pmf(number, pairs, changed), number, rejecting - 1));
            }
        }
        Ok(Self::Counted { changed, numbers })
    }

    fn power(&self, difference: f64) -> f64 {
        match self {
            Self::Counted { changed, numbers } => {
                let one_way = ((changed + difference.abs()) / (2.0 * changed)).min(1.0);
                let tail = |rarer, number, share| binomial_cdf(rarer, number, share);
                let total: f64 = numbers
                    .iter()
                    .map(|&(probability, number, rarer)| {
                        let rejected =
                            tail(rarer, number, one_way) + tail(rarer, number, 1.0 - one_way);
                        probability * rejected
                    })
                    .sum();
                total.clamp(0.0, 1.0)
            }
            Self::Many { changed, pairs, critical } => {
                let deviation = (pairs * (changed - difference * difference)).max(0.0).sqrt();
                let threshold = critical * (pairs * changed).sqrt() + 1.0;
                let shift = pairs * difference.abs();
                if deviation == 0.0 {
                    return if shift >= threshold { 1.0 } else { 0.0 };
                }
                let beyond = |distance: f64| normal_cdf(distance / deviation);
                beyond(shift - threshold) + beyond(-shift - threshold)
            }
        }
    }
}

/// Refuses a share of changes that is none, and a difference that it cannot make up.
fn unless_within(changed: f64, difference: f64) -> Result<(), Undefined> {
    if !(changed > 0.0 && changed <= 1.0) {
        return Err(Undefined::OutOfRange {
            what: "the share of changed cases",
            value: changed,
            allowed: "more than 0 and at most 1",
        });
    }
    if difference.abs() <= changed {
        return Ok(());
    }
    Err(Undefined::OutOfRange {
        what: "the difference of rates",
        value: difference,
        allowed: "at most the share of changed cases",
    })
}
