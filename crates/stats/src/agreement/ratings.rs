//! Ratings by item, made once from a long table.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};

use rayon::prelude::*;

use super::classes::Classes;
use crate::Undefined;

/// A table of all items and annotators is filled directly when it has at most this many cells for each rating.
const CELLS_FOR_EACH_RATING: usize = 4;

/// A cell without a rating.
const NO_RATING: u8 = u8::MAX;

/// Rows or cells that a thread takes at once.
const PART: usize = 1 << 16;

/// Which value each annotator gave to each item. An annotator rates an item at most once, and may leave items out.
///
/// Items, annotators and values are codes counted from 0; memory grows with the largest of each, so codes should have no
/// large gaps. Every code up to the largest is a category, used or not.
#[derive(Debug, Clone)]
pub struct Ratings {
    /// Where the ratings of each item begin, and where the last ends.
    starts: Vec<u32>,
    annotators: Vec<u32>,
    /// Ranks of values: places in `numbers`.
    values: Vec<u32>,
    annotator_count: usize,
    numbers: Vec<f64>,
    /// Items by their values, made when they are first asked for.
    classes: OnceLock<Classes>,
}

impl Ratings {
    /// Ratings whose values are names, or the numbers 0, 1, 2, … that their codes are.
    ///
    /// Row `i` says that annotator `annotators[i]` gave item `items[i]` the value `values[i]`. Undefined without rows, for
    /// slices of different lengths, and when an annotator rates an item twice; the error names the row.
    pub fn new(items: &[u32], annotators: &[u32], values: &[u32]) -> Result<Self, Undefined> {
        let numbers = (0..count(values)).map(|code| code as f64).collect();
        Self::build(items, annotators, values, None, numbers)
    }

    /// Ratings whose value codes stand for numbers: code `c` for `numbers[c]`. Codes with equal numbers are one value.
    ///
    /// Undefined as for [`Ratings::new`], for a code without a number, and for numbers that are not finite or beyond 10¹⁵⁰.
    pub fn with_numbers(
        items: &[u32],
        annotators: &[u32],
        values: &[u32],
        numbers: &[f64],
    ) -> Result<Self, Undefined> {
        Undefined::unless_finite("value", numbers)?;
        if let Some(&value) = numbers.iter().find(|number| number.abs() > 1e150) {
            let (what, allowed) = ("a value", "between -1e150 and 1e150");
            return Err(Undefined::OutOfRange { what, value, allowed });
        }
        if count(values) > numbers.len() {
            let first = values.iter().find(|&&code| code as usize >= numbers.len());
            let value = first.map_or(f64::NAN, |&code| f64::from(code));
            let (what, allowed) = ("a value's code", "that of a number");
            return Err(Undefined::OutOfRange { what, value, allowed });
        }
        let mut order: Vec<u32> = (0..numbers.len() as u32).collect();
        order.sort_unstable_by(|&a, &b| numbers[a as usize].total_cmp(&numbers[b as usize]));
        let mut ranks = vec![0; numbers.len()];
        let mut distinct: Vec<f64> = Vec::new();
        for code in order {
            let number = numbers[code as usize];
            if distinct.last() != Some(&number) {
                distinct.push(number);
            }
            ranks[code as usize] = distinct.len() as u32 - 1;
        }
        Self::build(items, annotators, values, Some(&ranks), distinct)
    }

