//! Numbers for tokens: equal tokens of a pair of texts get equal small numbers, so that everything after it compares integers.

use std::hash::{BuildHasher, RandomState};

use hashbrown::HashTable;

const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;

/// Above this many tokens the memory is given back after use.
const KEPT_TOKENS: usize = 1 << 16;

/// The tokens met since the last `clear`, numbered from 1 in the order of their first occurrence.
pub(crate) struct Interner {
    table: HashTable<u32>,
    tokens: Vec<Token>,
    bytes: Vec<u8>,
    seed: u64,
}

/// A token of up to eight bytes is its own key; a longer one has a hash as key, and its bytes in `Interner::bytes`.
struct Token {
    key: u64,
    length: usize,
    offset: usize,
}

impl Default for Interner {
    /// The seed differs in each instance, so that nobody can prepare a text whose tokens collide.
    fn default() -> Self {
        let seed = RandomState::new().hash_one(MULTIPLIER);
        Self { table: HashTable::new(), tokens: Vec::new(), bytes: Vec::new(), seed }
    }
}

impl Interner {
    /// Forgets all tokens.
    pub(crate) fn clear(&mut self) {
        if self.tokens.len() > KEPT_TOKENS {
            *self = Self::default();
        }
        self.table.clear();
        self.tokens.clear();
        self.bytes.clear();
    }

    /// The largest number given out.
    pub(crate) fn largest(&self) -> u32 {
        self.tokens.len() as u32
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
        let hash = fold(key ^ self.seed, MULTIPLIER ^ length as u64);
        let tokens = &self.tokens;
        let same = |&number: &u32| {
            let token = &tokens[number as usize - 1];
            token.key == key && token.length == length
        };
        if let Some(&number) = self.table.find(hash, same) {
            return number;
        }
        self.insert(hash, Token { key, length, offset: 0 })
    }

    fn long(&mut self, token: &[u8]) -> u32 {
        let mut key = self.seed;
        let (chunks, rest) = token.as_chunks::<8>();
        for chunk in chunks {
            key = fold(key ^ u64::from_le_bytes(*chunk), MULTIPLIER);
        }
        key = fold(key ^ short_key(rest, 0, rest.len()), MULTIPLIER ^ token.len() as u64);
        let (tokens, bytes) = (&self.tokens, &self.bytes);
        let same = |&number: &u32| {
            let known = &tokens[number as usize - 1];
            known.key == key
                && known.length == token.len()
                && bytes[known.offset..known.offset + known.length] == *token
        };
        if let Some(&number) = self.table.find(key, same) {
            return number;
        }
        let offset = self.bytes.len();
        self.bytes.extend_from_slice(token);
        self.insert(key, Token { key, length: token.len(), offset })
    }

    fn insert(&mut self, hash: u64, token: Token) -> u32 {
        self.tokens.push(token);
        let number = self.largest();
        let (tokens, seed) = (&self.tokens, self.seed);
        let rehash = |&number: &u32| {
            let token = &tokens[number as usize - 1];
            if token.length <= 8 {
                fold(token.key ^ seed, MULTIPLIER ^ token.length as u64)
            } else {
                token.key
            }
        };
        self.table.insert_unique(hash, number, rehash);
        number
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
}
