//! Files of data sets: which format they have, and how each is read.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::limited::BUFFER_BYTES;
use super::rows::{BadRow, Row, RowSink};
use super::{delimited, json, lines, parquet};
use crate::spec::{did_you_mean, unreadable_file};
use crate::{EngineError, InputProblem};

/// The format of a data set file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FileFormat {
    /// Fields between commas, with a header line; every cell is text.
    Csv,
    /// The same between tabs.
    Tsv,
    /// One list of objects.
    Json,
    /// One object a line.
    Jsonl,
    /// Apache Parquet.
    Parquet,
}

const WORDS: [(&str, FileFormat); 5] = [
    ("csv", FileFormat::Csv),
    ("tsv", FileFormat::Tsv),
    ("json", FileFormat::Json),
    ("jsonl", FileFormat::Jsonl),
    ("parquet", FileFormat::Parquet),
];

impl FileFormat {
    /// The format that is given, or that the ending of a path tells.
    pub(crate) fn of(path: &str, given: Option<&str>) -> Result<Self, InputProblem> {
        let ending = ending(path);
        match given.unwrap_or(&ending) {
            "" => Err(InputProblem::new(format!("`{path}` has no ending that tells its format"))
                .hint("write `dataset: { path: …, format: jsonl }`")),
            word => Self::of_word(word).ok_or_else(|| {
                InputProblem::new(format!("`{word}` is no format of data sets"))
                    .hint(did_you_mean(word, WORDS.map(|(word, _)| word)))
            }),
        }
    }

    /// The format that the ending of a path tells.
    #[must_use]
    pub fn of_path(path: &str) -> Option<Self> {
        Self::of_word(&ending(path))
    }

    /// The format that is written so.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
        if word == "ndjson" {
            return Some(Self::Jsonl);
        }
        WORDS.iter().find(|(known, _)| *known == word).map(|(_, format)| *format)
    }

    /// The format as it is written.
    #[must_use]
    pub fn word(self) -> &'static str {
        WORDS.iter().find(|(_, format)| *format == self).map_or("", |(word, _)| word)
    }

    /// Whether its fields are columns of text that may have no names of their own.
    pub(crate) fn has_columns(self) -> bool {
        matches!(self, Self::Csv | Self::Tsv)
    }

    /// Reads the rows of a file one by one.
    pub(crate) fn read(
        self,
        file: File,
        columns: Option<&[String]>,
        sink: RowSink<'_>,
    ) -> Result<(), InputProblem> {
        match self {
            Self::Csv => delimited::read(file, b',', columns, sink),
            Self::Tsv => delimited::read(file, b'\t', columns, sink),
            Self::Json => json::read(file, sink),
            Self::Jsonl => lines::read(BufReader::with_capacity(BUFFER_BYTES, file), sink),
            Self::Parquet => parquet::read(file, sink),
        }
    }
}

fn ending(path: &str) -> String {
    let ending = Path::new(path).extension();
    ending.map(|ending| ending.to_string_lossy().to_ascii_lowercase()).unwrap_or_default()
}

/// Reads the rows of a file that stands by itself; a problem is told with its file and the place of its row.
pub(crate) fn read_rows(
    path: &Path,
    take: &mut dyn FnMut(Row) -> Result<(), InputProblem>,
) -> Result<(), EngineError> {
    let here = |problem: InputProblem| EngineError::from(problem.in_file(path));
    let format = FileFormat::of(&path.display().to_string(), None).map_err(|problem| {
        here(problem.hint("data sets are csv, tsv, json, jsonl or parquet files"))
    })?;
    if path.is_dir() {
        let problem = InputProblem::new("this is a folder, not a file");
        return Err(here(problem.hint("name the file in it")));
    }
    let file = File::open(path)
        .map_err(|error| here(InputProblem { hint: None, ..unreadable_file(&error) }))?;
    let mut placed = |row: Result<Row, BadRow>| {
        let row = row?;
        let (line, number) = (row.line, row.number);
        take(row).map_err(|problem| {
            let message = match line {
                Some(_) => problem.message,
                None => format!("case {number}: {}", problem.message),
            };
            InputProblem { line, message, ..problem }
        })
    };
    format.read(file, None, &mut placed).map_err(here)
}
