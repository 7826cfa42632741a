//! Server-sent events of an organization or of one run.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;
use fullbench_types::{Action, RunId};
use futures::stream;
use tokio::sync::broadcast::error::RecvError;
use uuid::Uuid;

use crate::access::Caller;
use crate::api::Endpoint;
use crate::app::App;
use crate::extract::PathParts;
use crate::problem::{Problem, RETRY_AFTER_SECONDS, TOO_MANY};
use crate::work::{Listener, Told, written};

/// Events read from the database together.
const PAGE: u64 = 200;
/// How often a silent stream says that it is alive.
const PULSE: Duration = Duration::from_secs(15);
/// How long a reader waits before it connects again.
const RETRY_MS: u64 = 1000;

pub(crate) fn endpoints() -> Vec<Endpoint> {
    let about = "A stream of server-sent events, from now on or after `Last-Event-ID`: progress and results as they arrive. \
        Ids are the same in all streams of an organization, and survive a restart of the server.";
    vec![
        Endpoint::get("/v1/events", "stream_events", Action::ReadRuns, of_organization)
            .about("events", "What happens in the organization", about)
            .gives_as(200, "text/event-stream", "The events")
            .resumable()
            .refuses(&[422]),
        Endpoint::get("/v1/runs/{run_id}/events", "stream_run_events", Action::ReadRuns, of_run)
            .about("events", "What happens in a run", about)
            .gives_as(200, "text/event-stream", "The events")
            .resumable()
            .refuses(&[422]),
    ]
}

async fn of_organization(
    State(app): State<App>,
    caller: Caller,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    stream_of(&app, caller, None, &headers).await
}

async fn of_run(
    State(app): State<App>,
    caller: Caller,
    PathParts(id): PathParts<Uuid>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let run = caller.store.run(RunId(id)).await?.id;
    stream_of(&app, caller, Some(run), &headers).await
}

async fn stream_of(
    app: &App,
    caller: Caller,
    run: Option<RunId>,
    headers: &HeaderMap,
) -> Result<Response, Problem> {
    let organization = caller.store.organization();
    let most = app.config().serving.max_connections / 4 * 3;
    let live = app.streams().read((organization, run), most.max(1)).ok_or_else(|| {
        Problem::new(TOO_MANY, format!("the organization reads {most} streams of events already"))
            .hint("read one stream of the organization instead of one for each run")
            .retry_after(RETRY_AFTER_SECONDS)
    })?;
    let last = match headers.get("last-event-id").map(|id| id.to_str()) {
        None => None,
        Some(id) => Some(id.ok().and_then(|id| id.trim().parse().ok()).ok_or_else(|| {
            Problem::field("Last-Event-ID", "this is no id of an event")
                .hint("send the id of the last event as it was received, or none")
        })?),
    };
    // A run is told from its beginning; an organization from now on.
    let (last, behind) = match (last, run) {
        (Some(last), _) => (last, true),
        (None, Some(_)) => (0, true),
        (None, None) => (caller.store.last_event().await?, false),
    };
    // A reader that is cut off before its first event knows where to go on, too.
    let start = format!("id: {last}\nretry: {RETRY_MS}\n\n");
    let first = stream::iter([Ok::<_, Infallible>(Bytes::from(start))]);
    let reader = Reader { app: app.clone(), caller, run, live, last, behind };
    let events = stream::unfold(reader, async |mut reader| {
        let text = reader.next().await?;
        if !reader.may_go_on().await {
            return None;
        }
        Some((Ok::<_, Infallible>(text), reader))
    });
    let mut response = Response::new(Body::from_stream(futures::StreamExt::chain(first, events)));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    // Proxies that keep responses back would keep events back.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    Ok(response)
}

/// Who reads events: what it has missed from the database, then what happens.
struct Reader {
    app: App,
    caller: Caller,
    run: Option<RunId>,
    live: Listener,
    last: u64,
    behind: bool,
}

impl Reader {
    /// Whether what opened the stream still opens it: keys are revoked, sessions end, people leave.
    async fn may_go_on(&self) -> bool {
        match self.caller.may_still(&self.app, Action::ReadRuns).await {
            Ok(may) => may,
            Err(problem) => {
                tracing::warn!(code = problem.kind.0, "a reader of events could not be looked up");
                false
            }
        }
    }

    /// The next text for the reader; none at the end.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if self.behind {
                match self.missed().await {
                    Ok(Some(text)) => return Some(text),
                    Ok(None) => self.behind = false,
                    Err(error) => {
                        // The reader connects again, and goes on after its last event.
                        tracing::warn!(%error, "events could not be read");
                        return None;
                    }
                }
            }
            tokio::select! {
                () = self.app.stop().cancelled() => return None,
                () = tokio::time::sleep(PULSE) => return Some(Bytes::from_static(b": \n\n")),
                told = self.live.told() => match told {
                    Ok(Told::Event { number, text }) if number > self.last => {
                        self.last = number;
                        return Some(text);
                    }
                    Ok(Told::Event { .. }) => {}
                    Ok(Told::Missed) | Err(RecvError::Lagged(_)) => self.behind = true,
                    Err(RecvError::Closed) => return None,
                },
            }
        }
    }

    /// The next page of what is in the database.
    async fn missed(&mut self) -> Result<Option<Bytes>, fullbench_store::StoreError> {
        let events = self.caller.store.events_after(self.last, self.run, PAGE).await?;
        let Some(newest) = events.last() else { return Ok(None) };
        self.last = newest.number;
        let texts: Vec<u8> = events.iter().flat_map(|event| written(event).to_vec()).collect();
        Ok(Some(texts.into()))
    }
}
