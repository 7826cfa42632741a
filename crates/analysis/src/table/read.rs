//! A file, from its bytes to its columns.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use memchr::{memchr, memrchr};
use rayon::prelude::*;

use super::cells::{Part, join};
use super::delimited::{self, Layout};
use super::{Table, Wanted, header, json};
use crate::AnalysisError;

/// Parts smaller than this are not worth a thread.
const MIN_PART: usize = 1 << 20;

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

pub(super) fn read(path: &Path, wanted: &[Wanted]) -> Result<Table, AnalysisError> {
    let problem = |line: Option<u64>, field: Option<String>, (message, hint): Complaint| {
        AnalysisError::Input { file: path.to_owned(), line, field, message, hint: Some(hint) }
    };
    let complaint = |message: &str, hint: &str| (message.to_owned(), hint.to_owned());
    let bytes = contents(path).map_err(|error| {
        let message = format!("the file cannot be read: {error}");
        problem(None, None, (message, "check the path".to_owned()))
    })?;
    let body = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&bytes);
    if body.trim_ascii().is_empty() {
        let empty = complaint("the file is empty", "the first line names the columns");
        return Err(problem(None, None, empty));
    }
    let taken = match format_of(path, body) {
        Format::JsonLines => json_lines(body, wanted),
        Format::Delimited(delimiter) => delimited_lines(body, delimiter, wanted)
            .map_err(|complaint| problem(Some(1), None, complaint))?,
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

fn json_lines(body: &[u8], wanted: &[Wanted]) -> Taken {
    let first = body.split(|byte| *byte == b'\n').find(|line| !line.trim_ascii().is_empty());
    let lenient: Vec<Wanted> = wanted.iter().cloned().map(Wanted::may_be_empty).collect();
    let all: Vec<&Wanted> = lenient.iter().collect();
    Taken {
        parts: in_parts(body, |_, part| json::lines(part, &all)),
        first_line: 1,
        present: vec![true; wanted.len()],
        first_fields: Some(json::names(first.unwrap_or_default())),
    }
}

fn delimited_lines(body: &[u8], delimiter: u8, wanted: &[Wanted]) -> Result<Taken, Complaint> {
    let end = memchr(b'\n', body).unwrap_or(body.len());
    let names = delimited::header(&body[..end], delimiter);
    let places = header::places(&names, wanted)?;
    let present: Vec<bool> = places.iter().map(Option::is_some).collect();
    let taken = wanted.iter().zip(&present).filter(|(_, present)| **present);
    let taken: Vec<&Wanted> = taken.map(|(wanted, _)| wanted).collect();
    let mut roles = vec![None; names.len()];
    for (index, place) in places.iter().flatten().enumerate() {
        roles[*place] = Some(index);
    }
    let layout = Layout { delimiter, columns: names.len(), roles, wanted: taken };
    let rows = &body[(end + 1).min(body.len())..];
    // The first part is going to hold the others too.
    let plain = |index: usize, part: &[u8]| {
        let room = if index == 0 { rows.len() } else { part.len() };
        memchr(b'"', part).is_none().then(|| layout.plain(part, room))
    };
    let parts: Option<Vec<Part>> = in_parts(rows, plain).into_iter().collect();
    let parts = parts.unwrap_or_else(|| vec![layout.quoted(rows)]);
    Ok(Taken { parts, first_line: 2, present, first_fields: None })
}

fn contents(path: &Path) -> std::io::Result<Vec<u8>> {
    if path == Path::new("-") {
        let mut bytes = Vec::new();
        std::io::stdin().lock().read_to_end(&mut bytes)?;
        return Ok(bytes);
    }
    let about = std::fs::metadata(path)?;
    if !about.is_file() || about.len() < 4 * MIN_PART as u64 {
        return std::fs::read(path);
    }
    // Copying a large file takes as long as the memory it goes to is new, which several threads share.
    let mut bytes = vec![0; about.len() as usize];
    bytes.par_chunks_mut(MIN_PART).enumerate().try_for_each(|(index, chunk)| {
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start((index * MIN_PART) as u64))?;
        file.read_exact(chunk)
    })?;
    Ok(bytes)
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

/// Cuts the bytes at line ends into a part for each thread, and reads them side by side.
fn in_parts<T: Send>(bytes: &[u8], read: impl Fn(usize, &[u8]) -> T + Sync) -> Vec<T> {
    let size = (bytes.len() / rayon::current_num_threads()).max(MIN_PART);
    let mut parts = Vec::new();
    let mut rest = bytes;
    while rest.len() > size {
        let end = memrchr(b'\n', &rest[..size])
            .or_else(|| memchr(b'\n', &rest[size..]).map(|end| end + size))
            .map_or(rest.len(), |end| end + 1);
        let (part, remaining) = rest.split_at(end);
        parts.push(part);
        rest = remaining;
    }
    if !rest.is_empty() {
        parts.push(rest);
    }
    parts.into_par_iter().enumerate().map(|(index, part)| read(index, part)).collect()
}
