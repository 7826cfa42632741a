//! Texts of up to 16 bytes as two words, and the number that many of them end in.

const ZEROS: u64 = 0x3030_3030_3030_3030;
const SIXES: u64 = 0x0606_0606_0606_0606;
const HIGH_HALVES: u64 = 0xF0F0_F0F0_F0F0_F0F0;

/// A text of up to 16 bytes. Its words and its length together determine it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Short {
    /// The last eight bytes, or fewer where it has fewer; the last is the highest.
    pub(super) tail: u64,
    /// The first eight bytes, the first is the lowest; 0 where it has fewer.
    pub(super) head: u64,
    pub(super) length: u32,
}

impl Short {
    /// The text, unless it is too long.
    pub(super) fn new(text: &[u8]) -> Option<Self> {
        let length = text.len();
        if length > 16 {
            return None;
        }
        let (tail, head) =
            if let (Some(first), Some(last)) = (text.first_chunk(), text.last_chunk()) {
                (u64::from_le_bytes(*last), u64::from_le_bytes(*first))
            } else if let (Some(first), Some(last)) = (text.first_chunk(), text.last_chunk()) {
                let (first, last) = (u32::from_le_bytes(*first), u32::from_le_bytes(*last));
                let all = u64::from(first) | u64::from(last) << (8 * (length - 4));
                (all << (64 - 8 * length), 0)
            } else {
                let tail = match *text {
                    [a] => [0, 0, 0, 0, 0, 0, 0, a],
                    [a, b] => [0, 0, 0, 0, 0, 0, a, b],
                    [a, b, c] => [0, 0, 0, 0, 0, a, b, c],
                    _ => [0; 8],
                };
                (u64::from_le_bytes(tail), 0)
            };
        Some(Self { tail, head, length: length as u32 })
    }

    /// The text as the digits it ends in, up to eight, and what is before them. None without digits.
    pub(super) fn numbered(self) -> Option<Numbered> {
        let other = ((self.tail & HIGH_HALVES) ^ ZEROS)
            | ((self.tail.wrapping_add(SIXES) & HIGH_HALVES) ^ ZEROS);
        let digits = other.leading_zeros() / 8;
        if digits == 0 {
            return None;
        }
        let of_digits = u64::MAX << (64 - 8 * digits);
        let before = (self.length - digits).min(8);
        let of_prefix = if before == 8 { u64::MAX } else { (1 << (8 * before)) - 1 };
        let prefix =
            Self { tail: self.tail & !of_digits, head: self.head & of_prefix, length: self.length };
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

    #[test]
    fn words_determine_the_text() {
        let mut seen = std::collections::HashMap::new();
        for length in 0..=16 {
            for change in 0..length.max(1) {
                let mut text = vec![b'x'; length];
                if let Some(byte) = text.get_mut(change) {
                    *byte = b'y';
                }
                let other = seen.insert(Short::new(&text).unwrap(), text.clone());
                assert!(other.is_none_or(|other| other == text));
            }
        }
        assert!(Short::new(&[b'x'; 17]).is_none());
    }

    #[test]
    fn texts_are_taken_apart_at_their_digits() {
        let of = |text: &str| Short::new(text.as_bytes()).unwrap().numbered();
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
                    Short::new(format!("{prefix}{number}").as_bytes()).unwrap().numbered().unwrap()
                };
                let (a, b) = (of(first, "012345"), of(second, "987654"));
                assert_eq!((a.digits, b.digits), (6, 6));
                assert_eq!(a.prefix == b.prefix, first == second, "{first} {second}");
            }
        }
    }
}
