//! Texts as codes: each distinct text is kept once.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};
use rayon::prelude::*;

/// The code of an empty cell.
pub const MISSING: u32 = u32::MAX;

/// Stands for the code of the row before while a block is being taken.
const SAME: u32 = u32::MAX - 1;

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
    /// Rows of a block whose text is to be looked up, with the text if it is short; kept to be used again.
    waiting: Vec<(usize, Option<Short>)>,
}

/// A text of up to 16 bytes: its first eight and its last eight, or fewer where it has fewer, and its length. Together they
/// determine it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Short {
    first: u64,
    last: u64,
    length: u32,
}

/// A short text and its code, side by side.
#[derive(Clone, Copy)]
struct Entry {
    first: u64,
    last: u64,
    length: u32,
    code: u32,
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
                let first = match *text {
                    [a] => u64::from(a),
                    [a, b] => u64::from_le_bytes([a, b, 0, 0, 0, 0, 0, 0]),
                    [a, b, c] => u64::from_le_bytes([a, b, c, 0, 0, 0, 0, 0]),
                    _ => 0,
                };
                (first, 0)
            };
        Some(Self { first, last, length: length as u32 })
    }

    /// Its place among the recent ones.
    fn place(self) -> usize {
        let mixed = self.first.rotate_left(23) ^ self.last;
        (mixed.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 58) as usize
    }
}

impl Entry {
    fn new(text: Short, code: u32) -> Self {
        Self { first: text.first, last: text.last, length: text.length, code }
    }

    fn text(&self) -> Short {
        Short { first: self.first, last: self.last, length: self.length }
    }
}

impl Interner {
    pub(super) fn new() -> Self {
        let nothing = Short { first: 0, last: 0, length: 0 };
        Self {
            hasher: DefaultHashBuilder::default(),
            short: HashTable::new(),
            long: HashTable::new(),
            bytes: Vec::new(),
            ends: Vec::new(),
            recent: vec![Entry::new(nothing, MISSING); RECENT],
            waiting: Vec::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn name(&self, code: u32) -> &[u8] {
        name(&self.bytes, &self.ends, code)
    }

    /// Takes the cells of some rows and adds the code of each to `codes`; blanks around a cell do not count, and one without anything else is
    /// [`MISSING`].
    ///
    /// Cells that were there a moment ago are done at once. The others are looked up in a loop that does nothing else, so that
    /// many accesses to memory are under way at the same time; last, those that are new are taken in their order.
    pub(super) fn add_codes<'a>(
        &mut self,
        rows: usize,
        cell: impl Fn(usize) -> &'a [u8],
        codes: &mut Vec<u32>,
    ) {
        let mut waiting = std::mem::take(&mut self.waiting);
        waiting.clear();
        let first = codes.len();
        let mut repeated = false;
        let mut last = None;
        codes.extend((0..rows).map(|row| {
            let cell = cell(row).trim_ascii();
            let text = Short::new(cell);
            if let Some(text) = text {
                let recent = &self.recent[text.place()];
                if recent.text() == text {
                    last = None;
                    return recent.code;
                }
                if last == Some(text) {
                    repeated = true;
                    return SAME;
                }
            }
            last = text;
            if !cell.is_empty() {
                waiting.push((row, text));
            }
            MISSING
        }));
        let new = &mut codes[first..];
        for &(row, text) in &waiting {
            if let Some(entry) = text.and_then(|text| self.known_short(text)).copied() {
                new[row] = entry.code;
                self.recent[entry.text().place()] = entry;
            }
        }
        for &(row, text) in &waiting {
            if new[row] == MISSING {
                new[row] = self.code(text, cell(row).trim_ascii());
            }
        }
        if repeated {
            let mut before = MISSING;
            for code in new {
                *code = if *code == SAME { before } else { *code };
                before = *code;
            }
        }
        self.waiting = waiting;
    }

    fn known_short(&self, text: Short) -> Option<&Entry> {
        self.short.find(self.hasher.hash_one(text), |entry| entry.text() == text)
    }

    /// The code of a text, which may be new.
    fn code(&mut self, text: Option<Short>, name: &[u8]) -> u32 {
        let Some(text) = text else { return self.long_code(name) };
        if let Some(entry) = self.known_short(text) {
            return entry.code;
        }
        let entry = Entry::new(text, self.add_name(name));
        let hasher = &self.hasher;
        let hash = hasher.hash_one(text);
        self.short.insert_unique(hash, entry, |entry| hasher.hash_one(entry.text()));
        self.recent[text.place()] = entry;
        entry.code
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
            Some(short) => self.known_short(short).map(|entry| entry.code),
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

    /// Takes the texts of another, and gives for each of its codes the one it has here. After the last, nothing is looked up again,
    /// and new texts need no place in the table.
    pub(super) fn absorb(&mut self, other: &Self, last: bool) -> Vec<u32> {
        let known = |code| self.known(other.name(code)).unwrap_or(MISSING);
        let mut codes: Vec<u32> =
            (0..other.len() as u32).into_par_iter().with_min_len(4_096).map(known).collect();
        for (code, here) in codes.iter_mut().enumerate().filter(|(_, here)| **here == MISSING) {
            let name = other.name(code as u32);
            *here = if last { self.add_name(name) } else { self.code(Short::new(name), name) };
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
