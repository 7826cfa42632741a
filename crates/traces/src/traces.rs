//! Traces of this process, from when it listens for spans to when the last are sent.

use std::sync::Arc;
use std::time::Duration;

use opentelemetry::trace::TracerProvider;
use opentelemetry::{Context, KeyValue};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{
    BatchConfigBuilder, BatchSpanProcessor, SdkTracerProvider, Span, SpanData, SpanProcessor,
};
use tracing::Subscriber;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::registry::LookupSpan;

use crate::exporter::OtlpExporter;
use crate::settings::TraceSettings;
use crate::tally::Tally;

/// What the process calls itself, unless OTEL_SERVICE_NAME or OTEL_RESOURCE_ATTRIBUTES say otherwise.
const SERVICE: &str = "fullbench";
/// Spans that wait to be sent; further ones are dropped. A span takes less than a kilobyte.
const QUEUE: usize = 8_192;
/// Spans sent together.
const BATCH: usize = 512;
/// How long the end of the process may wait for spans to be sent.
const LAST_WAIT: Duration = Duration::from_secs(3);

/// Traces of this process.
#[derive(Debug)]
pub struct Traces {
    provider: SdkTracerProvider,
    tally: Arc<Tally>,
}

impl Traces {
    /// Starts what gathers and sends spans: two threads, and no connection before the first batch.
    ///
    /// # Errors
    /// When the machine has no thread or no certificates for it; in words.
    pub fn start(settings: TraceSettings, version: &'static str) -> Result<Self, String> {
        // A batch is taken out of the queue while it is on its way.
        let tally = Arc::new(Tally::new((QUEUE + BATCH) as u64));
        let sampler = settings.sampler.clone();
        let exporter = OtlpExporter::new(settings, tally.clone())?;
        let batches = BatchConfigBuilder::default()
            .with_max_queue_size(QUEUE)
            .with_max_export_batch_size(BATCH)
            .build();
        let batches = BatchSpanProcessor::new(exporter, batches);
        let provider = SdkTracerProvider::builder()
            .with_sampler(sampler)
            .with_resource(resource(version))
            .with_span_processor(Counted { batches, tally: tally.clone() })
            .build();
        Ok(Self { provider, tally })
    }

    /// The layer that listens for spans that are made for traces, and for nothing else.
    pub fn layer<S>(&self) -> impl Layer<S> + use<S>
    where
        S: Subscriber + for<'span> LookupSpan<'span>,
    {
        tracing_opentelemetry::layer()
            .with_tracer(self.provider.tracer(SERVICE))
            .with_location(false)
            .with_threads(false)
            .with_target(false)
            .with_tracked_inactivity(false)
            .with_context_activation(false)
            .with_filter(filter_fn(|about| {
                about.is_span() && about.target() == fullbench_llm::TRACES
            }))
    }

    /// Sends what is left, within a few seconds, and says in the log what could not be sent.
    pub fn end(self) {
        // What goes wrong is in the tally.
        let _ = self.provider.shutdown_with_timeout(LAST_WAIT);
        let (missing, ended) = self.tally.missing();
        if missing > 0 {
            tracing::warn!("{missing} of {ended} spans of traces did not reach the collector");
        }
    }
}

/// Spans on their way to batches, counted.
#[derive(Debug)]
struct Counted {
    batches: BatchSpanProcessor,
    tally: Arc<Tally>,
}

impl SpanProcessor for Counted {
    fn on_start(&self, span: &mut Span, context: &Context) {
        self.batches.on_start(span, context);
    }

    fn on_end(&self, span: SpanData) {
        if span.span_context.is_sampled() {
            self.tally.ended();
        }
        self.batches.on_end(span);
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.batches.force_flush()
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.batches.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.batches.set_resource(resource);
    }
}

/// What the process says of itself: its name and version, and what OTEL_RESOURCE_ATTRIBUTES adds.
fn resource(version: &'static str) -> Resource {
    let named = Resource::builder().build();
    let builder = Resource::builder().with_attribute(KeyValue::new("service.version", version));
    let is_named = named
        .get(&opentelemetry::Key::from_static_str("service.name"))
        .is_some_and(|name| !name.as_str().starts_with("unknown_service"));
    match is_named {
        true => builder.build(),
        false => builder.with_service_name(SERVICE).build(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::net::TcpListener;
    use std::time::Instant;

    use tracing_subscriber::layer::SubscriberExt;

    use super::*;
    use crate::settings::Given;

    #[test]
    fn a_collector_that_says_nothing_holds_up_nobody_and_every_lost_span_is_counted() {
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = Given {
            value: Some(format!("http://{}", silent.local_addr().unwrap())),
            is_on_command_line: true,
        };
        let settings = TraceSettings::read(&endpoint, &Given::default(), |_| None);
        let traces = Traces::start(settings.unwrap().unwrap(), "1.2.3").unwrap();
        let spans = 3 * QUEUE as u64;
        let started = Instant::now();
        let subscriber = tracing_subscriber::registry().with(traces.layer());
        tracing::subscriber::with_default(subscriber, || {
            for number in 0..spans {
                let _span = tracing::info_span!(target: fullbench_llm::TRACES, "span", number);
                // What is said for the log is no part of traces.
                tracing::info!("a text");
                let _other = tracing::info_span!("another span");
            }
        });
        assert!(started.elapsed() < LAST_WAIT, "{:?}", started.elapsed());
        let tally = traces.tally.clone();
        let ending = Instant::now();
        traces.end();
        assert!(ending.elapsed() < LAST_WAIT * 2, "{:?}", ending.elapsed());
        assert_eq!(tally.missing(), (spans, spans));
    }
}
