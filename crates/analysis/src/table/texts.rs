//! Texts as codes: each distinct text is kept once.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};
use rayon::prelude::*;

/// The code of an empty cell.
pub const MISSING: u32 = u32::MAX;

/// How many texts that came a moment ago are tried first: columns often have few distinct ones, or the same in neighbouring rows.
const RECENT: usize = 64;

/// A column of texts: a code for each row, and what each code stands for.
#[derive(Debug, Default)]
pub struct Texts {
    /// For each row the index of its text in `names`, or [`MISSING`].
    pub codes: Vec<u32>,
    /// The distinct texts, in the order of their first appearance.
    pub names: Vec<String>,
}

impl Texts {
    /// The text of a row; none where the cell is empty.
    #[must_use]
    pub fn get(&self, row: usize) -> Option<&str> {
        let code = *self.codes.get(row)?;
        self.names.get(code as usize).map(String::as_str)
    }

    /// The first row that has a code.
    #[must_use]
    pub fn first_row(&self, code: u32) -> Option<usize> {
        self.codes.iter().position(|other| *other == code)
    }
}

/// Distinct byte strings, numbered in the order of their first appearance.
///
/// Most names are short. Those of up to 16 bytes are in the table itself, so that finding one touches one place in memory and
/// not three: with many distinct names that is most of the time it takes to read a file.
pub(super) struct Interner {
    hasher: DefaultHashBuilder,
    short: HashTable<Entry>,
    /// Codes of texts that are too long for the table.
    long: HashTable<u32>,
    bytes: Vec<u8>,
    ends: Vec<usize>,
    /// Short texts that came a moment ago, each in its place.
    recent: Vec<Entry>,
    /// Room for the cells of a block, used again for the next.
    keys: Vec<Option<Short>>,
}

/// A short text and its code.
#[derive(Clone, Copy)]
struct Entry {
    text: Short,
    code: u32,
}

/// A text of up to 16 bytes: its first eight and its last eight, or fewer where it has fewer, and its length. Together they
/// determine it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Short {
    first: u64,
    last: u64,
    length: u32,
}

impl Short {
    fn new(text: &[u8]) -> Option<Self> {
        let length = text.len();
        if length > 16 {
            return None;
        }
        let (first, last) =
            if let (Some(first), Some(last)) = (text.first_chunk(), text.last_chunk()) {
                (u64::from_le_bytes(*first), u64::from_le_bytes(*last))
            } else if let (Some(first), Some(last)) = (text.first_chunk(), text.last_chunk()) {
                (u64::from(u32::from_le_bytes(*first)), u64::from(u32::from_le_bytes(*last)))
            } else {
                (text.iter().fold(0, |sum, &byte| sum << 8 | u64::from(byte)), 0)
            };
        Some(Self { first, last, length: length as u32 })
    }

    /// Its place among the recent ones.
    fn place(self) -> usize {
        ((self.first ^ self.last).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 58) as usize
    }
}

