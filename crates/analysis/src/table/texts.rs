//! Texts as codes: each distinct text is kept once.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};
use rayon::prelude::*;

use super::cell::Span;
use super::short::{Numbered, Short};

/// The code of an empty cell.
pub const MISSING: u32 = u32::MAX;

/// The numbers of a series, those below this, are in a list; memory is taken up only where there are some.
const SERIES: usize = 1 << 20;

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
    pub names: Names,
}

/// Distinct texts in one piece of memory: a million of them are not a million allocations.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Names {
    text: String,
    ends: Vec<usize>,
}

impl Names {
    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// There are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The text of a code.
    #[must_use]
    pub fn get(&self, code: usize) -> Option<&str> {
        let start = code.checked_sub(1).map_or(Some(0), |before| self.ends.get(before).copied())?;
        self.text.get(start..*self.ends.get(code)?)
    }

    /// The texts, in the order of their codes.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).filter_map(|code| self.get(code))
    }
}

impl Texts {
    /// The text of a row; none where the cell is empty.
    #[must_use]
    pub fn get(&self, row: usize) -> Option<&str> {
        let code = *self.codes.get(row)?;
        self.names.get(code as usize)
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
    /// For each number of digits the first series that came.
    series: Vec<Option<Series>>,
    /// Codes of texts that are too long for the table.
    long: HashTable<u32>,
    bytes: Vec<u8>,
    ends: Vec<usize>,
    /// Short texts that came a moment ago, each in its place.
    recent: Box<[Entry; RECENT]>,
    /// Rows of a block whose text is to be looked up, with the text if it is short; kept to be used again.
    waiting: Vec<(usize, Option<Short>)>,
}

/// A short text and its code, side by side.
#[derive(Clone, Copy)]
struct Entry {
    tail: u64,
    head: u64,
    length: u32,
    code: u32,
}

/// The place of a text among the recent ones.
fn place(text: Short) -> usize {
    let mixed = text.head.rotate_left(23) ^ text.tail;
    (mixed.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 58) as usize
}

/// Texts that differ only in the number they end in, with as many digits: their codes are found without a search.
struct Series {
    prefix: Short,
    /// For each number the code and 1 more, or 0, which is 1 more than [`MISSING`].
    codes: Vec<u32>,
}

impl Entry {
    fn new(text: Short, code: u32) -> Self {
        Self { tail: text.tail, head: text.head, length: text.length, code }
    }

