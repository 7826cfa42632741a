//! Duels put together: those of the same two players under the same circumstances are one meeting with counts.
//!
//! The counts are all that the likelihood needs, so that a million duels of a hundred models cost as much as five thousand.

use rayon::prelude::*;

use super::{Battles, Outcome};

/// How a meeting ended, seen from the player with the lower number: index into [`Tally`].
pub(super) const LOW_WINS: usize = 0;
pub(super) const HIGH_WINS: usize = 1;
pub(super) const TIE: usize = 2;

/// The weight of wins of the lower, wins of the higher, and ties in one meeting.
pub(super) type Tally = [f64; 3];

/// Two players, the lower number first, under one set of circumstances.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Meeting {
    pub(super) low: u32,
    pub(super) high: u32,
}

/// Duels that are equal in all that matters: what is drawn when duels are resampled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cell {
    pub(super) meeting: u32,
    pub(super) outcome: u8,
    pub(super) weight: f64,
    pub(super) count: u32,
}

/// All meetings of a set of duels.
#[derive(Debug, Clone, Default)]
pub(super) struct Cells {
    pub(super) players: usize,
    pub(super) meetings: Vec<Meeting>,
    /// How many circumstances there are, the order included.
    pub(super) columns: usize,
    /// The circumstances of each meeting, seen from the lower player, in units of `units`.
    pub(super) covariates: Vec<f64>,
    /// The largest sum of a meeting's circumstances, signs aside.
    longest: f64,
    /// The root mean square of each circumstance.
    pub(super) units: Vec<f64>,
    pub(super) cells: Vec<Cell>,
    /// Groups of duels: where each begins in `members`, with the end at last. Empty without groups.
    pub(super) starts: Vec<usize>,
    /// The cells of each group and how many of its duels are in them.
    pub(super) members: Vec<(u32, u32)>,
}

impl Cells {
    /// Puts duels together; they have been checked.
    pub(super) fn of(battles: &Battles, order_effect: bool) -> Self {
        let columns = battles.covariates.len() + usize::from(order_effect);
        let source = Source { battles, order_effect, columns, units: units(battles, order_effect) };
        let mut cells = Self { players: battles.players, columns, ..Self::default() };
        let slots = battles.players * battles.players * 6;
        let few_kinds = battles.covariates.is_empty() && battles.weights.is_none();
        let of_battle = if few_kinds && slots <= battles.len().max(1 << 16) {
            cells.count_in_slots(&source, slots)
        } else {
            cells.count_sorted(&source)
        };
        if let Some(groups) = battles.groups {
            cells.join_groups(groups, &of_battle);
        }
        let sizes = cells.covariates.chunks_exact(columns.max(1));
        let sizes = sizes.map(|circumstances| circumstances.iter().map(|x| x.abs()).sum::<f64>());
        cells.longest = sizes.fold(0.0, f64::max);
        cells.units = source.units;
        cells
    }