    fn build(
        items: &[u32],
        annotators: &[u32],
        values: &[u32],
        ranks: Option<&[u32]>,
        numbers: Vec<f64>,
    ) -> Result<Self, Undefined> {
        Undefined::unless_enough("ratings", items.len(), 1)?;
        Undefined::unless_paired("items and annotators", items.len(), annotators.len())?;
        Undefined::unless_paired("items and values", items.len(), values.len())?;
        if items.len() >= u32::MAX as usize {
            let (what, value) = ("the number of ratings", items.len() as f64);
            return Err(Undefined::OutOfRange { what, value, allowed: "below 2^32" });
        }
        let table = Long {
            items,
            annotators,
            values,
            ranks,
            item_count: count(items),
            annotator_count: count(annotators),
        };
        let cells = table.item_count.saturating_mul(table.annotator_count);
        let dense = cells <= items.len().saturating_mul(CELLS_FOR_EACH_RATING);
        let small = numbers.len() <= usize::from(NO_RATING);
        let placed = if dense && small { table.by_cell() } else { table.by_item() };
        let (starts, annotators, values) = placed?;
        Ok(Self {
            starts,
            annotators,
            values,
            annotator_count: table.annotator_count,
            numbers,
            classes: OnceLock::new(),
        })
    }

    /// How many items there are, rated or not.
    #[must_use]
    pub fn items(&self) -> usize {
        self.starts.len() - 1
    }

    /// How many annotators there are.
    #[must_use]
    pub fn annotators(&self) -> usize {
        self.annotator_count
    }

    /// How many ratings there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there are none; never true, since ratings cannot be made from nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The number of each category in ascending order; a value below is a place in this list.
    #[must_use]
    pub fn numbers(&self) -> &[f64] {
        &self.numbers
    }

    /// The ratings of an item as (annotators, values), both of the same length; empty for an item that does not exist.
    #[must_use]
    pub fn item(&self, item: usize) -> (&[u32], &[u32]) {
        match (self.starts.get(item), self.starts.get(item + 1)) {
            (Some(&start), Some(&end)) => {
                let range = start as usize..end as usize;
                (&self.annotators[range.clone()], &self.values[range])
            }
            _ => (&[], &[]),
        }
    }

    /// Where the ratings of an item are among all, which are in the order of items.
    pub(crate) fn range(&self, item: usize) -> std::ops::Range<usize> {
        self.starts[item] as usize..self.starts[item + 1] as usize
    }

    /// Items by their values.
    pub(super) fn classes(&self) -> &Classes {
        self.classes.get_or_init(|| Classes::of(self))
    }

    /// The values of an item.
    pub(crate) fn values_of(&self, item: usize) -> &[u32] {
        self.item(item).1
    }

    /// The most ratings that an item has.
    pub(crate) fn most_ratings(&self) -> usize {
        self.starts.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0) as usize
    }
}

/// How many codes there are, up to the largest. The largest of copies, unlike that of references, is found several at once.
fn count(codes: &[u32]) -> usize {
    codes.iter().copied().reduce(u32::max).map_or(0, |code| code as usize + 1)
}

/// A long table with its counts, on its way to being ordered by item.
struct Long<'a> {
    items: &'a [u32],
    annotators: &'a [u32],
    values: &'a [u32],
    /// The rank of each value code; none where they are the same.
    ranks: Option<&'a [u32]>,
    item_count: usize,
    annotator_count: usize,
}

/// Starts, annotators and values in the order of items.
type Placed = (Vec<u32>, Vec<u32>, Vec<u32>);

