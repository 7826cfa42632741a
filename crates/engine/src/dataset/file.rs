//! Files of data sets: which format they have, and how each is read.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use super::rows::{Row, RowSink};
use super::{delimited, json, lines, parquet};
use crate::spec::{did_you_mean, unreadable_file};
use crate::{EngineError, InputProblem};

/// The format of a data set file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Csv,
    Tsv,
    Json,
    Jsonl,
    Parquet,
}

const WORDS: [(&str, Format); 5] = [
    ("csv", Format::Csv),
    ("tsv", Format::Tsv),
    ("json", Format::Json),
    ("jsonl", Format::Jsonl),
    ("parquet", Format::Parquet),
];

impl Format {
    /// The format that is given, or that the ending of a path tells.
    pub(crate) fn of(path: &str, given: Option<&str>) -> Result<Self, InputProblem> {
        let ending = Path::new(path)
            .extension()
            .map(|ending| ending.to_string_lossy().to_ascii_lowercase())
            .unwrap_or_default();
        match given.unwrap_or(&ending) {
            "" => Err(InputProblem::new(format!("`{path}` has no ending that tells its format"))
                .hint("write `dataset: { path: …, format: jsonl }`")),
            "ndjson" => Ok(Self::Jsonl),
            word => {
                let known = WORDS.iter().find(|(known, _)| *known == word);
                known.map(|(_, format)| *format).ok_or_else(|| {
                    InputProblem::new(format!("`{word}` is no format of data sets"))
                        .hint(did_you_mean(word, WORDS.map(|(word, _)| word)))
                })
            }
        }
    }

    /// The format as it is written.
    pub(crate) fn word(self) -> &'static str {
        WORDS.iter().find(|(_, format)| *format == self).map_or("", |(word, _)| word)
    }

    /// Whether its fields are columns that may have no names of their own.
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
        let buffered = |file| BufReader::with_capacity(1 << 18, file);
        match self {
            Self::Csv => delimited::read(buffered(file), b',', columns, sink),
            Self::Tsv => delimited::read(buffered(file), b'\t', columns, sink),
            Self::Json => json::read(buffered(file), sink),
            Self::Jsonl => lines::read(buffered(file), sink),
            Self::Parquet => parquet::read(file, sink),
        }
    }
}

/// Reads the rows of a file that stands by itself; a problem is told with its file and the place of its row.
pub(crate) fn read_rows(path: &Path, take: RowSink<'_>) -> Result<(), EngineError> {
    let here = |problem: InputProblem| EngineError::from(problem.in_file(path));
    let format = Format::of(&path.display().to_string(), None).map_err(|problem| {
        here(problem.hint("data sets are csv, tsv, json, jsonl or parquet files"))
    })?;
    if path.is_dir() {
        let problem = InputProblem::new("this is a folder, not a file");
        return Err(here(problem.hint("name the file in it")));
    }
    let file = File::open(path)
        .map_err(|error| here(InputProblem { hint: None, ..unreadable_file(&error) }))?;
    let mut placed = |row: Row| {
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
