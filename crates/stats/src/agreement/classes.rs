//! Items sorted into classes with the same values, so that what depends only on the values is computed once for each class.

use rayon::prelude::*;

use super::ratings::Ratings;

/// Classes are counted in a table when their keys have at most this many bits.
const TABLE_BITS: u32 = 18;

/// Items handled at once by a thread.
const CHUNK: usize = 16_384;

/// The items with two ratings or more, in classes: two items are in one class when they have the same values, whoever gave
/// them. Where values hardly repeat, each item is a class of its own.
#[derive(Debug, Clone)]
pub(super) struct Classes {
    /// Where the values of each class begin, and where the last end.
    starts: Vec<u32>,
    /// Ascending within each class.
    values: Vec<u32>,
    /// How many items are in each class.
    counts: Vec<u32>,
    /// For each category the items that have one rating only, with this value.
    singles: Vec<u32>,
}

impl Classes {
    pub(super) fn of(ratings: &Ratings) -> Self {
        let categories = ratings.numbers().len().max(1);
        // Bits that hold any value, and a key of them with a leading one, so that keys of different lengths differ.
        let bits = usize::BITS - (categories - 1).leading_zeros();
        let bits = bits.max(1);
        let key_bits = (ratings.most_ratings() as u64).saturating_mul(u64::from(bits)) + 1;
        let mut classes = Self {
            starts: vec![0],
            values: Vec::new(),
            counts: Vec::new(),
            singles: vec![0; categories],
        };
        if key_bits <= u64::from(TABLE_BITS) {
            classes.fill_from_keys(table_keys(ratings, bits, key_bits as u32), bits);
        } else if key_bits <= 64 {
            classes.fill_from_keys(sorted_keys(ratings, bits), bits);
        } else {
            classes.fill_from_items(ratings);
        }
        classes
    }

    /// How many classes there are.
    pub(super) fn len(&self) -> usize {
        self.counts.len()
    }

    /// The values of a class, ascending.
    pub(super) fn values(&self, class: usize) -> &[u32] {
        &self.values[self.starts[class] as usize..self.starts[class + 1] as usize]
    }

    /// How many items are in each class.
    pub(super) fn counts(&self) -> &[u32] {
        &self.counts
    }

    /// Each class with its items and its values.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &[u32])> {
        self.counts.iter().enumerate().map(|(class, &count)| (count, self.values(class)))
    }

    /// How many items have two ratings or more.
    pub(super) fn paired_items(&self) -> usize {
        self.counts.iter().map(|&count| count as usize).sum()
    }

    /// For each category the items that have one rating only, with this value.
    pub(super) fn singles(&self) -> &[u32] {
        &self.singles
    }

    /// How often each category was given to items with two ratings or more, when class `c` stands for `weights[c]` items.
    pub(super) fn add_value_counts(&self, weights: &[u32], counts: &mut [f64]) {
        for (class, &weight) in weights.iter().enumerate() {
            if weight > 0 {
                for &value in self.values(class) {
                    counts[value as usize] += f64::from(weight);
                }
            }
        }
    }

    fn push(&mut self, values: &[u32], count: u32) {
        match *values {
            [] => {}
            [value] => self.singles[value as usize] += count,
            _ => {
                self.values.extend_from_slice(values);
                self.starts.push(self.values.len() as u32);
                self.counts.push(count);
            }
        }
    }

    /// Takes keys in any order; those that differ only in the order of values are one class.
    fn fill_from_keys(&mut self, keys: Vec<(u64, u32)>, bits: u32) {
        let mut values = Vec::new();
        let canonical = |(key, count): (u64, u32)| {
            unpack(key, bits, &mut values);
            values.sort_unstable();
            (pack(&values, bits), count)
        };
        let mut keys: Vec<(u64, u32)> = keys.into_iter().map(canonical).collect();
        keys.sort_unstable();
        let mut values = Vec::new();
        for same in keys.chunk_by(|a, b| a.0 == b.0) {
            unpack(same[0].0, bits, &mut values);
            self.push(&values, same.iter().map(|(_, count)| count).sum());
        }
    }

    fn fill_from_items(&mut self, ratings: &Ratings) {
        let mut values = Vec::new();
        for item in 0..ratings.items() {
            values.clear();
            values.extend_from_slice(ratings.values_of(item));
            values.sort_unstable();
            self.push(&values, 1);
        }
    }
}

fn pack(values: &[u32], bits: u32) -> u64 {
    values.iter().fold(1, |key, &value| key << bits | u64::from(value))
}

fn unpack(mut key: u64, bits: u32, values: &mut Vec<u32>) {
    values.clear();
    let mask = (1u64 << bits) - 1;
    while key > 1 {
        values.push((key & mask) as u32);
        key >>= bits;
    }
    values.reverse();
}

/// Counts the items of each key in a table.
fn table_keys(ratings: &Ratings, bits: u32, key_bits: u32) -> Vec<(u64, u32)> {
    let size = 1usize << key_bits;
    let part = ratings.items().div_ceil(rayon::current_num_threads()).max(CHUNK);
    let parts: Vec<usize> = (0..ratings.items()).step_by(part).collect();
    let count = |start: usize| {
        let mut table = vec![0u32; size];
        for item in start..(start + part).min(ratings.items()) {
            table[pack(ratings.values_of(item), bits) as usize] += 1;
        }
        table
    };
    let sum = |mut a: Vec<u32>, b: Vec<u32>| {
        a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
        a
    };
    let table = parts.into_par_iter().map(count).reduce_with(sum).unwrap_or_default();
    let keys = table.into_iter().enumerate().filter(|(_, count)| *count > 0);
    keys.map(|(key, count)| (key as u64, count)).collect()
}

/// Counts the items of each key by sorting.
fn sorted_keys(ratings: &Ratings, bits: u32) -> Vec<(u64, u32)> {
    let mut keys: Vec<u64> = (0..ratings.items())
        .into_par_iter()
        .with_min_len(CHUNK)
        .map_init(Vec::new, |values: &mut Vec<u32>, item| {
            values.clear();
            values.extend_from_slice(ratings.values_of(item));
            values.sort_unstable();
            pack(values, bits)
        })
        .collect();
    keys.par_sort_unstable();
    keys.chunk_by(|a, b| a == b).map(|same| (same[0], same.len() as u32)).collect()
}
