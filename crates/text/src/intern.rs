//! Numbers for tokens: equal tokens of a pair of texts get equal small numbers, so that everything after it
//! compares integers.

use std::hash::{BuildHasher, RandomState};

const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;
const FIRST_SLOTS: usize = 128;

/// Above this many slots the memory is given back after use.
const KEPT_SLOTS: usize = 1 << 17;

/// The tokens met since the last `clear`, numbered from 1 in the order of their first occurrence.
///
/// A table of its own, because it is cleared for every pair of texts: a slot counts only when it bears the current
/// round, so that clearing costs nothing.
pub(crate) struct Interner {
    slots: Vec<Slot>,
    round: u32,
    largest: u32,
    bytes: Vec<u8>,
    seed: u64,
}

/// A token of up to eight bytes is its own key; a longer one has a hash as key, and its bytes in `Interner::bytes`.
#[derive(Clone, Copy, Default)]
struct Slot {
    key: u64,
    round: u32,
    number: u32,
    length: usize,
    offset: usize,
}

impl Default for Interner {
    /// The seed differs in each instance, so that nobody can prepare a text whose tokens collide.
    fn default() -> Self {
        let seed = RandomState::new().hash_one(MULTIPLIER);
        Self {
            slots: vec![Slot::default(); FIRST_SLOTS],
            round: 1,
            largest: 0,
            bytes: Vec::new(),
            seed,
        }
    }
}

impl Interner {
    /// Forgets all tokens.
    pub(crate) fn clear(&mut self) {
        if self.slots.len() > KEPT_SLOTS || self.round == u32::MAX {
            *self = Self::default();
        }
        self.round += 1;
        self.largest = 0;
        self.bytes.clear();
    }

    /// The largest number given out.
    pub(crate) fn largest(&self) -> u32 {
        self.largest
    }

    /// The number of the token `text[start..end]`.
    #[inline]
    pub(crate) fn number(&mut self, text: &[u8], start: usize, end: usize) -> u32 {
        let length = end - start;
        if length <= 8 {
            self.short(short_key(text, start, length), length)
        } else {
            self.long(&text[start..end])
        }
    }

    #[inline]
    fn short(&mut self, key: u64, length: usize) -> u32 {
        let mut index = self.first_slot(key, length);
        loop {
            let slot = &self.slots[index];
            if slot.round != self.round {
                return self.insert(index, Slot { key, length, ..Slot::default() });
            }
            if slot.key == key && slot.length == length {
                return slot.number;
            }
            index = (index + 1) & (self.slots.len() - 1);
        }
    }

    fn long(&mut self, token: &[u8]) -> u32 {
        let (key, length) = (self.long_key(token), token.len());
        let mut index = self.first_slot(key, length);
        loop {
            let slot = &self.slots[index];
            if slot.round != self.round {
                let offset = self.bytes.len();
                self.bytes.extend_from_slice(token);
                return self.insert(index, Slot { key, length, offset, ..Slot::default() });
            }
            if slot.key == key
                && slot.length == length
                && self.bytes[slot.offset..slot.offset + length] == *token
            {
                return slot.number;
            }
            index = (index + 1) & (self.slots.len() - 1);
        }
    }

    fn long_key(&self, token: &[u8]) -> u64 {
        let (chunks, rest) = token.as_chunks::<8>();
        let start = chunks
            .iter()
            .fold(self.seed, |key, chunk| fold(key ^ u64::from_le_bytes(*chunk), MULTIPLIER));
        fold(start ^ short_key(rest, 0, rest.len()), MULTIPLIER)
    }

    #[inline]
    fn first_slot(&self, key: u64, length: usize) -> usize {
        fold(key ^ self.seed, MULTIPLIER ^ length as u64) as usize & (self.slots.len() - 1)
    }

    fn insert(&mut self, index: usize, slot: Slot) -> u32 {
        self.largest += 1;
        let number = self.largest;
        self.slots[index] = Slot { round: self.round, number, ..slot };
        if self.largest as usize * 2 > self.slots.len() {
            self.grow();
        }
        number
    }

    fn grow(&mut self) {
        let empty = vec![Slot::default(); self.slots.len() * 4];
        let old = std::mem::replace(&mut self.slots, empty);
        for slot in old.into_iter().filter(|slot| slot.round == self.round) {
            let mut index = self.first_slot(slot.key, slot.length);
            while self.slots[index].round == self.round {
                index = (index + 1) & (self.slots.len() - 1);
            }
            self.slots[index] = slot;
        }
    }
}

/// Up to eight bytes as one integer.
#[inline]
fn short_key(text: &[u8], start: usize, length: usize) -> u64 {
    let unused_bits = 64 - 8 * length as u32;
    if length == 0 {
        return 0;
    }
    match text[start..].first_chunk::<8>() {
        Some(chunk) => u64::from_le_bytes(*chunk) << unused_bits >> unused_bits,
        None => text[start..start + length]
            .iter()
            .rev()
            .fold(0, |key, &byte| key << 8 | u64::from(byte)),
    }
}

#[inline]
fn fold(left: u64, right: u64) -> u64 {
    let product = u128::from(left) * u128::from(right);
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_tokens_get_equal_numbers_wherever_they_stand() {
        let mut interner = Interner::default();
        let texts = ["the", "there", "internationalization", "the\0", "", "eightish", "ninecharsx"];
        for (index, text) in texts.iter().enumerate() {
            assert_eq!(interner.number(text.as_bytes(), 0, text.len()), index as u32 + 1, "{text}");
        }
        for (index, text) in texts.iter().enumerate() {
            let longer = format!("xy{text} and more after it");
            assert_eq!(
                interner.number(longer.as_bytes(), 2, 2 + text.len()),
                index as u32 + 1,
                "{text}"
            );
        }
        interner.clear();
        assert_eq!(interner.number(b"other", 0, 5), 1);
    }

    #[test]
    fn numbers_outlive_growth() {
        let mut interner = Interner::default();
        let tokens: Vec<String> =
            (0..5_000).map(|number| format!("{:x<1$}", number, number % 13)).collect();
        for _ in 0..2 {
            for (index, token) in tokens.iter().enumerate() {
                assert_eq!(
                    interner.number(token.as_bytes(), 0, token.len()),
                    index as u32 + 1,
                    "{token}"
                );
            }
        }
    }
}
