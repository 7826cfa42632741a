//! The one writer of a run: commits groups, keeps each lane's progress, and hands answers on to scoring.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use std::time::Duration;

use fullbench_store::{
    GenerationRecord, LaneProgress, RecordedGroup, RunRecorder, ScoreRecord, StoreError,
};
use fullbench_types::{FailureReason, NanoDollars, UnitKey};
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::Span;

use super::lane::GeneratedUnit;
use super::open::OpenLane;
use super::plan::Plan;
use super::progress::Progress;
use crate::traced;

/// A group is committed at the latest this long after its first record came.
const GROUP_TIME: Duration = Duration::from_millis(20);
/// A group is committed at once when it holds this many records.
const GROUP_SIZE: usize = 2048;

/// A unit with its scores, on its way to the recorder.
#[derive(Debug)]
pub(crate) struct ScoredUnit {
    pub(crate) key: UnitKey,
    pub(crate) position: u64,
    pub(crate) scores: Vec<ScoreRecord>,
    /// Every scorer has had its say; otherwise the unit stays open.
    pub(crate) complete: bool,
    /// What was paid for scores that are still open: calls that went through before the budget or a stop cut off the rest.
    pub(crate) spent_on_open: NanoDollars,
    pub(crate) _place: OwnedSemaphorePermit,
    pub(crate) span: Span,
}

/// A lane's progress with the units recorded ahead of its watermark.
#[derive(Debug)]
struct LaneState {
    progress: LaneProgress,
    ahead: BTreeSet<u64>,
    failed: HashSet<u64>,
    changed: bool,
}

impl LaneState {
    fn complete(&mut self, position: u64) {
        if position >= self.progress.watermark {
            self.ahead.insert(position);
        }
        while self.ahead.remove(&self.progress.watermark) {
            self.progress.watermark += 1;
        }
        self.changed = true;
    }
}

/// Takes units from lanes and from scoring and commits them.
pub(crate) struct Recorder {
    store: RunRecorder,
    lanes: Vec<LaneState>,
    progress: Arc<Progress>,
    nothing_to_score: bool,
    stop: CancellationToken,
}

/// What one commit holds.
#[derive(Default)]
struct Group {
    generated: Vec<GeneratedUnit>,
    scored: Vec<ScoredUnit>,
}

impl Group {
    fn len(&self) -> usize {
        self.generated.len() + self.scored.len()
    }
}

impl Recorder {
    pub(crate) fn new(
        store: RunRecorder,
        plan: &Plan,
        lanes: &[OpenLane],
        progress: Arc<Progress>,
        nothing_to_score: bool,
        stop: CancellationToken,
    ) -> Self {
        let lanes = lanes.iter().map(|lane| {
            let mut state = LaneState {
                progress: lane.progress,
                ahead: lane.complete_above(plan),
                failed: lane.failed.clone(),
                changed: false,
            };
            while state.ahead.remove(&state.progress.watermark) {
                state.progress.watermark += 1;
            }
            state
        });
        Self { store, lanes: lanes.collect(), progress, nothing_to_score, stop }
    }

    /// Runs until the lanes and scoring are done; returns how far each lane came.
    pub(crate) async fn run(
        mut self,
        mut generated: mpsc::Receiver<GeneratedUnit>,
        mut scored: mpsc::Receiver<ScoredUnit>,
        to_score: mpsc::UnboundedSender<Vec<GeneratedUnit>>,
    ) -> Result<Vec<LaneProgress>, StoreError> {
        let mut to_score = Some(to_score);
        let mut scoring_done = false;
        while to_score.is_some() || !scoring_done {
            let mut group = Group::default();
            let mut deadline: Option<Instant> = None;
            while group.len() < GROUP_SIZE {
                let room = GROUP_SIZE - group.len();
                tokio::select! {
                    taken = generated.recv_many(&mut group.generated, room), if to_score.is_some() => {
                        if taken == 0 { break }
                    }
                    taken = scored.recv_many(&mut group.scored, room), if !scoring_done => {
                        if taken == 0 { scoring_done = true; break }
                    }
                    () = until(deadline), if deadline.is_some() => break,
                }
                deadline.get_or_insert_with(|| Instant::now() + GROUP_TIME);
            }
            self.commit(group, to_score.as_ref()).await?;
            if generated.is_closed() && generated.is_empty() {
                to_score = None;
            }
        }
        Ok(self.lanes.iter().map(|lane| lane.progress).collect())
    }

