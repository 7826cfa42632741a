//! Cells collected into columns, by one part of the file at a time.

use rayon::prelude::*;

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
    pub(super) lines: Vec<u32>,
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

impl Part {
    pub(super) fn new(wanted: &[&Wanted]) -> Self {
        let cells = |wanted: &&Wanted| match wanted.kind {
            Kind::Text => Cells::Texts { codes: Vec::new(), interner: Interner::new() },
            Kind::Number => Cells::Numbers(Vec::new()),
        };
        Self {
            lines: Vec::new(),
            line_count: 0,
            cells: wanted.iter().map(cells).collect(),
            broken: None,
        }
    }

    /// Takes one cell of the wanted column `index`; blanks around it do not count.
    pub(super) fn add(
        &mut self,
        index: usize,
        wanted: &Wanted,
        text: &[u8],
    ) -> Result<(), (String, String)> {
        let text = text.trim_ascii();
        if text.is_empty() && !wanted.may_be_empty {
            return Err((
                "the cell is empty".to_owned(),
                "fill it in, or remove the line".to_owned(),
            ));
        }
        match &mut self.cells[index] {
            Cells::Texts { codes, .. } if text.is_empty() => codes.push(MISSING),
            Cells::Texts { codes, interner } => {
                let (code, new) = interner.code(text);
                if new && std::str::from_utf8(text).is_err() {
                    let hint = "save the file as UTF-8".to_owned();
                    return Err(("the cell is not valid UTF-8".to_owned(), hint));
                }
                codes.push(code);
            }
            Cells::Numbers(numbers) if text.is_empty() => numbers.push(f64::NAN),
            Cells::Numbers(numbers) => {
                let value =
                    std::str::from_utf8(text).ok().and_then(|text| text.parse::<f64>().ok());
                match value.filter(|value| value.is_finite()) {
                    Some(value) => numbers.push(value),
                    None => return Err(not_a_number(text)),
                }
            }
        }
        Ok(())
    }
}

fn not_a_number(text: &[u8]) -> (String, String) {
    let shown: String = String::from_utf8_lossy(text).chars().take(40).collect();
    let hint = "write numbers like 0.75, with a point and without units".to_owned();
    (format!("`{shown}` is not a finite number"), hint)
}

/// Joins the parts of a file, in their order: line numbers counted through from `first_line`, one code for each text.
pub(super) fn join(parts: Vec<Part>, first_line: u32) -> (Vec<u32>, Vec<Column>) {
    let mut parts = parts.into_iter();
    let Some(first) = parts.next() else { return (Vec::new(), Vec::new()) };
    let mut lines: Vec<u32> = first.lines.into_iter().map(|line| line + first_line).collect();
    let mut offset = first_line + first.line_count;
    let mut joined = first.cells;
    for part in parts {
        lines.extend(part.lines.into_iter().map(|line| line + offset));
        offset += part.line_count;
        joined.par_iter_mut().zip(part.cells).for_each(|(cells, more)| append(cells, more));
    }
    let columns = joined.into_par_iter().map(|cells| match cells {
        Cells::Texts { codes, interner } => {
            Column::Texts(Texts { codes, names: interner.into_names() })
        }
        Cells::Numbers(numbers) => Column::Numbers(numbers),
    });
    (lines, columns.collect())
}

fn append(cells: &mut Cells, more: Cells) {
    match (cells, more) {
        (Cells::Texts { codes, interner }, Cells::Texts { codes: others, interner: names }) => {
            let known: Vec<u32> =
                (0..names.len() as u32).map(|code| interner.code(names.name(code)).0).collect();
            codes.extend(
                others
                    .into_iter()
                    .map(|code| if code == MISSING { MISSING } else { known[code as usize] }),
            );
        }
        (Cells::Numbers(numbers), Cells::Numbers(more)) => numbers.extend(more),
        _ => {}
    }
}
