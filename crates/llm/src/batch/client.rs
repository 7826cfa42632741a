//! The batch API of one account over HTTP.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::time::Duration;

use fullbench_types::ProviderBatchId;
use reqwest::Response;
use tokio::time::timeout;

use super::store::BatchRecord;
use crate::config::ModelConfig;
use crate::error::LlmError;
use crate::http::{Clients, Endpoint, network_failure, read_text};
use crate::model::{CallError, FailureClass};
use crate::secret::Secret;
use crate::wire::Wire;
use crate::wire::batch::{BatchedReply, Page, RemoteBatch, made_id, position};
use crate::wire::{batch_anthropic, batch_openai};

/// A short call.
const CALL: Duration = Duration::from_secs(60);
/// A call with a long body.
const TRANSFER: Duration = Duration::from_secs(900);
/// Longest reply to a short call.
const MAX_REPLY_BYTES: usize = 32 * 1024 * 1024;
/// Longest line of results.
const MAX_LINE_BYTES: usize = 64 * 1024 * 1024;

/// Lines of results looked at before a batch is taken for somebody else's.
const LINES_TO_RECOGNIZE: usize = 1_000;

const JSON: &str = "application/json";

/// A submission that failed.
#[derive(Debug)]
pub(super) struct Unsubmitted {
    pub(super) error: CallError,
    /// The provider may have taken the batch all the same.
    pub(super) may_be_taken: bool,
}

/// Results by the position of their request; none where a provider gave several that differ.
pub(super) type Results = HashMap<usize, Option<BatchedReply>>;

/// Calls the batch API.
#[derive(Debug)]
pub(super) struct BatchClient {
    pub(super) wire: Wire,
    endpoint: Endpoint,
}

impl BatchClient {
    /// The batch API of a model's account.
    pub(super) fn new(
        config: &ModelConfig,
        key: Option<Secret>,
        clients: &Clients,
    ) -> Result<Self, LlmError> {
        let Some(wire) = Wire::of(config.provider) else {
            return Err(LlmError::Recorded { model: config.display_name() });
        };
        let base_url = config.effective_base_url();
        let client = clients.client(base_url)?;
        let endpoint = Endpoint::new(config, wire, base_url, key, client)?;
        Ok(Self { wire, endpoint })
    }

    /// Sends a batch, and gives the provider's id of it.
    pub(super) async fn submit(
        &self,
        batch: ProviderBatchId,
        entries: &[Vec<u8>],
    ) -> Result<String, Unsubmitted> {
        let body = match self.wire {
            Wire::Anthropic => batch_anthropic::creation(entries),
            _ => {
                let uploaded = self.upload(batch, entries).await;
                let file = uploaded.map_err(|error| Unsubmitted { error, may_be_taken: false })?;
                batch_openai::creation(batch, &file).to_string().into_bytes()
            }
        };
        let made = self.post(self.wire.batches_path(), JSON, body).await;
        made.and_then(|body| made_id(&body)).map_err(|error| {
            let is_refusal = |status: u16| (400..500).contains(&status) && status != 408;
            let is_refused = error.status.is_some_and(is_refusal);
            Unsubmitted { error, may_be_taken: !is_refused }
        })
    }

    /// Uploads a file of requests; one that is never used costs nothing.
    async fn upload(
        &self,
        batch: ProviderBatchId,
        entries: &[Vec<u8>],
    ) -> Result<String, CallError> {
        let boundary = format!("fullbench-{batch}");
        let content_type = format!("multipart/form-data; boundary={boundary}");
        let form = batch_openai::upload(&boundary, entries);
        made_id(&self.post("files", &content_type, form).await?)
    }

    async fn post(
        &self,
        path: &str,
        content_type: &str,
        body: Vec<u8>,
    ) -> Result<String, CallError> {
        let call = async {
            let mut response = self.endpoint.post_below(path, content_type, body).await?;
            read_text(&mut response, MAX_REPLY_BYTES).await
        };
        timeout(TRANSFER, call).await.unwrap_or_else(|_| Err(late(TRANSFER)))
    }

    async fn get(&self, path: &str) -> Result<String, CallError> {
        let call = async {
            let mut response = self.endpoint.get_below(path).await?;
            read_text(&mut response, MAX_REPLY_BYTES).await
        };
        timeout(CALL, call).await.unwrap_or_else(|_| Err(late(CALL)))
    }

