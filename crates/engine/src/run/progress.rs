//! What a running run shows: counters that lanes and recorder write and a display reads.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use fullbench_llm::{BatchProgress, Batcher, BreakerState, ModelHandle};
use fullbench_types::{FailureReason, NanoDollars};

/// Counters of a run.
pub struct Progress {
    started: Instant,
    lanes: Vec<LaneCounters>,
    notes: Mutex<Vec<String>>,
    batcher: Option<Arc<Batcher>>,
}

pub(crate) struct LaneCounters {
    name: String,
    planned: u64,
    handle: Option<Arc<ModelHandle>>,
    before: u64,
    done: AtomicU64,
    failed: [AtomicU64; 3],
    from_cache: AtomicU64,
    spent: AtomicU64,
}

/// What the display shows at one moment.
#[derive(Debug, Clone)]
pub struct ProgressSnapshot {
    /// Units of the run.
    pub planned: u64,
    /// Units recorded, with those of earlier sessions.
    pub done: u64,
    /// Units recorded since this process began.
    pub done_now: u64,
    /// Seconds since this process began.
    pub seconds: f64,
    /// Money spent since the run began.
    pub spent: NanoDollars,
    /// Units that failed since this process began, by reason.
    pub failures: BTreeMap<&'static str, u64>,
    /// Each model.
    pub lanes: Vec<LaneSnapshot>,
    /// Batches that are at their providers.
    pub batches: Vec<BatchProgress>,
}

/// One model at one moment.
#[derive(Debug, Clone)]
pub struct LaneSnapshot {
    /// The model's name.
    pub name: String,
    /// Units of the lane.
    pub planned: u64,
    /// Units recorded.
    pub done: u64,
    /// Units recorded since this process began.
    pub done_now: u64,
    /// Calls on the wire.
    pub in_flight: u64,
    /// Calls repeated after a failure.
    pub retries: u64,
    /// The provider is down: its circuit breaker is open, and calls wait.
    pub provider_down: bool,
}

impl LaneCounters {
    pub(crate) fn new(
        name: String,
        planned: u64,
        handle: Option<Arc<ModelHandle>>,
        before: u64,
        spent: NanoDollars,
    ) -> Self {
        Self {
            name,
            planned,
            handle,
            before,
            done: AtomicU64::new(0),
            failed: Default::default(),
            from_cache: AtomicU64::new(0),
            spent: AtomicU64::new(spent.0.max(0) as u64),
        }
    }

    pub(crate) fn answered(&self, cost: Option<NanoDollars>, cached: bool) {
        self.spend(cost.unwrap_or_default());
        if cached {
            self.from_cache.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(crate) fn spend(&self, cost: NanoDollars) {
        self.spent.fetch_add(cost.0.max(0) as u64, Ordering::Relaxed);
    }

    pub(crate) fn done(&self, failure: Option<FailureReason>) {
        self.done.fetch_add(1, Ordering::Relaxed);
        if let Some(reason) = failure {
            self.failed[reason as usize].fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(crate) fn spent(&self) -> NanoDollars {
        NanoDollars(self.spent.load(Ordering::Relaxed) as i64)
    }

    fn snapshot(&self) -> LaneSnapshot {
        let model = self.handle.as_ref().map(|handle| handle.snapshot());
        LaneSnapshot {
            name: self.name.clone(),
            planned: self.planned,
            done: self.before + self.done.load(Ordering::Relaxed),
            done_now: self.done.load(Ordering::Relaxed),
            in_flight: model.as_ref().map_or(0, |model| model.in_flight as u64),
            retries: model.as_ref().map_or(0, |model| model.retries_by_class.values().sum()),
            provider_down: model.is_some_and(|model| model.breaker != BreakerState::Closed),
        }
    }
}

impl Progress {
    pub(crate) fn new(lanes: Vec<LaneCounters>, batcher: Option<Arc<Batcher>>) -> Self {
        Self { started: Instant::now(), lanes, notes: Mutex::default(), batcher }
    }

    pub(crate) fn lane(&self, model_index: u32) -> Option<&LaneCounters> {
        self.lanes.get(model_index as usize)
    }

    /// Something the user should know; said once.
    pub(crate) fn note(&self, note: String) {
        let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        if !notes.contains(&note) {
            notes.push(note);
        }
    }

    /// What the user should know so far.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The counters at this moment.
    #[must_use]
    pub fn snapshot(&self) -> ProgressSnapshot {
        let lanes: Vec<LaneSnapshot> = self.lanes.iter().map(LaneCounters::snapshot).collect();
        let mut failures = BTreeMap::new();
        for reason in FailureReason::ALL {
            let count: u64 = self
                .lanes
                .iter()
                .map(|lane| lane.failed[reason as usize].load(Ordering::Relaxed))
                .sum();
            if count > 0 {
                failures.insert(reason.as_str(), count);
            }
        }
        ProgressSnapshot {
            planned: self.lanes.iter().map(|lane| lane.planned).sum(),
            done: lanes.iter().map(|lane| lane.done).sum(),
            done_now: self.lanes.iter().map(|lane| lane.done.load(Ordering::Relaxed)).sum(),
            seconds: self.started.elapsed().as_secs_f64(),
            spent: self.lanes.iter().map(LaneCounters::spent).sum(),
            failures,
            lanes,
            batches: self.batcher.as_ref().map(|batcher| batcher.progress()).unwrap_or_default(),
        }
    }
}
