//! Where a cell is.

/// The place of a cell in a text: two numbers, which stay in registers where a slice of each cell goes through memory.
#[derive(Clone, Copy)]
pub(super) struct Span {
    pub(super) start: usize,
    pub(super) end: usize,
}

/// For each length up to 16 the masks of so many bytes at the end of two words.
const OF_LENGTH: [(u64, u64); 17] = {
    let mut masks = [(0, 0); 17];
    let mut length = 1;
    while length <= 16 {
        let mask = u128::MAX << (8 * (16 - length));
        masks[length] = (mask as u64, (mask >> 64) as u64);
        length += 1;
    }
    masks
};

impl Span {
    /// The whole of a text.
    pub(super) fn whole(text: &[u8]) -> Self {
        Self { start: 0, end: text.len() }
    }

    pub(super) fn of(self, text: &[u8]) -> &[u8] {
        &text[self.start..self.end]
    }

    pub(super) fn len(self) -> usize {
        self.end - self.start
    }

    pub(super) fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// The cell without blanks around it.
    #[inline]
    pub(super) fn trimmed(self, text: &[u8]) -> Self {
        match self.of(text) {
            [first, .., last] if *first > b' ' && *last > b' ' => self,
            [only] if *only > b' ' => self,
            _ => self.without_blanks(text),
        }
    }

    #[cold]
    fn without_blanks(self, text: &[u8]) -> Self {
        let cell = self.of(text);
        let start = self.end - cell.trim_ascii_start().len();
        Self { start, end: start + cell.trim_ascii().len() }
    }

    /// The last 16 bytes as two words, with zeros for those before the cell.
    #[inline]
    pub(super) fn last_words(self, text: &[u8]) -> (u64, u64) {
        let until = &text[..self.end];
        let (head, tail) = match until.last_chunk::<16>() {
            Some(last) => halves(u128::from_le_bytes(*last)),
            None => padded(until),
        };
        let (of_head, of_tail) = OF_LENGTH[self.len().min(16)];
        (head & of_head, tail & of_tail)
    }
}

#[cold]
fn padded(text: &[u8]) -> (u64, u64) {
    let mut bytes = [0; 16];
    bytes[16 - text.len()..].copy_from_slice(text);
    halves(u128::from_le_bytes(bytes))
}

fn halves(both: u128) -> (u64, u64) {
    (both as u64, (both >> 64) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_around_a_cell_do_not_count() {
        let texts =
            ["", " ", "a", " a", "a ", "\t a b\r", "   ", "ab", "\u{1}x\u{1}", "é ", "\u{b}"];
        for text in texts {
            let line = format!("before,{text},after");
            let cell = Span { start: 7, end: 7 + text.len() };
            let trimmed = cell.trimmed(line.as_bytes());
            assert_eq!(trimmed.of(line.as_bytes()), text.as_bytes().trim_ascii());
            assert_eq!(trimmed.is_empty(), text.as_bytes().trim_ascii().is_empty());
        }
    }

    #[test]
    fn the_last_words_do_not_depend_on_what_stands_before() {
        for length in 0..=20 {
            let text = &b"abcdefghijklmnopqrst"[..length];
            let mut expected = [0; 16];
            let taken = length.min(16);
            expected[16 - taken..].copy_from_slice(&text[length - taken..]);
            let expected = u128::from_le_bytes(expected);
            for before in 0..20 {
                let line = [&vec![b'-'; before][..], text].concat();
                let (head, tail) = Span { start: before, end: line.len() }.last_words(&line);
                assert_eq!(u128::from(tail) << 64 | u128::from(head), expected);
            }
        }
    }
}
