//! Kendall's tau-b in n log n steps.

use super::spearman::sorted_order;
use crate::validity::SIDES;
use crate::{Undefined, normal_cdf};

/// Up to this many pairs without ties the p-value is exact, as in scipy.
const EXACT_PAIRS: u64 = 33;

/// Counts of pairs of observations.
pub(super) struct Counts {
    observations: u64,
    discordant: u64,
    first: Ties,
    second: Ties,
    tied_in_both: u64,
}

/// The runs of equal values of one side: pairs within them, and the sums that the variance needs.
#[derive(Default)]
struct Ties {
    pairs: u64,
    triples: f64,
    weighted: f64,
}

impl Ties {
    fn of(runs: impl Iterator<Item = usize>) -> Self {
        let mut ties = Self::default();
        for run in runs.filter(|run| *run > 1) {
            let length = run as f64;
            ties.pairs += pairs_of(run as u64);
            ties.triples += length * (length - 1.0) * (length - 2.0);
            ties.weighted += length * (length - 1.0) * (2.0 * length + 5.0);
        }
        ties
    }
}

fn pairs_of(count: u64) -> u64 {
    count * count.saturating_sub(1) / 2
}

impl Counts {
    /// Counts the pairs: sort by both sides, then count the exchanges that sorting by the second takes (Knight 1966).
    pub(super) fn of(first: &[f64], second: &[f64]) -> Result<Self, Undefined> {
        let ranks = dense_ranks(second);
        let mut rows: Vec<(u32, u32)> = dense_ranks(first).into_iter().zip(ranks).collect();
        rows.sort_unstable();
        let both = Ties::of(rows.chunk_by(|left, right| left == right).map(<[_]>::len));
        let first = Ties::of(rows.chunk_by(|left, right| left.0 == right.0).map(<[_]>::len));
        let mut column: Vec<u32> = rows.iter().map(|row| row.1).collect();
        let discordant = exchanges(&mut column);
        let second = Ties::of(column.chunk_by(|left, right| left == right).map(<[_]>::len));
        let observations = rows.len() as u64;
        let counts = Self { observations, discordant, first, second, tied_in_both: both.pairs };
        for (ties, what) in [(&counts.first, SIDES[0]), (&counts.second, SIDES[1])] {
            if ties.pairs == counts.total() {
                return Err(Undefined::NoVariation { what });
            }
        }
        Ok(counts)
    }

    fn total(&self) -> u64 {
        pairs_of(self.observations)
    }

    /// Concordant minus discordant pairs.
    fn balance(&self) -> f64 {
        let untied = self.total() + self.tied_in_both - self.first.pairs - self.second.pairs;
        untied as f64 - 2.0 * self.discordant as f64
    }

    pub(super) fn tau(&self) -> f64 {
        let varies = |ties: &Ties| ((self.total() - ties.pairs) as f64).sqrt();
        (self.balance() / varies(&self.first) / varies(&self.second)).clamp(-1.0, 1.0)
    }

    /// Two-sided p-value of independence: exact where scipy takes it so, else normal. Below the smallest positive number it is
    /// that number.
    pub(super) fn p_value(&self) -> f64 {
        let fewer = self.discordant.min(self.total() - self.discordant);
        let untied = self.first.pairs == 0 && self.second.pairs == 0;
        if untied && (self.observations <= EXACT_PAIRS || fewer <= 1) {
            return exact_p_value(self.observations, fewer).clamp(f64::MIN_POSITIVE, 1.0);
        }
        let n = self.observations as f64;
        let m = n * (n - 1.0);
        let variance = (m * (2.0 * n + 5.0) - self.first.weighted - self.second.weighted) / 18.0
            + 2.0 * self.first.pairs as f64 * self.second.pairs as f64 / m
            + self.first.triples * self.second.triples / (9.0 * m * (n - 2.0));
        let z = self.balance().abs() / variance.sqrt();
        (2.0 * normal_cdf(-z)).clamp(f64::MIN_POSITIVE, 1.0)
    }
}

/// The share of all orders of `n` with at most `inversions` of them, or as many of the opposite (Kendall 1970).
fn exact_p_value(n: u64, inversions: u64) -> f64 {
    if 2 * inversions == pairs_of(n) {
        return 1.0;
    }
    if inversions <= 1 {
        // Of n! orders, one has no inversion and n − 1 have one.
        let last = n - inversions;
        return (1..=last).fold(2.0, |share, factor| share / factor as f64).min(1.0);
    }
    let length = inversions as usize + 1;
    let mut shares = vec![0.0; length];
    shares[0] = 1.0;
    for items in 2..=n as usize {
        // The item put in last makes 0 to items − 1 inversions, each as likely.
        let mut window = 0.0;
        let before = shares.clone();
        for (count, share) in shares.iter_mut().enumerate() {
            window += before[count];
            if count >= items {
                window -= before[count - items];
            }
            *share = window / items as f64;
        }
    }
    (2.0 * shares.iter().sum::<f64>()).min(1.0)
}

