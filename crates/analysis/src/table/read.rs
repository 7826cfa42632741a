//! A file, from its bytes to its columns.

use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::path::Path;

use memchr::memchr;
use rayon::prelude::*;

use super::cells::{Part, join};
use super::delimited::{self, Layout};
use super::source::Source;
use super::{Table, Wanted, header, json};
use crate::AnalysisError;

/// Files larger than this are not held in memory.
const LARGE: u64 = 1 << 22;

/// How much of a large file is looked at to find its header.
const HEAD: u64 = 1 << 16;

#[derive(Clone, Copy)]
enum Format {
    Delimited(u8),
    JsonLines,
}

/// A file taken apart, before its parts are joined.
struct Taken {
    parts: Vec<Part>,
    first_line: u32,
    /// Which of the wanted columns the parts have.
    present: Vec<bool>,
    /// The fields of the first object, of JSON Lines: whether a field is anywhere is known only after the last line.
    first_fields: Option<Vec<String>>,
}

/// What is wrong, and what to do about it.
type Complaint = (String, String);

/// Why a file cannot be taken apart.
enum Refusal {
    Unreadable(io::Error),
    Header(Complaint),
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        Self::Unreadable(error)
    }
}

pub(super) fn read(path: &Path, wanted: &[Wanted]) -> Result<Table, AnalysisError> {
    let problem = |line: Option<u64>, field: Option<String>, (message, hint): Complaint| {
        AnalysisError::Input { file: path.to_owned(), line, field, message, hint: Some(hint) }
    };
    let complaint = |message: &str, hint: &str| (message.to_owned(), hint.to_owned());
    let taken = taken(path, wanted).map_err(|refusal| match refusal {
        Refusal::Header(complaint) => problem(Some(1), None, complaint),
        Refusal::Unreadable(error) => {
            let message = format!("the file cannot be read: {error}");
            problem(None, None, (message, "check the path".to_owned()))
        }
    })?;
    let Some(taken) = taken else {
        let empty = complaint("the file is empty", "the first line names the columns");
        return Err(problem(None, None, empty));
    };
    let mut line = u64::from(taken.first_line);
    for part in &taken.parts {
        if let Some(broken) = &part.broken {
            let place = Some(line + u64::from(broken.line));
            let complaint = (broken.message.clone(), broken.hint.clone());
            return Err(problem(place, broken.field.clone(), complaint));
        }
        line += u64::from(part.line_count);
    }
    let (lines, columns) = join(taken.parts, taken.first_line);
    if lines.is_empty() {
        let hint = "one observation a line, below the header";
        return Err(problem(None, None, complaint("the file has no rows", hint)));
    }
    let mut columns = columns.into_iter();
    let columns = wanted.iter().zip(taken.present).map(|(wanted, present)| {
        let column = if present { columns.next() } else { None };
        (wanted.clone(), column.filter(|column| wanted.required || column.has_values()))
    });
    let table = Table { file: path.to_owned(), lines, columns: columns.collect() };
    // Empty cells of delimited files were refused where they are.
    let Some(fields) = &taken.first_fields else { return Ok(table) };
    for (wanted, column) in &table.columns {
        let Some(column) = column else { continue };
        if !column.has_values() {
            return Err(problem(None, None, header::absent(fields, wanted)));
        }
        if let Some(row) = column.first_gap().filter(|_| !wanted.may_be_empty) {
            let hint = "give the field in every line, or in none";
            return Err(table.problem(row, Some(wanted.role), "the field is missing", hint));
        }
    }
    Ok(table)
}

/// Takes a file apart; none where it is empty.
fn taken(path: &Path, wanted: &[Wanted]) -> Result<Option<Taken>, Refusal> {
    if let Some(taken) = large_delimited(path, wanted)? {
        return Ok(Some(taken));
    }
    let bytes = contents(path)?;
    let body = without_mark(&bytes);
    if body.trim_ascii().is_empty() {
        return Ok(None);
    }
    match format_of(path, body) {
        Format::JsonLines => Ok(Some(json_lines(body, wanted)?)),
        Format::Delimited(delimiter) => {
            let end = memchr(b'\n', body).unwrap_or(body.len());
            let rows = &body[(end + 1).min(body.len())..];
            let sheet = Sheet { header: &body[..end], delimiter, rows: Source::Memory(rows) };
            let taken = sheet.plain(wanted)?;
            Ok(Some(taken.map_or_else(|| sheet.quoted(rows, wanted), Ok)?))
        }
    }
}

