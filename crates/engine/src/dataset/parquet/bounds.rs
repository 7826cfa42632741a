//! Bounds on what a Parquet file may unfold to: a few bytes can be a page of gigabytes, or a list of a billion entries.
//!
//! Every page is looked at before the first one is decompressed. Each is held to what it says of itself: the decompressors stop
//! there, all but that of gzip, which is tried first.

use std::fs::File;
use std::io::{BufReader, Error, Read, Result, sink};

use ::parquet::basic::Compression;
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use ::parquet::file::reader::ChunkReader;
use flate2::read::MultiGzDecoder;

use super::page_head::PageHead;

/// What an entry of a dictionary takes besides its bytes.
const ENTRY_BYTES: u64 = 32;

/// How much a file may unfold to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    /// The largest page of each column may take this much together: so much is in memory at once.
    pub(super) page_bytes: u64,
    /// Entries that lists of a column may have in a row group: one row could have them all.
    pub(super) entries: u64,
    /// What all rows may take together, one after the other.
    pub(super) row_bytes: u64,
    /// They may take so many times the size of the file, where that is more: values that repeat take next to nothing in it.
    pub(super) times: u64,
}

/// Why a file is not read.
#[derive(Debug)]
pub(super) enum Unfit {
    /// It cannot be read.
    Damaged(ParquetError),
    /// A row group would take too much memory.
    TooLarge(&'static str),
}

impl From<Error> for Unfit {
    fn from(error: Error) -> Self {
        Self::Damaged(error.into())
    }
}

impl From<ParquetError> for Unfit {
    fn from(error: ParquetError) -> Self {
        Self::Damaged(error)
    }
}

impl Bounds {
    /// What holds for every file.
    pub(super) const USUAL: Self =
        Self { page_bytes: 256 << 20, entries: 32 << 20, row_bytes: 4 << 30, times: 64 };

    /// What the rows of a file of this size may take together.
    pub(super) fn unfolded(&self, file_bytes: u64) -> u64 {
        self.row_bytes.max(file_bytes.saturating_mul(self.times))
    }

    /// Looks at all pages of a file.
    pub(super) fn check(
        &self,
        file: &File,
        metadata: &ParquetMetaData,
    ) -> std::result::Result<(), Unfit> {
        for group in metadata.row_groups() {
            let mut left = self.page_bytes;
            for column in group.columns() {
                left -= self.check_column(file, column, left)?;
            }
        }
        Ok(())
    }

    /// Looks at the pages of a column in a row group, and says how much the largest takes.
    fn check_column(
        &self,
        file: &File,
        column: &ColumnChunkMetaData,
        left: u64,
    ) -> std::result::Result<u64, Unfit> {
        let (start, mut unread) = column.byte_range();
        let is_list = column.column_descr().max_rep_level() > 0;
        let is_gzip = matches!(column.compression(), Compression::GZIP(_));
        let mut source = file.get_read(start)?;
        let (mut largest, mut entries) = (0, 0_u64);
        while unread > 0 {
            let mut limited = (&mut source).take(unread);
            let head = PageHead::read(&mut limited)?;
            unread = limited.limit();
            if head.compressed > unread {
                return Err(Error::other("a page is longer than its column").into());
            }
            largest = memory_of(&head).max(largest);
            if largest > left {
                return Err(Unfit::TooLarge("its pages are too large"));
            }
            entries = entries.saturating_add(head.values);
            if is_list && entries > self.entries {
                return Err(Unfit::TooLarge("its lists have too many entries"));
            }
            pass(&mut source, &head, is_gzip)?;
            unread -= head.compressed;
        }
        Ok(largest)
    }
}

/// What a page takes while it is read: the reader keeps what it was compressed to until it is done.
fn memory_of(head: &PageHead) -> u64 {
    let entries = if head.is_dictionary { head.values } else { 0 };
    let bytes = head.uncompressed.saturating_add(head.compressed);
    bytes.saturating_add(entries.saturating_mul(ENTRY_BYTES))
}

/// Goes on to the next page.
fn pass(source: &mut BufReader<File>, head: &PageHead, is_gzip: bool) -> Result<()> {
    if !is_gzip {
        return source.seek_relative(i64::try_from(head.compressed).map_err(Error::other)?);
    }
    let mut page = source.take(head.compressed);
    std::io::copy(&mut (&mut page).take(head.levels), &mut sink())?;
    let mut content = MultiGzDecoder::new(&mut page).take(head.uncompressed.saturating_add(1));
    // What cannot be unfolded is refused by the reader, and takes no more until then.
    let unfolded = std::io::copy(&mut content, &mut sink()).unwrap_or(0);
    if unfolded > head.uncompressed {
        return Err(Error::other("a page is larger than it says"));
    }
    std::io::copy(&mut page, &mut sink()).map(drop)
}
