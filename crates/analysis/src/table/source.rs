//! Where lines are read from: memory, or a file that is too large to be held there.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;

/// Parts smaller than this are not worth a thread.
const MIN_PART: u64 = 1 << 20;

/// Bytes of lines.
#[derive(Clone, Copy)]
pub(super) enum Source<'a> {
    Memory(&'a [u8]),
    /// A file from `start` to `end`.
    File {
        path: &'a Path,
        start: u64,
        end: u64,
    },
}

impl<'a> Source<'a> {
    pub(super) fn len(self) -> u64 {
        match self {
            Self::Memory(bytes) => bytes.len() as u64,
            Self::File { start, end, .. } => end - start,
        }
    }

    /// Some of the bytes, counted from 0.
    pub(super) fn range(self, range: &Range<u64>) -> Self {
        match self {
            Self::Memory(bytes) => Self::Memory(&bytes[range.start as usize..range.end as usize]),
            Self::File { path, start, .. } => {
                Self::File { path, start: start + range.start, end: start + range.end }
            }
        }
    }

    pub(super) fn reader(self) -> io::Result<Box<dyn Read + 'a>> {
        match self {
            Self::Memory(bytes) => Ok(Box::new(bytes)),
            Self::File { path, start, end } => {
                let mut file = File::open(path)?;
                file.seek(SeekFrom::Start(start))?;
                Ok(Box::new(file.take(end - start)))
            }
        }
    }

    /// Ranges of whole lines, one for each thread.
    pub(super) fn parts(self) -> io::Result<Vec<Range<u64>>> {
        let length = self.len();
        let size = length.div_ceil(rayon::current_num_threads() as u64).max(MIN_PART);
        let mut parts = Vec::new();
        let mut start = 0;
        while start < length {
            let mut end = (start + size).min(length);
            if end < length {
                // A cut at a line end stays there.
                let rest = self.range(&(end - 1..length)).reader()?;
                end += BufReader::new(rest).skip_until(b'\n')? as u64 - 1;
            }
            parts.push(start..end);
            start = end;
        }
        Ok(parts)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_whole_lines_in_memory_and_in_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines");
        let line = format!("{}\n", "x".repeat(1_000));
        let text = line.repeat(3 * MIN_PART as usize / line.len());
        std::fs::write(&path, format!("head\n{text}")).unwrap();
        let end = 5 + text.len() as u64;
        let sources =
            [Source::Memory(text.as_bytes()), Source::File { path: &path, start: 5, end }];
        for source in sources {
            let parts = source.parts().unwrap();
            let mut together = String::new();
            for part in &parts {
                let mut bytes = String::new();
                source.range(part).reader().unwrap().read_to_string(&mut bytes).unwrap();
                assert!(bytes.ends_with('\n'));
                together.push_str(&bytes);
            }
            assert_eq!(
                (together == text, parts.len() > 1),
                (true, rayon::current_num_threads() > 1)
            );
        }
    }
}
