//! What ties spans together that are not in one another: of two processes, or of a request and the run it started.

use opentelemetry::propagation::{Extractor, TextMapPropagator};
use opentelemetry::trace::{SpanContext, SpanId, TraceContextExt, TraceFlags, TraceId, TraceState};
use opentelemetry_sdk::propagation::TraceContextPropagator;
use reqwest::header::HeaderMap;
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt;

/// The header in which a caller says which span of its own it calls from (W3C Trace Context).
const TRACEPARENT: &str = "traceparent";

/// A span that something else goes back to, and that may be over by then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cause {
    trace: TraceId,
    span: SpanId,
    flags: TraceFlags,
}

impl Cause {
    /// The span this is called in; none where there are no traces.
    #[must_use]
    pub fn current() -> Option<Self> {
        let context = Span::current().context();
        let span = context.span();
        let span = span.span_context();
        span.is_valid().then(|| Self {
            trace: span.trace_id(),
            span: span.span_id(),
            flags: span.trace_flags(),
        })
    }

    /// Notes in the span this is called in what it goes back to.
    pub fn link(self) {
        let Self { trace, span, flags } = self;
        Span::current().add_link(SpanContext::new(trace, span, flags, false, TraceState::NONE));
    }
}

/// Makes a span that was not entered yet a part of the caller's trace, where its headers name one.
pub fn take_over(span: &Span, headers: &HeaderMap) {
    if span.is_disabled() || headers.get_all(TRACEPARENT).iter().count() != 1 {
        return;
    }
    let context = TraceContextPropagator::new().extract(&Headers(headers));
    if context.span().span_context().is_valid() {
        // It fails only where nobody listens, or for a span that was entered.
        let _ = span.set_parent(context);
    }
}

struct Headers<'request>(&'request HeaderMap);

impl Extractor for Headers<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key)?.to_str().ok()
    }

    fn keys(&self) -> Vec<&str> {
        self.0.keys().map(reqwest::header::HeaderName::as_str).collect()
    }
}
