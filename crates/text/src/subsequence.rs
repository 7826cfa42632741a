//! The longest common subsequence, 64 cells at a time (Hyyrö, 2004).
//!
//! A row of the table of lengths is kept as bits: a bit is off where the length grows by one. A row changes only in
//! blocks where its symbol occurs, and where a carry runs on, so that unlike texts cost little more than their
//! matches.

use crate::positions::Positions;

/// Rows kept for reading a subsequence back, before every other row is made anew from checkpoints.
const KEPT_WORDS: usize = 1 << 20;

/// Buffers that are kept between pairs.
#[derive(Default)]
pub(crate) struct Subsequence {
    columns: Positions,
    row: Vec<u64>,
    checkpoints: Vec<u64>,
    band: Vec<u64>,
}

impl Subsequence {
    /// The length of the longest common subsequence. `largest` is the largest symbol.
    pub(crate) fn length(&mut self, rows: &[u32], columns: &[u32], largest: u32) -> usize {
        self.start(columns, largest);
        for &symbol in rows {
            advance(&mut self.row, &self.columns, symbol);
        }
        lengths_up_to(&self.row, columns.len())
    }

    /// Gives the positions in `rows` of one longest common subsequence, last first: the one that is found going
    /// back from the end, a row up wherever that loses nothing.
    pub(crate) fn read_back(
        &mut self,
        rows: &[u32],
        columns: &[u32],
        largest: u32,
        mut found: impl FnMut(usize),
    ) {
        self.start(columns, largest);
        let blocks = self.columns.blocks();
        let stride = stride(rows.len(), blocks);
        self.checkpoints.clear();
        for (index, &symbol) in rows.iter().enumerate() {
            if index % stride == 0 {
                self.checkpoints.extend_from_slice(&self.row);
            }
            advance(&mut self.row, &self.columns, symbol);
        }
        let (mut row, mut column) = (rows.len(), columns.len());
        for (index, checkpoint) in self.checkpoints.chunks_exact(blocks.max(1)).enumerate().rev() {
            let first = index * stride;
            self.band.clear();
            self.band.extend_from_slice(checkpoint);
            self.row.copy_from_slice(checkpoint);
            for &symbol in &rows[first..row] {
                advance(&mut self.row, &self.columns, symbol);
                self.band.extend_from_slice(&self.row);
            }
            while row > first && column > 0 {
                if rows[row - 1] == columns[column - 1] {
                    found(row - 1);
                    row -= 1;
                    column -= 1;
                    continue;
                }
                let (above, here) = self.band
                    [(row - 1 - first) * blocks..(row + 1 - first) * blocks]
                    .split_at(blocks);
                let grows_here = here[(column - 1) / 64] >> ((column - 1) % 64) & 1 == 0;
                if grows_here || lengths_up_to(above, column) == lengths_up_to(here, column) {
                    row -= 1;
                } else {
                    column -= 1;
                }
            }
            row = row.min(first);
        }
    }

    fn start(&mut self, columns: &[u32], largest: u32) {
        self.columns.read(columns, largest);
        self.row.clear();
        self.row.resize(self.columns.blocks(), u64::MAX);
    }
}

/// How many rows lie between two checkpoints.
fn stride(rows: usize, blocks: usize) -> usize {
    if rows * blocks <= KEPT_WORDS { rows.max(1) } else { rows.isqrt() }
}

/// Goes one row down.
#[inline]
fn advance(row: &mut [u64], columns: &Positions, symbol: u32) {
    let mut carry = false;
    let mut next = 0;
    for entry in columns.of(symbol) {
        while carry && next < entry.block {
            carry = add_carry(&mut row[next]);
            next += 1;
        }
        let bits = row[entry.block];
        let (sum, overflow) = bits.overflowing_add(bits & entry.mask);
        let (sum, carry_overflow) = sum.overflowing_add(u64::from(carry));
        row[entry.block] = sum | (bits & !entry.mask);
        carry = overflow | carry_overflow;
        next = entry.block + 1;
    }
    while carry && next < row.len() {
        carry = add_carry(&mut row[next]);
        next += 1;
    }
}

/// A block without the symbol takes a carry.
fn add_carry(bits: &mut u64) -> bool {
    let (sum, overflow) = bits.overflowing_add(1);
    *bits |= sum;
    overflow
}

/// The length of the common subsequence up to a column.
fn lengths_up_to(row: &[u64], column: usize) -> usize {
    let (whole, rest) = (column / 64, column % 64);
    let mut length: usize = row[..whole].iter().map(|bits| bits.count_zeros() as usize).sum();
    if rest > 0 {
        length += (!row[whole] & ((1 << rest) - 1)).count_ones() as usize;
    }
    length
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The table as in a textbook, read back as `rouge_score` does.
    fn textbook(rows: &[u32], columns: &[u32]) -> (usize, Vec<usize>) {
        let mut table = vec![vec![0; columns.len() + 1]; rows.len() + 1];
        for row in 1..=rows.len() {
            for column in 1..=columns.len() {
                table[row][column] = if rows[row - 1] == columns[column - 1] {
                    table[row - 1][column - 1] + 1
                } else {
                    table[row - 1][column].max(table[row][column - 1])
                };
            }
        }
        let (mut row, mut column, mut found) = (rows.len(), columns.len(), Vec::new());
        while row > 0 && column > 0 {
            if rows[row - 1] == columns[column - 1] {
                found.push(row - 1);
                (row, column) = (row - 1, column - 1);
            } else if table[row][column - 1] > table[row - 1][column] {
                column -= 1;
            } else {
                row -= 1;
            }
        }
        (table[rows.len()][columns.len()], found)
    }

    proptest! {
        #[test]
        fn equals_the_table(
            rows in prop::collection::vec(1u32..6, 0..300), columns in prop::collection::vec(1u32..6, 0..300)
        ) {
            let (length, positions) = textbook(&rows, &columns);
            let mut subsequence = Subsequence::default();
            prop_assert_eq!(subsequence.length(&rows, &columns, 6), length);
            let mut found = Vec::new();
            subsequence.read_back(&rows, &columns, 6, |position| found.push(position));
            prop_assert_eq!(found, positions);
        }
    }

    #[test]
    fn checkpoints_give_the_same_subsequence() {
        let rows: Vec<u32> = (0..9_000u32).map(|index| index * index % 7 + 1).collect();
        let columns: Vec<u32> = (0..8_000u32).map(|index| index * 3 % 11 % 7 + 1).collect();
        assert!(stride(rows.len(), columns.len().div_ceil(64)) < rows.len());
        let mut found = Vec::new();
        Subsequence::default().read_back(&rows, &columns, 7, |position| found.push(position));
        assert_eq!(found, textbook(&rows, &columns).1);
    }
}
