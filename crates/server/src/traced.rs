//! Spans of requests, for traces: method, route and status, and never a path, a query or a body.

use axum::http::{HeaderMap, Method, StatusCode};
use fullbench_llm::TRACES;
use fullbench_traces::take_over;
use tracing::Span;
use tracing::field::Empty;

/// The span of a request, in the caller's trace where the caller names one. Requests for nothing there is have no route.
pub(crate) fn request(method: &Method, route: Option<&str>, id: &str, headers: &HeaderMap) -> Span {
    let method = method_name(method);
    let span = tracing::info_span!(
        target: TRACES,
        "request",
        otel.name = format!("{method} {}", route.unwrap_or_default()).trim_end(),
        otel.kind = "server",
        http.request.method = method,
        http.route = route,
        http.response.status_code = Empty,
        fullbench.request.id = id,
        error.type = Empty,
        otel.status_code = Empty,
    );
    take_over(&span, headers);
    span
}

/// Notes how a request was answered. What the caller did wrong is no failure of the server.
pub(crate) fn answered(span: &Span, status: StatusCode) {
    span.record("http.response.status_code", i64::from(status.as_u16()));
    if status.is_server_error() {
        span.record("error.type", status.as_str());
        span.record("otel.status_code", "ERROR");
    }
}

/// The method in OpenTelemetry's words; others can be made up by whoever calls.
fn method_name(method: &Method) -> &str {
    match *method {
        Method::GET
        | Method::HEAD
        | Method::POST
        | Method::PUT
        | Method::DELETE
        | Method::CONNECT
        | Method::OPTIONS
        | Method::TRACE
        | Method::PATCH => method.as_str(),
        _ => "_OTHER",
    }
}
