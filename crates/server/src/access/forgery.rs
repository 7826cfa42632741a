//! Requests that another site has a browser send: refused by where they come from, and by a token that only our own pages know.

use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, header};
use subtle::ConstantTimeEq;

use crate::app::App;
use crate::problem::{FORGED, Problem};
use crate::secrets::authenticate;

/// The header with the token.
const HEADER: &str = "x-csrf-token";

/// The token that goes with a session: whoever has the cookie can be told, and nobody else can make it.
pub(crate) fn csrf_token(session_token: &str) -> String {
    let code = authenticate(session_token.as_bytes(), b"csrf");
    code.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Refuses a request with a session that changes something and does not come from our own pages.
pub(super) fn refuse_forged(app: &App, parts: &Parts, session_token: &str) -> Result<(), Problem> {
    if matches!(parts.method, Method::GET | Method::HEAD) {
        return Ok(());
    }
    refuse_foreign(app, &parts.headers)?;
    let sent = parts.headers.get(HEADER).map(|value| value.as_bytes()).unwrap_or_default();
    let expected = csrf_token(session_token);
    if bool::from(sent.ct_eq(expected.as_bytes())) {
        return Ok(());
    }
    let detail = "the header `X-CSRF-Token` does not belong to the session";
    Err(Problem::new(FORGED, detail).hint("send the `csrf_token` of GET /v1/session"))
}

/// Refuses a request that a browser sends for another site.
pub(crate) fn refuse_foreign(app: &App, headers: &HeaderMap) -> Result<(), Problem> {
    let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or_default());
    let refused = || {
        let problem = Problem::new(FORGED, "the request comes from another site");
        problem.hint("where a proxy stands between, let it pass on `Host`, or set the public URL")
    };
    if text("sec-fetch-site") == Some("cross-site") {
        return Err(refused());
    }
    let Some(origin) = text(header::ORIGIN.as_str()) else { return Ok(()) };
    let authority = origin.split_once("://").map(|(_, authority)| authority).unwrap_or_default();
    let host = text(header::HOST.as_str()).unwrap_or_default();
    let is_host = !authority.is_empty() && authority.eq_ignore_ascii_case(host);
    let public = app.config().public_url.as_ref().map(|url| url.origin().ascii_serialization());
    match is_host || public.is_some_and(|public| public.eq_ignore_ascii_case(origin)) {
        true => Ok(()),
        false => Err(refused()),
    }
}
