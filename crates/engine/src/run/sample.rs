//! Samples: a seed and the cases' keys decide, so that the same seed gives the same cases on any machine,
//! and adding cases to a data set disturbs the sample as little as possible.

use std::collections::{BTreeMap, BinaryHeap};

use fullbench_store::{CaseReader, StoreError};
use fullbench_types::{ContentHash, text_of};
use schemars::JsonSchema;
use serde::Serialize;

use super::CaseSelection;
use crate::spec::{SampleConfig, SampleStrategy};

/// A sample, and of how many cases of each stratum it was drawn.
#[derive(Debug)]
pub(crate) struct Drawn {
    /// Ascending.
    pub(crate) indexes: Vec<u64>,
    /// By value of the field; empty where there are no strata.
    pub(crate) strata: Vec<Stratum>,
}

/// The cases that have one value of the field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Stratum {
    /// The value as text; empty where a case has none.
    pub value: String,
    /// How many cases have it.
    pub cases: u64,
    /// How many of them are in the sample.
    pub sampled: u64,
}

/// Draws the sample: the cases with the smallest hash of (seed, key), in each stratum its share.
pub(crate) fn draw(
    sample: Option<&SampleConfig>,
    cases: &mut CaseReader,
) -> Result<CaseSelection, StoreError> {
    let total = cases.version().cases;
    match sample.filter(|sample| sample.size < total) {
        Some(sample) => Ok(CaseSelection::Some(draw_some(sample, cases)?.indexes)),
        None => Ok(CaseSelection::All(total)),
    }
}

/// Draws the sample, also where it is as large as all there is.
pub(crate) fn draw_some(
    sample: &SampleConfig,
    cases: &mut CaseReader,
) -> Result<Drawn, StoreError> {
    let total = cases.version().cases;
    let mut drawn = match sample.strategy {
        SampleStrategy::First => {
            Drawn { indexes: (0..sample.size.min(total)).collect(), strata: Vec::new() }
        }
        SampleStrategy::Random => {
            let mut smallest = Smallest::new(sample.size);
            for index in 0..total {
                smallest.offer(ticket(sample.seed, &cases.case(index)?.key), index);
            }
            Drawn { indexes: smallest.indexes(), strata: Vec::new() }
        }
        SampleStrategy::Stratified => stratified(sample, cases, total)?,
    };
    drawn.indexes.sort_unstable();
    Ok(drawn)
}

fn stratified(
    sample: &SampleConfig,
    cases: &mut CaseReader,
    total: u64,
) -> Result<Drawn, StoreError> {
    let by = sample.by.as_deref().unwrap_or_default();
    let mut strata: BTreeMap<String, (u64, Smallest)> = BTreeMap::new();
    for index in 0..total {
        let case = cases.case(index)?;
        let value = case.field(by).map(|value| text_of(value).into_owned()).unwrap_or_default();
        let (count, smallest) =
            strata.entry(value).or_insert_with(|| (0, Smallest::new(sample.size)));
        *count += 1;
        smallest.offer(ticket(sample.seed, &case.key), index);
    }
    let counts: Vec<u64> = strata.values().map(|(count, _)| *count).collect();
    let shares = proportional_shares(&counts, sample.size.min(total));
    let mut drawn = Drawn { indexes: Vec::new(), strata: Vec::new() };
    for ((value, (cases, smallest)), share) in strata.into_iter().zip(shares) {
        drawn.indexes.extend(smallest.indexes().into_iter().take(share as usize));
        drawn.strata.push(Stratum { value, cases, sampled: share });
    }
    Ok(drawn)
}

/// Seats by largest remainder (Hamilton): shares sum to `size`, none is larger than its stratum.
fn proportional_shares(counts: &[u64], size: u64) -> Vec<u64> {
    let total: u64 = counts.iter().sum();
    let exact = |count: u64| u128::from(count) * u128::from(size);
    let mut shares: Vec<u64> =
        counts.iter().map(|&count| (exact(count) / u128::from(total)) as u64).collect();
    let mut by_remainder: Vec<usize> = (0..counts.len()).collect();
    by_remainder.sort_by_key(|&index| std::cmp::Reverse(exact(counts[index]) % u128::from(total)));
    let missing = size.saturating_sub(shares.iter().sum());
    for &index in by_remainder.iter().take(missing as usize) {
        shares[index] += 1;
    }
    shares
}

/// A number that is as good as random, but always the same for a seed and a key.
fn ticket(seed: u64, key: &str) -> u128 {
    u128::from_le_bytes(ContentHash::of_parts(&[&seed.to_le_bytes(), key.as_bytes()]).short())
}

/// The indexes with the smallest tickets.
struct Smallest {
    size: usize,
    heap: BinaryHeap<(u128, u64)>,
}

impl Smallest {
    fn new(size: u64) -> Self {
        Self { size: usize::try_from(size).unwrap_or(usize::MAX), heap: BinaryHeap::new() }
    }

    fn offer(&mut self, ticket: u128, index: u64) {
        if self.heap.len() < self.size {
            self.heap.push((ticket, index));
        } else if self.heap.peek().is_some_and(|largest| ticket < largest.0) {
            self.heap.pop();
            self.heap.push((ticket, index));
        }
    }

    /// By ascending ticket.
    fn indexes(self) -> Vec<u64> {
        self.heap.into_sorted_vec().into_iter().map(|(_, index)| index).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_sum_to_the_size_and_follow_the_proportions() {
        assert_eq!(proportional_shares(&[50, 30, 20], 10), [5, 3, 2]);
        assert_eq!(proportional_shares(&[1, 1, 1], 2).iter().sum::<u64>(), 2);
        let shares = proportional_shares(&[997, 2, 1], 100);
        assert_eq!(shares.iter().sum::<u64>(), 100);
        assert!(shares[1] <= 2 && shares[2] <= 1);
    }

    #[test]
    fn the_smallest_tickets_win_whatever_the_order() {
        let tickets = [5u128, 1, 9, 3, 7];
        let mut smallest = Smallest::new(2);
        tickets
            .iter()
            .enumerate()
            .for_each(|(index, &ticket)| smallest.offer(ticket, index as u64));
        assert_eq!(smallest.indexes(), [1, 3]);
    }
}
