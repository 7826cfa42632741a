//! Advisory locks of PostgreSQL: held by a connection of their own, and gone with it.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use fullbench_types::RunId;
use sea_orm::sqlx::{self, PgConnection};
use sea_orm::{DbErr, RuntimeErr};
use tokio::sync::{mpsc, oneshot, watch};

use crate::{PostgresUrl, StoreError, postgres};

/// How often the connection is used, so that nothing between here and the server takes it for dead.
const HEARTBEAT: Duration = Duration::from_secs(20);

/// Lets the server notice within a minute that this machine is gone.
const NOTICE_DEATH: &str = "SET tcp_keepalives_idle = 30; SET tcp_keepalives_interval = 10; \
     SET tcp_keepalives_count = 3";

/// Says when a lock was lost.
type IsLost = watch::Receiver<bool>;

enum Request {
    Lock { run: RunId, taken: oneshot::Sender<Result<IsLost, StoreError>> },
    Release { run: RunId },
}

/// Who holds the locks of a store. The connection is made with the first lock, and closed with the store.
#[derive(Debug, Clone)]
pub(crate) struct AdvisoryLocks {
    url: PostgresUrl,
    holder: Arc<OnceLock<mpsc::UnboundedSender<Request>>>,
}

/// Held until it is dropped.
#[derive(Debug)]
pub(crate) struct AdvisoryLock {
    run: RunId,
    is_lost: IsLost,
    holder: mpsc::UnboundedSender<Request>,
}

impl Drop for AdvisoryLock {
    fn drop(&mut self) {
        let _ = self.holder.send(Request::Release { run: self.run });
    }
}

impl AdvisoryLock {
    /// Waits until another process has the lock, which it can only take where the connection of this one was lost.
    pub(crate) async fn lost(&self) {
        if self.is_lost.clone().wait_for(|is_lost| *is_lost).await.is_err() {
            // Nobody is left to tell it.
            std::future::pending::<()>().await;
        }
    }

    /// Whether another process has the lock.
    pub(crate) fn is_lost(&self) -> bool {
        *self.is_lost.borrow()
    }
}

impl AdvisoryLocks {
    pub(crate) fn new(url: PostgresUrl) -> Self {
        Self { url, holder: Arc::new(OnceLock::new()) }
    }

    /// Takes the lock of a run, or says that another has it.
    pub(crate) async fn lock(&self, run: RunId) -> Result<AdvisoryLock, StoreError> {
        let holder = self.holder.get_or_init(|| {
            let (sender, requests) = mpsc::unbounded_channel();
            tokio::spawn(Holder::new(self.url.clone()).serve(requests));
            sender
        });
        let gone = || StoreError::Damaged("the holder of locks has ended".to_owned());
        let (taken, waiting) = oneshot::channel();
        holder.send(Request::Lock { run, taken }).map_err(|_| gone())?;
        let is_lost = waiting.await.map_err(|_| gone())??;
        Ok(AdvisoryLock { run, is_lost, holder: holder.clone() })
    }
}

/// The connection and the locks it holds.
struct Holder {
    url: PostgresUrl,
    connection: Option<PgConnection>,
    held: HashMap<RunId, watch::Sender<bool>>,
}

impl Holder {
    fn new(url: PostgresUrl) -> Self {
        Self { url, connection: None, held: HashMap::new() }
    }

    /// Locks and releases in the order in which it is asked, until nobody can ask any more.
    async fn serve(mut self, mut requests: mpsc::UnboundedReceiver<Request>) {
        loop {
            let request = match tokio::time::timeout(HEARTBEAT, requests.recv()).await {
                Ok(Some(request)) => request,
                Ok(None) => return,
                Err(_) => {
                    self.keep_alive().await;
                    continue;
                }
            };
            match request {
                Request::Lock { run, taken } => {
                    let result = self.lock(run).await;
                    let locked = result.is_ok();
                    if taken.send(result).is_err() && locked {
                        self.release(run).await;
                    }
                }
                Request::Release { run } => self.release(run).await,
            }
        }
    }

    async fn lock(&mut self, run: RunId) -> Result<IsLost, StoreError> {
        // A connection may take its own lock twice.
        if self.held.contains_key(&run) {
            return Err(StoreError::RunLocked(run.to_string()));
        }
        if !self.try_lock(run).await? {
            return Err(StoreError::RunLocked(run.to_string()));
        }
        let (lost, is_lost) = watch::channel(false);
        self.held.insert(run, lost);
        Ok(is_lost)
    }

    async fn release(&mut self, run: RunId) {
        self.held.remove(&run);
        if let Some(connection) = &mut self.connection {
            let release = sqlx::query("SELECT pg_advisory_unlock($1)").bind(key(run));
            if release.execute(connection).await.is_err() {
                // A lost connection has lost its locks too.
                self.connection = None;
            }
        }
    }

    /// Uses the connection while it holds locks; takes them again where it was lost.
    async fn keep_alive(&mut self) {
        if self.held.is_empty() {
            return;
        }
        if let Some(connection) = &mut self.connection
            && sqlx::query("SELECT 1").execute(connection).await.is_err()
        {
            self.connection = None;
        }
        if let Err(error) = self.connected().await {
            tracing::warn!(%error, "the connection that holds the locks of runs is lost");
        }
    }

    async fn try_lock(&mut self, run: RunId) -> Result<bool, StoreError> {
        let lock = || sqlx::query_scalar("SELECT pg_try_advisory_lock($1)").bind(key(run));
        let connection = self.connected().await?;
        if let Ok(taken) = lock().fetch_one(connection).await {
            return Ok(taken);
        }
        self.connection = None;
        let connection = self.connected().await?;
        let taken = lock().fetch_one(connection).await;
        taken.map_err(failed)
    }

    /// The connection; a new one takes all locks again that the old one held.
    async fn connected(&mut self) -> Result<&mut PgConnection, StoreError> {
        let connection = match self.connection.take() {
            Some(connection) => connection,
            None => {
                let mut connection = postgres::connect_once(&self.url).await?;
                // A socket of the same machine has no such settings.
                let _ = sqlx::raw_sql(NOTICE_DEATH).execute(&mut connection).await;
                // One that was lost stays so, until whoever has it lets go of it.
                for (run, lost) in self.held.iter().filter(|(_, lost)| !*lost.borrow()) {
                    let again = sqlx::query_scalar("SELECT pg_try_advisory_lock($1)");
                    let taken: Result<bool, _> =
                        again.bind(key(*run)).fetch_one(&mut connection).await;
                    if !taken.map_err(failed)? {
                        tracing::error!(%run, "the lock of a run was lost and taken by another process");
                        lost.send_replace(true);
                    }
                }
                connection
            }
        };
        Ok(self.connection.insert(connection))
    }
}

fn failed(error: sqlx::Error) -> StoreError {
    DbErr::Query(RuntimeErr::SqlxError(Arc::new(error))).into()
}

/// The number of a run's lock: the random half of its id.
fn key(run: RunId) -> i64 {
    run.0.as_u64_pair().1 as i64
}