    async fn commit(
        &mut self,
        group: Group,
        to_score: Option<&mpsc::UnboundedSender<Vec<GeneratedUnit>>>,
    ) -> Result<(), StoreError> {
        if group.len() == 0 {
            return Ok(());
        }
        let Group { generated, scored } = group;
        for unit in &generated {
            self.count(unit);
            if unit.result.is_err() || self.nothing_to_score {
                self.complete(unit.key, unit.position);
            }
        }
        for unit in &scored {
            self.count_cost(unit);
            if unit.complete {
                self.complete(unit.key, unit.position);
            }
        }
        let records: Vec<GenerationRecord<'_>> = generated
            .iter()
            .filter(|unit| !unit.recorded)
            .map(|unit| GenerationRecord {
                key: unit.key,
                case_key: &unit.case.key,
                result: unit.result.as_ref(),
            })
            .collect();
        let scores: Vec<&ScoreRecord> = scored.iter().flat_map(|unit| &unit.scores).collect();
        let mut changed: Vec<LaneProgress> = Vec::new();
        for lane in self.lanes.iter_mut().filter(|lane| lane.changed) {
            lane.changed = false;
            changed.push(lane.progress);
        }
        let spent_on_open = scored.iter().map(|unit| unit.spent_on_open).sum();
        let group = RecordedGroup {
            generations: &records,
            scores: &scores,
            lanes: &changed,
            spent_on_open,
        };
        self.store.commit_insisting(group, self.stop.cancelled()).await?;
        for unit in scored.into_iter().filter(|unit| unit.complete) {
            traced::unit_recorded(&unit.span);
            self.done(unit.key, None);
        }
        let mut answered = Vec::with_capacity(generated.len());
        for unit in generated {
            let failure = unit.result.as_ref().err().map(|failure| failure.reason);
            if failure.is_none() && !self.nothing_to_score {
                answered.push(unit);
                continue;
            }
            traced::unit_recorded(&unit.span);
            self.done(unit.key, failure);
        }
        if let (Some(to_score), false) = (to_score, answered.is_empty()) {
            let _ = to_score.send(answered);
        }
        Ok(())
    }

    fn done(&self, key: UnitKey, failure: Option<FailureReason>) {
        if let Some(lane) = self.progress.lane(key.model_index) {
            lane.done(failure);
        }
    }

    /// Counts a unit that comes from its model; a failure that is tried again gives its place to what came of it.
    fn count(&mut self, unit: &GeneratedUnit) {
        let Some(lane) = self.lanes.get_mut(unit.key.model_index as usize) else { return };
        if unit.recorded {
            return;
        }
        if lane.failed.remove(&unit.position) {
            lane.progress.failed = lane.progress.failed.saturating_sub(1);
        }
        match &unit.result {
            Ok(generation) => {
                lane.progress.answered += 1;
                lane.progress.spent += generation.cost.unwrap_or_default();
                if let Some(counters) = self.progress.lane(unit.key.model_index) {
                    counters.answered(generation.cost, generation.cached);
                }
            }
            Err(_) => lane.progress.failed += 1,
        }
        lane.changed = true;
    }

    /// Counts what scoring a unit cost.
    fn count_cost(&mut self, unit: &ScoredUnit) {
        let recorded: NanoDollars = unit.scores.iter().filter_map(|record| record.score.cost).sum();
        let cost = recorded + unit.spent_on_open;
        let Some(lane) = self.lanes.get_mut(unit.key.model_index as usize) else { return };
        if cost == NanoDollars::ZERO {
            return;
        }
        lane.progress.spent += cost;
        lane.changed = true;
        if let Some(counters) = self.progress.lane(unit.key.model_index) {
            counters.spend(cost);
        }
    }

    fn complete(&mut self, key: UnitKey, position: u64) {
        if let Some(lane) = self.lanes.get_mut(key.model_index as usize) {
            lane.complete(position);
        }
    }
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}
