//! The writer of single evaluations: everything that waits is committed together, so that thousands a second cost few commits.

use std::sync::Arc;
use std::time::Duration;

use fullbench_store::{CommitMark, ScopedStore, SingleRun, StoreError};
use tokio::sync::{mpsc, oneshot};

use crate::problem::{Problem, UNAVAILABLE};

/// Evaluations that are committed together at most.
const GROUP: usize = 512;
/// How long a commit waits for others, where several came together the last time: one commit for many costs little more than
/// one for a few, and who asks alone waits for nobody.
const LINGER: Duration = Duration::from_millis(4);
/// Evaluations that may wait for a commit: more than that wait to be taken.
const WAITING: usize = 4096;

struct Waiting {
    store: ScopedStore,
    single: SingleRun,
    written: oneshot::Sender<Result<(), NotWritten>>,
}

/// Why evaluations were not kept, as far as is known.
#[derive(Debug, Clone)]
struct NotWritten {
    error: Arc<StoreError>,
    mark: Option<CommitMark>,
}

/// Why an evaluation was not kept, as far as is known.
#[derive(Debug)]
pub(crate) struct Unwritten {
    pub(crate) problem: Problem,
    /// What to ask by whether it was kept after all.
    pub(crate) mark: Option<CommitMark>,
}

impl From<Unwritten> for Problem {
    fn from(unwritten: Unwritten) -> Self {
        unwritten.problem
    }
}

/// Hands evaluations to the writer.
#[derive(Debug, Clone)]
pub(crate) struct SingleWriter(mpsc::Sender<Waiting>);

impl SingleWriter {
    /// Starts the writer. Nobody need wait for it at the end: every request waits for its own evaluation.
    pub(crate) fn start() -> Self {
        let (sender, receiver) = mpsc::channel(WAITING);
        tokio::spawn(write_all(receiver));
        Self(sender)
    }

    /// Keeps an evaluation; done once it is on disk.
    pub(crate) async fn write(
        &self,
        store: ScopedStore,
        single: SingleRun,
    ) -> Result<(), Unwritten> {
        let (written, waiting) = oneshot::channel();
        let gone = || Unwritten {
            problem: Problem::new(UNAVAILABLE, "the server is shutting down"),
            mark: None,
        };
        self.0.send(Waiting { store, single, written }).await.map_err(|_| gone())?;
        match waiting.await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(NotWritten { error, mark })) => {
                Err(Unwritten { problem: Problem::from(&*error), mark })
            }
            Err(_) => Err(gone()),
        }
    }
}

async fn write_all(mut receiver: mpsc::Receiver<Waiting>) {
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
        // One organization at a time: each sees only its own rows.
        group.sort_by_key(|waiting: &Waiting| waiting.store.organization().0);
        let mut rest: &mut [Waiting] = &mut group;
        let mut results = Vec::new();
        while let Some(first) = rest.first() {
            let organization = first.store.organization();
            let same = rest.iter().take_while(|one| one.store.organization() == organization);
            let (of_one, others) = rest.split_at_mut(same.count());
            rest = others;
            let singles: Vec<&SingleRun> = of_one.iter().map(|waiting| &waiting.single).collect();
            results.extend(write_together(&of_one[0].store, &singles).await);
        }
        for (waiting, result) in group.drain(..).zip(results) {
            // Who asked may be gone; the evaluation is kept all the same.
            let _ = waiting.written.send(result);
        }
    }
}

/// Commits evaluations of one organization, and says of each what came of it. Where something is wrong with one of them, each is
/// committed by itself: the others have no part in it.
async fn write_together(
    store: &ScopedStore,
    singles: &[&SingleRun],
) -> Vec<Result<(), NotWritten>> {
    let together = write_once(store, singles).await;
    let is_wrong = together.as_ref().is_err_and(|not| !not.error.is_passing());
    if !is_wrong || singles.len() == 1 {
        return vec![together; singles.len()];
    }
    let mut results = Vec::with_capacity(singles.len());
    for single in singles {
        results.push(write_once(store, &[*single]).await);
    }
    results
}

async fn write_once(store: &ScopedStore, singles: &[&SingleRun]) -> Result<(), NotWritten> {
    let mut mark = None;
    let result = store.record_singles(singles, &mut mark).await;
    result.map_err(|error| NotWritten { error: Arc::new(error), mark })
}
