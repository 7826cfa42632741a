//! One line of requests that can be sent together: collected until it is quiet, or there are enough.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use fullbench_types::{ContentHash, ProviderBatchId};
use jiff::Timestamp;
use tokio::sync::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock, mpsc, oneshot};
use tokio::time::{sleep, timeout};

use super::batcher::Shared;
use super::client::BatchClient;
use super::known::{KnownBatch, Told};
use super::search::search;
use super::store::{BatchRecord, BatchState};
use super::watch::{Watched, watch_to_end};
use crate::config::Provider;
use crate::model::{CallError, FailureClass};
use crate::retry::pause_after;
use crate::wire::batch::custom_id;

/// How often a batch is sent before its requests fail.
const SUBMISSIONS: u32 = 8;

/// One request on its way into a batch.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) key: ContentHash,
    /// The body that a call of its own would have.
    pub(super) body: Vec<u8>,
    pub(super) tell: oneshot::Sender<Told>,
}

/// Requests that can be in one batch.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) client: Arc<BatchClient>,
    pub(super) items: mpsc::UnboundedSender<Item>,
    sender: Arc<Sender>,
}

/// What it takes to send the requests of a line.
#[derive(Debug)]
pub(super) struct Sender {
    client: Arc<BatchClient>,
    provider: Provider,
    base_url: String,
    account: Option<String>,
    /// Requests in a batch at most; fewer after the provider had no room for so many.
    most: AtomicUsize,
    /// One batch at a time, after the provider had no room for several.
    is_alone: AtomicBool,
    /// Read by every batch at the provider, written by one that must be alone.
    room: Arc<RwLock<()>>,
}

/// A batch may be at the provider as long as this lives.
struct Room {
    _shared: Option<OwnedRwLockReadGuard<()>>,
    _alone: Option<OwnedRwLockWriteGuard<()>>,
}

impl Line {
    pub(super) fn new(
        client: Arc<BatchClient>,
        provider: Provider,
        base_url: String,
        account: Option<String>,
        items: mpsc::UnboundedSender<Item>,
        most: usize,
    ) -> Self {
        let sender = Sender {
            client: Arc::clone(&client),
            provider,
            base_url,
            account,
            most: AtomicUsize::new(most.max(1)),
            is_alone: AtomicBool::new(false),
            room: Arc::default(),
        };
        Self { client, items, sender: Arc::new(sender) }
    }

    pub(super) fn sender(&self) -> Arc<Sender> {
        Arc::clone(&self.sender)
    }
}

impl Sender {
    async fn room(&self) -> Room {
        let room = Arc::clone(&self.room);
        match self.is_alone.load(Ordering::Relaxed) {
            true => Room { _shared: None, _alone: Some(room.write_owned().await) },
            false => Room { _shared: Some(room.read_owned().await), _alone: None },
        }
    }

    /// The provider had no room for a batch: the next ones are smaller, and alone.
    fn send_less(&self, requests: usize) {
        self.most.fetch_min((requests / 2).max(1), Ordering::Relaxed);
        self.is_alone.store(true, Ordering::Relaxed);
    }
}

/// Collects requests and sends them, until nobody can send any more.
pub(super) async fn collect(
    shared: Arc<Shared>,
    sender: Arc<Sender>,
    mut arrivals: mpsc::UnboundedReceiver<Item>,
) {
    loop {
        let first = tokio::select! {
            item = arrivals.recv() => item,
            () = shared.stop.cancelled() => None,
        };
        let Some(first) = first else { return };
        let mut bytes = first.body.len();
        let mut items = vec![first];
        while items.len() < sender.most.load(Ordering::Relaxed) && bytes < shared.options.max_bytes
        {
            match timeout(shared.options.quiet, arrivals.recv()).await {
                Ok(Some(item)) => {
                    bytes += item.body.len();
                    items.push(item);
                }
                Ok(None) | Err(_) => break,
            }
        }
        let room = tokio::select! {
            room = sender.room() => room,
            () = shared.stop.cancelled() => return,
        };
        items.retain(|item| !item.tell.is_closed());
        if items.is_empty() {
            continue;
        }
        let (shared_again, sender) = (Arc::clone(&shared), Arc::clone(&sender));
        shared.spawn(async move {
            send_and_watch(shared_again, &sender, items).await;
            drop(room);
        });
    }
}

