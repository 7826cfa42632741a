//! The Hugging Face hub: files over HTTP, resumed where a download was cut off.

use std::path::Path;
use std::time::Duration;

use reqwest::header::RANGE;
use reqwest::{Client, StatusCode};
use tokio::io::AsyncWriteExt;

use crate::folder::Watch;
use crate::{Model, ModelFile, WeightsError};

const ENDPOINT: &str = "https://huggingface.co";
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// A connection that is silent for this long is given up, and the download resumed.
const READ_TIMEOUT: Duration = Duration::from_secs(30);
const ATTEMPTS: u32 = 5;

/// The hub, or a mirror of it.
pub(crate) struct Hub {
    client: Client,
    endpoint: String,
}

impl Hub {
    /// The hub at `HF_ENDPOINT`, as its own tools have it, or at its usual address.
    pub(crate) fn new(endpoint: Option<String>) -> Result<Self, WeightsError> {
        // Another part of the program may have chosen the cryptography already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder()
            .user_agent(concat!("fullbench/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT_TIMEOUT)
            .read_timeout(READ_TIMEOUT)
            .build()
            .map_err(|error| refused("a client", &error.to_string()))?;
        let endpoint = endpoint.unwrap_or_else(|| ENDPOINT.to_owned());
        Ok(Self { client, endpoint: endpoint.trim_end_matches('/').to_owned() })
    }

    /// Downloads a file into `part`, going on where it ends. It is tried again as long as more of it comes.
    pub(crate) async fn download(
        &self,
        model: &Model,
        file: &ModelFile,
        part: &Path,
        watch: &mut Watch<'_>,
    ) -> Result<(), WeightsError> {
        let url = format!(
            "{}/{}/resolve/{}/{}",
            self.endpoint, model.repository, model.revision, file.path
        );
        let mut failures = 0;
        loop {
            let before = length(part);
            if before > file.bytes {
                std::fs::remove_file(part).map_err(WeightsError::file(part))?;
                continue;
            }
            match self.piece(&url, file, part, watch).await {
                Ok(()) if length(part) == file.bytes => return Ok(()),
                Ok(()) => {}
                Err(error @ Interruption::Final(_)) => return Err(error.explained(file.path)),
                Err(error) if failures + 1 >= ATTEMPTS => return Err(error.explained(file.path)),
                Err(_) => {}
            }
            failures = if length(part) > before { 0 } else { failures + 1 };
            if failures >= ATTEMPTS {
                return Err(refused(file.path, "the connection ends before the file"));
            }
            tokio::time::sleep(Duration::from_millis(200 << failures)).await;
        }
    }

    /// One request for the rest of a file.
    async fn piece(
        &self,
        url: &str,
        file: &ModelFile,
        part: &Path,
        watch: &mut Watch<'_>,
    ) -> Result<(), Interruption> {
        let have = length(part);
        if have == file.bytes {
            return Ok(());
        }
        let mut request = self.client.get(url);
        if have > 0 {
            request = request.header(RANGE, format!("bytes={have}-"));
        }
        let mut response = request.send().await.map_err(Interruption::network)?;
        let resumes = response.status() == StatusCode::PARTIAL_CONTENT;
        if !response.status().is_success() {
            let reason = format!("HTTP {}", response.status());
            let is_passing = response.status().is_server_error()
                || response.status() == StatusCode::TOO_MANY_REQUESTS;
            return Err(if is_passing {
                Interruption::Passing(reason)
            } else {
                Interruption::Final(reason)
            });
        }
        let disk = |error: std::io::Error| Interruption::Final(error.to_string());
        let mut options = tokio::fs::OpenOptions::new();
        options.create(true).write(true).append(resumes).truncate(!resumes);
        let mut target = options.open(part).await.map_err(disk)?;
        let mut done = if resumes { have } else { 0 };
        while let Some(bytes) = response.chunk().await.map_err(Interruption::network)? {
            target.write_all(&bytes).await.map_err(disk)?;
            done += bytes.len() as u64;
            watch(file, done);
            if done > file.bytes {
                return Err(Interruption::Final("the file is longer than it should be".to_owned()));
            }
        }
        target.flush().await.map_err(disk)?;
        target.sync_all().await.map_err(disk)
    }
}

/// Why a request did not bring the whole rest.
enum Interruption {
    /// Worth another try.
    Passing(String),
    /// It will not get better.
    Final(String),
}

impl Interruption {
    fn network(error: reqwest::Error) -> Self {
        let is_connect = error.is_connect();
        let mut cause: &dyn std::error::Error = &error;
        while let Some(inner) = cause.source() {
            cause = inner;
        }
        let reason = cause.to_string();
        // Without a connection at the first try there is another source to go to.
        if is_connect {
            Self::Final(format!("no connection: {reason}"))
        } else {
            Self::Passing(reason)
        }
    }

    fn explained(self, what: &str) -> WeightsError {
        match self {
            Self::Passing(reason) | Self::Final(reason) => refused(what, &reason),
        }
    }
}

fn refused(what: &str, reason: &str) -> WeightsError {
    WeightsError::Hub { what: what.to_owned(), reason: reason.to_owned() }
}

fn length(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |metadata| metadata.len())
}
