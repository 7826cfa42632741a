//! A text in blocks of whole lines, of which one is in memory at a time.

use std::io::{self, Read};

use memchr::memrchr;

/// Bytes of a block, unless a line is longer: they stay in the processor's cache until all columns are taken.
const BLOCK: usize = 1 << 15;

/// Room before the block, so that every cell has bytes before it.
const BEFORE: usize = 16;

/// Reads blocks of whole lines.
pub(super) struct Blocks<R> {
    source: R,
    buffer: Vec<u8>,
    /// Where the lines end that were given last.
    given: usize,
    /// Where the bytes end that were read.
    filled: usize,
}

/// Lines of a text: those from `start` on.
pub(super) struct Block<'a> {
    pub(super) text: &'a [u8],
    pub(super) start: usize,
}

impl<R: Read> Blocks<R> {
    pub(super) fn new(source: R) -> Self {
        Self { source, buffer: vec![0; BEFORE + BLOCK], given: BEFORE, filled: BEFORE }
    }

    /// The next lines, at least one; none at the end.
    pub(super) fn next(&mut self) -> io::Result<Option<Block<'_>>> {
        self.buffer.copy_within(self.given..self.filled, BEFORE);
        self.filled -= self.given - BEFORE;
        // What is left of a block is less than a line.
        let mut searched = self.filled;
        loop {
            let read = self.fill()?;
            let line_end = memrchr(b'\n', &self.buffer[searched..self.filled]);
            self.given = match line_end {
                Some(end) => searched + end + 1,
                None if read => {
                    searched = self.filled;
                    self.buffer.resize(2 * self.buffer.len(), 0);
                    continue;
                }
                None => self.filled,
            };
            let text = &self.buffer[..self.given];
            return Ok((self.given > BEFORE).then_some(Block { text, start: BEFORE }));
        }
    }

    /// Fills the buffer, and says whether it is full: where it is not, the source has come to its end.
    fn fill(&mut self) -> io::Result<bool> {
        while self.filled < self.buffer.len() {
            match self.source.read(&mut self.buffer[self.filled..]) {
                Ok(0) => return Ok(false),
                Ok(bytes) => self.filled += bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Gives a few bytes at a time.
    struct Slow<'a>(&'a [u8]);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let bytes = buffer.len().min(self.0.len()).min(777);
            let (now, later) = self.0.split_at(bytes);
            buffer[..bytes].copy_from_slice(now);
            self.0 = later;
            Ok(bytes)
        }
    }

    fn check(text: &str) {
        let mut blocks = Blocks::new(Slow(text.as_bytes()));
        let mut together = Vec::new();
        while let Some(block) = blocks.next().unwrap() {
            let lines = &block.text[block.start..];
            let last = together.len() + lines.len() == text.len();
            assert!(lines.ends_with(b"\n") || last);
            assert!(!lines.is_empty());
            together.extend_from_slice(lines);
        }
        assert_eq!(together, text.as_bytes());
    }

    #[test]
    fn blocks_are_whole_lines_and_together_the_text() {
        let long = "x".repeat(3 * BLOCK);
        check("");
        check("\n");
        check("one line without an end");
        check(&"a line\n".repeat(20_000));
        check(&format!("{}the last", "a line\n".repeat(20_000)));
        check(&format!("short\n{long}\nshort\n{long}"));
        check(&format!("{}\nx", "y".repeat(BLOCK - 1)));
        check(&format!("{}\n{}\n", "y".repeat(BLOCK - 1), "z".repeat(BLOCK)));
    }
}
