//! Tests of ranks: nothing but the order of values counts.

use serde::Serialize;

use super::mean::differences;
use crate::{Undefined, normal_cdf};

/// Beyond this smaller side the normal approximation of Mann–Whitney serves, as in scipy.
const EXACT_SIDE: usize = 8;
/// The exact distribution of Mann–Whitney is not tabulated beyond this many values of U.
const EXACT_TABLE: usize = 4_000_000;
/// Exact counts must fit into 127 bits.
const EXACT_BITS: f64 = 127.0;
/// Up to this many differences Wilcoxon's test is exact, as in scipy; the counts, up to 2⁵⁰, are exact in a float.
const EXACT_PAIRS: usize = 50;

/// A Mann–Whitney test.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct MannWhitney {
    /// U of the treatment: pairs across the samples where it is higher, ties counting half.
    pub statistic: f64,
    /// The probability that a value of the treatment is higher than one of the control, ties counting half.
    pub superiority: f64,
    /// Two-sided p-value of equal distributions.
    pub p_value: f64,
    /// It is exact, not a normal approximation.
    pub exact: bool,
}

/// A Wilcoxon signed-rank test.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Wilcoxon {
    /// The smaller of the two sums of ranks.
    pub statistic: f64,
    /// Sum of the ranks of positive differences.
    pub positive: f64,
    /// Sum of the ranks of negative differences.
    pub negative: f64,
    /// Two-sided p-value of differences that are symmetric about zero.
    pub p_value: f64,
    /// How many pairs differed; the others are left out.
    pub differing: usize,
    /// It is exact, not a normal approximation.
    pub exact: bool,
}

/// The Mann–Whitney test (Mann and Whitney 1947) of independent samples: exact where there are no ties and a side has at most
/// eight values (and the distribution is small enough to be tabulated), else by the normal approximation with corrections for
/// ties and continuity, as scipy decides. It tests equal distributions; read as a test of medians, it assumes that they differ
/// by a shift only. Time n log n. Undefined for an empty side, and when all values are equal.
pub fn mann_whitney(control: &[f64], treatment: &[f64]) -> Result<MannWhitney, Undefined> {
    for side in [control, treatment] {
        Undefined::unless_enough("values on a side", side.len(), 1)?;
        Undefined::unless_finite("value", side)?;
    }
    let pooled: Vec<f64> = control.iter().chain(treatment).copied().collect();
    let ranks = Ranks::of(&pooled);
    let (first, second) = (control.len() as f64, treatment.len() as f64);
    let rank_sum: f64 = ranks.ranks.iter().skip(control.len()).sum();
    let statistic = rank_sum - second * (second + 1.0) / 2.0;
    let pairs = first * second;
    let smaller = statistic.min(pairs - statistic);
    let exact = ranks.ties == 0.0
        && control.len().min(treatment.len()) <= EXACT_SIDE
        && fits(control.len(), treatment.len(), smaller);
    let p_value = if exact {
        2.0 * exact_tail(control.len(), treatment.len(), smaller as usize)
    } else {
        let n = first + second;
        let variance = pairs / 12.0 * ((n + 1.0) - ranks.ties / (n * (n - 1.0)));
        // Values that are all equal leave nothing of the variance but rounding.
        if variance <= 1e-9 * pairs {
            return Err(Undefined::NoVariation { what: "values" });
        }
        2.0 * normal_cdf(-(pairs / 2.0 - smaller - 0.5) / variance.sqrt())
    };
    Ok(MannWhitney { statistic, superiority: statistic / pairs, p_value: p_value.min(1.0), exact })
}

