//! A tar compressed with Zstandard, written and read by a thread of its own: members come and go in pieces.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// Pieces that may be on their way, and the size of those that are read.
const PIECES: usize = 4;
const PIECE_BYTES: usize = 256 * 1024;

/// A part of an archive.
pub(super) enum Piece {
    /// A member begins.
    Begin {
        /// Its path.
        name: String,
        /// How many bytes follow.
        size: u64,
    },
    /// Some of its bytes.
    Data(Bytes),
}

/// Writes an archive.
pub(super) struct ArchiveWriter {
    pieces: mpsc::Sender<Piece>,
    writing: JoinHandle<io::Result<()>>,
}

impl ArchiveWriter {
    /// Begins to write into a file; members are dated with the time, in seconds.
    pub(super) fn new(file: File, time: u64) -> Self {
        let (pieces, receiver) = mpsc::channel(PIECES);
        let writing = tokio::task::spawn_blocking(move || write(file, time, receiver));
        Self { pieces, writing }
    }

    /// Adds a whole member.
    pub(super) async fn member(&mut self, name: String, content: Vec<u8>) -> io::Result<()> {
        self.begin(name, content.len() as u64).await?;
        self.data(content.into()).await
    }

    /// Begins a member, of which so many bytes follow.
    pub(super) async fn begin(&mut self, name: String, size: u64) -> io::Result<()> {
        self.send(Piece::Begin { name, size }).await
    }

    /// Adds to the member.
    pub(super) async fn data(&mut self, content: Bytes) -> io::Result<()> {
        if content.is_empty() { Ok(()) } else { self.send(Piece::Data(content)).await }
    }

    async fn send(&mut self, piece: Piece) -> io::Result<()> {
        if self.pieces.send(piece).await.is_ok() {
            return Ok(());
        }
        // The thread has ended before its time, and says why.
        (&mut self.writing).await.map_err(io::Error::other)??;
        Err(io::Error::other("the archive was closed"))
    }

    /// Ends the archive, which is on disk then.
    pub(super) async fn finish(self) -> io::Result<()> {
        drop(self.pieces);
        self.writing.await.map_err(io::Error::other)?
    }
}

fn write(file: File, time: u64, mut pieces: mpsc::Receiver<Piece>) -> io::Result<()> {
    let mut encoder = zstd::Encoder::new(BufWriter::new(file), zstd::DEFAULT_COMPRESSION_LEVEL)?;
    encoder.include_checksum(true)?;
    let mut archive = tar::Builder::new(encoder);
    while let Some(piece) = pieces.blocking_recv() {
        let Piece::Begin { name, size } = piece else {
            return Err(io::Error::other("a member is longer than it was said to be"));
        };
        let mut header = tar::Header::new_gnu();
        header.set_size(size);
        header.set_mode(0o600);
        header.set_mtime(time);
        let content = Content { pieces: &mut pieces, left: size, piece: Bytes::new() };
        archive.append_data(&mut header, name, content)?;
    }
    let file = archive.into_inner()?.finish()?;
    file.into_inner()?.sync_all()
}

/// The bytes of a member as they come.
struct Content<'pieces> {
    pieces: &'pieces mut mpsc::Receiver<Piece>,
    left: u64,
    piece: Bytes,
}

impl Read for Content<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            return Ok(0);
        }
        if self.piece.is_empty() {
            match self.pieces.blocking_recv() {
                Some(Piece::Data(piece)) if piece.len() as u64 <= self.left => self.piece = piece,
                _ => return Err(io::Error::other("a member is not as long as it was said to be")),
            }
        }
        let count = self.piece.len().min(buffer.len());
        buffer[..count].copy_from_slice(&self.piece.split_to(count));
        self.left -= count as u64;
        Ok(count)
    }
}

/// A file from its beginning, wherever others are that read it.
struct FromStart {
    file: Arc<File>,
    position: u64,
}

impl Read for FromStart {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read_at(buffer, self.position)?;
        self.position += count as u64;
        Ok(count)
    }
}

/// Reads an archive from its beginning.
pub(super) struct ArchiveReader {
    pieces: mpsc::Receiver<io::Result<Piece>>,
}

impl ArchiveReader {
    pub(super) fn new(file: Arc<File>) -> Self {
        let (sender, pieces) = mpsc::channel(PIECES);
        tokio::task::spawn_blocking(move || {
            if let Err(error) = read(file, &sender) {
                // Nobody reads any more where it cannot be sent.
                let _ = sender.blocking_send(Err(error));
            }
        });
        Self { pieces }
    }

    /// The next piece; none after the last one, when the whole archive agrees with its checksum.
    pub(super) async fn next(&mut self) -> io::Result<Option<Piece>> {
        self.pieces.recv().await.transpose()
    }
}

fn read(file: Arc<File>, pieces: &mpsc::Sender<io::Result<Piece>>) -> io::Result<()> {
    let file = BufReader::new(FromStart { file, position: 0 });
    let closed = |_| io::Error::other("the archive was closed");
    let send = |piece| pieces.blocking_send(Ok(piece)).map_err(closed);
    let mut archive = tar::Archive::new(zstd::Decoder::new(file)?);
    for member in archive.entries()? {
        let mut member = member?;
        let name = String::from_utf8_lossy(&member.path_bytes()).into_owned();
        if !member.header().entry_type().is_file() {
            return Err(io::Error::other(format!("`{name}` is no file")));
        }
        let mut left = member.size();
        send(Piece::Begin { name, size: left })?;
        while left > 0 {
            let mut piece = vec![0; PIECE_BYTES.min(usize::try_from(left).unwrap_or(PIECE_BYTES))];
            member.read_exact(&mut piece)?;
            left -= piece.len() as u64;
            send(Piece::Data(piece.into()))?;
        }
    }
    io::copy(&mut archive.into_inner(), &mut io::sink())?;
    Ok(())
}
