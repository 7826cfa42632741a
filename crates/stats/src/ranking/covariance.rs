//! How far estimates would vary with other duels.

use faer::linalg::solvers::DenseSolveCore;
use faer::{Mat, MatRef};

use super::Ties;
use super::cells::Tally;
use super::likelihood::Likelihood;
use super::newton::{Workspace, factored, tie_down};
use crate::Undefined;

/// The inverse of the information where it is regular: for strengths of mean zero (the direction along which all strengths
/// grow alike is left out).
pub(super) fn inverse_information(
    likelihood: &Likelihood,
    tallies: &[Tally],
    parameters: &[f64],
) -> Result<Mat<f64>, Undefined> {
    let (players, dimension) = (likelihood.cells.players, likelihood.dimension());
    let mut workspace = Workspace::default();
    workspace.evaluate(likelihood, tallies, parameters);
    let weight = tie_down(&mut workspace.information, players, dimension);
    let mut inverse = factored(&workspace.information, dimension)?.inverse();
    let along = 1.0 / (weight + 2.0 * likelihood.ridge) / players as f64;
    for column in 0..players {
        for row in 0..players {
            inverse[(row, column)] -= along;
        }
    }
    Ok(inverse)
}

/// The sandwich (Huber 1967, White 1982) `A · B · A` with `A` the inverse information and `B` the sum over duels of the outer
/// product of their scores, each times its weight.
pub(super) fn sandwich(
    likelihood: &Likelihood,
    parameters: &[f64],
    inverse: &Mat<f64>,
) -> Mat<f64> {
    let mut meat = Mat::zeros(inverse.nrows(), inverse.ncols());
    let mut score = Score::default();
    for (index, cell) in likelihood.cells.cells.iter().enumerate() {
        score.entries.clear();
        score.add(likelihood, parameters, index, cell.weight);
        score.add_square(&mut meat, f64::from(cell.count));
    }
    between(inverse, &meat)
}

/// The same with scores summed over each group first (Liang and Zeger 1986), times `G/(G−1)`. Needs two groups.
pub(super) fn clustered(
    likelihood: &Likelihood,
    parameters: &[f64],
    inverse: &Mat<f64>,
) -> Result<Mat<f64>, Undefined> {
    let cells = likelihood.cells;
    Undefined::unless_enough("groups of battles", cells.groups(), 2)?;
    let groups = cells.groups() as f64;
    let dimension = inverse.nrows();
    let mut meat = Mat::zeros(dimension, dimension);
    let mut sums = vec![0.0; dimension];
    let mut score = Score::default();
    for group in 0..cells.groups() {
        score.entries.clear();
        for &(cell, count) in cells.members(group) {
            let weight = cells.cells[cell as usize].weight * f64::from(count);
            score.add(likelihood, parameters, cell as usize, weight);
        }
        score.merge(&mut sums);
        score.add_square(&mut meat, groups / (groups - 1.0));
    }
    Ok(between(inverse, &meat))
}

/// The entries of a score that are not zero.
#[derive(Default)]
struct Score {
    entries: Vec<(usize, f64)>,
}

impl Score {
    /// Adds the score of one duel of a cell, times a weight.
    fn add(&mut self, likelihood: &Likelihood, parameters: &[f64], cell: usize, weight: f64) {
        let cells = likelihood.cells;
        let cell = cells.cells[cell];
        let meeting = cell.meeting as usize;
        let mut tally = [0.0; 3];
        tally[usize::from(cell.outcome)] = 1.0;
        let log_odds = likelihood.log_odds(meeting, parameters);
        let local = likelihood.local(log_odds, parameters, &tally);
        let pair = cells.meetings[meeting];
        self.entries.push((pair.low as usize, weight * local.slope));
        self.entries.push((pair.high as usize, -weight * local.slope));
        for (column, value) in likelihood.circumstances(meeting).iter().enumerate() {
            self.entries.push((cells.players + column, weight * value * local.slope));
        }
        if likelihood.ties == Ties::Davidson {
            self.entries.push((likelihood.dimension() - 1, weight * local.tie_slope));
        }
    }

    /// Sums entries of the same parameter; `sums` is all zero before and after.
    fn merge(&mut self, sums: &mut [f64]) {
        for (parameter, value) in &self.entries {
            sums[*parameter] += value;
        }
        self.entries.sort_unstable_by_key(|(parameter, _)| *parameter);
        self.entries.dedup_by_key(|(parameter, _)| *parameter);
        for (parameter, value) in &mut self.entries {
            *value = std::mem::take(&mut sums[*parameter]);
        }
    }

    fn add_square(&self, meat: &mut Mat<f64>, weight: f64) {
        for &(column, y) in &self.entries {
            for &(row, x) in &self.entries {
                meat[(row, column)] += weight * x * y;
            }
        }
    }
}

fn between(bread: &Mat<f64>, meat: &Mat<f64>) -> Mat<f64> {
    let (bread, meat): (MatRef<'_, f64>, MatRef<'_, f64>) = (bread.as_ref(), meat.as_ref());
    bread * meat * bread
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::ranking::cells::Cells;
    use crate::ranking::{Battles, Outcome};

    /// arena-rank 0.1.1 on the games of `tests/reference/conformance.json`: it adds 1e-5 of the number of games to the
    /// information, evaluates at its own ratings, and has eight digits.
    #[test]
    fn the_sandwich_equals_arena_rank() {
        let games = [
            (0, 1, 2),
            (1, 0, 3),
            (0, 3, 1),
            (3, 0, 4),
            (1, 2, 5),
            (2, 1, 3),
            (2, 3, 1),
            (3, 2, 3),
        ];
        let (mut first, mut second): (Vec<u32>, Vec<u32>) = (Vec::new(), Vec::new());
        for (winner, loser, count) in games {
            first.extend(std::iter::repeat_n(winner, count));
            second.extend(std::iter::repeat_n(loser, count));
        }
        let outcomes = vec![Outcome::FirstWins; first.len()];
        let battles = Battles {
            players: 4,
            first: &first,
            second: &second,
            outcomes: &outcomes,
            ..Battles::default()
        };
        let cells = Cells::of(&battles, false);
        let ridge = 1e-5 * first.len() as f64 / 2.0;
        let likelihood = Likelihood { cells: &cells, ties: Ties::Half, ridge, effect_ridge: 0.0 };
        let ratings = [
            -0.446_545_970_574_621_86,
            0.042_402_671_787_283_49,
            -0.415_802_935_956_231_9,
            0.819_946_234_743_570_5,
        ];
        let inverse = inverse_information(&likelihood, &cells.tallies(), &ratings).unwrap();
        let covariance = sandwich(&likelihood, &ratings, &inverse);
        let expected = [
            0.296_254_623_854_480_3,
            0.234_848_189_021_306_55,
            0.278_913_406_872_618_45,
            0.389_247_109_686_380_1,
        ];
        for (player, expected) in expected.into_iter().enumerate() {
            let variance = covariance[(player, player)];
            assert!((variance - expected).abs() < 1e-8, "{player}: {variance} not {expected}");
        }
    }
}
