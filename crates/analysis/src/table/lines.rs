//! In which line of the file each row is.

/// The lines of rows, kept as runs of consecutive ones: in most files there is one run.
#[derive(Debug, Default)]
pub(super) struct Lines {
    rows: usize,
    /// The first row of each run, and its line.
    runs: Vec<(usize, u32)>,
}

impl Lines {
    pub(super) fn len(&self) -> usize {
        self.rows
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Takes the line of the next row.
    pub(super) fn push(&mut self, line: u32) {
        self.push_run(line, 1);
    }

    /// Takes the lines of the next rows, which follow each other from `line` on.
    pub(super) fn push_run(&mut self, line: u32, rows: usize) {
        let follows = self
            .runs
            .last()
            .is_some_and(|&(row, first)| first as usize + (self.rows - row) == line as usize);
        if !follows {
            self.runs.push((self.rows, line));
        }
        self.rows += rows;
    }

    /// The line of a row; none for a row that does not exist.
    pub(super) fn get(&self, row: usize) -> Option<u32> {
        let run = self.runs.partition_point(|&(first, _)| first <= row).checked_sub(1)?;
        let (first, line) = self.runs[run];
        (row < self.rows).then(|| line + (row - first) as u32)
    }

    /// Takes the rows of the next part, whose lines are counted from `offset`.
    pub(super) fn append(&mut self, other: &Self, offset: u32) {
        self.runs.extend(other.runs.iter().map(|&(row, line)| (self.rows + row, line + offset)));
        self.rows += other.rows;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_keep_their_lines_across_gaps_and_parts() {
        let mut lines = Lines::default();
        [0, 1, 2].into_iter().for_each(|line| lines.push(line));
        lines.push_run(5, 2);
        lines.push(9);
        let mut whole = Lines::default();
        whole.append(&lines, 2);
        whole.append(&lines, 12);
        let all: Vec<u32> = (0..whole.len()).filter_map(|row| whole.get(row)).collect();
        assert_eq!(all, [2, 3, 4, 7, 8, 11, 12, 13, 14, 17, 18, 21]);
        assert_eq!((whole.get(12), whole.is_empty()), (None, false));
    }
}
