//! The order in which runs are worked on.
//!
//! Every run is due at the time it was asked for plus what its priority lets it wait; the one that is due first is next. So the
//! urgent overtakes, and nothing is overtaken for longer than the difference of two priorities.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use fullbench_traces::Cause;
use fullbench_types::{OrganizationId, Priority, RunId};
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// How long a run may be overtaken by more urgent ones.
fn patience(priority: Priority) -> Duration {
    match priority {
        Priority::Critical => Duration::ZERO,
        Priority::High => Duration::from_secs(60),
        Priority::Normal => Duration::from_secs(300),
        Priority::Low => Duration::from_secs(1800),
    }
}

/// A run that waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct QueuedRun {
    pub(crate) organization: OrganizationId,
    pub(crate) run: RunId,
    pub(crate) priority: Priority,
    /// The request that asked for it, in traces.
    pub(crate) cause: Option<Cause>,
}

/// Runs that wait, and those that were taken and not yet put down.
#[derive(Debug)]
pub(crate) struct Queue {
    waiting: Mutex<Waiting>,
    added: Notify,
}

#[derive(Debug, Default)]
struct Waiting {
    by_due: BTreeMap<(Instant, u64), QueuedRun>,
    asked: u64,
    taken: HashMap<RunId, CancellationToken>,
}

/// Where a run was when it was to be cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cancelled {
    /// It waited, and does no longer.
    Waiting,
    /// It is being worked on, and will stop.
    Taken,
    /// Neither.
    Neither,
}

impl Queue {
    pub(crate) fn new() -> Self {
        Self { waiting: Mutex::default(), added: Notify::new() }
    }

    /// Adds a run that is asked for now.
    pub(crate) fn push(&self, run: QueuedRun) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.by_due.values().any(|queued| queued.run == run.run) {
            return;
        }
        let due = Instant::now() + patience(run.priority);
        waiting.asked += 1;
        let asked = waiting.asked;
        waiting.by_due.insert((due, asked), run);
        drop(waiting);
        self.added.notify_one();
    }

    /// The run that is due first, once there is one, with what stops it when it is cancelled.
    pub(crate) async fn pop(&self) -> (QueuedRun, CancellationToken) {
        loop {
            if let Some(run) = self.take() {
                return run;
            }
            self.added.notified().await;
        }
    }

    /// Removes a run that waits, or stops one that is worked on.
    pub(crate) fn cancel(&self, run: RunId) -> Cancelled {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(token) = waiting.taken.get(&run) {
            token.cancel();
            return Cancelled::Taken;
        }
        let before = waiting.by_due.len();
        waiting.by_due.retain(|_, queued| queued.run != run);
        if waiting.by_due.len() < before { Cancelled::Waiting } else { Cancelled::Neither }
    }

    /// The run is no longer worked on.
    pub(crate) fn put_down(&self, run: RunId) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.taken.remove(&run);
        drop(waiting);
        // It may have been added again meanwhile, and waits for this.
        self.added.notify_one();
    }

    /// Whether the run waits or is worked on.
    pub(crate) fn has(&self, run: RunId) -> bool {
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.taken.contains_key(&run) || waiting.by_due.values().any(|queued| queued.run == run)
    }

    /// How many runs are worked on.
    pub(crate) fn active(&self) -> usize {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).taken.len()
    }

    fn take(&self) -> Option<(QueuedRun, CancellationToken)> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        // One that is worked on and was added again meanwhile has its turn afterwards: nobody works on it twice.
        let free = |run: &&QueuedRun| !waiting.taken.contains_key(&run.run);
        let place = *waiting.by_due.iter().find(|(_, run)| free(run))?.0;
        let run = waiting.by_due.remove(&place)?;
        if !waiting.by_due.is_empty() {
            // Each arrival wakes one worker; a worker that slept through one wakes the next.
            self.added.notify_one();
        }
        let token = CancellationToken::new();
        waiting.taken.insert(run.run, token.clone());
        Some((run, token))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(priority: Priority) -> QueuedRun {
        let organization = fullbench_types::DEFAULT_ORGANIZATION;
        QueuedRun { organization, run: RunId::generate(), priority, cause: None }
    }

    #[tokio::test(start_paused = true)]
    async fn the_urgent_comes_first_and_equals_in_their_order() {
        let queue = Queue::new();
        let asked = [Priority::Low, Priority::Normal, Priority::Critical, Priority::High];
        let runs: Vec<QueuedRun> = asked.iter().chain(&asked).map(|one| run(*one)).collect();
        runs.iter().for_each(|run| queue.push(*run));
        let mut expected = runs.clone();
        expected.sort_by_key(|run| run.priority);
        for run in expected {
            assert_eq!(queue.pop().await.0, run);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_of_urgent_runs_does_not_starve_the_others() {
        let queue = Queue::new();
        let low = run(Priority::Low);
        queue.push(low);
        let mut taken = 0;
        loop {
            queue.push(run(Priority::Critical));
            if queue.pop().await.0 == low {
                break;
            }
            taken += 1;
            tokio::time::advance(Duration::from_secs(10)).await;
        }
        assert_eq!(taken, 180, "it is next once it has waited for half an hour");
    }

    #[tokio::test(start_paused = true)]
    async fn a_run_that_is_worked_on_is_taken_again_only_when_it_was_put_down() {
        let queue = Queue::new();
        let (twice, other) = (run(Priority::Critical), run(Priority::Low));
        queue.push(twice);
        let (_, stopped) = queue.pop().await;
        queue.push(twice);
        queue.push(other);
        assert_eq!(queue.pop().await.0, other);
        assert_eq!(queue.cancel(twice.run), Cancelled::Taken);
        assert!(stopped.is_cancelled(), "who works on it is told");
        let next = tokio::time::timeout(Duration::from_secs(60), queue.pop()).await;
        assert!(next.is_err(), "nobody else works on it meanwhile");
        queue.put_down(twice.run);
        assert_eq!(queue.pop().await.0, twice);
    }

    #[tokio::test(start_paused = true)]
    async fn a_removed_run_is_not_taken() {
        let queue = Queue::new();
        let (first, second) = (run(Priority::Normal), run(Priority::Normal));
        queue.push(first);
        queue.push(second);
        assert_eq!(queue.cancel(first.run), Cancelled::Waiting);
        assert_eq!(queue.cancel(first.run), Cancelled::Neither);
        assert_eq!(queue.pop().await.0, second);
    }
}
