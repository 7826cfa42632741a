//! The writers of the audit logs, one for each organization: entries of several requests are appended together, so that many
//! requests cost few commits, and a log that has to wait holds up no other one.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use fullbench_store::{AuditKey, EntityKind, NewAuditEntry, ScopedStore, Store, StoreError};
use fullbench_types::{AuditPhase, OrganizationId};
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, mpsc, oneshot};

use crate::problem::{Problem, RETRY_AFTER_SECONDS, UNAUTHORIZED, UNAVAILABLE};

/// Entries that are appended together at most.
const GROUP: usize = 512;
/// How long an append waits for others, where several came together the last time.
const LINGER: Duration = Duration::from_millis(2);
/// Entries that may wait to be appended to one log: more than that wait to be taken.
const WAITING: usize = 4096;
/// Writers that are there before those go that have nothing to do.
const WRITERS: usize = 1024;

type Written = Result<(), Arc<StoreError>>;

struct Waiting {
    store: ScopedStore,
    entry: NewAuditEntry,
    /// Who waits for it.
    written: Option<oneshot::Sender<Written>>,
}

/// Hands entries to the writers.
#[derive(Debug, Clone)]
pub(crate) struct AuditWriter {
    writers: Arc<Mutex<HashMap<OrganizationId, mpsc::Sender<Waiting>>>>,
    log: Appending,
    runtime: Handle,
}

/// Where writers append.
#[derive(Debug, Clone)]
struct Appending {
    store: Store,
    /// Where only one can write at a time those who wait for it hold no connection: others read with them.
    turn: Option<Arc<Semaphore>>,
}

impl AuditWriter {
    /// The writers of the logs of a store.
    pub(crate) fn new(store: Store) -> Self {
        let turn = store.has_one_writer().then(|| Arc::new(Semaphore::new(1)));
        let log = Appending { store, turn };
        Self { writers: Arc::default(), log, runtime: Handle::current() }
    }

    /// The writer of a log, which is started where there is none.
    fn of(&self, organization: OrganizationId) -> mpsc::Sender<Waiting> {
        let mut writers = self.writers.lock().unwrap_or_else(PoisonError::into_inner);
        if writers.len() >= WRITERS {
            writers.retain(|_, writer| writer.capacity() < WAITING);
        }
        let start = || {
            let (writer, receiver) = mpsc::channel(WAITING);
            self.runtime.spawn(write_all(receiver, self.log.clone()));
            writer
        };
        writers.entry(organization).or_insert_with(start).clone()
    }

    /// What the log is sealed with now: keys can be given up while servers work.
    pub(crate) async fn key(&self) -> Result<AuditKey, StoreError> {
        self.log.store.audit_key().await
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
        self.of(store.organization()).send(waits).await.map_err(|_| gone())?;
        match waiting.await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) if is_erased(&error) => {
                Err(Problem::new(UNAUTHORIZED, "the organization was erased"))
            }
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
        let writer = self.of(store.organization());
        if let Err(error) = writer.try_send(Waiting { store, entry, written: None }) {
            tracing::error!(%error, "the audit log misses the end of a request");
        }
    }
}

/// Writes the log of one organization.
async fn write_all(mut receiver: mpsc::Receiver<Waiting>, log: Appending) {
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
        let entries: Vec<NewAuditEntry> =
            group.iter().map(|waiting| waiting.entry.clone()).collect();
        let result = log.append(&group[0].store, &entries).await.map_err(Arc::new);
        for waiting in group.drain(..) {
            let result = match &result {
                // What was under way in an organization that was erased ends without an entry; nothing begins in it.
                Err(error) if is_erased(error) && waiting.entry.phase != AuditPhase::Asked => {
                    Ok(())
                }
                other => other.clone(),
            };
            match (waiting.written, result) {
                // Who asked may be gone; the entry is kept all the same.
                (Some(written), result) => drop(written.send(result)),
                (None, Err(error)) => {
                    tracing::error!(%error, "the audit log misses the end of a request");
                }
                (None, Ok(())) => {}
            }
        }
    }
}

impl Appending {
    async fn append(&self, log: &ScopedStore, entries: &[NewAuditEntry]) -> Result<(), StoreError> {
        let _turn = match &self.turn {
            // It is never closed.
            Some(turn) => turn.acquire().await.ok(),
            None => None,
        };
        let key = self.store.audit_key().await?;
        log.append_audit(&key, entries).await.map(drop)
    }
}

/// Whether there is no log because its organization was erased.
fn is_erased(error: &StoreError) -> bool {
    matches!(error, StoreError::NameNotFound { kind: EntityKind::Organization, .. })
}