impl Long<'_> {
    /// The rank of a value's code.
    fn rank(&self, code: u32) -> u32 {
        self.ranks.map_or(code, |ranks| ranks[code as usize])
    }

    /// Through a table with a cell for each item and annotator, for up to 254 values.
    ///
    /// Threads fill it side by side. Where two ratings meet in a cell one is lost, and there are fewer in the end.
    fn by_cell(&self) -> Result<Placed, Undefined> {
        let cells: Vec<AtomicU8> =
            (0..self.item_count * self.annotator_count).map(|_| AtomicU8::new(NO_RATING)).collect();
        let rows = self.items.par_chunks(PART).zip(self.annotators.par_chunks(PART));
        rows.zip(self.values.par_chunks(PART)).for_each(|((items, annotators), values)| {
            // In variables of their own these are not read again after each store.
            let (width, ranks, cells) = (self.annotator_count, self.ranks, cells.as_slice());
            for ((&item, &annotator), &code) in items.iter().zip(annotators).zip(values) {
                let rank = ranks.map_or(code, |ranks| ranks[code as usize]);
                let cell = item as usize * width + annotator as usize;
                cells[cell].store(rank as u8, Ordering::Relaxed);
            }
        });
        let part = PART.div_ceil(self.annotator_count) * self.annotator_count;
        let is_rating = |cell: &&AtomicU8| cell.load(Ordering::Relaxed) != NO_RATING;
        let counts: Vec<usize> =
            cells.par_chunks(part).map(|cells| cells.iter().filter(is_rating).count()).collect();
        let count: usize = counts.iter().sum();
        if count < self.items.len() {
            return Err(self.first_repeated());
        }
        let mut starts = vec![0; self.item_count + 1];
        let (mut annotators, mut values) = (vec![0; count], vec![0; count]);
        let mut parts = Vec::with_capacity(counts.len());
        let (mut of_items, mut who, mut what) =
            (&mut starts[1..], annotators.as_mut_slice(), values.as_mut_slice());
        let mut offset = 0;
        for (cells, count) in cells.chunks(part).zip(counts) {
            let ends;
            (ends, of_items) = of_items.split_at_mut(cells.len() / self.annotator_count);
            let (part_who, part_what);
            (part_who, who) = who.split_at_mut(count);
            (part_what, what) = what.split_at_mut(count);
            parts.push((cells, offset, ends, part_who, part_what));
            offset += count;
        }
        parts.into_par_iter().for_each(|(cells, offset, ends, who, what)| {
            let mut done = 0;
            for (item, end) in cells.chunks_exact(self.annotator_count).zip(ends) {
                for (annotator, cell) in item.iter().enumerate() {
                    let rank = cell.load(Ordering::Relaxed);
                    if rank != NO_RATING {
                        who[done] = annotator as u32;
                        what[done] = u32::from(rank);
                        done += 1;
                    }
                }
                *end = (offset + done) as u32;
            }
        });
        Ok((starts, annotators, values))
    }

    /// By counting the ratings of each item, then placing them.
    fn by_item(&self) -> Result<Placed, Undefined> {
        let mut starts = vec![0u32; self.item_count + 2];
        for &item in self.items {
            starts[item as usize + 2] += 1;
        }
        for item in 2..starts.len() {
            starts[item] += starts[item - 1];
        }
        let mut pairs = vec![(0u32, 0u32); self.items.len()];
        for (row, (&item, &annotator)) in self.items.iter().zip(self.annotators).enumerate() {
            let place = &mut starts[item as usize + 1];
            pairs[*place as usize] = (annotator, self.rank(self.values[row]));
            *place += 1;
        }
        starts.pop();
        // The last item each annotator was seen with, counted from 1.
        let mut seen = vec![0u32; self.annotator_count];
        for (item, range) in starts.windows(2).enumerate() {
            for &(annotator, _) in &pairs[range[0] as usize..range[1] as usize] {
                let last = &mut seen[annotator as usize];
                if *last == item as u32 + 1 {
                    return Err(self.first_repeated());
                }
                *last = item as u32 + 1;
            }
        }
        let (annotators, values) = pairs.into_iter().unzip();
        Ok((starts, annotators, values))
    }

    /// The error for a row that repeats an earlier one.
    fn repeated(&self, row: usize) -> Undefined {
        let pair = (self.items[row], self.annotators[row]);
        let first = (0..row).find(|&other| (self.items[other], self.annotators[other]) == pair);
        Undefined::Repeated { what: "rating", index: row, first: first.unwrap_or(row) }
    }

    /// The error for the first row that repeats an earlier one.
    fn first_repeated(&self) -> Undefined {
        let mut seen = std::collections::HashSet::with_capacity(self.items.len());
        let mut pairs = self.items.iter().zip(self.annotators);
        self.repeated(pairs.position(|pair| !seen.insert(pair)).unwrap_or(0))
    }
}
