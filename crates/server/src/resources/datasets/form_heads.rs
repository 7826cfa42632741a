//! A bound on the heads of a form: the reader of forms keeps everything before the first part, and the head of each part, in
//! memory until it is whole, however long it gets.

use std::io::Error;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll};

use axum::body::{Body, BodyDataStream, Bytes};
use axum::extract::Request;
use futures::Stream;

/// What may come while the head of a part is waited for.
const MOST_BYTES: u64 = 1 << 20;

/// Watches over a form while the head of a part is waited for.
#[derive(Debug, Clone, Default)]
pub(super) struct Heads(Arc<Watched>);

#[derive(Debug, Default)]
struct Watched {
    is_waiting: AtomicBool,
    bytes: AtomicU64,
}

impl Heads {
    /// The request with a body that breaks off where a head has no end.
    pub(super) fn watch(&self, request: Request) -> Request {
        let watched = self.0.clone();
        request.map(|body| {
            let source = body.into_data_stream();
            Body::from_stream(WatchedBody { source, watched, is_next_delayed: false })
        })
    }

    /// What a wait for the head of a part gives.
    pub(super) async fn within<T>(&self, waiting: impl Future<Output = T>) -> T {
        self.0.bytes.store(0, Ordering::Relaxed);
        self.0.is_waiting.store(true, Ordering::Relaxed);
        let head = waiting.await;
        self.0.is_waiting.store(false, Ordering::Relaxed);
        head
    }

    /// Whether a head was too long.
    pub(super) fn are_too_long(&self) -> bool {
        self.0.bytes.load(Ordering::Relaxed) > MOST_BYTES
    }
}

struct WatchedBody {
    source: BodyDataStream,
    watched: Arc<Watched>,
    is_next_delayed: bool,
}

impl Stream for WatchedBody {
    type Item = Result<Bytes, axum::Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        // The reader takes all there is before it looks at any of it: it is given one piece at a time.
        if std::mem::take(&mut self.is_next_delayed) {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let next = Pin::new(&mut self.source).poll_next(context);
        if let Poll::Ready(Some(Ok(piece))) = &next {
            self.is_next_delayed = true;
            if self.watched.is_waiting.load(Ordering::Relaxed) {
                let before = self.watched.bytes.load(Ordering::Relaxed);
                self.watched.bytes.store(before + piece.len() as u64, Ordering::Relaxed);
                // The piece in which the head ends has more than the head.
                if before >= MOST_BYTES {
                    let error = Error::other("the head of a part has no end");
                    return Poll::Ready(Some(Err(axum::Error::new(error))));
                }
            }
        }
        next
    }
}
