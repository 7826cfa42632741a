//! A collector of traces: takes what is posted to it, and reads it as OTLP.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value as AnyValue;
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value};
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;
use serde_json::{Value, json};

use super::receiver::{Received, receive};

/// A collector on a port of its own.
pub(crate) struct Collector {
    url: String,
    posts: Arc<Mutex<Vec<Post>>>,
}

/// What was posted.
#[derive(Clone)]
pub(crate) struct Post {
    /// The first line and the headers, in small letters.
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

/// A span as the tests look at it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Seen {
    pub(crate) name: String,
    pub(crate) trace: String,
    pub(crate) id: String,
    /// Empty for one that is in no other.
    pub(crate) parent: String,
    pub(crate) kind: i32,
    /// 2 for an error.
    pub(crate) status: i32,
    pub(crate) attributes: BTreeMap<String, Value>,
    /// The spans it is linked to.
    pub(crate) links: Vec<String>,
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// Events, status messages: anything that could carry a text.
    pub(crate) texts: usize,
}

impl Collector {
    pub(crate) fn start() -> Self {
        let posts = Arc::new(Mutex::new(Vec::new()));
        let kept = posts.clone();
        let url = receive(move |Received { head, body }| {
            kept.lock().unwrap().push(Post { head: head.to_lowercase(), body });
            (200, String::new())
        });
        Self { url, posts }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Everything that was posted so far.
    pub(crate) fn posts(&self) -> Vec<Post> {
        self.posts.lock().unwrap().clone()
    }

    /// All spans so far.
    pub(crate) fn spans(&self) -> Vec<Seen> {
        let requests = self.requests();
        let of_scopes = requests.into_iter().flat_map(|request| request.resource_spans);
        let scopes = of_scopes.flat_map(|resource| resource.scope_spans);
        scopes.flat_map(|scope| scope.spans).map(Seen::from).collect()
    }

    /// What the sender says of itself.
    pub(crate) fn resource(&self) -> BTreeMap<String, Value> {
        let request = self.requests().into_iter().next().unwrap();
        attributes(request.resource_spans[0].resource.clone().unwrap().attributes)
    }

    fn requests(&self) -> Vec<ExportTraceServiceRequest> {
        let posts = self.posts();
        posts
            .iter()
            .map(|post| ExportTraceServiceRequest::decode(post.body.as_slice()).unwrap())
            .collect()
    }
}

impl From<Span> for Seen {
    fn from(span: Span) -> Self {
        let status = span.status.unwrap_or_default();
        Self {
            name: span.name,
            trace: hex(&span.trace_id),
            id: hex(&span.span_id),
            parent: hex(&span.parent_span_id),
            kind: span.kind,
            status: status.code,
            attributes: attributes(span.attributes),
            links: span.links.iter().map(|link| hex(&link.span_id)).collect(),
            start: span.start_time_unix_nano,
            end: span.end_time_unix_nano,
            texts: span.events.len() + usize::from(!status.message.is_empty()),
        }
    }
}

impl Seen {
    /// An attribute, or null.
    pub(crate) fn get(&self, name: &str) -> Value {
        self.attributes.get(name).cloned().unwrap_or_default()
    }

    /// A whole number.
    pub(crate) fn number(&self, name: &str) -> i64 {
        self.get(name).as_i64().unwrap_or_else(|| panic!("no {name} in {self:?}"))
    }
}

fn attributes(all: Vec<KeyValue>) -> BTreeMap<String, Value> {
    all.into_iter().map(|one| (one.key, value(one.value.unwrap().value))).collect()
}

fn value(value: Option<any_value::Value>) -> Value {
    match value {
        Some(AnyValue::StringValue(text)) => json!(text),
        Some(AnyValue::BoolValue(is)) => json!(is),
        Some(AnyValue::IntValue(number)) => json!(number),
        Some(AnyValue::DoubleValue(number)) => json!(number),
        other => json!(format!("{other:?}")),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
