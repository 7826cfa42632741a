//! The edit distance of two sequences of words within a beam around the diagonal of the table, and the edits
//! themselves.

/// Half the width of the beam, unless the lengths differ so much that the rows would not touch.
const BEAM_WIDTH: usize = 25;

/// The cost of a cell that cannot be reached.
const UNREACHED: u32 = u32::MAX / 2;

/// One step of making the hypothesis into the reference.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Edit {
    Keep,
    Replace,
    /// A word of the hypothesis is left out.
    Delete,
    /// A word of the reference is put in.
    Insert,
}

/// The part of a row that lies within the beam, and where it is stored.
#[derive(Clone, Copy)]
struct Row {
    first: usize,
    end: usize,
    offset: usize,
}

/// The table for one reference and a hypothesis whose words change places but not their number.
pub(super) struct Beam<'r> {
    reference: &'r [u32],
    rows: Vec<Row>,
    hypothesis: Vec<u32>,
    costs: Vec<u32>,
    edits: Vec<Edit>,
    /// Two rows for trying a hypothesis.
    above: Vec<u32>,
    here: Vec<u32>,
}

impl<'r> Beam<'r> {
    pub(super) fn new(hypothesis: &[u32], reference: &'r [u32]) -> Self {
        let rows = rows(hypothesis.len(), reference.len());
        let cells = rows.last().map_or(0, |row| row.offset + row.end - row.first);
        let mut beam = Self {
            reference,
            rows,
            hypothesis: hypothesis.to_vec(),
            costs: vec![UNREACHED; cells],
            edits: vec![Edit::Insert; cells],
            above: Vec::new(),
            here: Vec::new(),
        };
        for column in 0..=reference.len() {
            beam.costs[column] = column as u32;
        }
        beam.fill(0);
        beam
    }

    pub(super) fn hypothesis(&self) -> &[u32] {
        &self.hypothesis
    }

    /// The distance of the hypothesis.
    pub(super) fn distance(&self) -> u32 {
        self.costs.last().copied().unwrap_or(0)
    }

    /// Takes another order of the words.
    pub(super) fn set(&mut self, hypothesis: &[u32]) {
        let same = self
            .hypothesis
            .iter()
            .zip(hypothesis)
            .take_while(|(left, right)| left == right)
            .count();
        self.hypothesis.copy_from_slice(hypothesis);
        self.fill(same);
    }

    /// Computes the rows after `from`.
    fn fill(&mut self, from: usize) {
        for index in from..self.hypothesis.len() {
            let (above, row) = (self.rows[index], self.rows[index + 1]);
            let (before, here) = self.costs.split_at_mut(row.offset);
            let edits = &mut self.edits[row.offset..];
            let word = self.hypothesis[index];
            fill_row(
                above,
                &before[above.offset..],
                row,
                here,
                word,
                self.reference,
                |cell, edit| edits[cell] = edit,
            );
        }
    }

    /// The distance of another order of the words, without taking it. Rows before the first moved word are those of
    /// the hypothesis; after the last one, the rest is known as soon as a row differs from the hypothesis's by the
    /// same number everywhere.
    pub(super) fn distance_of(&mut self, other: &[u32]) -> u32 {
        let same =
            self.hypothesis.iter().zip(other).take_while(|(left, right)| left == right).count();
        let same_end = self
            .hypothesis
            .iter()
            .rev()
            .zip(other.iter().rev())
            .take_while(|(left, right)| left == right)
            .count();
        if same == other.len() {
            return self.distance();
        }
        let last_moved = other.len() - same_end;
        let start = self.rows[same];
        self.above.clear();
        self.above
            .extend_from_slice(&self.costs[start.offset..start.offset + start.end - start.first]);
        for (index, &word) in other.iter().enumerate().skip(same) {
            let (above, row) = (self.rows[index], self.rows[index + 1]);
            self.here.clear();
            self.here.resize(row.end - row.first, UNREACHED);
            fill_row(above, &self.above, row, &mut self.here, word, self.reference, |_, _| ());
            std::mem::swap(&mut self.above, &mut self.here);
            if index + 1 >= last_moved {
                let known = &self.costs[row.offset..row.offset + row.end - row.first];
                if let Some(shift) = constant_difference(&self.above, known) {
                    return (i64::from(self.distance()) + shift) as u32;
                }
            }
        }
        self.above.last().copied().unwrap_or(0)
    }

    /// The edits from the start to the end.
    pub(super) fn trace(&self) -> Vec<Edit> {
        let (mut row, mut column) = (self.hypothesis.len(), self.reference.len());
        let mut trace = Vec::with_capacity(row.max(column));
        while row > 0 || column > 0 {
            let cells = self.rows[row];
            let edit = self.edits[cells.offset + column - cells.first];
            trace.push(edit);
            match edit {
                Edit::Keep | Edit::Replace => {
                    row -= 1;
                    column -= 1;
                }
                Edit::Insert => column -= 1,
                Edit::Delete => row -= 1,
            }
        }
        trace.reverse();
        trace
    }
}

/// Where the beam lies in each row.
fn rows(hypothesis: usize, reference: usize) -> Vec<Row> {
    let ratio = if hypothesis > 0 { reference as f64 / hypothesis as f64 } else { 1.0 };
    let width = if (BEAM_WIDTH as f64) < ratio / 2.0 {
        (ratio / 2.0 + BEAM_WIDTH as f64).ceil() as usize
    } else {
        BEAM_WIDTH
    };
    let mut offset = 0;
    (0..=hypothesis)
        .map(|index| {
            let diagonal = (index as f64 * ratio).floor() as usize;
            let first = if index == 0 { 0 } else { diagonal.saturating_sub(width) };
            let whole = index == 0 || index == hypothesis;
            let end = if whole { reference + 1 } else { (diagonal + width).min(reference + 1) };
            let row = Row { first, end, offset };
            offset += end - first;
            row
        })
        .collect()
}

/// Computes a row from the one above. Of equal costs keeping or replacing comes first, then deleting, then inserting.
#[inline]
fn fill_row(
    above: Row,
    above_costs: &[u32],
    row: Row,
    costs: &mut [u32],
    word: u32,
    reference: &[u32],
    mut decided: impl FnMut(usize, Edit),
) {
    let cost_above = |column: usize| {
        if (above.first..above.end).contains(&column) {
            above_costs[column - above.first]
        } else {
            UNREACHED
        }
    };
    let mut left = UNREACHED;
    for column in row.first..row.end {
        let (mut cost, mut edit) = (UNREACHED, Edit::Insert);
        if column == 0 {
            (cost, edit) = (cost_above(0) + 1, Edit::Delete);
        } else {
            let same = word == reference[column - 1];
            let choices = [
                (
                    cost_above(column - 1) + u32::from(!same),
                    if same { Edit::Keep } else { Edit::Replace },
                ),
                (cost_above(column) + 1, Edit::Delete),
                (left + 1, Edit::Insert),
            ];
            for (other, choice) in choices {
                if cost > other {
                    (cost, edit) = (other, choice);
                }
            }
        }
        left = cost;
        costs[column - row.first] = cost;
        decided(column - row.first, edit);
    }
}

/// By how much all reached cells of two rows differ, if by the same number.
fn constant_difference(new: &[u32], known: &[u32]) -> Option<i64> {
    let mut reached = new
        .iter()
        .zip(known)
        .filter(|(_, known)| **known < UNREACHED)
        .map(|(new, known)| i64::from(*new) - i64::from(*known));
    let first = reached.next()?;
    reached.all(|difference| difference == first).then_some(first)
}
