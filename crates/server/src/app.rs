//! What all handlers share.

use std::sync::Arc;

use fullbench_store::Store;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::access::oidc::Issuer;
use crate::access::{KeyRing, Limits, Passwords, SessionRing};
use crate::audit::AuditWriter;
use crate::config::ServerConfig;
use crate::extract::InFlight;
use crate::mail::Mailer;
use crate::quotas::RecordCounts;
use crate::work::{Ongoing, Queue, Reports, SingleWriter, Singles, Streams};

/// People who forgot their passwords and are looked for at the same time; more are asked to come again.
const RESETS: usize = 256;

/// What all handlers share.
#[derive(Clone)]
pub(crate) struct App(Arc<Shared>);

struct Shared {
    store: Store,
    config: ServerConfig,
    keys: KeyRing,
    sessions: SessionRing,
    passwords: Passwords,
    mailer: Option<Mailer>,
    issuer: Option<Issuer>,
    resets: Arc<Semaphore>,
    limits: Limits,
    records: RecordCounts,
    in_flight: InFlight,
    queue: Queue,
    singles: Singles,
    ongoing: Ongoing,
    streams: Streams,
    reports: Reports,
    writer: SingleWriter,
    audit: AuditWriter,
    openapi: bytes::Bytes,
    stop: CancellationToken,
    tasks: TaskTracker,
}

impl App {
    pub(crate) fn new(
        store: Store,
        config: ServerConfig,
        openapi: bytes::Bytes,
        mailer: Option<Mailer>,
        issuer: Option<Issuer>,
    ) -> Self {
        let stop = CancellationToken::new();
        let tasks = TaskTracker::new();
        Self(Arc::new(Shared {
            writer: SingleWriter::start(),
            audit: AuditWriter::new(store.clone()),
            queue: Queue::new(),
            singles: Singles::default(),
            ongoing: Ongoing::new(stop.clone()),
            streams: Streams::default(),
            reports: Reports::default(),
            keys: KeyRing::default(),
            sessions: SessionRing::default(),
            passwords: Passwords::default(),
            mailer,
            issuer,
            resets: Arc::new(Semaphore::new(RESETS)),
            limits: Limits::default(),
            records: RecordCounts::default(),
            in_flight: InFlight::default(),
            openapi,
            store,
            config,
            stop,
            tasks,
        }))
    }

    pub(crate) fn store(&self) -> &Store {
        &self.0.store
    }

    pub(crate) fn config(&self) -> &ServerConfig {
        &self.0.config
    }

    pub(crate) fn keys(&self) -> &KeyRing {
        &self.0.keys
    }

    /// Sessions that were seen lately.
    pub(crate) fn sessions(&self) -> &SessionRing {
        &self.0.sessions
    }

    /// What compares and hashes passwords.
    pub(crate) fn passwords(&self) -> &Passwords {
        &self.0.passwords
    }

    /// What sends mail, where it is set up.
    pub(crate) fn mailer(&self) -> Option<&Mailer> {
        self.0.mailer.as_ref()
    }

    /// Who else vouches for people, where it is set up.
    pub(crate) fn issuer(&self) -> Option<&Issuer> {
        self.0.issuer.as_ref()
    }

    /// Room for those who forgot their passwords, and are looked for after they were answered.
    pub(crate) fn resets(&self) -> &Arc<Semaphore> {
        &self.0.resets
    }

    /// How often everybody may call.
    pub(crate) fn limits(&self) -> &Limits {
        &self.0.limits
    }

    /// How many results and documents there are.
    pub(crate) fn records(&self) -> &RecordCounts {
        &self.0.records
    }

    pub(crate) fn in_flight(&self) -> &InFlight {
        &self.0.in_flight
    }

    /// Runs that wait to be worked on.
    pub(crate) fn queue(&self) -> &Queue {
        &self.0.queue
    }

    /// Scorers that are ready for single answers.
    pub(crate) fn singles(&self) -> &Singles {
        &self.0.singles
    }

    /// What is being scored beside runs.
    pub(crate) fn ongoing(&self) -> &Ongoing {
        &self.0.ongoing
    }

    /// Events on their way to those who watch.
    pub(crate) fn streams(&self) -> &Streams {
        &self.0.streams
    }

    /// Numbers of runs that go on.
    pub(crate) fn reports(&self) -> &Reports {
        &self.0.reports
    }

    /// The writer of evaluations of single answers.
    pub(crate) fn writer(&self) -> &SingleWriter {
        &self.0.writer
    }

    /// The writer of the audit log.
    pub(crate) fn audit(&self) -> &AuditWriter {
        &self.0.audit
    }

    /// The OpenAPI document.
    pub(crate) fn openapi(&self) -> bytes::Bytes {
        self.0.openapi.clone()
    }

    /// Cancelled when the server shuts down.
    pub(crate) fn stop(&self) -> &CancellationToken {
        &self.0.stop
    }

    /// Work that is finished before the server ends.
    pub(crate) fn tasks(&self) -> &TaskTracker {
        &self.0.tasks
    }
}