    fn text(&self) -> Short {
        Short { tail: self.tail, head: self.head, length: self.length }
    }
}

impl Interner {
    pub(super) fn new() -> Self {
        let nothing = Short { tail: 0, head: 0, length: 0 };
        Self {
            hasher: DefaultHashBuilder::default(),
            short: HashTable::new(),
            series: (0..=8).map(|_| None).collect(),
            long: HashTable::new(),
            bytes: Vec::new(),
            ends: Vec::new(),
            recent: Box::new([Entry::new(nothing, MISSING); RECENT]),
            waiting: Vec::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn name(&self, code: u32) -> &[u8] {
        span(&self.ends, code).of(&self.bytes)
    }

    /// The first of the texts from `known` on that is not UTF-8.
    pub(super) fn foreign(&self, known: usize) -> Option<u32> {
        let start = known.checked_sub(1).map_or(0, |before| self.ends[before]);
        if self.bytes[start..].is_ascii() {
            return None;
        }
        let is_foreign = |code: &u32| std::str::from_utf8(self.name(*code)).is_err();
        (known as u32..self.len() as u32).find(is_foreign)
    }

    /// Takes the cells of some rows of a text and adds the code of each to `codes`; blanks around a cell do not count, and one
    /// without anything else is [`MISSING`].
    ///
    /// Cells that were there a moment ago are done at once. The others are looked up in a loop that does nothing else, so that
    /// many accesses to memory are under way at the same time; last, those that are new are taken in their order.
    pub(super) fn add_codes(
        &mut self,
        text: &[u8],
        rows: usize,
        cell: impl Fn(usize) -> Span,
        codes: &mut Vec<u32>,
    ) {
        let mut waiting = std::mem::take(&mut self.waiting);
        waiting.clear();
        let first = codes.len();
        let mut repeated = false;
        let mut last = None;
        codes.resize(first + rows, MISSING);
        let new = &mut codes[first..];
        let recent = &*self.recent;
        for (row, code) in new.iter_mut().enumerate() {
            let cell = cell(row).trimmed(text);
            let short = Short::new(text, cell);
            if let Some(short) = short {
                let recent = &recent[place(short)];
                if recent.text() == short {
                    last = None;
                    *code = recent.code;
                    continue;
                }
                if last == Some(short) {
                    repeated = true;
                    *code = SAME;
                    continue;
                }
            }
            last = short;
            if !cell.is_empty() {
                waiting.push((row, short));
            }
        }
        for &(row, short) in &waiting {
            new[row] = short.map_or(MISSING, |short| self.known_short(short));
        }
        for &(row, short) in &waiting {
            if new[row] == MISSING {
                new[row] = self.code(short, cell(row).trimmed(text).of(text));
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

    /// The code of a text, or [`MISSING`]. What is found decides about no branch, so that a loop need not wait for it.
    fn known_short(&self, text: Short) -> u32 {
        if let Some(numbered) = text.numbered()
            && let Some(series) = &self.series[numbered.digits as usize]
            && series.prefix == numbered.prefix
            && let Some(&code) = series.codes.get(numbered.number as usize)
        {
            return code.wrapping_sub(1);
        }
        let entry = self.short.find(self.hasher.hash_one(text), |entry| entry.text() == text);
        entry.map_or(MISSING, |entry| entry.code)
    }

    /// The code of a text, which may be new.
    fn code(&mut self, text: Option<Short>, name: &[u8]) -> u32 {
        let Some(text) = text else { return self.long_code(name) };
        let code = match self.known_short(text) {
            MISSING => self.add_short(text, name),
            code => code,
        };
        self.recent[place(text)] = Entry::new(text, code);
        code
    }

    fn add_short(&mut self, text: Short, name: &[u8]) -> u32 {
        let code = self.add_name(name);
        if let Some(numbered) = text.numbered() {
            let Numbered { prefix, digits, number } = numbered;
            let series = self.series[digits as usize].get_or_insert_with(|| Series {
                prefix,
                codes: vec![0; SERIES.min(10usize.pow(digits))],
            });
            if series.prefix == prefix
                && let Some(place) = series.codes.get_mut(number as usize)
            {
                *place = code + 1;
                return code;
            }
        }
        let hasher = &self.hasher;
        let entry = Entry::new(text, code);
        self.short
            .insert_unique(hasher.hash_one(text), entry, |entry| hasher.hash_one(entry.text()));
        code
    }

    fn long_code(&mut self, text: &[u8]) -> u32 {
        if let Some(code) = self.known_long(text) {
            return code;
        }
        let code = self.add_name(text);
        let (hasher, bytes, ends) = (&self.hasher, &self.bytes, &self.ends);
        let hash = |&code: &u32| hasher.hash_one(span(ends, code).of(bytes));
        self.long.insert_unique(hash(&code), code, hash);
        code
    }

    fn known_long(&self, text: &[u8]) -> Option<u32> {
        self.long.find(self.hasher.hash_one(text), |&code| self.name(code) == text).copied()
    }

    fn add_name(&mut self, text: &[u8]) -> u32 {
        self.bytes.extend_from_slice(text);
        self.ends.push(self.bytes.len());
        self.ends.len() as u32 - 1
    }

    /// Takes the texts of another, and gives for each of its codes the one it has here. After the last, nothing is looked up again,
    /// and new texts need no place in the table.
    pub(super) fn absorb(&mut self, other: &Self, last: bool) -> Vec<u32> {
        let short = |code| Short::new(&other.bytes, span(&other.ends, code));
        let known = |code| match short(code) {
            Some(short) => self.known_short(short),
            None => self.known_long(other.name(code)).unwrap_or(MISSING),
        };
        let mut codes: Vec<u32> =
            (0..other.len() as u32).into_par_iter().with_min_len(4_096).map(known).collect();
        for (code, here) in codes.iter_mut().enumerate().filter(|(_, here)| **here == MISSING) {
            let code = code as u32;
            let name = other.name(code);
            *here = if last { self.add_name(name) } else { self.code(short(code), name) };
        }
        codes
    }

    /// The texts; those that are not UTF-8 were refused when they came.
    pub(super) fn into_names(self) -> Names {
        Names { text: String::from_utf8(self.bytes).unwrap_or_default(), ends: self.ends }
    }
}

/// Where the text of a code is.
fn span(ends: &[usize], code: u32) -> Span {
    let index = code as usize;
    Span { start: if index == 0 { 0 } else { ends[index - 1] }, end: ends[index] }
}
