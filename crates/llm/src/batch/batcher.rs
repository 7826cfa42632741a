//! The batches of one run: those it sends, and those that an earlier process sent.

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use fullbench_types::ContentHash;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::client::BatchClient;
use super::known::{KnownBatch, Told};
use super::line::{Item, Line, collect};
use super::store::{BatchRecord, BatchStore};
use super::watch::watch;
use crate::config::{ModelConfig, Provider};
use crate::error::LlmError;
use crate::http::Clients;
use crate::keys::ProviderKeys;
use crate::request::GenerationRequest;

/// How requests are collected and batches are waited for.
#[derive(Debug, Clone, PartialEq)]
pub struct BatchOptions {
    /// Keys that are used in place of those of the environment.
    pub keys: ProviderKeys,
    /// New requests are sent in batches; otherwise only batches that were sent before are waited for.
    pub submits: bool,
    /// A batch is sent when no request has come for this long.
    pub quiet: Duration,
    /// A batch is sent when it has this many requests.
    pub max_requests: usize,
    /// A batch is sent when its requests have this many bytes.
    pub max_bytes: usize,
    /// How long to wait before a batch is looked at first; later longer and longer.
    pub first_look: Duration,
    /// How long to wait between two looks at most.
    pub longest_look: Duration,
    /// A provider that cannot be reached for this long is given up; its batches stay.
    pub patience: Duration,
}

impl Default for BatchOptions {
    fn default() -> Self {
        Self {
            keys: ProviderKeys::default(),
            submits: true,
            quiet: Duration::from_secs(2),
            max_requests: 10_000,
            max_bytes: 90_000_000,
            first_look: Duration::from_secs(1),
            longest_look: Duration::from_secs(60),
            patience: Duration::from_secs(3_600),
        }
    }
}

/// How far one batch is that is at its provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchProgress {
    /// Which batch of this process it is, counted from 1.
    pub number: usize,
    /// Requests the provider is done with, as far as it says so.
    pub done: u64,
    /// Requests in the batch.
    pub requests: u64,
}

/// Sends the requests of one run in batches and waits for them.
pub struct Batcher {
    shared: Arc<Shared>,
    clients: Clients,
    lines: Mutex<HashMap<LineKey, Arc<Line>>>,
}

/// Whose requests can be in one batch: provider, address, key, and at OpenAI the model.
type LineKey = (Provider, String, Option<String>, Option<String>);

/// Where a request stands: its batch, and its position in there.
type Place = (Arc<KnownBatch>, usize);

/// What all tasks of a batcher share.
pub(super) struct Shared {
    pub(super) store: Arc<dyn BatchStore>,
    pub(super) options: BatchOptions,
    pub(super) stop: CancellationToken,
    tasks: Mutex<JoinSet<()>>,
    known: Mutex<Vec<Arc<KnownBatch>>>,
    /// Requests in batches of earlier processes, the newest batch last.
    earlier: Mutex<HashMap<ContentHash, Vec<Place>>>,
}

impl Batcher {
    /// A batcher that knows the batches which are kept of earlier processes, oldest first.
    #[must_use]
    pub fn new(store: Arc<dyn BatchStore>, kept: Vec<BatchRecord>, options: BatchOptions) -> Self {
        let mut known = Vec::new();
        let mut earlier: HashMap<ContentHash, Vec<Place>> = HashMap::new();
        for record in kept {
            let batch = Arc::new(KnownBatch::new(record, Vec::new()));
            for (position, key) in batch.record.keys.iter().enumerate() {
                earlier.entry(*key).or_default().push((Arc::clone(&batch), position));
            }
            known.push(batch);
        }
        let shared = Shared {
            store,
            options,
            stop: CancellationToken::new(),
            tasks: Mutex::default(),
            known: Mutex::new(known),
            earlier: Mutex::new(earlier),
        };
        Self { shared: Arc::new(shared), clients: Clients::default(), lines: Mutex::default() }
    }

    /// Whether a model's provider has a batch API that is known here. One that lists endpoints is called at them.
    #[must_use]
    pub fn serves(model: &ModelConfig) -> bool {
        matches!(model.provider, Provider::Openai | Provider::Anthropic) && !model.has_endpoints()
    }

    /// Whether new requests are sent in batches.
    pub(crate) fn submits(&self) -> bool {
        self.shared.options.submits
    }

    /// How long to wait after the provider had no room for a single request.
    pub(crate) fn pause_without_room(&self) -> Duration {
        self.shared.options.longest_look
    }

    /// The batches that are at their providers, as far as this process knows.
    #[must_use]
    pub fn progress(&self) -> Vec<BatchProgress> {
        let known = locked(&self.shared.known);
        let open = known.iter().enumerate().filter_map(|(index, batch)| {
            let (done, requests) = batch.progress()?;
            Some(BatchProgress { number: index + 1, done, requests })
        });
        open.collect()
    }