/// What each pair contributes to the error of tau-b: `2 s_i/√(AB) − τ (a_i/A + b_i/B)` times n, where `s_i` is concordant minus
/// discordant partners of `i`, `a_i` and `b_i` are partners not tied with it on either side, and `A` and `B` are their sums. The
/// mean is 0. This is the delta method of Brown and Benedetti (1977), observation by observation.
pub(super) fn influence(first: &[f64], second: &[f64]) -> Result<Vec<f64>, Undefined> {
    let tau = Counts::of(first, second)?.tau();
    let (rows, columns) = (dense_ranks(first), dense_ranks(second));
    let balances = balances(&rows, &columns);
    let (partners_first, partners_second) = (untied_partners(&rows), untied_partners(&columns));
    let total = |values: &[f64]| values.iter().sum::<f64>();
    let (total_first, total_second) = (total(&partners_first), total(&partners_second));
    let n = first.len() as f64;
    let scale = (total_first * total_second).sqrt();
    let part = |index: usize| {
        let ties = partners_first[index] / total_first + partners_second[index] / total_second;
        n * (2.0 * balances[index] / scale - tau * ties)
    };
    Ok((0..first.len()).map(part).collect())
}

/// Concordant minus discordant partners of each observation, from below and from above.
fn balances(rows: &[u32], columns: &[u32]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_unstable_by_key(|&index| rows[index]);
    let mut balances = vec![0.0; rows.len()];
    let levels = columns.iter().max().map_or(0, |highest| *highest as usize + 1);
    let mut add_run = |run: &[usize], tree: &mut Tree, sign: f64| {
        for &index in run {
            let below = tree.below(columns[index] as usize);
            let up_to = tree.below(columns[index] as usize + 1);
            balances[index] += sign * (below as f64 - (tree.count - up_to) as f64);
        }
        run.iter().for_each(|&index| tree.add(columns[index] as usize));
    };
    let mut tree = Tree::new(levels);
    let runs = || order.chunk_by(|&left, &right| rows[left] == rows[right]);
    runs().for_each(|run| add_run(run, &mut tree, 1.0));
    let mut tree = Tree::new(levels);
    runs().rev().for_each(|run| add_run(run, &mut tree, -1.0));
    balances
}

/// Counts by rank that can be summed up to any rank in log n steps (Fenwick 1994).
struct Tree {
    sums: Vec<u64>,
    count: u64,
}

impl Tree {
    fn new(levels: usize) -> Self {
        Self { sums: vec![0; levels + 1], count: 0 }
    }

    fn add(&mut self, rank: usize) {
        self.count += 1;
        let mut place = rank + 1;
        while place < self.sums.len() {
            self.sums[place] += 1;
            place += place & place.wrapping_neg();
        }
    }

    /// How many are below a rank.
    fn below(&self, rank: usize) -> u64 {
        let (mut place, mut sum) = (rank, 0);
        while place > 0 {
            sum += self.sums[place];
            place &= place - 1;
        }
        sum
    }
}

/// For each observation how many have another rank.
fn untied_partners(ranks: &[u32]) -> Vec<f64> {
    let levels = ranks.iter().max().map_or(0, |highest| *highest as usize + 1);
    let mut counts = vec![0_usize; levels];
    ranks.iter().for_each(|&rank| counts[rank as usize] += 1);
    ranks.iter().map(|&rank| (ranks.len() - counts[rank as usize]) as f64).collect()
}

/// Ranks from 0 without gaps: equal values have one rank.
fn dense_ranks(values: &[f64]) -> Vec<u32> {
    let order = sorted_order(values);
    let mut ranks = vec![0; values.len()];
    for (rank, run) in order.chunk_by(|&left, &right| values[left] == values[right]).enumerate() {
        run.iter().for_each(|&index| ranks[index] = rank as u32);
    }
    ranks
}

/// Sorts by merging, and counts how many exchanges of neighbours it stands for.
fn exchanges(values: &mut [u32]) -> u64 {
    let mut buffer = values.to_vec();
    let mut count = 0;
    let mut width = 1;
    while width < values.len() {
        for (from, to) in values.chunks(2 * width).zip(buffer.chunks_mut(2 * width)) {
            let (left, right) = from.split_at(width.min(from.len()));
            let (mut next_left, mut next_right) = (0, 0);
            for slot in to {
                let take_right = next_left == left.len()
                    || right.get(next_right).is_some_and(|value| *value < left[next_left]);
                if take_right {
                    count += (left.len() - next_left) as u64;
                    *slot = right[next_right];
                    next_right += 1;
                } else {
                    *slot = left[next_left];
                    next_left += 1;
                }
            }
        }
        values.copy_from_slice(&buffer);
        width *= 2;
    }
    count
}
