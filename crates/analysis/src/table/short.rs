//! Texts of up to 16 bytes as two words, and the number that many of them end in.

use super::cell::Span;

const ZEROS: u64 = 0x3030_3030_3030_3030;
const SIXES: u64 = 0x0606_0606_0606_0606;
const HIGH_HALVES: u64 = 0xF0F0_F0F0_F0F0_F0F0;

/// A text of up to 16 bytes. The two words determine it, so that comparing it is comparing these.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Short {
    /// The last eight bytes, or fewer where it has fewer; the last is the highest.
    pub(super) tail: u64,
    /// The bytes before them, in the same way. The lowest is the length, unless there are 16 bytes.
    pub(super) head: u64,
}

impl Short {
    /// No text.
    pub(super) const EMPTY: Self = Self { tail: 0, head: 0 };

    /// The text of a cell, unless it is too long. One of 16 bytes whose first could be taken for a length counts as too long.
    #[inline]
    pub(super) fn new(text: &[u8], cell: Span) -> Option<Self> {
        let length = cell.len();
        let (head, tail) = cell.last_words(text);
        if length < 16 {
            return Some(Self { tail, head: head | length as u64 });
        }
        (length == 16 && head & 0xFF >= 16).then_some(Self { tail, head })
    }

    /// The words mixed, the highest bits best.
    #[inline]
    pub(super) fn mixed(self) -> u64 {
        (self.head.rotate_left(23) ^ self.tail).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }

    /// The text as the digits it ends in, up to eight, and what is before them. None without digits.
    #[inline]
    pub(super) fn numbered(self) -> Option<Numbered> {
        let other = ((self.tail & HIGH_HALVES) ^ ZEROS)
            | ((self.tail.wrapping_add(SIXES) & HIGH_HALVES) ^ ZEROS);
        let digits = other.leading_zeros() / 8;
        if digits == 0 {
            return None;
        }
        let of_digits = u64::MAX << (64 - 8 * digits);
        let prefix = Self { tail: self.tail & !of_digits, ..self };
        Some(Numbered { prefix, digits, number: number((self.tail ^ ZEROS) & of_digits) })
    }
}

/// A text that ends in digits.
#[derive(Clone, Copy)]
pub(super) struct Numbered {
    /// What is before the digits, with the length of the whole.
    pub(super) prefix: Short,
    /// How many digits, 1 to 8.
    pub(super) digits: u32,
    /// The number they say.
    pub(super) number: u32,
}

/// The number of eight digits, the first of which is the lowest byte: pairs, fours and eights are put together at once.
fn number(digits: u64) -> u32 {
    let pairs = digits.wrapping_mul(10 * 256 + 1) >> 8;
    let fours = (pairs & 0x00FF_00FF_00FF_00FF).wrapping_mul(100 * 65_536 + 1) >> 16;
    let eight = (fours & 0x0000_FFFF_0000_FFFF).wrapping_mul(10_000 * 4_294_967_296 + 1) >> 32;
    eight as u32
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn short(text: &[u8]) -> Option<Short> {
        Short::new(text, Span::whole(text))
    }

    #[test]
    fn words_determine_the_text() {
        let mut seen = std::collections::HashMap::new();
        for length in 0..=16 {
            for change in 0..length.max(1) {
                let mut text = vec![b'x'; length];
                if let Some(byte) = text.get_mut(change) {
                    *byte = b'y';
                }
                let other = seen.insert(short(&text).unwrap(), text.clone());
                assert!(other.is_none_or(|other| other == text));
            }
        }
        assert!(short(&[b'x'; 17]).is_none());
        assert!(short(b"\x0Fxxxxxxxxxxxxxxx").is_none());
        assert!(short(b"\x10xxxxxxxxxxxxxxx").is_some());
    }

    #[test]
    fn texts_are_taken_apart_at_their_digits() {
        let of = |text: &str| short(text.as_bytes()).unwrap().numbered();
        let numbers = [
            ("7", 1, 7),
            ("42", 2, 42),
            ("007", 3, 7),
            ("q17", 2, 17),
            ("item-076826", 6, 76_826),
            ("12345678", 8, 12_345_678),
            ("99999999", 8, 99_999_999),
            ("a-1234567890", 8, 34_567_890),
            ("1x9/:2", 1, 2),
        ];
        for (text, digits, number) in numbers {
            let parts = of(text).unwrap();
            assert_eq!((parts.digits, parts.number), (digits, number), "{text}");
        }
        for text in ["", "x", "12x", "item/", "3:", "é"] {
            assert!(of(text).is_none(), "{text}");
        }
    }

    /// Two texts with as many digits have the same prefix exactly when what is before the digits is the same.
    #[test]
    fn prefixes_are_what_is_before_the_digits() {
        let prefixes =
            ["", "q", "p", "item-", "item_", "it", "long-name", "long-nome", "x12345678-"];
        for first in prefixes {
            for second in prefixes {
                let of = |prefix: &str, number: &str| {
                    let text = format!("{prefix}{number}");
                    short(text.as_bytes()).unwrap().numbered().unwrap()
                };
                let (a, b) = (of(first, "012345"), of(second, "987654"));
                assert_eq!((a.digits, b.digits), (6, 6));
                assert_eq!(a.prefix == b.prefix, first == second, "{first} {second}");
            }
        }
    }
}
