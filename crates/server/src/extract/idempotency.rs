//! Requests that are sent again: with an `Idempotency-Key` each is carried out once, and answered alike each time.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::{Body, to_bytes};
use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use fullbench_store::{Claim, KeptAnswer};
use fullbench_types::{ContentHash, OrganizationId};
use uuid::Uuid;

use super::resent::has_same_file;
use crate::access::Caller;
use crate::app::App;
use crate::audit::AuditNote;
use crate::problem::{IN_PROGRESS, INVALID, KEY_REUSED, MALFORMED, Problem, TOO_LARGE};

/// The header with the key.
const HEADER: &str = "idempotency-key";
/// Letters that a key may have.
pub(crate) const MAX_KEY: usize = 200;

/// The id of what a request creates: the same one when the request is sent again.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NewId(pub(crate) Uuid);

impl FromRequestParts<App> for NewId {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Problem> {
        let id = parts.extensions.get::<Self>().copied().unwrap_or_else(|| Self(Uuid::now_v7()));
        if let Some(note) = parts.extensions.get::<AuditNote>() {
            note.creates(id.0);
        }
        Ok(id)
    }
}

/// What is kept of an answer that must not be kept whole.
#[derive(Debug, Clone)]
pub(crate) struct Kept(pub(crate) String);

/// Requests with a key that are being carried out by this process.
#[derive(Debug, Default)]
pub(crate) struct InFlight(Arc<Entries>);

type Entries = Mutex<HashSet<(OrganizationId, String)>>;

/// Keeps requests with the same key from being carried out, until it is dropped: after the answer, where something of the request
/// goes on.
#[derive(Debug, Clone)]
pub(crate) struct InProgress {
    _place: Arc<Place>,
}

#[derive(Debug)]
struct Place {
    set: Arc<Entries>,
    entry: (OrganizationId, String),
}

impl InFlight {
    fn enter(&self, organization: OrganizationId, key: &str) -> Option<InProgress> {
        let entry = (organization, key.to_owned());
        let mut set = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        set.insert(entry.clone())
            .then(|| InProgress { _place: Arc::new(Place { set: self.0.clone(), entry }) })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.set.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.entry);
    }
}

/// Carries a request with a key out once.
pub(crate) async fn once(State(app): State<App>, request: Request, next: Next) -> Response {
    if request.method() != Method::POST || !request.headers().contains_key(HEADER) {
        return next.run(request).await;
    }
    match carry_out(&app, request, next).await {
        Ok(response) => response,
        Err(problem) => problem.into_response(),
    }
}

async fn carry_out(app: &App, request: Request, next: Next) -> Result<Response, Problem> {
    let (mut parts, body) = request.into_parts();
    let Some(caller) = parts.extensions.get::<Caller>().cloned() else {
        return Ok(next.run(Request::from_parts(parts, body)).await);
    };
    let key = parts.headers.get(HEADER).and_then(|key| key.to_str().ok()).unwrap_or_default();
    let key = key.trim().to_owned();
    if key.is_empty() || key.len() > MAX_KEY {
        let detail = format!("an idempotency key has 1 to {MAX_KEY} ASCII letters");
        return Err(Problem::new(INVALID, detail).hint("use a fresh UUID for each request"));
    }
    let Some(in_progress) = app.in_flight().enter(caller.store.organization(), &key) else {
        let problem = Problem::new(IN_PROGRESS, "the same request is still being carried out");
        return Err(problem.hint("wait for its answer, or send it again a little later"));
    };
    // Files are too large to be kept in memory: they are known by their length, and looked at when they come again.
    let is_form = parts
        .headers
        .get(header::CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes().starts_with(b"multipart/"));
    let (said, body) = if is_form {
        let length = parts.headers.get(header::CONTENT_LENGTH);
        (length.map(|length| length.as_bytes().to_vec()).unwrap_or_default(), body)
    } else {
        let limit = app.config().max_body_bytes;
        let bytes = to_bytes(body, limit).await.map_err(|error| {
            let is_limit = std::error::Error::source(&error)
                .is_some_and(|source| source.is::<http_body_util::LengthLimitError>());
            match is_limit {
                true => Problem::new(TOO_LARGE, format!("the body has more than {limit} bytes")),
                false => Problem::new(MALFORMED, "the body ended too early"),
            }
        })?;
        (bytes.to_vec(), Body::from(bytes))
    };
    let place = parts.uri.path_and_query().map(ToString::to_string).unwrap_or_default();
    let fingerprint =
        ContentHash::of_parts(&[place.as_bytes(), caller.name.as_bytes(), &said]).to_string();
    let id = match caller.store.claim_key(&key, &fingerprint).await? {
        Claim::Open(id) => id,
        Claim::Answered(answer) if is_form => {
            let request = Request::from_parts(parts, body);
            return match has_same_file(app, request, &answer).await? {
                true => Ok(again(answer)),
                false => Err(reused()),
            };
        }
        Claim::Answered(answer) => return Ok(again(answer)),
        Claim::Different => return Err(reused()),
    };
    parts.extensions.insert(NewId(id));
    parts.extensions.insert(in_progress.clone());
    let response = next.run(Request::from_parts(parts, body)).await;
    // Something may have been made before the server failed: the same request again is to find it.
    if response.status().is_server_error() {
        return Ok(response);
    }
    if !response.status().is_success() {
        caller.store.release_key(&key).await?;
        return Ok(response);
    }
    let (head, body) = response.into_parts();
    let body = to_bytes(body, usize::MAX).await.unwrap_or_default();
    let text = match head.extensions.get::<Kept>() {
        Some(Kept(text)) => Some(text.clone()),
        None => std::str::from_utf8(&body).ok().map(str::to_owned),
    };
    if let Some(text) = text {
        let answer = KeptAnswer { status: head.status.as_u16(), body: text };
        caller.store.keep_answer(&key, &answer).await?;
    }
    Ok(Response::from_parts(head, Body::from(body)))
}

fn reused() -> Problem {
    Problem::new(KEY_REUSED, "the key belongs to a request that said something else")
        .hint("use a fresh key for each request")
}

fn again(answer: KeptAnswer) -> Response {
    let status = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::OK);
    let mut response = (status, answer.body).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert("idempotent-replayed", HeaderValue::from_static("true"));
    response
}
