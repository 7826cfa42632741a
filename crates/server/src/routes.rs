//! From endpoints to a router: the paths, and what is done around every request.

use axum::Router;
use axum::extract::{DefaultBodyLimit, MatchedPath, Request, State};
use axum::http::{HeaderValue, Uri, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use std::panic::AssertUnwindSafe;
use std::time::Instant;

use futures::FutureExt;
use tracing::Instrument;
use uuid::Uuid;

use crate::access::guarded;
use crate::api::{Endpoint, docs_page};
use crate::app::App;
use crate::audit::RequestId;
use crate::extract::once;
use crate::metrics;
use crate::problem::{INTERNAL, METHOD, NOT_FOUND, Problem};
use crate::resources;
use crate::serving::{Peer, with_headers, within_limits};
use crate::traced;

/// The header that names a request.
const REQUEST_ID: &str = "x-request-id";

/// All endpoints.
pub(crate) fn endpoints() -> Vec<Endpoint> {
    let mut endpoints = Vec::new();
    endpoints.extend(resources::health::endpoints());
    endpoints.extend(resources::metrics::endpoints());
    endpoints.extend(resources::session::endpoints());
    endpoints.extend(resources::account::endpoints());
    endpoints.extend(resources::password_resets::endpoints());
    endpoints.extend(resources::organization::endpoints());
    endpoints.extend(resources::members::endpoints());
    endpoints.extend(resources::invitations::endpoints());
    endpoints.extend(resources::api_keys::endpoints());
    endpoints.extend(resources::audit_log::endpoints());
    endpoints.extend(resources::datasets::endpoints());
    endpoints.extend(resources::evaluations::endpoints());
    endpoints.extend(resources::runs::endpoints());
    endpoints.extend(resources::baselines::endpoints());
    endpoints.extend(resources::executions::endpoints());
    endpoints.extend(resources::events::endpoints());
    endpoints.extend(resources::webhooks::endpoints());
    endpoints.extend(resources::alerts::endpoints());
    endpoints.extend(resources::criteria::endpoints());
    endpoints.extend(resources::thresholds::endpoints());
    endpoints.extend(resources::methods::endpoints());
    endpoints.extend(resources::models::endpoints());
    endpoints.extend(resources::judges::endpoints());
    endpoints.extend(resources::documents::endpoints());
    endpoints.extend(resources::judgements::endpoints());
    endpoints.extend(resources::prompts::endpoints());
    endpoints.extend(resources::provider_keys::endpoints());
    endpoints
}

/// The router of all endpoints.
pub(crate) fn router(app: App, endpoints: Vec<Endpoint>) -> Router {
    let mut router = Router::new();
    for endpoint in endpoints {
        // A repeated request is answered only to who may make it.
        let once = middleware::from_fn_with_state(app.clone(), once);
        let audited = endpoint.audited_as();
        let handler = match endpoint.is_idempotent_by_key {
            true => endpoint.router.route_layer(once),
            false => endpoint.router,
        };
        router = router.route(endpoint.path, guarded(&app, endpoint.rule, audited, handler));
    }
    router
        .route("/openapi.json", axum::routing::get(openapi))
        .route("/docs", axum::routing::get(docs_page))
        .fallback(nothing_there)
        .method_not_allowed_fallback(wrong_method)
        .layer(middleware::from_fn_with_state(app.clone(), within_limits))
        .layer(middleware::from_fn(around))
        .layer(middleware::from_fn_with_state(app.clone(), with_headers))
        .layer(DefaultBodyLimit::max(app.config().max_body_bytes))
        .with_state(app)
}

async fn openapi(State(app): State<App>) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], app.openapi()).into_response()
}

async fn nothing_there(uri: Uri) -> Problem {
    Problem::new(NOT_FOUND, format!("there is nothing at {}", uri.path()))
        .hint("GET /docs shows what there is")
}

async fn wrong_method(uri: Uri) -> Problem {
    Problem::new(METHOD, format!("{} has no such method", uri.path()))
        .hint("GET /docs shows what there is")
}

/// Names the request, writes it into the log, and turns a panic into a problem.
async fn around(mut request: Request, next: Next) -> Response {
    let id = request
        .headers()
        .get(REQUEST_ID)
        .filter(|id| is_plain(id))
        .cloned()
        .or_else(|| HeaderValue::from_str(&Uuid::now_v7().to_string()).ok());
    let text = id.as_ref().and_then(|id| id.to_str().ok()).unwrap_or_default().to_owned();
    request.extensions_mut().insert(RequestId(text.clone()));
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let peer = request.extensions().get::<Peer>().copied();
    let route = request.extensions().get::<MatchedPath>().cloned();
    let span =
        traced::request(&method, route.as_ref().map(MatchedPath::as_str), &text, request.headers());
    let started = Instant::now();
    let answer = AssertUnwindSafe(next.run(request)).catch_unwind().instrument(span.clone());
    let mut response = answer.await.unwrap_or_else(|_| {
        let told = Problem::new(INTERNAL, "the server failed on this request");
        Problem { reason: Some("the handler panicked".to_owned()), ..told }.into_response()
    });
    let mut reason = None;
    if let Some(problem) = response.extensions_mut().remove::<Problem>() {
        reason = Some(problem.reason.clone().unwrap_or_else(|| problem.detail.clone()));
        let headers = std::mem::take(response.headers_mut());
        let told = Problem { request_id: Some(text.clone()), ..problem };
        response = told.into_response();
        response.headers_mut().extend(
            headers.into_iter().filter(|(name, _)| {
                name.as_ref().is_some_and(|name| name != header::CONTENT_LENGTH)
            }),
        );
    }
    // Paths that are none could be made up without end.
    let route = route.as_ref().map_or("none", MatchedPath::as_str);
    traced::answered(&span, response.status());
    metrics::answered(route, &method, response.status().as_u16(), started.elapsed());
    if response.status().is_server_error() {
        tracing::error!(
            request = text,
            %method,
            route,
            status = response.status().as_u16(),
            reason,
            "a request failed"
        );
    }
    tracing::info!(
        request = text,
        %method,
        path,
        from = peer.map(tracing::field::display),
        status = response.status().as_u16(),
        milliseconds = started.elapsed().as_millis() as u64,
        "answered"
    );
    if let Some(id) = id {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    response
}

/// A name that can be written into a log as it is.
fn is_plain(id: &HeaderValue) -> bool {
    let bytes = id.as_bytes();
    (1..=128).contains(&bytes.len())
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_.:".contains(byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::Rule;
    use crate::api::Audit;

    #[test]
    fn whatever_changes_something_is_audited_or_says_why_not() {
        let mut unaudited = Vec::new();
        for endpoint in endpoints() {
            match endpoint.audit {
                // Whoever answers to anybody notes by itself what must be noted.
                Audit::Always => {}
                Audit::Not(_) if endpoint.rule == Rule::Public => {}
                Audit::Reads => assert_eq!(endpoint.method, "get", "{}", endpoint.id),
                Audit::Not(_) => unaudited.push(endpoint.id),
            }
        }
        let expected =
            ["sample_test_cases", "create_evaluation", "create_document", "create_judgement"];
        assert_eq!(unaudited, expected);
    }
}