    /// How many groups of duels.
    pub(super) fn groups(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// The cells of a group and how many of its duels are in each.
    pub(super) fn members(&self, group: usize) -> &[(u32, u32)] {
        &self.members[self.starts[group]..self.starts[group + 1]]
    }

    /// How far the log-odds of a meeting can move for each unit that parameters move.
    pub(super) fn reach(&self) -> f64 {
        3.0 + self.longest
    }

    /// The weights of each meeting's outcomes, when each cell occurred so many times.
    pub(super) fn tallies_into(&self, counts: impl Iterator<Item = u32>, tallies: &mut Vec<Tally>) {
        tallies.clear();
        tallies.resize(self.meetings.len(), [0.0; 3]);
        for (cell, count) in self.cells.iter().zip(counts) {
            tallies[cell.meeting as usize][usize::from(cell.outcome)] +=
                cell.weight * f64::from(count);
        }
    }

    /// The weights of each meeting's outcomes as they were observed.
    pub(super) fn tallies(&self) -> Vec<Tally> {
        let mut tallies = Vec::new();
        self.tallies_into(self.cells.iter().map(|cell| cell.count), &mut tallies);
        tallies
    }

    /// One slot for each pair, order and outcome: quick for many duels of few players.
    fn count_in_slots(&mut self, source: &Source, slots: usize) -> Vec<u32> {
        let players = self.players;
        let slot_of = |battle: usize| {
            let (low, high, flipped) = source.pair(battle);
            let order = usize::from(flipped && source.order_effect);
            let place = (low as usize * players + high as usize) * 2 + order;
            place * 3 + source.outcome(battle)
        };
        let mut counts = vec![0u32; slots];
        let mut example = vec![0u32; slots];
        for battle in 0..source.battles.len() {
            let slot = slot_of(battle);
            counts[slot] += 1;
            example[slot] = battle as u32;
        }
        let mut of_slot = vec![0u32; slots];
        for (place, counts) in counts.chunks_exact(3).enumerate() {
            for (outcome, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
                let slot = place * 3 + outcome;
                of_slot[slot] = self.cells.len() as u32;
                self.push(source, example[slot] as usize, count);
            }
        }
        if source.battles.groups.is_none() {
            return Vec::new();
        }
        (0..source.battles.len()).map(|battle| of_slot[slot_of(battle)]).collect()
    }

    /// Sorts the duels by all that matters: for weights, measured circumstances and very many players.
    fn count_sorted(&mut self, source: &Source) -> Vec<u32> {
        let mut order: Vec<u32> = (0..source.battles.len() as u32).collect();
        order.par_sort_unstable_by(|a, b| source.compare(*a as usize, *b as usize));
        let mut of_battle = vec![0u32; order.len()];
        let mut rest = order.as_slice();
        while let Some(&example) = rest.first() {
            let same = |battle: &&u32| {
                source.compare(example as usize, **battle as usize) == std::cmp::Ordering::Equal
            };
            let count = rest.iter().take_while(same).count();
            let (equal, others) = rest.split_at(count);
            for &battle in equal {
                of_battle[battle as usize] = self.cells.len() as u32;
            }
            self.push(source, example as usize, count as u32);
            rest = others;
        }
        of_battle
    }

    /// Adds a cell of duels like the example; the cells of a meeting come one after the other.
    fn push(&mut self, source: &Source, example: usize, count: u32) {
        let (low, high, _) = source.pair(example);
        let meeting = Meeting { low, high };
        let circumstances = (0..self.columns).map(|column| source.covariate(example, column));
        let same = self.meetings.last() == Some(&meeting) && {
            let last = &self.covariates[self.covariates.len() - self.columns..];
            last.iter().copied().eq(circumstances.clone())
        };
        if !same {
            self.meetings.push(meeting);
            self.covariates.extend(circumstances);
        }
        self.cells.push(Cell {
            meeting: self.meetings.len() as u32 - 1,
            outcome: source.outcome(example) as u8,
            weight: source.battles.weight(example),
            count,
        });
    }

    fn join_groups(&mut self, groups: &[u32], of_battle: &[u32]) {
        let key = |(&group, &cell): (&u32, &u32)| (u64::from(group) << 32) | u64::from(cell);
        let mut keys: Vec<u64> = groups.iter().zip(of_battle).map(key).collect();
        keys.par_sort_unstable();
        let mut last_group = None;
        for equal in keys.chunk_by(|a, b| a == b) {
            let Some(key) = equal.first() else { continue };
            if last_group != Some(key >> 32) {
                last_group = Some(key >> 32);
                self.starts.push(self.members.len());
            }
            self.members.push((*key as u32, equal.len() as u32));
        }
        self.starts.push(self.members.len());
    }
}

/// Duels seen from the player with the lower number.
struct Source<'a> {
    battles: &'a Battles<'a>,
    order_effect: bool,
    columns: usize,
    units: Vec<f64>,
}

impl Source<'_> {
    /// The lower player, the higher, and whether the higher was shown first.
    fn pair(&self, battle: usize) -> (u32, u32, bool) {
        let (first, second) = (self.battles.first[battle], self.battles.second[battle]);
        (first.min(second), first.max(second), first > second)
    }

    fn outcome(&self, battle: usize) -> usize {
        let flipped = self.battles.first[battle] > self.battles.second[battle];
        match (self.battles.outcomes[battle], flipped) {
            (Outcome::Tie, _) => TIE,
            (Outcome::FirstWins, false) | (Outcome::SecondWins, true) => LOW_WINS,
            (Outcome::FirstWins, true) | (Outcome::SecondWins, false) => HIGH_WINS,
        }
    }

    fn covariate(&self, battle: usize, column: usize) -> f64 {
        let seen_from_first = match column.checked_sub(usize::from(self.order_effect)) {
            None => 1.0,
            Some(column) => self.battles.covariates[column][battle],
        };
        let flipped = self.battles.first[battle] > self.battles.second[battle];
        let value = if flipped { -seen_from_first } else { seen_from_first };
        // Adding zero turns −0 into 0, so that equal circumstances are equal bit by bit.
        value / self.units[column] + 0.0
    }

    fn compare(&self, a: usize, b: usize) -> std::cmp::Ordering {
        let pair = |battle| {
            let (low, high, _) = self.pair(battle);
            (low, high)
        };
        let mut order = pair(a).cmp(&pair(b));
        for column in 0..self.columns {
            order =
                order.then_with(|| self.covariate(a, column).total_cmp(&self.covariate(b, column)));
        }
        order
            .then_with(|| self.outcome(a).cmp(&self.outcome(b)))
            .then_with(|| self.battles.weight(a).total_cmp(&self.battles.weight(b)))
    }
}

/// The root mean square of each circumstance, so that none is so large or small that digits are lost.
fn units(battles: &Battles, order_effect: bool) -> Vec<f64> {
    let mut units = Vec::new();
    if order_effect {
        units.push(1.0);
    }
    for covariate in battles.covariates {
        let largest = covariate.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
        if largest == 0.0 {
            units.push(1.0);
            continue;
        }
        let squares: f64 = covariate.iter().map(|value| (value / largest).powi(2)).sum();
        units.push(largest * (squares / covariate.len() as f64).sqrt());
    }
    units
}
