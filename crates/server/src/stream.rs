//! Bodies that are written as they are read.

use std::io;

use axum::body::{Body, Bytes};
use futures::stream;
use tokio::sync::mpsc;

/// Bytes that are handed over together.
const CHUNK: usize = 64 * 1024;
/// Chunks that may wait for a slow reader.
const WAITING: usize = 4;

/// A body, and the writer that fills it from a blocking task. When the reader goes away, writing fails.
pub(crate) fn written_body() -> (ChunkWriter, Body) {
    let (sender, receiver) = mpsc::channel::<io::Result<Bytes>>(WAITING);
    let chunks = stream::unfold(receiver, async |mut receiver| {
        receiver.recv().await.map(|chunk| (chunk, receiver))
    });
    (ChunkWriter { sender, buffer: Vec::with_capacity(CHUNK) }, Body::from_stream(chunks))
}

/// Writes into a body; only to be used where blocking is allowed.
pub(crate) struct ChunkWriter {
    sender: mpsc::Sender<io::Result<Bytes>>,
    buffer: Vec<u8>,
}

impl ChunkWriter {
    /// Breaks the body off, so that its reader does not take it for whole.
    pub(crate) fn fail(sender: &mpsc::Sender<io::Result<Bytes>>, error: io::Error) {
        let _ = sender.blocking_send(Err(error));
    }

    /// What breaks the body off.
    pub(crate) fn breaker(&self) -> mpsc::Sender<io::Result<Bytes>> {
        self.sender.clone()
    }

    fn send(&mut self) -> io::Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let chunk = std::mem::replace(&mut self.buffer, Vec::with_capacity(CHUNK));
        self.sender
            .blocking_send(Ok(chunk.into()))
            .map_err(|_| io::Error::new(io::ErrorKind::BrokenPipe, "the reader went away"))
    }
}

impl io::Write for ChunkWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= CHUNK {
            self.send()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.send()
    }
}

impl Drop for ChunkWriter {
    fn drop(&mut self) {
        let _ = self.send();
    }
}
