//! What can be wrong with the rows of a data set: stable codes, and problems collected instead of ending at the first.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rows::BadRow;

/// So many problems are kept; the others are counted.
pub const MAX_PROBLEMS: usize = 1_000;

/// A message is cut after this many characters: it may quote what the file says.
const MAX_MESSAGE: usize = 500;

/// What is wrong, for programs. The words never change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProblemCode {
    /// The file has no rows.
    EmptyFile,
    /// The first line does not name the columns.
    BadHeader,
    /// A record has more or fewer fields than there are columns.
    RaggedRow,
    /// The bytes are not text.
    NotUtf8,
    /// A CSV file that cannot be read as one.
    NotCsv,
    /// Text that is not JSON.
    NotJson,
    /// A file that is not Parquet, is damaged, or has types that are not read.
    NotParquet,
    /// A row or an id is larger than is allowed.
    TooLong,
    /// More columns than are allowed.
    TooManyColumns,
    /// A field has a value of a kind it cannot have.
    WrongType,
    /// A row without input.
    MissingInput,
    /// A row without id where the others have one.
    MissingId,
    /// Two rows have the same id.
    DuplicateId,
    /// The mapping names a field that no row has.
    UnknownField,
    /// A text has a NUL character, which not every database can keep.
    NulCharacter,
    /// Reading the file ended the server, again and again.
    Unreadable,
}

impl ProblemCode {
    /// The code as it is written.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::EmptyFile => "empty_file",
            Self::BadHeader => "bad_header",
            Self::RaggedRow => "ragged_row",
            Self::NotUtf8 => "not_utf8",
            Self::NotCsv => "not_csv",
            Self::NotJson => "not_json",
            Self::NotParquet => "not_parquet",
            Self::TooLong => "too_long",
            Self::TooManyColumns => "too_many_columns",
            Self::WrongType => "wrong_type",
            Self::MissingInput => "missing_input",
            Self::MissingId => "missing_id",
            Self::DuplicateId => "duplicate_id",
            Self::UnknownField => "unknown_field",
            Self::NulCharacter => "nul_character",
            Self::Unreadable => "unreadable",
        }
    }
}

impl fmt::Display for ProblemCode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// A problem with a row, or with the file where no row is named.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RowProblem {
    /// The row, counted from 1 without a header line.
    pub row: Option<u64>,
    /// Its line, where the format has lines.
    pub line: Option<u64>,
    /// The column, by its name.
    pub column: Option<String>,
    /// What is wrong, for programs.
    pub code: ProblemCode,
    /// What is wrong, for people.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl From<BadRow> for RowProblem {
    fn from(bad: BadRow) -> Self {
        let BadRow { number, code, problem } = bad;
        Self {
            row: number,
            line: problem.line,
            column: problem.field.map(cut),
            code,
            message: cut(problem.message),
            hint: problem.hint.map(cut),
        }
    }
}

/// Problems as they are found: the first ones are kept, all are counted.
#[derive(Debug, Default)]
pub(crate) struct Problems {
    pub(crate) kept: Vec<RowProblem>,
    pub(crate) count: u64,
}

impl Problems {
    pub(crate) fn add(&mut self, bad: BadRow) {
        self.count += 1;
        if self.kept.len() < MAX_PROBLEMS {
            self.kept.push(bad.into());
        }
    }
}

fn cut(text: String) -> String {
    match text.char_indices().nth(MAX_MESSAGE) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_problems_are_counted_and_the_first_are_kept_short() {
        let mut problems = Problems::default();
        for _ in 0..MAX_PROBLEMS + 5 {
            problems.add(BadRow::new(ProblemCode::NotJson, "ä".repeat(10_000)));
        }
        assert_eq!((problems.count, problems.kept.len()), (MAX_PROBLEMS as u64 + 5, MAX_PROBLEMS));
        assert_eq!(problems.kept[0].message.chars().count(), MAX_MESSAGE + 1);
        let code = serde_json::to_value(ProblemCode::NotUtf8).unwrap_or_default();
        assert_eq!(code, ProblemCode::NotUtf8.as_str());
    }
}
