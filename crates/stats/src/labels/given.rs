//! Which labels each annotator gave: the pairs of annotator and label that occur, numbered.

use rayon::prelude::*;

use super::posterior::unless_small;
use crate::Undefined;
use crate::agreement::Ratings;

/// At most this many parts of the items are handled side by side.
const MAX_PARTS: usize = 32;

/// Ratings as items with the pairs of annotator and label they consist of.
pub(super) struct Given<'a> {
    pub(super) ratings: &'a Ratings,
    /// For each rating, in the order of items, its pair.
    pair_of: Vec<u32>,
    /// The label of each pair; pairs of one annotator are beside each other.
    pub(super) labels: Vec<u32>,
    /// Where the pairs of each annotator begin, and where the last end.
    pub(super) starts: Vec<usize>,
    /// Items of each part.
    part: usize,
}

impl<'a> Given<'a> {
    pub(super) fn new(ratings: &'a Ratings) -> Result<Self, Undefined> {
        let (annotators, labels) = (ratings.annotators(), ratings.numbers().len());
        let cells = unless_small("the number of annotators times labels", annotators, labels)?;
        let mut table = vec![u32::MAX; cells];
        let cell = |annotator: u32, label: u32| annotator as usize * labels + label as usize;
        let each = || {
            (0..ratings.items()).flat_map(|item| {
                let (annotators, values) = ratings.item(item);
                annotators.iter().copied().zip(values.iter().copied())
            })
        };
        for (annotator, label) in each() {
            table[cell(annotator, label)] = 0;
        }
        let (mut of_pair, mut starts) = (Vec::new(), vec![0]);
        for row in table.chunks_mut(labels) {
            for (label, place) in row.iter_mut().enumerate().filter(|(_, place)| **place == 0) {
                *place = of_pair.len() as u32;
                of_pair.push(label as u32);
            }
            starts.push(of_pair.len());
        }
        let pair_of = each().map(|(annotator, label)| table[cell(annotator, label)]).collect();
        // The sums of a part have a place for each pair, which should be few beside its ratings. The number of parts depends
        // on the data alone, so that sums are the same for any number of threads.
        let parts = (ratings.len() / (4 * of_pair.len())).clamp(1, MAX_PARTS);
        let part = ratings.items().div_ceil(parts);
        Ok(Self { ratings, pair_of, labels: of_pair, starts, part })
    }

    /// How many pairs there are.
    pub(super) fn pairs(&self) -> usize {
        self.labels.len()
    }

    /// Visits the rated items with their pairs, values and places in `probabilities`, and adds up what is found: `pair_width`
    /// numbers for each pair, then those of `extra`.
    pub(super) fn sums(
        &self,
        probabilities: &mut [f64],
        pair_width: usize,
        extra: usize,
        visit: impl Fn(&[u32], &[u32], &mut [f64], &mut [f64], &mut [f64]) + Sync,
    ) -> (Vec<f64>, Vec<f64>) {
        let labels = self.ratings.numbers().len();
        let parts = probabilities.par_chunks_mut(self.part * labels).enumerate();
        let sums: Vec<(Vec<f64>, Vec<f64>)> = parts
            .map(|(part, probabilities)| {
                let mut of_pairs = vec![0.0; self.pairs() * pair_width];
                let mut of_all = vec![0.0; extra];
                for (place, probabilities) in probabilities.chunks_mut(labels).enumerate() {
                    let item = part * self.part + place;
                    let values = self.ratings.item(item).1;
                    if !values.is_empty() {
                        let pairs = &self.pair_of[self.ratings.range(item)];
                        visit(pairs, values, probabilities, &mut of_pairs, &mut of_all);
                    }
                }
                (of_pairs, of_all)
            })
            .collect();
        let mut total = (vec![0.0; self.pairs() * pair_width], vec![0.0; extra]);
        for (of_pairs, of_all) in sums {
            total.0.iter_mut().zip(of_pairs).for_each(|(sum, more)| *sum += more);
            total.1.iter_mut().zip(of_all).for_each(|(sum, more)| *sum += more);
        }
        total
    }

    /// For each rating, in the order of items, its pair.
    pub(super) fn pair_of(&self) -> &[u32] {
        &self.pair_of
    }

    /// How many items have a rating.
    pub(super) fn rated_items(&self) -> usize {
        (0..self.ratings.items()).filter(|&item| !self.ratings.values_of(item).is_empty()).count()
    }
}
