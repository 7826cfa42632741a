//! Revisions as entity tags.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Json, Response};
use serde::Serialize;

use crate::app::App;
use crate::problem::{MALFORMED, Problem};

/// The revision that the caller has seen, if they say so.
pub(crate) struct IfMatch(pub(crate) Option<u32>);

impl FromRequestParts<App> for IfMatch {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Problem> {
        let Some(value) = parts.headers.get(header::IF_MATCH) else { return Ok(Self(None)) };
        let text = value.to_str().unwrap_or_default().trim();
        if text == "*" {
            return Ok(Self(None));
        }
        let revision = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
        match revision.and_then(|revision| revision.parse().ok()) {
            Some(revision) => Ok(Self(Some(revision))),
            None => {
                let problem = Problem::new(MALFORMED, "`If-Match` holds no `ETag` of this server");
                Err(problem.hint("send the `ETag` as it was received, with its quotes"))
            }
        }
    }
}

/// A body with its revision.
pub(crate) struct Etagged<T>(pub(crate) u32, pub(crate) T);

impl<T: Serialize> IntoResponse for Etagged<T> {
    fn into_response(self) -> Response {
        let mut response = Json(self.1).into_response();
        if let Ok(tag) = HeaderValue::from_str(&format!("\"{}\"", self.0)) {
            response.headers_mut().insert(header::ETAG, tag);
        }
        response
    }
}
