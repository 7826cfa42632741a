//! Sending: shared clients, one call at a time, every failure classified.

use std::error::Error;
use std::net::IpAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Client, ClientBuilder, RequestBuilder, Response, StatusCode, Url, redirect};

use crate::config::ModelConfig;
use crate::error::LlmError;
use crate::failure::refusal;
use crate::model::{CallError, FailureClass};
use crate::rate::RateHeaders;
use crate::secret::Secret;
use crate::wire::Wire;

/// Longest body of a refusal read.
const MAX_REFUSAL_BYTES: usize = 256 * 1024;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

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
pub struct Clients {
    /// Plain HTTP to this machine: no proxy, and no certificates to load.
    local: OnceLock<Result<Client, String>>,
    /// TLS to this machine: no proxy.
    local_tls: OnceLock<Result<Client, String>>,
    /// Everything else.
    remote: OnceLock<Result<Client, String>>,
}

impl Clients {
    /// The client for an address.
    ///
    /// # Errors
    /// When it cannot be made: the system has no certificates, or a proxy is set that is none.
    pub fn client(&self, base_url: &str) -> Result<Client, LlmError> {
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

/// An address that is posted to, with everything of a call that does not change from one to the next.
#[derive(Debug)]
pub(crate) struct Endpoint {
    client: Client,
    url: Url,
    headers: HeaderMap,
    key: Option<Secret>,
}

impl Endpoint {
    /// An address of the model's provider, with the headers of its wire format.
    pub(crate) fn new(
        config: &ModelConfig,
        wire: Wire,
        url: &str,
        key: Option<Secret>,
        client: Client,
    ) -> Result<Self, LlmError> {
        let url = Url::parse(url).map_err(|error| LlmError::Client(text(error)))?;
        let headers = wire.headers(key.as_ref()).map_err(|_| LlmError::UnusableKey {
            variable: config.key_variable().unwrap_or_default().to_owned(),
        })?;
        Ok(Self { client, url, headers, key })
    }

    /// Posts a body; a reply with an unsuccessful status is a failure.
    pub(crate) async fn post(&self, body: Vec<u8>) -> Result<Response, CallError> {
        self.send(self.client.post(self.url.clone()).headers(self.headers.clone()).body(body)).await
    }

    /// Posts a body of some type to a path below the address.
    pub(crate) async fn post_below(
        &self,
        path: &str,
        content_type: &str,
        body: Vec<u8>,
    ) -> Result<Response, CallError> {
        let request = self.client.post(self.below(path)?).headers(self.headers.clone());
        // A header that is set anew replaces the one that was there.
        let content_type = HeaderValue::from_str(content_type)
            .map_err(|_| CallError::malformed("the content type cannot be sent"))?;
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, content_type);
        self.send(request.headers(headers).body(body)).await
    }

    /// Gets what is at a path below the address.
    pub(crate) async fn get_below(&self, path: &str) -> Result<Response, CallError> {
        self.send(self.client.get(self.below(path)?).headers(self.headers.clone())).await
    }

    fn below(&self, path: &str) -> Result<Url, CallError> {
        let base = self.url.as_str().trim_end_matches('/');
        Url::parse(&format!("{base}/{path}"))
            .map_err(|_| CallError::malformed(format!("`{path}` is no address")))
    }

    async fn send(&self, request: RequestBuilder) -> Result<Response, CallError> {
        let mut response = request.send().await.map_err(network_failure)?;
        if response.status().is_success() {
            return Ok(response);
        }
        let body = read_body(&mut response, MAX_REFUSAL_BYTES).await.unwrap_or_default();
        let error = refusal(response.status(), response.headers(), &String::from_utf8_lossy(&body));
        Err(CallError { message: self.redact(error.message), ..error })
    }

    /// The host, and its port where that is not the usual one of the scheme.
    pub(crate) fn host(&self) -> String {
        let host = self.url.host_str().unwrap_or_default();
        match self.url.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        }
    }

    /// The failure that a reply is which began well and could not be read.
    pub(crate) fn unreadable(
        &self,
        status: StatusCode,
        rate: RateHeaders,
        error: CallError,
    ) -> CallError {
        CallError {
            message: self.redact(error.message),
            status: Some(status.as_u16()),
            rate,
            ..error
        }
    }

    /// The text without the key, should the provider have repeated it.
    pub(crate) fn redact(&self, text: String) -> String {
        match &self.key {
            Some(key) => key.redact(text),
            None => text,
        }
    }
}

/// A reply that comes in one piece.
pub(crate) async fn read_text(response: &mut Response, limit: usize) -> Result<String, CallError> {
    let body = read_body(response, limit).await?;
    String::from_utf8(body).map_err(|_| CallError::malformed("the reply is not UTF-8"))
}

async fn read_body(response: &mut Response, limit: usize) -> Result<Vec<u8>, CallError> {
    let announced = response.content_length().unwrap_or_default();
    let mut body = Vec::with_capacity(usize::try_from(announced).unwrap_or_default().min(limit));
    while let Some(bytes) = response.chunk().await.map_err(network_failure)? {
        if body.len() + bytes.len() > limit {
            return Err(too_long(limit));
        }
        body.extend_from_slice(&bytes);
    }
    Ok(body)
}

/// A reply beyond what is read.
pub(crate) fn too_long(limit: usize) -> CallError {
    CallError::malformed(format!("the reply is longer than {} MiB", limit >> 20))
}

/// What the network said, from its innermost cause: the outer ones only repeat the address.
pub(crate) fn network_failure(error: reqwest::Error) -> CallError {
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
}
