//! What two annotators said about the same items.

use rayon::prelude::*;
use serde::Serialize;

use super::ratings::Ratings;
use crate::Undefined;

/// More cells than this in all tables together are refused.
const MAX_CELLS: usize = 1 << 24;

/// A table of two annotators: how often the one said the row's category where the other said the column's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PairTable {
    /// The annotator of the rows.
    pub first: usize,
    /// The annotator of the columns.
    pub second: usize,
    /// Counts, row by row.
    pub counts: Vec<Vec<u64>>,
}

/// The tables of all pairs of annotators, over the items that both rated; pairs without such items have a table of zeros.
/// Undefined when the tables would have more than 2²⁴ cells together.
pub fn pair_tables(ratings: &Ratings) -> Result<Vec<PairTable>, Undefined> {
    let (annotators, categories) = (ratings.annotators(), ratings.numbers().len());
    let pairs = annotators * annotators.saturating_sub(1) / 2;
    let size = categories * categories;
    let cells = pairs.saturating_mul(size);
    if cells > MAX_CELLS {
        let what = "the number of cells of the tables of all pairs of annotators";
        return Err(Undefined::OutOfRange { what, value: cells as f64, allowed: "at most 2^24" });
    }
    // The pair (a, b) with a < b comes after all pairs that begin with a smaller one.
    let place = |a: usize, b: usize| a * (2 * annotators - a - 1) / 2 + b - a - 1;
    let count = |range: std::ops::Range<usize>| {
        let mut cells = vec![0u32; cells];
        for item in range {
            let (who, values) = ratings.item(item);
            for (index, (&a, &first)) in who.iter().zip(values).enumerate() {
                for (&b, &second) in who[index + 1..].iter().zip(&values[index + 1..]) {
                    let (a, b, row, column) =
                        if a < b { (a, b, first, second) } else { (b, a, second, first) };
                    let cell = row as usize * categories + column as usize;
                    cells[place(a as usize, b as usize) * size + cell] += 1;
                }
            }
        }
        cells
    };
    let part = ratings.items().div_ceil(rayon::current_num_threads()).max(16_384);
    let starts: Vec<usize> = (0..ratings.items()).step_by(part).collect();
    let cells = starts
        .into_par_iter()
        .map(|start| count(start..(start + part).min(ratings.items())))
        .reduce_with(|mut a, b| {
            a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
            a
        })
        .unwrap_or_default();
    let mut tables = Vec::with_capacity(pairs);
    for first in 0..annotators {
        for second in first + 1..annotators {
            let start = place(first, second) * size;
            let rows = cells[start..start + size].chunks(categories);
            let counts = rows.map(|row| row.iter().map(|&count| u64::from(count)).collect());
            tables.push(PairTable { first, second, counts: counts.collect() });
        }
    }
    Ok(tables)
}
