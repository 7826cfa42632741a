//! Spearman's coefficient: Pearson's of the ranks.

use super::pearson;
use crate::Undefined;

/// The coefficient of pairs that are checked.
pub(super) fn value(first: &[f64], second: &[f64]) -> Result<f64, Undefined> {
    pearson::value(&average_ranks(first), &average_ranks(second))
}

/// The coefficient, and what each pair contributes to its error: its own place in the formula, and what it does to the ranks of
/// all others (Hoeffding 1948). The mean is 0.
pub(super) fn influence(first: &[f64], second: &[f64]) -> Result<(f64, Vec<f64>), Undefined> {
    let (first, second) = (average_ranks(first), average_ranks(second));
    let value = pearson::value(&first, &second)?;
    let (first, second) = (centered_shares(&first), centered_shares(&second));
    let covariance = products(&first, &second);
    let (variance_first, variance_second) = (products(&first, &first), products(&second, &second));
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (mean_covariance, mean_first, mean_second) =
        (mean(&covariance), mean(&variance_first), mean(&variance_second));
    // Each product counts a pair three times: itself, and once for the ranks of either side.
    let (scale_first, scale_second) = (mean_first / 3.0, mean_second / 3.0);
    let scale = (scale_first * scale_second).sqrt();
    let parts = (0..first.len()).map(|index| {
        (covariance[index] - mean_covariance) / scale
            - value / 2.0
                * ((variance_first[index] - mean_first) / scale_first
                    + (variance_second[index] - mean_second) / scale_second)
    });
    Ok((value, parts.collect()))
}

/// For each observation `F G + mean_j c(x_i, x_j) G_j + mean_j c(y_i, y_j) F_j`, where `F` and `G` are centered shares of
/// ranks and `c` is 1 where `j` is above `i`, one half where they tie.
fn products(first: &[f64], second: &[f64]) -> Vec<f64> {
    let (above_first, above_second) = (mean_above(first, second), mean_above(second, first));
    (0..first.len())
        .map(|index| first[index] * second[index] + above_first[index] + above_second[index])
        .collect()
}

/// For each observation the sum of the other side's values over those above it, ties by half, divided by the count.
fn mean_above(side: &[f64], other: &[f64]) -> Vec<f64> {
    let order = sorted_order(side);
    let n = side.len() as f64;
    let mut above = vec![0.0; side.len()];
    let mut beyond = 0.0;
    for run in order.chunk_by(|&left, &right| side[left] == side[right]).rev() {
        let tied: f64 = run.iter().map(|&index| other[index]).sum();
        for &index in run {
            above[index] = (beyond + tied / 2.0) / n;
        }
        beyond += tied;
    }
    above
}

/// Ranks as shares of the count, around 0.
fn centered_shares(ranks: &[f64]) -> Vec<f64> {
    let n = ranks.len() as f64;
    ranks.iter().map(|rank| (rank - 0.5) / n - 0.5).collect()
}

/// The ranks of finite values from 1; equal ones share the mean of theirs.
fn average_ranks(values: &[f64]) -> Vec<f64> {
    let order = sorted_order(values);
    let mut ranks = vec![0.0; values.len()];
    let mut before = 0;
    for run in order.chunk_by(|&left, &right| values[left] == values[right]) {
        let rank = before as f64 + (run.len() as f64 + 1.0) / 2.0;
        for &index in run {
            ranks[index] = rank;
        }
        before += run.len();
    }
    ranks
}

/// The indices of finite values, smallest first.
pub(super) fn sorted_order(values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&left, &right| {
        values[left].partial_cmp(&values[right]).unwrap_or(std::cmp::Ordering::Equal)
    });
    order
}