/// Takes a large delimited file apart without holding it in memory; none where it is another file, or has quotes.
fn large_delimited(path: &Path, wanted: &[Wanted]) -> Result<Option<Taken>, Refusal> {
    let Some(length) = length(path).filter(|length| *length > LARGE) else { return Ok(None) };
    let mut head = Vec::new();
    File::open(path)?.take(HEAD).read_to_end(&mut head)?;
    let body = without_mark(&head);
    let (Format::Delimited(delimiter), Some(end)) = (format_of(path, body), memchr(b'\n', body))
    else {
        return Ok(None);
    };
    let start = (head.len() - body.len() + end + 1) as u64;
    let rows = Source::File { path, start, end: length };
    Sheet { header: &body[..end], delimiter, rows }.plain(wanted)
}

/// How long a file is; none for what is not a plain file.
fn length(path: &Path) -> Option<u64> {
    std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file).map(|about| about.len())
}

fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes)
}

fn json_lines(body: &[u8], wanted: &[Wanted]) -> io::Result<Taken> {
    let first = body.split(|byte| *byte == b'\n').find(|line| !line.trim_ascii().is_empty());
    let lenient: Vec<Wanted> = wanted.iter().cloned().map(Wanted::may_be_empty).collect();
    let all: Vec<&Wanted> = lenient.iter().collect();
    let parts = Source::Memory(body).parts()?;
    let part = |range: &Range<u64>| &body[range.start as usize..range.end as usize];
    Ok(Taken {
        parts: parts.par_iter().map(|range| json::lines(part(range), &all)).collect(),
        first_line: 1,
        present: vec![true; wanted.len()],
        first_fields: Some(json::names(first.unwrap_or_default())),
    })
}

/// A delimited file, its header known.
struct Sheet<'a> {
    header: &'a [u8],
    delimiter: u8,
    rows: Source<'a>,
}

impl Sheet<'_> {
    /// Takes it apart; none where it has quotes.
    fn plain(&self, wanted: &[Wanted]) -> Result<Option<Taken>, Refusal> {
        let (layout, present) = self.layout(wanted)?;
        let parts = self.rows.parts()?;
        let parts = parts.par_iter().enumerate().map(|(index, range)| {
            let part = self.rows.range(range);
            // The first part is going to hold the others too.
            let room = if index == 0 { self.rows.len() } else { part.len() };
            layout.plain(part.reader()?, room)
        });
        let parts: Option<Vec<Part>> = parts.collect::<io::Result<_>>()?;
        Ok(parts.map(|parts| Taken { parts, first_line: 2, present, first_fields: None }))
    }

    /// Takes it apart where its rows have quotes, and are in memory.
    fn quoted(&self, rows: &[u8], wanted: &[Wanted]) -> Result<Taken, Refusal> {
        let (layout, present) = self.layout(wanted)?;
        Ok(Taken { parts: vec![layout.quoted(rows)], first_line: 2, present, first_fields: None })
    }

    /// How lines are taken apart, and which of the wanted columns there are.
    fn layout<'a>(&self, wanted: &'a [Wanted]) -> Result<(Layout<'a>, Vec<bool>), Refusal> {
        let names = delimited::header(self.header, self.delimiter);
        let places = header::places(&names, wanted).map_err(Refusal::Header)?;
        let present: Vec<bool> = places.iter().map(Option::is_some).collect();
        let taken = wanted.iter().zip(&present).filter(|(_, present)| **present);
        let taken: Vec<&Wanted> = taken.map(|(wanted, _)| wanted).collect();
        let mut roles = vec![None; names.len()];
        for (index, place) in places.iter().flatten().enumerate() {
            roles[*place] = Some(index);
        }
        let delimiter = self.delimiter;
        Ok((Layout { delimiter, columns: names.len(), roles, wanted: taken }, present))
    }
}

fn contents(path: &Path) -> io::Result<Vec<u8>> {
    if path == Path::new("-") {
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes)?;
        return Ok(bytes);
    }
    std::fs::read(path)
}

fn format_of(path: &Path, body: &[u8]) -> Format {
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
    match ending.as_deref() {
        Some("tsv") => Format::Delimited(b'\t'),
        Some("csv") => Format::Delimited(b','),
        Some("jsonl" | "ndjson") => Format::JsonLines,
        _ if body.trim_ascii_start().starts_with(b"{") => Format::JsonLines,
        _ => Format::Delimited(b','),
    }
}
