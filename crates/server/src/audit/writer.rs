//! The writer of the audit log: entries of several requests are appended together, so that many requests cost few commits.

use std::sync::Arc;
use std::time::Duration;

use fullbench_store::{AuditKey, EntityKind, NewAuditEntry, ScopedStore, Store, StoreError};
use tokio::sync::{mpsc, oneshot};

use crate::problem::{Problem, RETRY_AFTER_SECONDS, UNAVAILABLE};

/// Entries that are appended together at most.
const GROUP: usize = 512;
/// How long an append waits for others, where several came together the last time.
const LINGER: Duration = Duration::from_millis(2);
/// Entries that may wait to be appended: more than that wait to be taken.
const WAITING: usize = 4096;

type Written = Result<(), Arc<StoreError>>;

struct Waiting {
    store: ScopedStore,
    entry: NewAuditEntry,
    /// Who waits for it.
    written: Option<oneshot::Sender<Written>>,
}

/// Hands entries to the writer.
#[derive(Debug, Clone)]
pub(crate) struct AuditWriter {
    entries: mpsc::Sender<Waiting>,
    store: Store,
}

impl AuditWriter {
    /// Starts the writer of the logs of a store.
    pub(crate) fn start(store: Store) -> Self {
        let (entries, receiver) = mpsc::channel(WAITING);
        tokio::spawn(write_all(receiver, store.clone()));
        Self { entries, store }
    }

    /// What the log is sealed with now: keys can be given up while servers work.
    pub(crate) async fn key(&self) -> Result<AuditKey, StoreError> {
        self.store.audit_key().await
    }

    /// Keeps an entry in the log of an organization; done once it is on disk. Where it cannot be kept, what it tells of must
    /// not be done.
    pub(crate) async fn note(
        &self,
        store: &ScopedStore,
        entry: NewAuditEntry,
    ) -> Result<(), Problem> {
        let (written, waiting) = oneshot::channel();
        let gone = || Problem::new(UNAVAILABLE, "the server is shutting down");
        let waits = Waiting { store: store.clone(), entry, written: Some(written) };
        self.entries.send(waits).await.map_err(|_| gone())?;
        match waiting.await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => {
                tracing::error!(%error, "the audit log cannot be written");
                let detail = "the audit log cannot be written, and nothing is done without it";
                let problem = Problem::new(UNAVAILABLE, detail).hint("try again a little later");
                Err(problem.retry_after(RETRY_AFTER_SECONDS))
            }
            Err(_) => Err(gone()),
        }
    }

    /// Keeps an entry of something that ended while nobody waits for it any more.
    pub(crate) fn note_later(&self, store: ScopedStore, entry: NewAuditEntry) {
        if let Err(error) = self.entries.try_send(Waiting { store, entry, written: None }) {
            tracing::error!(%error, "the audit log misses the end of a request");
        }
    }
}

async fn write_all(mut receiver: mpsc::Receiver<Waiting>, store: Store) {
    let mut group = Vec::with_capacity(GROUP);
    let mut last = 0;
    while receiver.recv_many(&mut group, GROUP).await > 0 {
        if last > 1 || group.len() > 1 {
            tokio::time::sleep(LINGER).await;
            while group.len() < GROUP
                && let Ok(waiting) = receiver.try_recv()
            {
                group.push(waiting);
            }
        }
        last = group.len();
        // One organization at a time, each with its entries in the order in which they came.
        group.sort_by_key(|waiting: &Waiting| waiting.store.organization().0);
        for of_one in
            group.chunk_by_mut(|one, next| one.store.organization() == next.store.organization())
        {
            let entries: Vec<NewAuditEntry> =
                of_one.iter().map(|waiting| waiting.entry.clone()).collect();
            let result = append(&store, &of_one[0].store, &entries).await.map_err(Arc::new);
            for waiting in of_one {
                match waiting.written.take() {
                    // Who asked may be gone; the entry is kept all the same.
                    Some(written) => drop(written.send(result.clone())),
                    None => {
                        if let Err(error) = &result {
                            tracing::error!(%error, "the audit log misses the end of a request");
                        }
                    }
                }
            }
        }
        group.clear();
    }
}

async fn append(
    store: &Store,
    log: &ScopedStore,
    entries: &[NewAuditEntry],
) -> Result<(), StoreError> {
    let key = store.audit_key().await?;
    without_erased(log.append_audit(&key, entries).await.map(drop))
}

/// An organization that was erased has no log any more: what was under way in it ends without an entry.
fn without_erased(result: Result<(), StoreError>) -> Result<(), StoreError> {
    match result {
        Err(StoreError::NameNotFound { kind: EntityKind::Organization, .. }) => Ok(()),
        other => other,
    }
}
