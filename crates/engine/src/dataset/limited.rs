//! A bound on what one row takes: a quote that is never closed must not make a whole file one row.

use std::cell::Cell;
use std::io::{Error, Read, Result};
use std::rc::Rc;

use super::ProblemCode;
use super::rows::{BadRow, MAX_ROW_BYTES};

/// What readers fetch at once; as much of the next rows may be read along with a row.
pub(crate) const BUFFER_BYTES: usize = 1 << 18;

/// A source that refuses to go on when a row does not end.
#[derive(Debug)]
pub(crate) struct Limited<R> {
    source: R,
    row: RowBytes,
}

/// Bytes read since the last row ended.
#[derive(Debug, Clone, Default)]
pub(crate) struct RowBytes(Rc<Cell<usize>>);

/// The source with a bound, and what tells it that a row has ended.
pub(crate) fn limited<R: Read>(source: R) -> (Limited<R>, RowBytes) {
    let row = RowBytes::default();
    (Limited { source, row: row.clone() }, row)
}

impl RowBytes {
    /// A row has ended.
    pub(crate) fn restart(&self) {
        self.0.set(0);
    }

    /// Whether the reading was ended by the bound.
    pub(crate) fn is_exceeded(&self) -> bool {
        self.0.get() > MAX_ROW_BYTES + BUFFER_BYTES
    }
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let read = self.source.read(buffer)?;
        self.row.0.set(self.row.0.get() + read);
        if self.row.is_exceeded() { Err(Error::other("the row is too long")) } else { Ok(read) }
    }
}

/// The problem of a row that is larger than is allowed.
pub(crate) fn too_long(what: &str) -> BadRow {
    let message = format!("the {what} is longer than {} MiB", MAX_ROW_BYTES >> 20);
    BadRow::new(ProblemCode::TooLong, message)
}
