//! Cells collected into columns, by one part of the file at a time.

use rayon::prelude::*;

use super::cell::Span;
use super::lines::Lines;
use super::texts::{Interner, MISSING, Texts};
use super::{Column, Kind, Wanted};

/// What is wrong with a line of a part.
pub(super) struct Broken {
    /// The line within the part, counted from 0.
    pub(super) line: u32,
    pub(super) field: Option<String>,
    pub(super) message: String,
    pub(super) hint: String,
}

/// The columns of one part of a file.
pub(super) struct Part {
    pub(super) lines: Lines,
    /// Lines the part has, with blank ones.
    pub(super) line_count: u32,
    cells: Vec<Cells>,
    /// The first line that is broken.
    pub(super) broken: Option<Broken>,
}

enum Cells {
    Texts { codes: Vec<u32>, interner: Interner },
    Numbers(Vec<f64>),
}

/// What is wrong with a cell, and what to do about it.
type Wrong = (String, String);

impl Part {
    pub(super) fn new(wanted: &[&Wanted]) -> Self {
        Self::with_capacity(wanted, 0)
    }

    /// A part with room for so many lines.
    pub(super) fn with_capacity(wanted: &[&Wanted], lines: usize) -> Self {
        let cells = |wanted: &&Wanted| match wanted.kind {
            Kind::Text => {
                Cells::Texts { codes: Vec::with_capacity(lines), interner: Interner::new() }
            }
            Kind::Number => Cells::Numbers(Vec::with_capacity(lines)),
        };
        Self {
            lines: Lines::default(),
            line_count: 0,
            cells: wanted.iter().map(cells).collect(),
            broken: None,
        }
    }

    /// Takes one cell of the wanted column `index`; blanks around it do not count.
    pub(super) fn add(&mut self, index: usize, wanted: &Wanted, cell: &[u8]) -> Result<(), Wrong> {
        let whole = std::iter::once(Span::whole(cell));
        self.add_all(index, wanted, cell, whole).map_err(|(_, message, hint)| (message, hint))
    }

    /// Takes cells of a text into the wanted column `index`. An error says which of them is wrong.
    pub(super) fn add_all(
        &mut self,
        index: usize,
        wanted: &Wanted,
        text: &[u8],
        cells: impl Iterator<Item = Span> + Clone,
    ) -> Result<(), (usize, String, String)> {
        let wrong = |row: usize, (message, hint): Wrong| (row, message, hint);
        match &mut self.cells[index] {
            Cells::Texts { codes, interner } => {
                let first = codes.len();
                let known = interner.len();
                interner.add_codes(text, cells, codes);
                let new = &codes[first..];
                let row_of = |code| new.iter().position(|new| *new == code);
                // Whether there is one is asked first: that takes many codes at once.
                if !wanted.may_be_empty && new.contains(&MISSING) {
                    return Err(wrong(row_of(MISSING).unwrap_or_default(), empty()));
                }
                if let Some(row) = interner.foreign(known).and_then(row_of) {
                    let hint = "save the file as UTF-8".to_owned();
                    return Err(wrong(row, ("the cell is not valid UTF-8".to_owned(), hint)));
                }
            }
            Cells::Numbers(numbers) => {
                for (row, cell) in cells.enumerate() {
                    let number = parsed(cell.of(text).trim_ascii(), wanted.may_be_empty);
                    numbers.push(number.map_err(|problem| wrong(row, problem))?);
                }
            }
        }
        Ok(())
    }
}

/// The number that a cell without blanks around it says; NaN for one that is empty and may be.
fn parsed(text: &[u8], may_be_empty: bool) -> Result<f64, Wrong> {
    if text.is_empty() {
        return if may_be_empty { Ok(f64::NAN) } else { Err(empty()) };
    }
    let value = std::str::from_utf8(text).ok().and_then(|text| text.parse::<f64>().ok());
    value.filter(|value| value.is_finite()).ok_or_else(|| not_a_number(text))
}

fn empty() -> Wrong {
    ("the cell is empty".to_owned(), "fill it in, or remove the line".to_owned())
}

fn not_a_number(text: &[u8]) -> Wrong {
    let shown: String = String::from_utf8_lossy(text).chars().take(40).collect();
    let hint = "write numbers like 0.75, with a point and without units".to_owned();
    (format!("`{shown}` is not a finite number"), hint)
}

/// Joins the parts of a file, in their order: line numbers counted through from `first_line`, one code for each text.
pub(super) fn join(parts: Vec<Part>, first_line: u32) -> (Lines, Vec<Column>) {
    let mut parts = parts.into_iter();
    let mut lines = Lines::default();
    let Some(first) = parts.next() else { return (lines, Vec::new()) };
    lines.append(&first.lines, first_line);
    let mut offset = first_line + first.line_count;
    let mut joined = first.cells;
    while let Some(part) = parts.next() {
        lines.append(&part.lines, offset);
        offset += part.line_count;
        let last = parts.len() == 0;
        joined.par_iter_mut().zip(part.cells).for_each(|(cells, more)| append(cells, more, last));
    }
    let columns = joined.into_par_iter().map(|cells| match cells {
        Cells::Texts { codes, interner } => {
            Column::Texts(Texts { codes, names: interner.into_names() })
        }
        Cells::Numbers(numbers) => Column::Numbers(numbers),
    });
    (lines, columns.collect())
}

fn append(cells: &mut Cells, more: Cells, last: bool) {
    match (cells, more) {
        (Cells::Texts { codes, interner }, Cells::Texts { codes: others, interner: names }) => {
            let here = interner.absorb(&names, last);
            let code = |code: u32| if code == MISSING { MISSING } else { here[code as usize] };
            codes.par_extend(others.into_par_iter().with_min_len(65_536).map(code));
        }
        (Cells::Numbers(numbers), Cells::Numbers(more)) => numbers.extend(more),
        _ => {}
    }
}
