//! What a connection is waiting for, and until when it may.
//!
//! The stream says when bytes come and go, the service when a request begins, the body of the answer when it ends. No timer is
//! set for any of it: whoever drives the connection asks for the deadline.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use hyper::body::{Frame, SizeHint};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Instant;

use super::ServingConfig;

/// What a connection is waiting for.
#[derive(Debug)]
pub(super) struct Watch(Mutex<Waiting>);

#[derive(Debug)]
struct Waiting {
    phase: Phase,
    /// Since when the client takes nothing of what it is sent.
    stalled: Option<Instant>,
}

#[derive(Debug, Clone, Copy)]
enum Phase {
    /// The head of a request is being read.
    Head(Instant),
    /// A request is being answered.
    Busy,
    /// There is no request.
    Idle(Instant),
}

impl Watch {
    /// A connection that was just made.
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self(Mutex::new(Waiting { phase: Phase::Head(Instant::now()), stalled: None })))
    }

    /// A request is there.
    pub(super) fn request_began(&self) {
        self.lock().phase = Phase::Busy;
    }

    /// When to give the connection up.
    pub(super) fn deadline(&self, config: &ServingConfig) -> Option<Instant> {
        let waiting = self.lock();
        let of_phase = match waiting.phase {
            Phase::Head(since) => Some(since + config.header_timeout),
            Phase::Busy => None,
            Phase::Idle(since) => Some(since + config.idle_timeout),
        };
        let of_stall = waiting.stalled.map(|since| since + config.stall_timeout);
        of_phase.into_iter().chain(of_stall).min()
    }

    fn bytes_came(&self) {
        let mut waiting = self.lock();
        if let Phase::Idle(_) = waiting.phase {
            waiting.phase = Phase::Head(Instant::now());
        }
    }

    fn answer_ended(&self) {
        self.lock().phase = Phase::Idle(Instant::now());
    }

    fn set_stalled(&self, is_stalled: bool) {
        self.lock().stalled = is_stalled.then(Instant::now);
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A stream that says when bytes come, and when none go.
pub(super) struct WatchedStream<S> {
    stream: S,
    watch: Arc<Watch>,
    is_stalled: bool,
}

impl<S> WatchedStream<S> {
    pub(super) fn new(stream: S, watch: Arc<Watch>) -> Self {
        Self { stream, watch, is_stalled: false }
    }

    /// Notes whether a write went through.
    fn noted<T>(&mut self, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if self.is_stalled != written.is_pending() {
            self.is_stalled = written.is_pending();
            self.watch.set_stalled(self.is_stalled);
        }
        written
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for WatchedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        if buffer.filled().len() > before {
            self.watch.bytes_came();
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for WatchedStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.noted(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, pieces);
        self.noted(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        self.noted(flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shut = Pin::new(&mut self.stream).poll_shutdown(context);
        self.noted(shut)
    }
}

/// The body of an answer that says when it was sent, or given up.
pub(super) struct WatchedBody {
    body: Body,
    watch: Arc<Watch>,
}

impl WatchedBody {
    pub(super) fn new(body: Body, watch: Arc<Watch>) -> Self {
        Self { body, watch }
    }
}

impl hyper::body::Body for WatchedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        hyper::body::Body::size_hint(&self.body)
    }
}

impl Drop for WatchedBody {
    fn drop(&mut self) {
        self.watch.answer_ended();
    }
}
