//! Traces for whoever has an OpenTelemetry collector: spans of the program, sent by OTLP over HTTP.
//!
//! Spans are made with `tracing`, where things happen, under a target of their own ([`fullbench_llm::TRACES`]). Here they are
//! listened to, gathered in batches and sent, and spans of one process are tied to those of another. Without a collector
//! nothing here is started, and nobody listens.

mod context;
mod exporter;
mod settings;
mod tally;
mod traces;

pub use context::{Cause, take_over};
pub use settings::{Given, SettingsError, TraceSettings, without_secrets};
pub use traces::Traces;