    /// Ends waiting; a submission that is on its way is finished and noted. Batches stay at their providers.
    pub async fn finish(&self) {
        self.shared.stop.cancel();
        locked(&self.lines).clear();
        let mut tasks = std::mem::take(&mut *locked(&self.shared.tasks));
        while tasks.join_next().await.is_some() {}
    }

    /// Waits for a request that is in a batch of an earlier process.
    pub(crate) fn waiting_already(
        &self,
        config: &ModelConfig,
        key: &ContentHash,
    ) -> Result<Option<oneshot::Receiver<Told>>, LlmError> {
        let Some((batch, position)) = self.shared.take_earlier(config, key) else {
            return Ok(None);
        };
        let line = self.line(config)?;
        let (told, must_watch) = batch.wait_for(position);
        if must_watch {
            let shared = Arc::clone(&self.shared);
            self.shared.spawn(watch(shared, Arc::clone(&line.client), batch));
        }
        Ok(Some(told))
    }

    /// Whether a request is in a batch that an earlier process of this run sent; each is told once.
    pub(crate) fn was_sent_before(&self, config: &ModelConfig, key: &ContentHash) -> bool {
        self.shared.take_earlier(config, key).is_some()
    }

    /// Puts a request into the next batch and waits for it.
    pub(crate) fn put(
        &self,
        config: &ModelConfig,
        request: &GenerationRequest,
        key: ContentHash,
    ) -> Result<oneshot::Receiver<Told>, LlmError> {
        let (tell, told) = oneshot::channel();
        let line = self.line(config)?;
        let body = match line.client.wire.body(&whole(request)) {
            Ok(body) => body,
            Err(error) => {
                let _ = tell.send(Told::Failed(error));
                return Ok(told);
            }
        };
        // Where nobody collects any more, whoever waits is told by the closed channel.
        let _ = line.items.send(Item { key, body, tell });
        Ok(told)
    }

    fn line(&self, config: &ModelConfig) -> Result<Arc<Line>, LlmError> {
        let model = (config.provider == Provider::Openai).then(|| config.model.clone()).flatten();
        let (provider, base_url) = (config.provider, config.effective_base_url().to_owned());
        let keys = &self.shared.options.keys;
        let account = keys.account(config);
        let key = (provider, base_url.clone(), account.clone(), model);
        let mut lines = locked(&self.lines);
        if let Some(line) = lines.get(&key) {
            return Ok(Arc::clone(line));
        }
        let client = Arc::new(BatchClient::new(config, keys.key_of(config)?, &self.clients)?);
        let (items, arrivals) = mpsc::unbounded_channel();
        let most = self.shared.options.max_requests;
        let line = Arc::new(Line::new(client, provider, base_url, account, items, most));
        let collecting = collect(Arc::clone(&self.shared), line.sender(), arrivals);
        self.shared.spawn(collecting);
        lines.insert(key, Arc::clone(&line));
        Ok(line)
    }
}

impl Drop for Batcher {
    fn drop(&mut self) {
        self.shared.stop.cancel();
    }
}

impl Shared {
    pub(super) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = locked(&self.tasks);
        while tasks.try_join_next().is_some() {}
        tasks.spawn(task);
    }

    pub(super) fn know(&self, batch: &Arc<KnownBatch>) {
        locked(&self.known).push(Arc::clone(batch));
    }

    /// The ids of batches at the provider that are known to be other ones than this.
    pub(super) fn others(&self, batch: &KnownBatch) -> Vec<String> {
        let known = locked(&self.known);
        let others = known.iter().filter(|other| other.record.id != batch.record.id);
        others.filter_map(|other| other.remote_id()).collect()
    }

    /// Takes a request out of those in earlier batches: its result is given to one call only.
    fn take_earlier(&self, config: &ModelConfig, key: &ContentHash) -> Option<Place> {
        let account = self.options.keys.account(config);
        let mut earlier = locked(&self.earlier);
        let entries = earlier.get_mut(key)?;
        let is_of_account = |(batch, _): &Place| {
            let record = &batch.record;
            record.provider == config.provider
                && record.base_url == config.effective_base_url()
                && record.account == account
        };
        let index = entries.iter().rposition(is_of_account)?;
        let taken = entries.remove(index);
        if entries.is_empty() {
            earlier.remove(key);
        }
        Some(taken)
    }
}

/// The request without a wish to stream: a batch has nothing to stream.
fn whole(request: &GenerationRequest) -> GenerationRequest {
    let mut whole = request.clone();
    if whole.parameters.stream {
        Arc::make_mut(&mut whole.parameters).stream = false;
    }
    whole
}

pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
