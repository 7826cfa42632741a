//! What is being scored for organizations beside their runs, so that it can be stopped and waited for before one is erased.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

use fullbench_types::OrganizationId;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::problem::{CONFLICT, Problem};

/// What is being scored for organizations.
#[derive(Debug)]
pub(crate) struct Ongoing {
    state: Mutex<State>,
    /// Stops everything.
    stop: CancellationToken,
}

#[derive(Debug, Default)]
struct State {
    work: HashMap<OrganizationId, Work>,
    closed: HashSet<OrganizationId>,
}

#[derive(Debug, Clone)]
struct Work {
    stop: CancellationToken,
    tasks: TaskTracker,
}

/// An organization for which nothing is begun while this is held.
pub(crate) struct Closed<'ongoing> {
    ongoing: &'ongoing Ongoing,
    organization: OrganizationId,
    tasks: Option<TaskTracker>,
}

impl Ongoing {
    pub(crate) fn new(stop: CancellationToken) -> Self {
        Self { state: Mutex::default(), stop }
    }

    /// What tracks work for an organization; refused while it is being erased.
    pub(crate) fn of(&self, organization: OrganizationId) -> Result<TaskTracker, Problem> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.closed.contains(&organization) {
            return Err(Problem::new(CONFLICT, "the organization is being erased"));
        }
        Ok(self.work(&mut state, organization).tasks)
    }

    /// What stops the work for an organization.
    pub(crate) fn stop_of(&self, organization: OrganizationId) -> CancellationToken {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        self.work(&mut state, organization).stop
    }

    /// Stops the work for an organization, and lets none begin.
    pub(crate) fn close(&self, organization: OrganizationId) -> Closed<'_> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.closed.insert(organization);
        let work = state.work.remove(&organization);
        let tasks = work.map(|work| {
            work.stop.cancel();
            work.tasks.close();
            work.tasks
        });
        Closed { ongoing: self, organization, tasks }
    }

    fn work(&self, state: &mut State, organization: OrganizationId) -> Work {
        let new = || Work { stop: self.stop.child_token(), tasks: TaskTracker::new() };
        state.work.entry(organization).or_insert_with(new).clone()
    }
}

impl Closed<'_> {
    /// Waits until all that was begun has ended.
    pub(crate) async fn ended(&self) {
        if let Some(tasks) = &self.tasks {
            tasks.wait().await;
        }
    }
}

impl Drop for Closed<'_> {
    fn drop(&mut self) {
        let mut state = self.ongoing.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.closed.remove(&self.organization);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use fullbench_types::DEFAULT_ORGANIZATION;

    use super::*;

    #[tokio::test]
    async fn what_goes_on_is_stopped_and_waited_for_and_nothing_begins_meanwhile() {
        let ongoing = Ongoing::new(CancellationToken::new());
        let stop = ongoing.stop_of(DEFAULT_ORGANIZATION);
        let (ended, has_ended) = tokio::sync::oneshot::channel();
        let tasks = ongoing.of(DEFAULT_ORGANIZATION).unwrap();
        tasks.spawn(async move {
            stop.cancelled().await;
            ended.send(()).unwrap();
        });
        let closed = ongoing.close(DEFAULT_ORGANIZATION);
        assert!(ongoing.of(DEFAULT_ORGANIZATION).is_err());
        closed.ended().await;
        has_ended.await.unwrap();
        drop(closed);
        assert!(ongoing.of(DEFAULT_ORGANIZATION).is_ok());
        assert!(!ongoing.stop_of(DEFAULT_ORGANIZATION).is_cancelled());
    }
}
