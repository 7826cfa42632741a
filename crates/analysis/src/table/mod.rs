//! Tables in long format: one observation a line, of CSV, TSV or JSON Lines, read by column.
//!
//! Files are read in parallel, so that ten million lines take seconds. Texts become codes in the order of their
//! first appearance. A broken line is an error that names it; nothing is skipped in silence.

mod blocks;
mod cell;
mod cells;
mod delimited;
mod header;
mod json;
mod lines;
mod marks;
mod read;
mod series;
mod short;
mod source;
mod texts;

use std::path::{Path, PathBuf};

use lines::Lines;
pub use texts::{MISSING, Names, Texts};

use crate::AnalysisError;

/// A column that an analysis asks for.
#[derive(Debug, Clone)]
pub struct Wanted {
    role: &'static str,
    column: String,
    kind: Kind,
    required: bool,
    may_be_empty: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Number,
}

impl Wanted {
    /// A column of texts that must be there, with the name of its role.
    #[must_use]
    pub fn text(role: &'static str) -> Self {
        Self {
            role,
            column: role.to_owned(),
            kind: Kind::Text,
            required: true,
            may_be_empty: false,
        }
    }

    /// A column of finite numbers that must be there.
    #[must_use]
    pub fn number(role: &'static str) -> Self {
        Self { kind: Kind::Number, ..Self::text(role) }
    }

    /// The same column, which may be absent.
    #[must_use]
    pub fn optional(self) -> Self {
        Self { required: false, ..self }
    }

    /// The same column, whose cells may be empty: [`MISSING`] among texts, NaN among numbers.
    #[must_use]
    pub fn may_be_empty(self) -> Self {
        Self { may_be_empty: true, ..self }
    }

    /// The same column under the name the user's file gives it; what is named must be there.
    #[must_use]
    pub fn named(self, column: impl Into<String>) -> Self {
        Self { column: column.into(), required: true, ..self }
    }

    /// What the column is for.
    #[must_use]
    pub fn role(&self) -> &'static str {
        self.role
    }
}

/// A table, read.
#[derive(Debug)]
pub struct Table {
    file: PathBuf,
    lines: Lines,
    columns: Vec<(Wanted, Option<Column>)>,
}

#[derive(Debug)]
enum Column {
    Texts(Texts),
    Numbers(Vec<f64>),
}

impl Column {
    fn has_values(&self) -> bool {
        match self {
            Self::Texts(texts) => texts.codes.iter().any(|code| *code != MISSING),
            Self::Numbers(numbers) => numbers.iter().any(|number| !number.is_nan()),
        }
    }

    fn first_gap(&self) -> Option<usize> {
        match self {
            Self::Texts(texts) => texts.codes.iter().position(|code| *code == MISSING),
            Self::Numbers(numbers) => numbers.iter().position(|number| number.is_nan()),
        }
    }
}

impl Table {
    /// Reads the wanted columns of a file; `-` is standard input. The format is told by the ending (`.csv`, `.tsv`, `.jsonl`,
    /// `.ndjson`), or else by the first character.
    pub fn read(path: &Path, wanted: &[Wanted]) -> Result<Self, AnalysisError> {
        read::read(path, wanted)
    }

    /// How many rows there are.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.lines.len()
    }

    /// The texts of a role; none where the file has no such column.
    #[must_use]
    pub fn texts(&self, role: &str) -> Option<&Texts> {
        match self.column(role)? {
            Column::Texts(texts) => Some(texts),
            Column::Numbers(_) => None,
        }
    }

    /// The numbers of a role, NaN where a cell is empty; none where the file has no such column.
    #[must_use]
    pub fn numbers(&self, role: &str) -> Option<&[f64]> {
        match self.column(role)? {
            Column::Numbers(numbers) => Some(numbers),
            Column::Texts(_) => None,
        }
    }

    /// The line of a row in the file, counted from 1.
    #[must_use]
    pub fn line(&self, row: usize) -> u64 {
        self.lines.get(row).map_or(0, u64::from)
    }

    /// The file, as the user named it.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// An error at a row and, where it is about one, a role's column.
    #[must_use]
    pub fn problem(
        &self,
        row: usize,
        role: Option<&str>,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> AnalysisError {
        let column = |role| self.columns.iter().find(|(wanted, _)| wanted.role == role);
        AnalysisError::Input {
            file: self.file.clone(),
            line: Some(self.line(row)),
            field: role.and_then(column).map(|(wanted, _)| wanted.column.clone()),
            message: message.into(),
            hint: Some(hint.into()),
        }
    }

    fn column(&self, role: &str) -> Option<&Column> {
        self.columns.iter().find(|(wanted, _)| wanted.role == role)?.1.as_ref()
    }
}