    /// Where a batch stands.
    pub(super) async fn status(&self, remote_id: &str) -> Result<RemoteBatch, CallError> {
        let body = self.get(&format!("{}/{remote_id}", self.wire.batches_path())).await?;
        self.wire.read_batch(&body)
    }

    /// One page of the batches of the account, newest first.
    pub(super) async fn page(&self, path: &str) -> Result<Page, CallError> {
        self.wire.read_page(&self.get(path).await?)
    }

    /// All results of a batch that has ended; those that belong to no request of it are left out.
    pub(super) async fn results(
        &self,
        record: &BatchRecord,
        remote: &RemoteBatch,
    ) -> Result<Results, CallError> {
        let mut results = Results::new();
        for path in &remote.results {
            let mut lines = self.lines(path).await?;
            while let Some(line) = lines.next().await? {
                let Some((custom_id, reply)) = self.wire.read_result(&line) else { continue };
                let position = position(record.id, &custom_id);
                let Some(position) = position.filter(|at| *at < record.keys.len()) else {
                    tracing::debug!(batch = %record.id, custom_id, "a result belongs to no request");
                    continue;
                };
                let reply = self.without_key(reply);
                match results.entry(position) {
                    Entry::Vacant(entry) => {
                        entry.insert(Some(reply));
                    }
                    Entry::Occupied(mut entry) => {
                        if entry.get().as_ref() != Some(&reply) {
                            entry.insert(None);
                        }
                    }
                }
            }
        }
        Ok(results)
    }

    /// Whether the results of a batch are those of ours: an id among the first of them says so.
    pub(super) async fn is_ours(
        &self,
        record: &BatchRecord,
        remote: &RemoteBatch,
    ) -> Result<bool, CallError> {
        for path in &remote.results {
            let mut lines = self.lines(path).await?;
            for _ in 0..LINES_TO_RECOGNIZE {
                let Some(line) = lines.next().await? else { break };
                let result = self.wire.read_result(&line);
                if result.is_some_and(|(id, _)| position(record.id, &id).is_some()) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    fn without_key(&self, reply: BatchedReply) -> BatchedReply {
        match reply {
            Ok((answer, raw)) => Ok((answer, self.endpoint.redact(raw))),
            Err(error) => Err(CallError { message: self.endpoint.redact(error.message), ..error }),
        }
    }

    async fn lines(&self, path: &str) -> Result<Lines, CallError> {
        let response = timeout(CALL, self.endpoint.get_below(path)).await;
        let response = response.unwrap_or_else(|_| Err(late(CALL)))?;
        Ok(Lines { response, buffer: Vec::new(), read: 0, is_ended: false })
    }
}

/// The lines of a body, read as they come.
struct Lines {
    response: Response,
    buffer: Vec<u8>,
    /// Bytes of the buffer that were given out.
    read: usize,
    is_ended: bool,
}

impl Lines {
    async fn next(&mut self) -> Result<Option<String>, CallError> {
        let mut searched = self.read;
        loop {
            let found = self.buffer[searched..].iter().position(|byte| *byte == b'\n');
            let end = found.map(|at| searched + at);
            if let Some(end) = end.or(self.is_ended.then_some(self.buffer.len())) {
                if self.is_ended && self.read >= self.buffer.len() {
                    return Ok(None);
                }
                let line = String::from_utf8_lossy(&self.buffer[self.read..end]).into_owned();
                self.read = (end + 1).min(self.buffer.len());
                return Ok(Some(line));
            }
            self.buffer.drain(..self.read);
            self.read = 0;
            searched = self.buffer.len();
            if searched > MAX_LINE_BYTES {
                return Err(CallError::malformed("a line of the results is too long"));
            }
            let chunk = timeout(CALL, self.response.chunk()).await;
            match chunk.map_err(|_| late(CALL))?.map_err(network_failure)? {
                Some(bytes) => self.buffer.extend_from_slice(&bytes),
                None => self.is_ended = true,
            }
        }
    }
}

fn late(time: Duration) -> CallError {
    CallError::new(FailureClass::Timeout, format!("no reply within {} s", time.as_secs()))
}
