//! Requests that are too large or too slow, refused before a handler waits for them.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures::{Stream, StreamExt};
use hyper::body::{Frame, SizeHint};
use tokio::time::{Instant, Sleep, sleep_until};

use crate::app::App;
use crate::problem::{HEADERS_TOO_LARGE, MEDIA_TYPE, Problem, TOO_LARGE, TOO_SLOW, URI_TOO_LONG};

/// The longest path with its query: a filter of 4,096 letters fits in, however they are escaped.
const MAX_URI: usize = 56 << 10;
/// How much of a refused body is read, so that its sender comes to hear of the refusal.
const READ_ON: u64 = 16 << 20;
/// For how long it is read.
const READ_ON_FOR: Duration = Duration::from_secs(5);

/// Refuses what is too large, and what takes too long to come.
pub(crate) async fn within_limits(
    State(app): State<App>,
    request: Request,
    next: Next,
) -> Response {
    let config = app.config();
    if let Err(problem) = check_head(&request, config.serving.max_header_bytes) {
        return problem.into_response();
    }
    if request.body().is_end_stream() {
        return next.run(request).await;
    }
    if let Err(problem) = check_encoding(request.headers()) {
        return problem.into_response();
    }
    // Files have limits of their own, and take as long as they take while they come.
    let is_file = is_form(request.headers());
    if !is_file && length(request.headers()).is_some_and(|bytes| bytes > config.max_body_bytes) {
        return refused_body(request, config.max_body_bytes).await.into_response();
    }
    let was_slow = Arc::new(AtomicBool::new(false));
    let whole = config.serving.body_timeout;
    let request = request.map(|body| {
        let deadline = (!is_file).then(|| Instant::now() + whole);
        let idle = config.serving.body_idle_timeout;
        let is_slow = was_slow.clone();
        Body::new(TimedBody { body, idle, deadline, since: None, alarm: None, is_slow })
    });
    let response = next.run(request).await;
    if !was_slow.load(Ordering::Relaxed) {
        return response;
    }
    let problem = Problem::new(TOO_SLOW, "the body did not come in time")
        .hint("send the request again, over a faster connection or in smaller parts");
    let mut response = problem.into_response();
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}

/// Refuses bodies that are compressed: they are never unfolded, and would be taken for what they are not.
fn check_encoding(headers: &HeaderMap) -> Result<(), Problem> {
    let is_plain = |value: &HeaderValue| value.as_bytes().eq_ignore_ascii_case(b"identity");
    match headers.get_all(header::CONTENT_ENCODING).iter().all(is_plain) {
        true => Ok(()),
        false => Err(Problem::new(MEDIA_TYPE, "the body is compressed, and is not unfolded")
            .hint("send it as it is, without `Content-Encoding`")),
    }
}

fn check_head(request: &Request, most: usize) -> Result<(), Problem> {
    let path = request.uri().path_and_query().map_or(0, |place| place.as_str().len());
    if path > MAX_URI {
        let detail = format!("the address has {path} bytes, and {MAX_URI} are read");
        return Err(Problem::new(URI_TOO_LONG, detail).hint("ask for less at a time"));
    }
    let lines = request.headers().iter().map(|(name, value)| name.as_str().len() + value.len() + 4);
    let bytes: usize = lines.sum::<usize>() + path;
    if bytes > most {
        let detail = format!("the headers have {bytes} bytes, and {most} are read");
        return Err(Problem::new(HEADERS_TOO_LARGE, detail).hint("send fewer or shorter headers"));
    }
    Ok(())
}

fn is_form(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).map(HeaderValue::as_bytes).unwrap_or_default();
    kind.get(..10).is_some_and(|start| start.eq_ignore_ascii_case(b"multipart/"))
}

fn length(headers: &HeaderMap) -> Option<usize> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

async fn refused_body(request: Request, most: usize) -> Problem {
    // Who waits to be asked for the body need not send it.
    if !request.headers().contains_key(header::EXPECT) {
        read_on(request.into_body().into_data_stream()).await;
    }
    Problem::new(TOO_LARGE, format!("the body has more than {most} bytes"))
        .hint("upload large data as a version of a data set")
}

/// Reads on for a little while, and forgets what it reads.
pub(crate) async fn read_on<E>(stream: impl Stream<Item = Result<Bytes, E>>) {
    let mut stream = std::pin::pin!(stream);
    let mut bytes = 0;
    let reading = async {
        while let Some(Ok(piece)) = stream.next().await {
            bytes += piece.len() as u64;
            if bytes > READ_ON {
                return;
            }
        }
    };
    let _ = tokio::time::timeout(READ_ON_FOR, reading).await;
}

/// A body that is given up when nothing comes for too long, or when it takes too long in all.
struct TimedBody {
    body: Body,
    idle: Duration,
    deadline: Option<Instant>,
    /// Since when nothing has come.
    since: Option<Instant>,
    alarm: Option<Pin<Box<Sleep>>>,
    is_slow: Arc<AtomicBool>,
}

impl TimedBody {
    /// Whether the wait is over.
    fn poll_alarm(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let since = *self.since.get_or_insert_with(Instant::now);
        let idle = since + self.idle;
        let until = self.deadline.map_or(idle, |deadline| deadline.min(idle));
        let alarm = self.alarm.get_or_insert_with(|| Box::pin(sleep_until(until)));
        if alarm.deadline() != until {
            alarm.as_mut().reset(until);
        }
        alarm.as_mut().poll(context)
    }
}

impl HttpBody for TimedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(context) {
            self.since = None;
            return Poll::Ready(frame);
        }
        if self.poll_alarm(context).is_pending() {
            return Poll::Pending;
        }
        self.is_slow.store(true, Ordering::Relaxed);
        let error = std::io::Error::from(std::io::ErrorKind::TimedOut);
        Poll::Ready(Some(Err(axum::Error::new(error))))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        HttpBody::size_hint(&self.body)
    }
}
