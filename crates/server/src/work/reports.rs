//! Numbers of runs that go on: read anew when they are old, not for everybody who asks.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use fullbench_engine::summarize;
use fullbench_store::{RunRecord, ScopedStore};
use fullbench_types::RunId;
use jiff::Timestamp;
use serde_json::Value;

use crate::problem::{Problem, internal};

/// How old the numbers may be at least.
const FRESH: Duration = Duration::from_secs(1);
/// And how many times as old as it took to read them: reading takes a small share of the time, however large the run is.
const TIMES: u32 = 20;

/// Reports of runs that were asked for lately.
#[derive(Debug, Default)]
pub(crate) struct Reports(Mutex<HashMap<RunId, Kept>>);

#[derive(Debug, Clone)]
struct Kept {
    report: Arc<Value>,
    /// When the state of the run last changed.
    of: Timestamp,
    read_at: Instant,
    fresh_for: Duration,
}

impl Kept {
    fn is_fresh(&self) -> bool {
        self.read_at.elapsed() < self.fresh_for
    }
}

impl Reports {
    /// The numbers of a run that goes on, as they were a moment ago.
    pub(crate) async fn of(
        &self,
        store: &ScopedStore,
        run: &RunRecord,
    ) -> Result<Arc<Value>, Problem> {
        let kept = self.kept().get(&run.id).cloned();
        if let Some(kept) = kept.filter(|kept| kept.is_fresh() && kept.of == run.updated_at) {
            return Ok(kept.report);
        }
        let started = Instant::now();
        let report = summarize(store, run, None).await?;
        let report = Arc::new(serde_json::to_value(report).map_err(|error| internal(&error))?);
        let fresh_for = FRESH.max(started.elapsed() * TIMES);
        let mut kept = self.kept();
        kept.retain(|_, one| one.is_fresh());
        let (read_at, of) = (Instant::now(), run.updated_at);
        kept.insert(run.id, Kept { report: report.clone(), of, read_at, fresh_for });
        Ok(report)
    }

    /// Forgets all of them.
    pub(crate) fn forget(&self) {
        self.kept().clear();
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, HashMap<RunId, Kept>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
