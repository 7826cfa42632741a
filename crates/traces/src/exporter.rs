//! Sends batches of spans to a collector: OTLP over HTTP, as protobuf.

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use fullbench_llm::{Clients, LlmError};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use opentelemetry_proto::transform::common::tonic::ResourceAttributesWithSchema;
use opentelemetry_proto::transform::trace::tonic::group_spans_by_resource_and_scope;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::{OTelSdkError, OTelSdkResult};
use opentelemetry_sdk::trace::{SpanData, SpanExporter};
use prost::Message;
use reqwest::header::CONTENT_TYPE;
use reqwest::{Client, Url};
use tokio::runtime::{Builder, Runtime};

use crate::settings::TraceSettings;
use crate::tally::Tally;

/// How long a batch may take on its way.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Longest answer read; a collector has nothing to say but how many spans it refused.
const MAX_ANSWER_BYTES: usize = 64 * 1024;

/// Sends batches of spans. Called on a thread of its own, never on one of the program's runtime.
pub(crate) struct OtlpExporter {
    client: Client,
    runtime: Runtime,
    settings: TraceSettings,
    /// The address as the log may have it.
    collector: String,
    resource: ResourceAttributesWithSchema,
    tally: Arc<Tally>,
}

impl OtlpExporter {
    pub(crate) fn new(settings: TraceSettings, tally: Arc<Tally>) -> Result<Self, String> {
        let client = Clients::default().client(settings.url.as_str());
        let client = client.map_err(|error: LlmError| error.to_string())?;
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("traces")
            .enable_all()
            .build()
            .map_err(|error| error.to_string())?;
        let collector = settings.collector();
        let resource = ResourceAttributesWithSchema::default();
        Ok(Self { client, runtime, settings, collector, resource, tally })
    }

    /// Posts a batch; how many of its spans the collector refused, or why it took none.
    async fn post(&self, body: Vec<u8>) -> Result<u64, String> {
        let url: Url = self.settings.url.clone();
        let request = self
            .client
            .post(url)
            .headers(self.settings.headers.clone())
            .header(CONTENT_TYPE, "application/x-protobuf")
            .timeout(TIMEOUT)
            .body(body);
        let mut response = request.send().await.map_err(reason)?;
        let status = response.status();
        let mut answer = Vec::new();
        while let Some(bytes) = response.chunk().await.map_err(reason)? {
            if answer.len() + bytes.len() > MAX_ANSWER_BYTES {
                break;
            }
            answer.extend_from_slice(&bytes);
        }
        if !status.is_success() {
            return Err(format!("status {}", status.as_u16()));
        }
        // An answer that is none says nothing of refused spans.
        let answer = ExportTraceServiceResponse::decode(answer.as_slice()).unwrap_or_default();
        let refused = answer.partial_success.map_or(0, |partial| partial.rejected_spans);
        Ok(u64::try_from(refused).unwrap_or_default())
    }
}

impl SpanExporter for OtlpExporter {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let spans = batch.len() as u64;
        let resource_spans = group_spans_by_resource_and_scope(batch, &self.resource);
        let body = ExportTraceServiceRequest { resource_spans }.encode_to_vec();
        match self.runtime.block_on(self.post(body)) {
            Ok(refused) => {
                let refused = refused.min(spans);
                self.tally.taken(spans - refused, refused, &self.collector);
                Ok(())
            }
            Err(why) => {
                self.tally.lost(spans, &self.collector, &why);
                Err(OTelSdkError::InternalFailure(why))
            }
        }
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.resource = resource.into();
    }
}

impl fmt::Debug for OtlpExporter {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let collector = &self.collector;
        formatter.debug_struct("OtlpExporter").field("collector", collector).finish_non_exhaustive()
    }
}

/// What the network said at last, without the address, which may have a password in it.
fn reason(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut innermost: &dyn Error = &error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}
