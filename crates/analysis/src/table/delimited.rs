//! CSV and TSV.

use std::io::{self, Read};

use csv::{ByteRecord, ReaderBuilder, Terminator};
use memchr::{memchr, memchr_iter};

use super::blocks::{Block, Blocks};
use super::cell::Span;
use super::cells::{Broken, Part};
use super::{Wanted, marks};

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

/// The places where the cells of a block end; kept to be used again.
#[derive(Default)]
struct Places {
    /// The places of delimiters and line ends; before them one that stands for the line end before the block.
    marks: Vec<u32>,
    /// From each row to the next so many marks. The mark before a row is the last of the row before, or one of its own.
    stride: usize,
    rows: usize,
    /// Room for the marks of a block with uneven lines.
    kept: Vec<u32>,
}

impl Places {
    /// The cells of all rows in a column of the file.
    fn cells(&self, column: usize) -> impl Iterator<Item = Span> + Clone {
        let marks = self.marks.get(column..).unwrap_or_default();
        let span = |marks: &[u32]| Span { start: marks[0] as usize + 1, end: marks[1] as usize };
        marks.chunks(self.stride).take(self.rows).map(span)
    }
}

impl Layout<'_> {
    /// Reads lines without quotes, a block at a time: first the cells of its lines are found, then column after column is taken.
    /// Each loop is short, so that waiting for memory in one row overlaps with the next. `room` is how many bytes the columns
    /// are going to hold. None where there are quotes.
    pub(super) fn plain(&self, source: impl Read, room: u64) -> io::Result<Option<Part>> {
        let mut part = None;
        let mut blocks = Blocks::new(source);
        let mut places = Places::default();
        while let Some(block) = blocks.next()? {
            let lines = &block.text[block.start..];
            if memchr(b'"', lines).is_some() {
                return Ok(None);
            }
            let part = part.get_or_insert_with(|| {
                let first_line = memchr(b'\n', lines).map_or(lines.len(), |end| end + 1);
                let rows = room as usize / first_line.max(2 * self.columns);
                Part::with_capacity(&self.wanted, rows + 1)
            });
            let first = part.lines.len();
            let broken = self.lines(&block, &mut places, part);
            part.broken = self.take(block.text, &places, first, part).or(broken);
            if part.broken.is_some() {
                break;
            }
        }
        Ok(Some(part.unwrap_or_else(|| Part::new(&self.wanted))))
    }

    /// Finds the cells of lines, up to one with a wrong number of fields.
    fn lines(&self, block: &Block<'_>, places: &mut Places, part: &mut Part) -> Option<Broken> {
        let marks = &mut places.marks;
        marks.clear();
        marks.push(block.start as u32 - 1);
        marks::find(block.text, block.start, self.delimiter, marks);
        if self.is_even(block, marks) {
            places.stride = self.columns;
            places.rows = marks.len() / self.columns;
            part.lines.push_run(part.line_count, places.rows);
            part.line_count += places.rows as u32;
            return None;
        }
        if !block.text.ends_with(b"\n") {
            marks.push(block.text.len() as u32);
        }
        self.uneven_lines(block, places, part)
    }

    /// Whether all lines of a block have the right number of fields: every so many marks there is a line end, and there are no
    /// others. That is most blocks of most files, and asks for one look at each line.
    fn is_even(&self, block: &Block<'_>, marks: &[u32]) -> bool {
        // The last line may have no end; with one column a blank line has as many fields as a row.
        if self.columns < 2 || !block.text.ends_with(b"\n") {
            return false;
        }
        let ends = marks[1..].chunks_exact(self.columns);
        let is_whole = ends.remainder().is_empty();
        let count = ends.len();
        let is_end = |mark: &u32| block.text[*mark as usize] == b'\n';
        is_whole
            && ends.filter_map(<[u32]>::last).all(is_end)
            && memchr_iter(b'\n', &block.text[block.start..]).count() == count
    }

    /// Finds the rows among lines some of which are blank, up to one with a wrong number of fields.
    fn uneven_lines(
        &self,
        block: &Block<'_>,
        places: &mut Places,
        part: &mut Part,
    ) -> Option<Broken> {
        let Places { marks, kept, .. } = places;
        kept.clear();
        let mut broken = None;
        let mut before = 0;
        for mark in 1..marks.len() {
            if block.text.get(marks[mark] as usize) == Some(&self.delimiter) {
                continue;
            }
            let fields = mark - before;
            let number = part.line_count;
            part.line_count += 1;
            let start = marks[before] as usize + 1;
            if fields != 1 || !matches!(&block.text[start..marks[mark] as usize], b"" | b"\r") {
                if fields != self.columns {
                    broken = self.check_count(fields, number).err();
                    break;
                }
                kept.extend_from_slice(&marks[before..=mark]);
                part.lines.push(number);
            }
            before = mark;
        }
        std::mem::swap(marks, kept);
        places.stride = self.columns + 1;
        places.rows = places.marks.len() / places.stride;
        broken
    }

    /// Takes the cells of a block, whose first row is `first`, and gives the first line that is broken.
    fn take(&self, text: &[u8], places: &Places, first: usize, part: &mut Part) -> Option<Broken> {
        let mut broken: Option<Broken> = None;
        for (column, role) in self.roles.iter().enumerate() {
            let Some(role) = *role else { continue };
            let wanted = self.wanted[role];
            let taken = part.add_all(role, wanted, text, places.cells(column));
            if let Err((row, message, hint)) = taken {
                let line = part.lines.get(first + row).unwrap_or_default();
                if broken.as_ref().is_none_or(|broken| line < broken.line) {
                    let field = Some(wanted.column.clone());
                    broken = Some(Broken { line, field, message, hint });
                }
            }
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