/// Wilcoxon's signed-rank test (Wilcoxon 1945) of paired samples: pairs that do not differ are left out, as Wilcoxon did; with
/// at most 50 left it is exact, also where differences tie in size (their ranks are averaged), beyond that by the normal
/// approximation with a correction for ties, as in scipy. Differences are independent and, unless there is an effect,
/// symmetric about zero. Undefined for fewer than two pairs, and when no pair differs.
pub fn wilcoxon(before: &[f64], after: &[f64]) -> Result<Wilcoxon, Undefined> {
    let differences: Vec<f64> =
        differences(before, after)?.into_iter().filter(|value| *value != 0.0).collect();
    if differences.is_empty() {
        return Err(Undefined::NoVariation { what: "pairs" });
    }
    let sizes: Vec<f64> = differences.iter().map(|value| value.abs()).collect();
    let ranks = Ranks::of(&sizes);
    let of_sign = |positive: bool| -> f64 {
        let signed = differences.iter().zip(&ranks.ranks);
        signed.filter(|(value, _)| (**value > 0.0) == positive).map(|(_, rank)| rank).sum()
    };
    let (positive, negative) = (of_sign(true), of_sign(false));
    let statistic = positive.min(negative);
    let differing = differences.len();
    let exact = differing <= EXACT_PAIRS;
    let p_value = if exact {
        2.0 * signed_tail(&ranks.ranks, statistic)
    } else {
        let n = differing as f64;
        let variance = (n * (n + 1.0) * (2.0 * n + 1.0) - ranks.ties / 2.0) / 24.0;
        2.0 * normal_cdf((statistic - n * (n + 1.0) / 4.0) / variance.sqrt())
    };
    Ok(Wilcoxon { statistic, positive, negative, p_value: p_value.min(1.0), differing, exact })
}

/// Ranks from 1, ties averaged.
struct Ranks {
    ranks: Vec<f64>,
    /// Σ (t³ − t) over groups of t equal values.
    ties: f64,
}

impl Ranks {
    fn of(values: &[f64]) -> Self {
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_unstable_by(|&a, &b| values[a].total_cmp(&values[b]));
        let mut ranks = vec![0.0; values.len()];
        let (mut passed, mut ties) = (0, 0.0);
        for group in order.chunk_by(|&a, &b| values[a] == values[b]) {
            let rank = passed as f64 + (group.len() + 1) as f64 / 2.0;
            group.iter().for_each(|&index| ranks[index] = rank);
            passed += group.len();
            let size = group.len() as f64;
            ties += size * size * size - size;
        }
        Self { ranks, ties }
    }
}

/// The table up to this U is small enough, and its counts fit.
fn fits(first: usize, second: usize, smaller: f64) -> bool {
    let bits: f64 =
        (1..=first.min(second)).map(|i| ((first.max(second) + i) as f64 / i as f64).log2()).sum();
    smaller < EXACT_TABLE as f64 && bits < EXACT_BITS
}

/// The probability of U ≤ `smaller`: the coefficients of the Gaussian binomial coefficient, one factor
/// (1 − q^(n+i)) / (1 − q^i) after the other. Only whole products are counts; between them differences wrap around.
fn exact_tail(first: usize, second: usize, smaller: usize) -> f64 {
    let (few, many) = (first.min(second), first.max(second));
    let mut counts = vec![0_u128; smaller + 1];
    counts[0] = 1;
    let mut total = 1.0;
    for i in 1..=few {
        for index in (many + i..=smaller).rev() {
            counts[index] = counts[index].wrapping_sub(counts[index - many - i]);
        }
        for index in i..=smaller {
            counts[index] = counts[index].wrapping_add(counts[index - i]);
        }
        total *= (many + i) as f64 / i as f64;
    }
    counts.iter().map(|count| *count as f64).sum::<f64>() / total
}

/// The probability that the ranks of positive differences sum to `statistic` or less, each sign a fair coin. Ranks are
/// halves at most, so that twice their sum is a whole number.
fn signed_tail(ranks: &[f64], statistic: f64) -> f64 {
    let bound = (2.0 * statistic) as usize;
    let mut counts = vec![0.0; bound + 1];
    counts[0] = 1.0;
    for rank in ranks {
        let step = (2.0 * rank) as usize;
        for index in (step..=bound).rev() {
            counts[index] += counts[index - step];
        }
    }
    counts.iter().sum::<f64>() * (-(ranks.len() as f64)).exp2()
}
