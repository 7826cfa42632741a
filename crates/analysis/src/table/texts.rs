//! Texts as codes: each distinct text is kept once.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

/// The code of an empty cell.
pub const MISSING: u32 = u32::MAX;

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
pub(super) struct Interner {
    hasher: DefaultHashBuilder,
    table: HashTable<u32>,
    bytes: Vec<u8>,
    ends: Vec<usize>,
    hashes: Vec<u64>,
    last: u32,
}

impl Interner {
    pub(super) fn new() -> Self {
        Self {
            hasher: DefaultHashBuilder::default(),
            table: HashTable::new(),
            bytes: Vec::new(),
            ends: Vec::new(),
            hashes: Vec::new(),
            last: MISSING,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn name(&self, code: u32) -> &[u8] {
        name(&self.bytes, &self.ends, code)
    }

    /// The code of a text, and whether it is new. Neighbouring rows often share a text, so the last one is tried first.
    pub(super) fn code(&mut self, text: &[u8]) -> (u32, bool) {
        if self.last != MISSING && self.name(self.last) == text {
            return (self.last, false);
        }
        let hash = self.hasher.hash_one(text);
        let (bytes, ends, hashes) = (&self.bytes, &self.ends, &self.hashes);
        let found = self
            .table
            .find(hash, |&code| hashes[code as usize] == hash && name(bytes, ends, code) == text);
        if let Some(&code) = found {
            self.last = code;
            return (code, false);
        }
        let code = self.ends.len() as u32;
        self.bytes.extend_from_slice(text);
        self.ends.push(self.bytes.len());
        self.hashes.push(hash);
        let hashes = &self.hashes;
        self.table.insert_unique(hash, code, |&code| hashes[code as usize]);
        self.last = code;
        (code, true)
    }

    /// The texts, as strings; those that are not UTF-8 were refused when they came.
    pub(super) fn into_names(self) -> Vec<String> {
        let name = |code| String::from_utf8_lossy(self.name(code)).into_owned();
        (0..self.ends.len() as u32).map(name).collect()
    }
}

fn name<'a>(bytes: &'a [u8], ends: &[usize], code: u32) -> &'a [u8] {
    let index = code as usize;
    let start = if index == 0 { 0 } else { ends[index - 1] };
    &bytes[start..ends[index]]
}
