//! CSV and TSV.

use csv::{ByteRecord, ReaderBuilder, Terminator};
use memchr::{memchr, memchr_iter};

use super::Wanted;
use super::cells::{Broken, Part};

/// The names in the first line.
pub(super) fn header(line: &[u8], delimiter: u8) -> Vec<String> {
    let mut reader = ReaderBuilder::new()
        .delimiter(delimiter)
        .has_headers(false)
        .flexible(true)
        .from_reader(line);
    let mut record = ByteRecord::new();
    let _ = reader.read_byte_record(&mut record);
    record.iter().map(|name| String::from_utf8_lossy(name).trim().to_owned()).collect()
}

/// How a line is taken apart.
pub(super) struct Layout<'a> {
    pub(super) delimiter: u8,
    pub(super) columns: usize,
    /// For each column of the file the wanted column it is, if any.
    pub(super) roles: Vec<Option<usize>>,
    pub(super) wanted: Vec<&'a Wanted>,
}

impl Layout<'_> {
    /// Reads lines without quotes.
    pub(super) fn plain(&self, bytes: &[u8]) -> Part {
        let mut part = Part::new(&self.wanted);
        let mut start = 0;
        for end in memchr_iter(b'\n', bytes).chain((!bytes.ends_with(b"\n")).then_some(bytes.len()))
        {
            let line = &bytes[start..end];
            start = end + 1;
            let number = part.line_count;
            part.line_count += 1;
            if line.is_empty() || line == b"\r" {
                continue;
            }
            if let Err(broken) = self.line(line, number, &mut part) {
                part.broken = Some(broken);
                break;
            }
        }
        part
    }

    fn line(&self, line: &[u8], number: u32, part: &mut Part) -> Result<(), Broken> {
        let mut rest = Some(line);
        let mut count = 0;
        while let Some(text) = rest {
            let end = memchr(self.delimiter, text);
            let cell = &text[..end.unwrap_or(text.len())];
            if let Some(role) = self.roles.get(count).copied().flatten() {
                self.cell(role, cell, number, part)?;
            }
            count += 1;
            rest = end.map(|end| &text[end + 1..]);
        }
        self.check_count(count, number)?;
        part.lines.push(number);
        Ok(())
    }

    /// Reads records some of whose fields are quoted.
    pub(super) fn quoted(&self, bytes: &[u8]) -> Part {
        let mut part = Part::new(&self.wanted);
        let mut reader = ReaderBuilder::new()
            .delimiter(self.delimiter)
            .terminator(Terminator::Any(b'\n'))
            .has_headers(false)
            .flexible(true)
            .from_reader(bytes);
        let mut record = ByteRecord::new();
        let mut counted = 0;
        loop {
            let number = part.line_count;
            match reader.read_byte_record(&mut record) {
                Ok(true) => {}
                Ok(false) => return part,
                Err(error) => {
                    let message = format!("this is not valid CSV: {error}");
                    let hint =
                        "a field with a comma or a quote must be in double quotes".to_owned();
                    part.broken = Some(Broken { line: number, field: None, message, hint });
                    return part;
                }
            }
            // Blank lines before the record are skipped by the reader; they count as lines.
            let end = reader.position().byte() as usize;
            let passed = &bytes[counted..end.min(bytes.len())];
            let blank = passed.iter().take_while(|byte| matches!(byte, b'\r' | b'\n'));
            let blank = blank.filter(|byte| **byte == b'\n').count() as u32;
            let breaks = memchr_iter(b'\n', passed).count() as u32;
            counted = end;
            // A line of a carriage return alone is a record to the reader, and blank like the others.
            if passed.iter().all(|byte| matches!(byte, b'\r' | b'\n')) {
                part.line_count = number + breaks;
                continue;
            }
            let first = number + blank;
            part.line_count = number + breaks.max(blank + 1);
            if let Err(broken) = self.record(&record, first, &mut part) {
                part.broken = Some(broken);
                return part;
            }
        }
    }

    fn record(&self, record: &ByteRecord, number: u32, part: &mut Part) -> Result<(), Broken> {
        if record.iter().all(|field| field.trim_ascii().is_empty()) && record.len() == 1 {
            return Ok(());
        }
        self.check_count(record.len(), number)?;
        for (field, role) in record.iter().zip(&self.roles) {
            if let Some(role) = role {
                self.cell(*role, field, number, part)?;
            }
        }
        part.lines.push(number);
        Ok(())
    }

    fn cell(&self, role: usize, cell: &[u8], line: u32, part: &mut Part) -> Result<(), Broken> {
        let wanted = self.wanted[role];
        part.add(role, wanted, cell).map_err(|(message, hint)| Broken {
            line,
            field: Some(wanted.column.clone()),
            message,
            hint,
        })
    }

    fn check_count(&self, fields: usize, line: u32) -> Result<(), Broken> {
        if fields == self.columns {
            return Ok(());
        }
        let (columns, field) = (self.columns, None);
        let message = format!("the line has {fields} fields, and there are {columns} columns");
        let hint =
            "a field with a comma, a quote or a line break must be in double quotes".to_owned();
        Err(Broken { line, field, message, hint })
    }
}
