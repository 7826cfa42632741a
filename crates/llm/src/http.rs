//! Sending: one shared client, one call at a time, every failure classified.

use std::error::Error;
use std::net::IpAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use reqwest::header::{CONTENT_TYPE, HeaderMap};
use reqwest::{Client, ClientBuilder, Response, Url, redirect};
use tokio::time::Instant;

use crate::config::ModelConfig;
use crate::error::LlmError;
use crate::failure::refusal;
use crate::model::{CallError, FailureClass, LanguageModel, Reply};
use crate::rate::RateHeaders;
use crate::request::GenerationRequest;
use crate::secret::Secret;
use crate::wire::Wire;
use crate::wire::sse::EventReader;

/// Longest reply read; no answer is near it.
const MAX_REPLY_BYTES: usize = 32 * 1024 * 1024;

/// Longest body of a refusal read.
const MAX_REFUSAL_BYTES: usize = 256 * 1024;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// How long the end of a stream may take after its end marker.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(20);

/// Whether an address is on this machine.
pub(crate) fn is_loopback(base_url: &str) -> bool {
    let Ok(url) = Url::parse(base_url) else { return false };
    let Some(host) = url.host_str() else { return false };
    if host == "localhost" || host.ends_with(".localhost") {
        return true;
    }
    let address = host.trim_start_matches('[').trim_end_matches(']');
    address.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// The HTTP clients of a gateway, each made when first needed.
#[derive(Debug, Default)]
pub(crate) struct Clients {
    /// Plain HTTP to this machine: no proxy, and no certificates to load.
    local: OnceLock<Result<Client, String>>,
    /// TLS to this machine: no proxy.
    local_tls: OnceLock<Result<Client, String>>,
    /// Everything else.
    remote: OnceLock<Result<Client, String>>,
}

impl Clients {
    /// The client for an address.
    pub(crate) fn client(&self, base_url: &str) -> Result<Client, LlmError> {
        let made = match (is_loopback(base_url), base_url.starts_with("http://")) {
            (true, true) => self.local.get_or_init(|| {
                builder()
                    .no_proxy()
                    .tls_backend_preconfigured(tls_without_roots()?)
                    .build()
                    .map_err(text)
            }),
            (true, false) => self.local_tls.get_or_init(|| {
                install_ring();
                builder().no_proxy().build().map_err(text)
            }),
            (false, _) => self.remote.get_or_init(|| {
                install_ring();
                builder().build().map_err(text)
            }),
        };
        made.clone().map_err(LlmError::Client)
    }
}

fn builder() -> ClientBuilder {
    Client::builder()
        .user_agent(concat!("fullbench/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT_TIMEOUT)
        .pool_max_idle_per_host(4_096)
        .pool_idle_timeout(Duration::from_secs(60))
        .tcp_nodelay(true)
        .tcp_keepalive(Duration::from_secs(30))
        // A redirect could carry the key to another host.
        .redirect(redirect::Policy::none())
}

/// The cryptography of TLS, once per process; another part of the program may have been first.
fn install_ring() {
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// Loading the system's certificates takes milliseconds; plain HTTP never looks at them.
fn tls_without_roots() -> Result<rustls::ClientConfig, String> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(text)?
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth();
    Ok(config)
}

fn text(error: impl ToString) -> String {
    error.to_string()
}

/// A model behind HTTP.
#[derive(Debug)]
pub(crate) struct HttpModel {
    client: Client,
    wire: Wire,
    url: Url,
    headers: HeaderMap,
    key: Option<Secret>,
}

impl HttpModel {
    /// Makes everything of a call that does not change from one to the next.
    pub(crate) fn new(
        config: &ModelConfig,
        key: Option<Secret>,
        client: Client,
    ) -> Result<Self, LlmError> {
        let Some(wire) = Wire::of(config.provider) else {
            return Err(LlmError::Recorded { model: config.display_name() });
        };
        let url =
            Url::parse(&wire.endpoint(config)).map_err(|error| LlmError::Client(text(error)))?;
        let headers = wire.headers(key.as_ref()).map_err(|_| LlmError::UnusableKey {
            variable: config.key_variable().unwrap_or_default().to_owned(),
        })?;
        Ok(Self { client, wire, url, headers, key })
    }

    /// The text without the key, should the provider have repeated it.
    fn redact(&self, text: String) -> String {
        match &self.key {
            Some(key) => key.redact(text),
            None => text,
        }
    }

    async fn refusal(&self, mut response: Response) -> CallError {
        let body = read_body(&mut response, MAX_REFUSAL_BYTES).await.unwrap_or_default();
        let error = refusal(response.status(), response.headers(), &String::from_utf8_lossy(&body));
        CallError { message: self.redact(error.message), ..error }
    }

    async fn whole_reply(
        &self,
        mut response: Response,
        started: Instant,
    ) -> Result<Reply, CallError> {
        let rate = RateHeaders::read(response.headers());
        let body = read_body(&mut response, MAX_REPLY_BYTES).await?;
        let latency_us = microseconds(started.elapsed());
        let body =
            String::from_utf8(body).map_err(|_| CallError::malformed("the reply is not UTF-8"))?;
        let answer = self.wire.parse(&body)?;
        let raw = self.redact(body);
        Ok(Reply { generation: answer.into_generation(latency_us, None, Some(raw)), rate })
    }

    async fn streamed_reply(
        &self,
        mut response: Response,
        started: Instant,
    ) -> Result<Reply, CallError> {
        let rate = RateHeaders::read(response.headers());
        let mut reader = EventReader::default();
        let mut parser = self.wire.stream();
        let mut first_token_us = None;
        let mut received = 0;
        while !parser.is_done() {
            let Some(bytes) = response.chunk().await.map_err(network_failure)? else { break };
            received += bytes.len();
            if received > MAX_REPLY_BYTES {
                return Err(too_long());
            }
            reader.push(&bytes);
            while let Some(event) = reader.next_event()? {
                if parser.event(&event.data)? && first_token_us.is_none() {
                    first_token_us = Some(microseconds(started.elapsed()));
                }
            }
        }
        let latency_us = microseconds(started.elapsed());
        if parser.is_done() {
            // The connection can be used again once its body is read; an answer does not wait for that.
            let rest = async { while let Ok(Some(_)) = response.chunk().await {} };
            let _ = tokio::time::timeout(DRAIN_TIMEOUT, rest).await;
        }
        let answer = parser.finish()?;
        Ok(Reply { generation: answer.into_generation(latency_us, first_token_us, None), rate })
    }
}

#[async_trait]
impl LanguageModel for HttpModel {
    async fn generate(&self, request: &GenerationRequest) -> Result<Reply, CallError> {
        let body = self.wire.body(request)?;
        let started = Instant::now();
        let response = self
            .client
            .post(self.url.clone())
            .headers(self.headers.clone())
            .body(body)
            .send()
            .await
            .map_err(network_failure)?;
        let status = response.status();
        if !status.is_success() {
            return Err(self.refusal(response).await);
        }
        let rate = RateHeaders::read(response.headers());
        let is_stream = response
            .headers()
            .get(CONTENT_TYPE)
            .is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
        let reply = if is_stream {
            self.streamed_reply(response, started).await
        } else {
            self.whole_reply(response, started).await
        };
        reply.map_err(|error| CallError {
            message: self.redact(error.message),
            status: Some(status.as_u16()),
            rate,
            ..error
        })
    }
}

async fn read_body(response: &mut Response, limit: usize) -> Result<Vec<u8>, CallError> {
    let announced = response.content_length().unwrap_or_default();
    let mut body = Vec::with_capacity(usize::try_from(announced).unwrap_or_default().min(limit));
    while let Some(bytes) = response.chunk().await.map_err(network_failure)? {
        if body.len() + bytes.len() > limit {
            return Err(too_long());
        }
        body.extend_from_slice(&bytes);
    }
    Ok(body)
}

fn too_long() -> CallError {
    CallError::malformed(format!("the reply is longer than {} MiB", MAX_REPLY_BYTES >> 20))
}

/// What the network said, from its innermost cause: the outer ones only repeat the address.
fn network_failure(error: reqwest::Error) -> CallError {
    let class = if error.is_timeout() { FailureClass::Timeout } else { FailureClass::Connection };
    let what = match class {
        FailureClass::Timeout => "no connection in time",
        _ if error.is_connect() => "cannot connect",
        _ => "the connection broke",
    };
    let error = error.without_url();
    let mut cause: &dyn Error = &error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    CallError::new(class, format!("{what}: {cause}"))
}

fn microseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;

    #[test]
    fn loopback_addresses_are_recognized() {
        for local in ["http://127.0.0.1:8000/v1", "http://localhost/v1", "http://[::1]:1/v1"] {
            assert!(is_loopback(local), "{local}");
        }
        for remote in
            ["https://api.openai.com/v1", "http://10.0.0.1", "http://localhost.evil.com", ""]
        {
            assert!(!is_loopback(remote), "{remote}");
        }
    }

    #[test]
    fn every_kind_of_client_can_be_made() {
        let clients = Clients::default();
        for url in ["http://127.0.0.1:1", "https://127.0.0.1:1", "https://api.openai.com/v1"] {
            assert!(clients.client(url).is_ok(), "{url}");
        }
    }

    #[test]
    fn a_key_that_no_header_can_carry_is_not_shown() {
        let config = ModelConfig::parse("openai:m").unwrap();
        let client = Clients::default().client("http://127.0.0.1:1").unwrap();
        let key = Some(Secret::new("sk-\nsecret"));
        let error = HttpModel::new(&config, key.clone(), client.clone()).unwrap_err();
        assert_eq!(error, LlmError::UnusableKey { variable: "OPENAI_API_KEY".to_owned() });
        let key = Some(Secret::new("sk-secret"));
        let model = HttpModel::new(&config, key, client).unwrap();
        assert!(!format!("{model:?}").contains("sk-secret"));
    }
}