impl Interner {
    pub(super) fn new() -> Self {
        Self {
            hasher: DefaultHashBuilder::default(),
            short: HashTable::new(),
            long: HashTable::new(),
            bytes: Vec::new(),
            ends: Vec::new(),
            recent: vec![
                Entry { text: Short { first: 0, last: 0, length: 0 }, code: MISSING };
                RECENT
            ],
            keys: Vec::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn name(&self, code: u32) -> &[u8] {
        name(&self.bytes, &self.ends, code)
    }

    /// Takes cells and adds the code of each to `codes`; blanks around a cell do not count, and one without anything else is
    /// [`MISSING`].
    ///
    /// What is known is looked up first, in a loop that does nothing else, so that many accesses to memory are under way at once.
    pub(super) fn add_codes(&mut self, cells: &[&[u8]], codes: &mut Vec<u32>) {
        let mut keys = std::mem::take(&mut self.keys);
        keys.clear();
        keys.extend(cells.iter().map(|cell| Short::new(cell.trim_ascii())));
        let first = codes.len();
        codes.extend(keys.iter().map(|key| self.known_short(*key)));
        let new = codes[first..].iter_mut().zip(cells.iter().zip(&keys));
        for (code, (cell, key)) in new.filter(|(code, _)| **code == MISSING) {
            let cell = cell.trim_ascii();
            *code = match key {
                _ if cell.is_empty() => MISSING,
                Some(text) => self.short_code(*text, cell),
                None => self.long_code(cell),
            };
        }
        self.keys = keys;
    }

    /// The code of a short text that is there already, or else [`MISSING`].
    fn known_short(&mut self, text: Option<Short>) -> u32 {
        let Some(text) = text else { return MISSING };
        let recent = &mut self.recent[text.place()];
        if recent.text != text {
            let hash = self.hasher.hash_one(text);
            let Some(entry) = self.short.find(hash, |entry| entry.text == text) else {
                return MISSING;
            };
            *recent = *entry;
        }
        recent.code
    }

    fn short_code(&mut self, text: Short, name: &[u8]) -> u32 {
        let hash = self.hasher.hash_one(text);
        if let Some(entry) = self.short.find(hash, |entry| entry.text == text) {
            return entry.code;
        }
        let code = self.add_name(name);
        let hasher = &self.hasher;
        self.short.insert_unique(hash, Entry { text, code }, |entry| hasher.hash_one(entry.text));
        code
    }

    fn long_code(&mut self, text: &[u8]) -> u32 {
        let hash = self.hasher.hash_one(text);
        if let Some(code) = self.known_long(hash, text) {
            return code;
        }
        let code = self.add_name(text);
        let (hasher, bytes, ends) = (&self.hasher, &self.bytes, &self.ends);
        self.long.insert_unique(hash, code, |&code| hasher.hash_one(name(bytes, ends, code)));
        code
    }

    /// The code of a text that is there already.
    fn known(&self, text: &[u8]) -> Option<u32> {
        match Short::new(text) {
            Some(short) => {
                let hash = self.hasher.hash_one(short);
                self.short.find(hash, |entry| entry.text == short).map(|entry| entry.code)
            }
            None => self.known_long(self.hasher.hash_one(text), text),
        }
    }

    fn known_long(&self, hash: u64, text: &[u8]) -> Option<u32> {
        self.long.find(hash, |&code| self.name(code) == text).copied()
    }

    fn add_name(&mut self, text: &[u8]) -> u32 {
        self.bytes.extend_from_slice(text);
        self.ends.push(self.bytes.len());
        self.ends.len() as u32 - 1
    }

    /// Takes the texts of another, and gives for each of its codes the one it has here.
    pub(super) fn absorb(&mut self, other: &Self) -> Vec<u32> {
        let known = |code| self.known(other.name(code)).unwrap_or(MISSING);
        let mut codes: Vec<u32> =
            (0..other.len() as u32).into_par_iter().with_min_len(4_096).map(known).collect();
        for (code, here) in codes.iter_mut().enumerate().filter(|(_, here)| **here == MISSING) {
            let name = other.name(code as u32);
            *here = match Short::new(name) {
                Some(text) => self.short_code(text, name),
                None => self.long_code(name),
            };
        }
        codes
    }

    /// The texts, as strings; those that are not UTF-8 were refused when they came.
    pub(super) fn into_names(self) -> Vec<String> {
        let name = |code| String::from_utf8_lossy(self.name(code)).into_owned();
        (0..self.ends.len() as u32).into_par_iter().with_min_len(4_096).map(name).collect()
    }
}

fn name<'a>(bytes: &'a [u8], ends: &[usize], code: u32) -> &'a [u8] {
    let index = code as usize;
    let start = if index == 0 { 0 } else { ends[index - 1] };
    &bytes[start..ends[index]]
}