/// Keeps a batch, sends it, and waits for its end.
async fn send_and_watch(shared: Arc<Shared>, sender: &Sender, items: Vec<Item>) {
    let id = ProviderBatchId::generate();
    let requests = items.len();
    let mut entries = Vec::with_capacity(requests);
    let mut keys = Vec::with_capacity(requests);
    let mut waiting = Vec::with_capacity(requests);
    for (position, Item { key, body, tell }) in items.into_iter().enumerate() {
        entries.push(sender.client.wire.batch_entry(&custom_id(id, position), &body));
        keys.push(key);
        waiting.push(tell);
    }
    let record = BatchRecord {
        id,
        provider: sender.provider,
        base_url: sender.base_url.clone(),
        account: sender.account.clone(),
        remote_id: None,
        state: BatchState::Submitting,
        keys,
        created_at: Timestamp::now(),
    };
    let batch = Arc::new(KnownBatch::new(record, waiting));
    if let Err(error) = shared.store.add(&batch.record).await {
        let message = format!("the batch could not be noted, and was not sent: {error}");
        let error = CallError::new(FailureClass::Server, message);
        batch.tell_all(true, || Told::Failed(error.clone()));
        return;
    }
    shared.know(&batch);
    match submit(&shared, &sender.client, &batch, &entries).await {
        Submission::Taken(remote_id) => {
            tracing::info!(batch = %id, remote_id, requests, "batch submitted");
            batch.set_remote_id(&remote_id);
            note(&shared, &batch, BatchState::Submitted, Some(&remote_id)).await;
        }
        // Here that is a body which is too long for the provider, or for something on the way.
        Submission::Refused(error) if error.status == Some(413) && requests > 1 => {
            note(&shared, &batch, BatchState::Failed, None).await;
            sender.send_less(requests);
            batch.tell_all(true, || Told::Unasked);
            return;
        }
        Submission::Refused(error) => {
            note(&shared, &batch, BatchState::Failed, None).await;
            let message = format!("the batch could not be sent: {}", error.message);
            batch.tell_all(true, || {
                Told::Failed(CallError { message: message.clone(), ..error.clone() })
            });
            return;
        }
        Submission::Unclear(error) => {
            let message = format!("the batch may be at the provider or not: {}", error.message);
            batch.tell_all(false, || {
                Told::Unfetched(CallError { message: message.clone(), ..error.clone() })
            });
            return;
        }
    }
    drop(entries);
    if watch_to_end(&shared, &sender.client, &batch).await == Watched::NoRoom {
        sender.send_less(requests);
        note(&shared, &batch, BatchState::Failed, None).await;
        let error = CallError::new(
            FailureClass::RateLimit,
            "the provider has no room for another request in its batches",
        );
        batch.tell_all(true, || match requests {
            1 => Told::Failed(error.clone()),
            _ => Told::Unasked,
        });
    }
}

enum Submission {
    Taken(String),
    Refused(CallError),
    /// The batch may be at the provider or not: a later process looks for it.
    Unclear(CallError),
}

/// Sends a batch; again when that failed, after having looked whether it arrived all the same.
async fn submit(
    shared: &Shared,
    client: &BatchClient,
    batch: &KnownBatch,
    entries: &[Vec<u8>],
) -> Submission {
    let mut submissions = 0;
    loop {
        submissions += 1;
        let unsubmitted = match client.submit(batch.record.id, entries).await {
            Ok(remote_id) => return Submission::Taken(remote_id),
            Err(unsubmitted) => unsubmitted,
        };
        let error = unsubmitted.error;
        tracing::warn!(batch = %batch.record.id, %error, "the batch could not be sent");
        if unsubmitted.may_be_taken {
            let found = tokio::select! {
                found = search(shared, client, batch) => found,
                () = shared.stop.cancelled() => return Submission::Unclear(error),
            };
            match found {
                Ok(Some(remote_id)) => return Submission::Taken(remote_id),
                Ok(None) => {}
                Err(error) => return Submission::Unclear(error),
            }
        }
        if !error.class.is_retryable() || submissions >= SUBMISSIONS {
            return Submission::Refused(error);
        }
        tokio::select! {
            () = sleep(pause_after(submissions, error.retry_after)) => {}
            () = shared.stop.cancelled() => return Submission::Refused(error),
        }
    }
}

/// Notes where a batch stands; a note that fails is made up for when the batch is looked for again.
pub(super) async fn note(
    shared: &Shared,
    batch: &KnownBatch,
    state: BatchState,
    remote_id: Option<&str>,
) {
    if let Err(error) = shared.store.update(batch.record.id, state, remote_id).await {
        tracing::warn!(batch = %batch.record.id, %error, "the batch could not be noted");
    }
}
