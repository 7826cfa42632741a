//! What every answer tells browsers: to guess nothing, to load nothing, and which pages of others may read it.

use std::fmt;
use std::str::FromStr;

use axum::extract::{Request, State};
use axum::http::header::{self, Entry, HeaderName};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::app::App;

/// What is set on every answer that does not set it itself.
static ALWAYS: [(HeaderName, HeaderValue); 7] = [
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static(
            "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        ),
    ),
    (header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
    (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        HeaderValue::from_static("same-origin"),
    ),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        HeaderValue::from_static("same-origin"),
    ),
    (
        HeaderName::from_static("cross-origin-embedder-policy"),
        HeaderValue::from_static("require-corp"),
    ),
];
/// For a year, browsers come back with TLS alone.
const TLS_ONLY: HeaderValue = HeaderValue::from_static("max-age=31536000");
/// What a page of an allowed origin may do.
const METHODS: HeaderValue = HeaderValue::from_static("GET, POST, PUT, PATCH, DELETE");
/// The headers it may send.
const TAKEN: HeaderValue = HeaderValue::from_static(
    "authorization, content-type, idempotency-key, if-match, last-event-id, x-request-id",
);
/// The headers it may read.
const SHOWN: HeaderValue = HeaderValue::from_static(
    "content-disposition, etag, idempotent-replayed, location, ratelimit, ratelimit-policy, retry-after, \
     x-content-sha256, x-request-id",
);
/// For how long, in seconds, it need not ask again what it may.
const REMEMBERED: HeaderValue = HeaderValue::from_static("600");

/// An origin whose pages may use the API: scheme, host and port, exactly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowedOrigin(HeaderValue);

impl FromStr for AllowedOrigin {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "give an origin, for example https://app.example.com".to_owned();
        let url = reqwest::Url::parse(text).map_err(|_| wrong())?;
        let is_bare = url.path() == "/" && url.query().is_none() && url.fragment().is_none();
        let is_open = url.username().is_empty() && url.password().is_none();
        if !matches!(url.scheme(), "http" | "https") || !is_bare || !is_open {
            return Err(wrong());
        }
        let origin = url.origin().ascii_serialization();
        // `https://*.example.com` is no host, but is read as one.
        if origin.contains('*') {
            return Err(wrong());
        }
        HeaderValue::from_str(&origin).map(Self).map_err(|_| wrong())
    }
}

impl fmt::Display for AllowedOrigin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.0.to_str().unwrap_or_default())
    }
}

/// Answers what pages of other origins ask before they call, and puts the headers on every answer.
pub(crate) async fn with_headers(State(app): State<App>, request: Request, next: Next) -> Response {
    let config = &app.config().serving;
    let origin = request.headers().get(header::ORIGIN);
    let is_allowed = |origin: &&HeaderValue| config.origins.iter().any(|one| one.0 == **origin);
    let origin = origin.filter(is_allowed).cloned();
    let is_api = request.uri().path().starts_with("/v1/");
    let mut response = match &origin {
        Some(_) if is_preflight(&request) => what_may_be_done(),
        _ => next.run(request).await,
    };
    let headers = response.headers_mut();
    for (name, value) in &ALWAYS {
        set_if_missing(headers, name, value);
    }
    if is_api {
        set_if_missing(headers, &header::CACHE_CONTROL, &HeaderValue::from_static("no-store"));
    }
    if config.tls.is_some() {
        headers.insert(header::STRICT_TRANSPORT_SECURITY, TLS_ONLY);
    }
    if !config.origins.is_empty() {
        headers.append(header::VARY, HeaderValue::from_static("origin"));
    }
    if let Some(origin) = origin {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, SHOWN);
    }
    response
}

fn is_preflight(request: &Request) -> bool {
    request.method() == Method::OPTIONS
        && request.headers().contains_key(header::ACCESS_CONTROL_REQUEST_METHOD)
}

fn what_may_be_done() -> Response {
    let headers = [
        (header::ACCESS_CONTROL_ALLOW_METHODS, METHODS),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, TAKEN),
        (header::ACCESS_CONTROL_MAX_AGE, REMEMBERED),
    ];
    (StatusCode::NO_CONTENT, headers).into_response()
}

fn set_if_missing(headers: &mut HeaderMap, name: &HeaderName, value: &HeaderValue) {
    if let Entry::Vacant(entry) = headers.entry(name) {
        entry.insert(value.clone());
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn origins_are_exact() {
        let shown = |text: &str| text.parse::<AllowedOrigin>().map(|origin| origin.to_string());
        assert_eq!(shown("https://App.Example.com/").unwrap(), "https://app.example.com");
        assert_eq!(shown("https://app.example.com:443").unwrap(), "https://app.example.com");
        assert_eq!(shown("http://localhost:5173").unwrap(), "http://localhost:5173");
        for wrong in [
            "*",
            "null",
            "app.example.com",
            "https://*.example.com",
            "https://app.example.com/path",
            "https://ann@app.example.com",
            "ftp://app.example.com",
            "https://",
        ] {
            assert!(shown(wrong).is_err(), "{wrong}");
        }
    }
}
