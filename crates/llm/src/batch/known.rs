//! A batch that this process knows: who waits for which of its results.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use super::client::Results;
use super::store::{BatchRecord, BatchState};
use crate::model::CallError;
use crate::wire::Answer;
use crate::wire::batch::RemoteBatch;

/// What a call that waits for a batch is told.
#[derive(Debug)]
pub(crate) enum Told {
    /// The answer, with the reply as it was.
    Answer(Box<(Answer, String)>),
    /// The request failed.
    Failed(CallError),
    /// Nobody has worked on the request: it is to be asked anew.
    Unasked,
    /// The batch could not be fetched and stays at its provider: asking anew would pay for it twice.
    Unfetched(CallError),
}

/// A batch and those who wait for it.
#[derive(Debug)]
pub(super) struct KnownBatch {
    pub(super) record: BatchRecord,
    standing: Mutex<Standing>,
}

#[derive(Debug)]
struct Standing {
    remote_id: Option<String>,
    is_open: bool,
    /// It will never have results.
    is_gone: bool,
    /// Somebody is waiting for its end.
    is_watched: bool,
    done: u64,
    waiting: HashMap<usize, oneshot::Sender<Told>>,
    /// What the provider said, once the batch has ended.
    ended: Option<Ended>,
}

#[derive(Debug)]
struct Ended {
    results: Results,
    refused: HashMap<usize, CallError>,
    missing: CallError,
}

impl KnownBatch {
    /// A batch with those who wait for it, in the order of its requests; none of an earlier process are there yet.
    pub(super) fn new(record: BatchRecord, waiting: Vec<oneshot::Sender<Told>>) -> Self {
        let standing = Standing {
            remote_id: record.remote_id.clone(),
            is_open: record.state.is_open(),
            is_gone: false,
            is_watched: !waiting.is_empty(),
            done: 0,
            waiting: waiting.into_iter().enumerate().collect(),
            ended: None,
        };
        Self { record, standing: Mutex::new(standing) }
    }

    pub(super) fn remote_id(&self) -> Option<String> {
        self.lock().remote_id.clone()
    }

    pub(super) fn set_remote_id(&self, remote_id: &str) {
        self.lock().remote_id = Some(remote_id.to_owned());
    }

    pub(super) fn set_done(&self, done: u64) {
        self.lock().done = done;
    }

    /// Requests done and requests in all, while the batch is at its provider.
    pub(super) fn progress(&self) -> Option<(u64, u64)> {
        let standing = self.lock();
        standing.is_open.then_some((standing.done, self.record.keys.len() as u64))
    }

    /// Waits for one result; true when somebody must begin to watch the batch.
    pub(super) fn wait_for(&self, position: usize) -> (oneshot::Receiver<Told>, bool) {
        let (tell, told) = oneshot::channel();
        let mut standing = self.lock();
        if standing.is_gone {
            let _ = tell.send(Told::Unasked);
            return (told, false);
        }
        if let Some(ended) = &mut standing.ended {
            let _ = tell.send(ended.take(position, self.was_fetched_before()));
            return (told, false);
        }
        standing.waiting.insert(position, tell);
        let must_watch = !standing.is_watched;
        standing.is_watched = true;
        (told, must_watch)
    }

    /// Tells all who wait the same, and nobody watches any more. A batch that `is_gone` will never have results.
    pub(super) fn tell_all(&self, is_gone: bool, tell: impl Fn() -> Told) {
        let mut standing = self.lock();
        standing.is_watched = false;
        standing.is_open &= !is_gone;
        standing.is_gone |= is_gone;
        for (_, waiting) in in_order(&mut standing.waiting) {
            let _ = waiting.send(tell());
        }
    }

    /// Tells everyone what the provider said, and keeps the rest for those who come later.
    pub(super) fn end(&self, remote: RemoteBatch, results: Results) {
        let mut standing = self.lock();
        standing.is_open = false;
        let mut ended = Ended { results, refused: remote.refused, missing: remote.missing };
        for (position, waiting) in in_order(&mut standing.waiting) {
            let _ = waiting.send(ended.take(position, self.was_fetched_before()));
        }
        standing.ended = Some(ended);
    }

    /// Its results were fetched by an earlier process, which dealt with what had failed in it.
    pub(super) fn was_fetched_before(&self) -> bool {
        self.record.state == BatchState::Done
    }

    fn lock(&self) -> MutexGuard<'_, Standing> {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ended {
    fn take(&mut self, position: usize, was_fetched_before: bool) -> Told {
        match self.results.remove(&position).flatten() {
            Some(Ok(answer)) => Told::Answer(Box::new(answer)),
            _ if was_fetched_before => Told::Unasked,
            Some(Err(error)) => Told::Failed(error),
            None => Told::Failed(self.refused.get(&position).unwrap_or(&self.missing).clone()),
        }
    }
}

fn in_order(
    waiting: &mut HashMap<usize, oneshot::Sender<Told>>,
) -> Vec<(usize, oneshot::Sender<Told>)> {
    let mut waiting: Vec<_> = std::mem::take(waiting).into_iter().collect();
    waiting.sort_by_key(|(position, _)| *position);
    waiting
}
