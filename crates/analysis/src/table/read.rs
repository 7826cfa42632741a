//! A file, from its bytes to its columns.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use memchr::{memchr, memrchr};
use rayon::prelude::*;

use super::cells::{Part, join};
use super::delimited::{self, Layout};
use super::{Column, Table, Wanted, header, json};
use crate::AnalysisError;

/// Parts smaller than this are not worth a thread.
const MIN_PART: usize = 1 << 20;

#[derive(Clone, Copy)]
enum Format {
    Delimited(u8),
    JsonLines,
}

pub(super) fn read(path: &Path, wanted: &[Wanted]) -> Result<Table, AnalysisError> {
    let problem = |line: Option<u64>, field: Option<String>, message: String, hint: &str| {
        let (file, hint) = (path.to_owned(), Some(hint.to_owned()));
        AnalysisError::Input { file, line, field, message, hint }
    };
    let bytes = contents(path).map_err(|error| {
        problem(None, None, format!("the file cannot be read: {error}"), "check the path")
    })?;
    let body = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&bytes);
    if body.trim_ascii().is_empty() {
        return Err(problem(
            None,
            None,
            "the file is empty".to_owned(),
            "the first line names the columns",
        ));
    }
    let format = format_of(path, body);
    let (parts, first_line, present) = match format {
        Format::JsonLines => {
            let first =
                body.split(|byte| *byte == b'\n').find(|line| !line.trim_ascii().is_empty());
            let names = json::names(first.unwrap_or_default());
            if !names.is_empty() {
                header::places(&names, wanted)
                    .map_err(|(message, hint)| problem(Some(1), None, message, &hint))?;
            }
            // Whether an optional field is there is known only after the last line.
            let lenient: Vec<Wanted> = wanted.iter().cloned().map(Wanted::lenient).collect();
            let all: Vec<&Wanted> = lenient.iter().collect();
            let parts = in_parts(body, |_, part| json::lines(part, &all));
            (parts, 1, vec![true; wanted.len()])
        }
        Format::Delimited(delimiter) => {
            let end = memchr(b'\n', body).unwrap_or(body.len());
            let names = delimited::header(&body[..end], delimiter);
            let places = header::places(&names, wanted)
                .map_err(|(message, hint)| problem(Some(1), None, message, &hint))?;
            let present: Vec<bool> = places.iter().map(Option::is_some).collect();
            let taken: Vec<&Wanted> = wanted
                .iter()
                .zip(&present)
                .filter(|(_, present)| **present)
                .map(|(wanted, _)| wanted)
                .collect();
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
            (parts.unwrap_or_else(|| vec![layout.quoted(rows)]), 2, present)
        }
    };
    let mut line = u64::from(first_line);
    for part in &parts {
        if let Some(broken) = &part.broken {
            let place = Some(line + u64::from(broken.line));
            return Err(problem(place, broken.field.clone(), broken.message.clone(), &broken.hint));
        }
        line += u64::from(part.line_count);
    }
    let (lines, columns) = join(parts, first_line);
    if lines.is_empty() {
        return Err(problem(
            None,
            None,
            "the file has no rows".to_owned(),
            "one observation a line, below the header",
        ));
    }
    let mut columns = columns.into_iter();
    let columns = wanted.iter().zip(present).map(|(wanted, present)| {
        let column = if present { columns.next() } else { None };
        (wanted.clone(), column.filter(|column| wanted.required || column.has_values()))
    });
    let table = Table { file: path.to_owned(), lines, columns: columns.collect() };
    if matches!(format, Format::Delimited(_)) {
        return Ok(table);
    }
    for (wanted, column) in &table.columns {
        let gap = column.as_ref().and_then(Column::first_gap);
        if let Some(row) = gap.filter(|_| !wanted.may_be_empty) {
            let hint = "give the field in every line, or in none";
            return Err(table.problem(row, Some(wanted.role), "the field is missing", hint));
        }
    }
    Ok(table)
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
