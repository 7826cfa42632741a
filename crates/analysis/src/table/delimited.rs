//! CSV and TSV.

use csv::{ByteRecord, ReaderBuilder, Terminator};
use memchr::{memchr, memchr_iter};

use super::cells::{Broken, Part};
use super::{Wanted, marks};

/// Bytes whose cells are found before they are taken.
const BLOCK: usize = 1 << 14;

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

/// The lines of a block, on their way into columns.
struct Block<'a> {
    bytes: &'a [u8],
    /// Where the next cell begins.
    start: usize,
    /// Cells of the current line.
    fields: usize,
    /// The cells of each wanted column.
    columns: Vec<Vec<&'a [u8]>>,
}

impl Layout<'_> {
    /// Reads lines without quotes, a block at a time: first the cells of its lines are found, then column after column is taken.
    /// Each loop is short, so that waiting for memory in one row overlaps with the next. `room` is how many bytes the columns
    /// are going to hold.
    pub(super) fn plain(&self, bytes: &[u8], room: usize) -> Part {
        let first_line = memchr(b'\n', bytes).map_or(bytes.len(), |end| end + 1);
        let mut part = Part::with_capacity(&self.wanted, room / first_line.max(1) + 1);
        let columns = vec![Vec::new(); self.wanted.len()];
        let mut block = Block { bytes, start: 0, fields: 0, columns };
        let mut marks = Vec::new();
        for (index, chunk) in bytes.chunks(BLOCK).enumerate() {
            marks.clear();
            marks::find(chunk, self.delimiter, &mut marks);
            let offset = index * BLOCK;
            if offset + chunk.len() == bytes.len() && !bytes.ends_with(b"\n") {
                marks.push(chunk.len() as u32);
            }
            let first = part.lines.len();
            let mut marks = marks.iter().map(|mark| offset + *mark as usize);
            let broken = marks.find_map(|mark| self.mark(mark, first, &mut block, &mut part));
            part.broken = self.take(&mut block, first, &mut part).or(broken);
            if part.broken.is_some() {
                break;
            }
        }
        part
    }

    /// Takes the cell that ends at a mark, and with the last of a line the line.
    fn mark(
        &self,
        mark: usize,
        first: usize,
        block: &mut Block<'_>,
        part: &mut Part,
    ) -> Option<Broken> {
        let cell = &block.bytes[block.start..mark];
        block.start = mark + 1;
        if let Some(role) = self.roles.get(block.fields).copied().flatten() {
            block.columns[role].push(cell);
        }
        block.fields += 1;
        if block.bytes.get(mark) == Some(&self.delimiter) {
            return None;
        }
        let fields = std::mem::take(&mut block.fields);
        let number = part.line_count;
        part.line_count += 1;
        let blank = fields == 1 && matches!(cell, b"" | b"\r");
        let broken = if blank { None } else { self.check_count(fields, number).err() };
        if blank || broken.is_some() {
            let rows = part.lines.len() - first;
            block.columns.iter_mut().for_each(|cells| cells.truncate(rows));
        } else {
            part.lines.push(number);
        }
        broken
    }

    /// Takes the cells of the lines from row `first` on, and gives the first of them that is broken.
    fn take(&self, block: &mut Block<'_>, first: usize, part: &mut Part) -> Option<Broken> {
        let rows = part.lines.len() - first;
        let mut broken: Option<Broken> = None;
        for (role, cells) in block.columns.iter_mut().enumerate() {
            let wanted = self.wanted[role];
            if let Err((row, message, hint)) = part.add_all(role, wanted, &cells[..rows]) {
                let line = part.lines.get(first + row).unwrap_or_default();
                if broken.as_ref().is_none_or(|broken| line < broken.line) {
                    let field = Some(wanted.column.clone());
                    broken = Some(Broken { line, field, message, hint });
                }
            }
            cells.drain(..rows);
        }
        broken
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
