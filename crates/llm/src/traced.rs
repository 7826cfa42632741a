//! Spans of calls, for traces: one for each try, with the names that OpenTelemetry has for generative models.
//!
//! A span says who was asked, how it ended and what it took. It never says what was asked, answered or told in an error.

use fullbench_types::{Generation, NanoDollars};
use reqwest::Url;
use tracing::Span;
use tracing::field::Empty;

use crate::config::Provider;
use crate::model::CallError;

/// The target of spans that are made for traces. The log leaves it out; who sends traces listens to nothing else.
pub const TRACES: &str = "traces";

/// What a call is for, in OpenTelemetry's words.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Operation {
    Chat,
    Embeddings,
}

/// Whom a call goes to.
pub(crate) struct Called<'call> {
    pub(crate) provider: Provider,
    pub(crate) model: &'call str,
    pub(crate) base_url: &'call str,
    /// What results call the endpoint, where the model has several.
    pub(crate) endpoint: Option<&'call str>,
}

/// The span of one try, the first being 1. Where nobody listens it is none, and nothing is made for it.
pub(crate) fn call(operation: Operation, called: &Called<'_>, attempt: u32) -> Span {
    let operation = match operation {
        Operation::Chat => "chat",
        Operation::Embeddings => "embeddings",
    };
    let span = tracing::info_span!(
        target: TRACES,
        "call",
        otel.name = format!("{operation} {}", called.model),
        otel.kind = "client",
        gen_ai.operation.name = operation,
        gen_ai.provider.name = provider_name(called.provider),
        gen_ai.request.model = called.model,
        server.address = Empty,
        server.port = Empty,
        fullbench.endpoint = called.endpoint,
        fullbench.attempt = i64::from(attempt),
        gen_ai.usage.input_tokens = Empty,
        gen_ai.usage.output_tokens = Empty,
        fullbench.cost_nanodollars = Empty,
        http.response.status_code = Empty,
        error.type = Empty,
        otel.status_code = Empty,
    );
    if span.is_disabled() {
        return span;
    }
    if let Ok(url) = Url::parse(called.base_url) {
        span.record("server.address", url.host_str());
        span.record("server.port", url.port_or_known_default().map(i64::from));
    }
    span
}

/// Notes what an answer took.
pub(crate) fn answered(span: &Span, generation: &Generation) {
    let usage = generation.usage;
    note_tokens(span, "gen_ai.usage.input_tokens", usage.map(|usage| usage.input_tokens));
    note_tokens(span, "gen_ai.usage.output_tokens", usage.map(|usage| usage.output_tokens));
    span.record("fullbench.cost_nanodollars", generation.cost.map(|NanoDollars(cost)| cost));
}

/// Notes how many tokens were read, where that is known.
pub(crate) fn embedded(span: &Span, input_tokens: Option<u64>) {
    note_tokens(span, "gen_ai.usage.input_tokens", input_tokens);
}

/// Notes what kind of failure a try met.
pub(crate) fn failed(span: &Span, error: &CallError) {
    span.record("http.response.status_code", error.status.map(i64::from));
    span.record("error.type", error.class.as_str());
    span.record("otel.status_code", "ERROR");
}

fn note_tokens(span: &Span, field: &'static str, tokens: Option<u64>) {
    span.record(field, tokens.and_then(|tokens| i64::try_from(tokens).ok()));
}

/// The provider as OpenTelemetry names it, where it has a name for it.
fn provider_name(provider: Provider) -> &'static str {
    match provider {
        Provider::Gemini => "gcp.gemini",
        Provider::Xai => "x_ai",
        other => other.as_str(),
    }
}
