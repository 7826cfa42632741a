//! Requests to the server.

use std::time::Duration;

use fullbench_engine::InputProblem;
use reqwest::header::CONTENT_TYPE;
use reqwest::{Body, Method, RequestBuilder, Response, StatusCode, Url};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use uuid::Uuid;

use crate::failure::CliError;

/// The variable with the key.
const KEY: &str = "FULLBENCH_API_KEY";
/// How long to wait before a request is sent again.
const WAITS_MS: [u64; 5] = [200, 500, 1000, 2000, 4000];

/// Somebody who calls a server.
#[derive(Clone)]
pub(crate) struct Client {
    http: reqwest::Client,
    url: Url,
    key: String,
}

/// Why the server refused.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Refusal {
    #[serde(default)]
    pub(crate) status: u16,
    #[serde(default)]
    detail: String,
    #[serde(default)]
    hint: Option<String>,
    #[serde(default)]
    pub(crate) errors: Vec<FieldProblem>,
}

/// What is wrong with one field.
#[derive(Debug, Deserialize)]
pub(crate) struct FieldProblem {
    pub(crate) field: String,
    message: String,
    #[serde(default)]
    hint: Option<String>,
}

impl FieldProblem {
    /// The same as a problem of a file.
    pub(crate) fn problem(&self) -> InputProblem {
        let hint = self.hint.clone();
        InputProblem { hint, ..InputProblem::new(self.message.clone()) }
    }
}

/// What came of a request.
pub(crate) enum RemoteError {
    /// The server refused.
    Refused(Refusal),
    /// The server cannot be reached, or failed.
    Failed(CliError),
}

impl From<RemoteError> for CliError {
    fn from(error: RemoteError) -> Self {
        match error {
            RemoteError::Refused(Refusal { detail, hint, .. }) => Self::input(detail, hint),
            RemoteError::Failed(error) => error,
        }
    }
}

impl Client {
    pub(crate) fn new(url: &str) -> Result<Self, CliError> {
        let wrong = |problem: &str| {
            let hint = "give the address of `fullbench serve`, for example http://127.0.0.1:8787";
            CliError::input(format!("--server `{url}`: {problem}"), Some(hint.to_owned()))
        };
        let parsed = Url::parse(url).map_err(|error| wrong(&error.to_string()))?;
        if !matches!(parsed.scheme(), "http" | "https") || parsed.cannot_be_a_base() {
            return Err(wrong("it does not begin with http:// or https://"));
        }
        let key =
            std::env::var(KEY).ok().filter(|key| !key.trim().is_empty()).ok_or_else(|| {
                CliError::input(
                    format!("there is no key for {url}"),
                    Some(format!("put your API key into the variable {KEY}")),
                )
            })?;
        // Another part of the program may have been first.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder()
            .user_agent(concat!("fullbench/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(Duration::from_secs(10))
            .build()
            .map_err(|error| CliError::internal(format!("no requests can be made: {error}")))?;
        Ok(Self { http, url: parsed, key: key.trim().to_owned() })
    }

    /// The address of the server.
    pub(crate) fn url(&self) -> &str {
        self.url.as_str().trim_end_matches('/')
    }

    /// Asks for something.
    pub(crate) async fn get<T: DeserializeOwned>(
        &self,
        path: &[&str],
        query: &[(&str, &str)],
    ) -> Result<T, RemoteError> {
        let make = || self.request(Method::GET, path, query);
        read(self.persistently(make).await?).await
    }

    /// Asks for something that is read piece by piece.
    pub(crate) async fn stream(
        &self,
        path: &[&str],
        query: &[(&str, &str)],
    ) -> Result<Response, RemoteError> {
        let make = || self.request(Method::GET, path, query);
        checked(self.persistently(make).await?).await
    }

    /// Has something done, once, however often it must be sent.
    pub(crate) async fn post<T: DeserializeOwned>(
        &self,
        path: &[&str],
        body: &Value,
    ) -> Result<T, RemoteError> {
        let key = Uuid::now_v7().to_string();
        let make = || {
            self.request(Method::POST, path, &[])
                .header("idempotency-key", &key)
                .header(CONTENT_TYPE, "application/json")
                .body(body.to_string())
        };
        read(self.persistently(make).await?).await
    }

    /// Sends a form that is read piece by piece.
    pub(crate) async fn send_form<T: DeserializeOwned>(
        &self,
        path: &[&str],
        boundary: &str,
        length: u64,
        body: Body,
    ) -> Result<T, RemoteError> {
        let request = self
            .request(Method::POST, path, &[])
            .header(CONTENT_TYPE, format!("multipart/form-data; boundary={boundary}"))
            .header("content-length", length)
            .body(body);
        read(request.send().await.map_err(|error| self.unreachable(&error))?).await
    }

    fn request(&self, method: Method, path: &[&str], query: &[(&str, &str)]) -> RequestBuilder {
        let mut url = self.url.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path);
        }
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        self.http.request(method, url).bearer_auth(&self.key)
    }

    /// Sends a request again while the server is not there, as when it is started anew.
    async fn persistently(
        &self,
        make: impl Fn() -> RequestBuilder,
    ) -> Result<Response, RemoteError> {
        let mut waits = WAITS_MS.iter();
        loop {
            let sent = make().send().await;
            let is_away = match &sent {
                Ok(response) => response.status() == StatusCode::SERVICE_UNAVAILABLE,
                Err(error) => error.is_connect() || error.is_request(),
            };
            match waits.next().filter(|_| is_away) {
                Some(wait) => tokio::time::sleep(Duration::from_millis(*wait)).await,
                None => return sent.map_err(|error| self.unreachable(&error)),
            }
        }
    }

    fn unreachable(&self, error: &reqwest::Error) -> RemoteError {
        let mut cause: &dyn std::error::Error = error;
        while let Some(source) = cause.source() {
            cause = source;
        }
        let message = format!("{} cannot be reached: {cause}", self.url());
        RemoteError::Failed(CliError::internal(message))
    }
}

async fn read<T: DeserializeOwned>(response: Response) -> Result<T, RemoteError> {
    let url = response.url().clone();
    let bytes = checked(response).await?.bytes().await;
    let bytes = bytes.map_err(|error| failed(format!("{url}: {}", error.without_url())))?;
    serde_json::from_slice(&bytes)
        .map_err(|error| failed(format!("{url} answered what this version cannot read: {error}")))
}

/// The response, if it is not a refusal.
async fn checked(response: Response) -> Result<Response, RemoteError> {
    let status = response.status();
    if status.is_success() {
        return Ok(response);
    }
    let url = response.url().clone();
    let body = response.text().await.unwrap_or_default();
    let mut refusal: Refusal = serde_json::from_str(&body).unwrap_or_default();
    refusal.status = status.as_u16();
    if refusal.detail.is_empty() {
        refusal.detail = format!("{url} answered {status}");
    }
    match status.is_server_error() {
        true => Err(failed(refusal.detail)),
        false => Err(RemoteError::Refused(refusal)),
    }
}

fn failed(message: String) -> RemoteError {
    RemoteError::Failed(CliError::internal(message))
}
