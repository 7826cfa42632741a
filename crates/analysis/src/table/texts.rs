//! Texts as codes: each distinct text is kept once.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};
use rayon::prelude::*;

use super::cell::Span;
use super::series::Series;
use super::short::Short;

/// The code of an empty cell.
pub const MISSING: u32 = u32::MAX;

/// How many texts that came a moment ago are tried first: columns often have few distinct ones, or the same in neighbouring rows.
const RECENT: usize = 64;

/// How many blocks are taken without trying those after one in which that was of little use.
const STRAIGHT: u32 = 15;

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
    /// How many blocks are yet to be taken without trying them.
    straight: u32,
}

/// A short text and its code, side by side.
#[derive(Clone, Copy)]
struct Entry {
    text: Short,
    code: u32,
}

/// The place of a text among the recent ones.
#[inline]
fn place(text: Short) -> usize {
    (text.mixed() >> 58) as usize
}

impl Interner {
    pub(super) fn new() -> Self {
        Self {
            hasher: DefaultHashBuilder::default(),
            short: HashTable::new(),
            series: (0..=8).map(|_| None).collect(),
            long: HashTable::new(),
            bytes: Vec::new(),
            ends: Vec::new(),
            recent: Box::new([Entry { text: Short::EMPTY, code: MISSING }; RECENT]),
            straight: 0,
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

    /// Takes cells of a text and adds the code of each to `codes`; blanks around a cell do not count, and one without anything
    /// else is [`MISSING`].
    pub(super) fn add_codes(
        &mut self,
        text: &[u8],
        cells: impl Iterator<Item = Span> + Clone,
        codes: &mut Vec<u32>,
    ) {
        if self.straight > 0 {
            self.straight -= 1;
            return self.add_straight(text, cells, codes);
        }
        let (first, known) = (codes.len(), self.len());
        let mut others = 0;
        // Those that came a moment ago are done at once. Known texts have no blanks around them, so that a cell that is one of them need not be trimmed.
        codes.extend(cells.map(|cell| {
            if let Some(short) = Short::new(text, cell) {
                let recent = &self.recent[place(short)];
                if recent.text == short {
                    return recent.code;
                }
            }
            others += 1;
            self.code_of_cell(text, cell)
        }));
        let (rows, new) = (codes.len() - first, self.len() - known);
        // Of single cells and the like nothing is learnt.
        if others - new > (rows / 4).max(16) {
            self.straight = STRAIGHT;
        }
    }

    /// The same where many texts are known but did not come a moment ago. They are looked up in a loop that does nothing else,
    /// so that many accesses to memory are under way at the same time; then those that are new are taken in their order.
    fn add_straight(
        &mut self,
        text: &[u8],
        cells: impl Iterator<Item = Span> + Clone,
        codes: &mut Vec<u32>,
    ) {
        let first = codes.len();
        let shorts = cells.clone().map(|cell| Short::new(text, cell));
        match shorts.clone().next().flatten().and_then(|short| self.series_of(short)) {
            Some(series) => {
                // The loop that waits for memory is as short as can be: numbers come first.
                codes.extend(
                    shorts.map(|short| short.map_or(u32::MAX, |short| series.number(short))),
                );
                for code in &mut codes[first..] {
                    *code = series.code(*code);
                }
            }
            None => {
                let known = |short| self.known_short(short);
                codes.extend(shorts.map(|short| short.map_or(MISSING, known)));
            }
        }
        for (code, cell) in codes[first..].iter_mut().zip(cells) {
            if *code == MISSING {
                *code = self.code_of_cell(text, cell);
            }
        }
    }

    /// The series that a text is of.
    fn series_of(&self, text: Short) -> Option<&Series> {
        let numbered = text.numbered()?;
        self.series[numbered.digits as usize].as_ref().filter(|series| series.has(numbered))
    }

    /// The code of a cell's text, which may be new; apart from the loops, which stay short without it.
    #[inline(never)]
    fn code_of_cell(&mut self, text: &[u8], cell: Span) -> u32 {
        let cell = cell.trimmed(text);
        if cell.is_empty() {
            return MISSING;
        }
        self.code(Short::new(text, cell), cell.of(text))
    }

    /// The code of a text, or [`MISSING`]. What is found decides about no branch, so that a loop need not wait for it.
    #[inline]
    fn known_short(&self, text: Short) -> u32 {
        if let Some(numbered) = text.numbered()
            && let Some(series) = &self.series[numbered.digits as usize]
            && series.has(numbered)
        {
            return series.code(numbered.number);
        }
        let entry = self.short.find(self.hasher.hash_one(text), |entry| entry.text == text);
        entry.map_or(MISSING, |entry| entry.code)
    }

    /// The code of a text, which may be new.
    fn code(&mut self, text: Option<Short>, name: &[u8]) -> u32 {
        let Some(text) = text else { return self.long_code(name) };
        let code = match self.known_short(text) {
            MISSING => self.add_short(text, name),
            code => code,
        };
        self.recent[place(text)] = Entry { text, code };
        code
    }

    fn add_short(&mut self, text: Short, name: &[u8]) -> u32 {
        let code = self.add_name(name);
        if let Some(numbered) = text.numbered() {
            let series = &mut self.series[numbered.digits as usize];
            let series = series.get_or_insert_with(|| Series::new(numbered));
            if series.has(numbered) {
                series.set(numbered.number, code);
                return code;
            }
        }
        let hasher = &self.hasher;
        let entry = Entry { text, code };
        self.short.insert_unique(hasher.hash_one(text), entry, |entry| hasher.hash_one(entry.text));
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
