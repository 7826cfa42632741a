//! HTTP replies: whole ones, and streams spread over time.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use hyper::Response;
use hyper::body::{Body, Frame, SizeHint};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use tokio::time::{Instant, Sleep, sleep_until};

use crate::statistics::Recorder;

/// A reply of the simulator.
pub(crate) type Reply = Response<ReplyBody>;

/// Counts a call as being answered for as long as it lives.
#[derive(Debug)]
pub(crate) struct InFlight(Arc<Recorder>);

impl InFlight {
    pub(crate) fn enter(recorder: &Arc<Recorder>) -> Self {
        recorder.enter();
        Self(Arc::clone(recorder))
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.leave();
    }
}

/// A body that is there at once, or comes piece by piece.
pub(crate) enum ReplyBody {
    Whole(Option<Bytes>),
    Stream(Pin<Box<TimedStream>>),
}

/// Pieces, each with the moment it is sent.
pub(crate) struct TimedStream {
    pieces: VecDeque<(Instant, Bytes)>,
    sleep: Pin<Box<Sleep>>,
    on_end: Option<Box<dyn FnOnce() + Send>>,
    _in_flight: InFlight,
}

impl TimedStream {
    /// Spreads pieces over the latency: the first after a fifth of it, the last at its end.
    pub(crate) fn new(
        events: Vec<Vec<u8>>,
        start: Instant,
        latency: Duration,
        on_end: Box<dyn FnOnce() + Send>,
        in_flight: InFlight,
    ) -> Self {
        const FIRST: f64 = 0.2;
        let steps = events.len().saturating_sub(1).max(1) as f64;
        let timed = events.into_iter().enumerate().map(|(index, event)| {
            let share = FIRST + (1.0 - FIRST) * index as f64 / steps;
            (start + latency.mul_f64(share), Bytes::from(event))
        });
        Self {
            pieces: timed.collect(),
            sleep: Box::pin(sleep_until(start)),
            on_end: Some(on_end),
            _in_flight: in_flight,
        }
    }

    /// Every piece that is due, or when the next one is.
    fn due(&mut self) -> Result<Option<Bytes>, Instant> {
        let now = Instant::now();
        let count = self.pieces.iter().take_while(|(moment, _)| *moment <= now).count();
        if count == 0 {
            return self.pieces.front().map_or(Ok(None), |(moment, _)| Err(*moment));
        }
        let mut joined = BytesMut::new();
        for (_, piece) in self.pieces.drain(..count) {
            joined.extend_from_slice(&piece);
        }
        Ok(Some(joined.freeze()))
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        loop {
            match self.due() {
                Ok(piece) => {
                    if self.pieces.is_empty()
                        && let Some(on_end) = self.on_end.take()
                    {
                        on_end();
                    }
                    return Poll::Ready(piece);
                }
                Err(moment) => self.sleep.as_mut().reset(moment),
            }
            if self.sleep.as_mut().poll(context).is_pending() {
                return Poll::Pending;
            }
        }
    }
}

impl Body for ReplyBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.get_mut() {
            Self::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Self::Stream(stream) => {
                stream.as_mut().poll(context).map(|piece| piece.map(|piece| Ok(Frame::data(piece))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, Bytes::len) as u64),
            Self::Stream(_) => SizeHint::default(),
        }
    }
}

/// A reply with this body and content type.
pub(crate) fn reply(body: impl Into<Bytes>, content_type: &'static str) -> Reply {
    let mut reply = Response::new(ReplyBody::Whole(Some(body.into())));
    reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    reply
}

/// A reply of server-sent events.
pub(crate) fn stream(stream: TimedStream) -> Reply {
    let mut reply = Response::new(ReplyBody::Stream(Box::pin(stream)));
    reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    reply
}
