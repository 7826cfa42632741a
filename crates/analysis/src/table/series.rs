//! Texts that differ only in the number they end in, with as many digits: their codes are found without a search.

use super::short::{Numbered, Short};
use super::texts::MISSING;

/// The numbers of a series, those below this, are in a list; memory is taken up only where there are some.
const NUMBERS: usize = 1 << 20;

/// A series of texts.
pub(super) struct Series {
    prefix: Short,
    digits: u32,
    /// For each number the code and 1 more, or 0, which is 1 more than [`MISSING`].
    codes: Vec<u32>,
}

impl Series {
    /// The series of a text, without any codes.
    pub(super) fn new(text: Numbered) -> Self {
        let Numbered { prefix, digits, .. } = text;
        Self { prefix, digits, codes: vec![0; NUMBERS.min(10usize.pow(digits))] }
    }

    /// Whether a text is of the series, and its number in the list.
    #[inline]
    pub(super) fn has(&self, text: Numbered) -> bool {
        self.prefix == text.prefix
            && self.digits == text.digits
            && (text.number as usize) < self.codes.len()
    }

    /// The number of a text, or one that no text has where it is not of the series.
    #[inline]
    pub(super) fn number(&self, text: Short) -> u32 {
        text.numbered().filter(|text| self.has(*text)).map_or(u32::MAX, |text| text.number)
    }

    /// The code of a number, or [`MISSING`].
    #[inline]
    pub(super) fn code(&self, number: u32) -> u32 {
        self.codes.get(number as usize).map_or(MISSING, |code| code.wrapping_sub(1))
    }

    /// Keeps the code of a number that the list has.
    pub(super) fn set(&mut self, number: u32, code: u32) {
        self.codes[number as usize] = code + 1;
    }
}
