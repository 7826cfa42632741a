//! What is known of one deployment from its calls: how soon it answers, how often it fails, whether it asked to wait.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::model::{CallError, FailureClass};
use crate::retry::pause_after;

/// Weight of the newest call in what is smoothed.
const NEWEST: f64 = 0.2;

/// Names of models kept for one deployment: more would only say again that it is not one model.
const MAX_REPORTED_MODELS: usize = 8;

/// The health of one deployment.
#[derive(Debug)]
pub(super) struct Health {
    state: Mutex<State>,
}

/// What is known of a deployment.
#[derive(Debug, Clone)]
pub(super) struct State {
    /// Seconds an answer takes, smoothed; none before the first.
    pub(super) seconds: Option<f64>,
    /// The share of calls that met no outage, smoothed.
    pub(super) reliability: f64,
    /// Calls that failed.
    pub(super) failures: u64,
    /// Of those, the ones refused by a rate limit.
    pub(super) rate_limited: u64,
    /// The number of the last choice that fell on it.
    pub(super) last_chosen: u64,
    /// Why it gets no further call.
    pub(super) set_aside: Option<CallError>,
    /// The names its model was reported by.
    pub(super) reported_models: BTreeSet<String>,
    held_since: Instant,
    held_until: Instant,
    /// Windows of a rate limit with no answer between.
    windows: u32,
}

impl Health {
    pub(super) fn new() -> Self {
        let now = Instant::now();
        Self {
            state: Mutex::new(State {
                seconds: None,
                reliability: 1.0,
                failures: 0,
                rate_limited: 0,
                last_chosen: 0,
                set_aside: None,
                reported_models: BTreeSet::new(),
                held_since: now,
                held_until: now,
                windows: 0,
            }),
        }
    }

    /// What is known now.
    pub(super) fn state(&self) -> State {
        self.lock().clone()
    }

    pub(super) fn is_set_aside(&self) -> bool {
        self.lock().set_aside.is_some()
    }

    /// Until when the deployment asked not to be called; none when it may be.
    pub(super) fn held_until(&self) -> Option<Instant> {
        let until = self.lock().held_until;
        (until > Instant::now()).then_some(until)
    }

    pub(super) fn chosen(&self, number: u64) {
        self.lock().last_chosen = number;
    }

    /// Books an answer; one that shows that the deployment is back wipes out what its outage said.
    pub(super) fn answered(&self, latency: Duration, reported: Option<&str>, was_probe: bool) {
        let mut state = self.lock();
        let seconds = latency.as_secs_f64();
        state.seconds = Some(state.seconds.map_or(seconds, |before| smoothed(before, seconds)));
        state.reliability = if was_probe { 1.0 } else { smoothed(state.reliability, 1.0) };
        state.windows = 0;
        if let Some(name) = reported
            && state.reported_models.len() < MAX_REPORTED_MODELS
            && !state.reported_models.contains(name)
        {
            state.reported_models.insert(name.to_owned());
        }
    }

    /// Books a failure of a call that began then.
    pub(super) fn failed(&self, error: &CallError, began: Instant) {
        let mut state = self.lock();
        state.failures += 1;
        if sets_aside(error.class) {
            state.set_aside.get_or_insert_with(|| error.clone());
        } else if error.class == FailureClass::RateLimit {
            state.rate_limited += 1;
            state.hold(error.retry_after, began);
        } else if error.class.is_outage() {
            state.reliability = smoothed(state.reliability, 0.0);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Holds calls back after a refusal. Refusals of calls that were on their way together are one window.
    fn hold(&mut self, retry_after: Option<Duration>, began: Instant) {
        let now = Instant::now();
        if self.windows == 0 || began > self.held_since {
            self.windows += 1;
            self.held_since = now;
        }
        let until = now.checked_add(pause_after(self.windows, retry_after));
        self.held_until = self.held_until.max(until.unwrap_or(now));
    }
}

/// Whether a failure is about the deployment, whatever it is asked: its key, its credit, or the model it does not have.
pub(in crate::gateway) fn sets_aside(class: FailureClass) -> bool {
    matches!(class, FailureClass::Auth | FailureClass::Quota | FailureClass::NotFound)
}

fn smoothed(before: f64, newest: f64) -> f64 {
    before + NEWEST * (newest - before)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(retry_after: u64) -> CallError {
        let mut error = CallError::new(FailureClass::RateLimit, "slow down");
        error.retry_after = Some(Duration::from_secs(retry_after));
        error
    }

    #[tokio::test(start_paused = true)]
    async fn refusals_of_one_burst_are_one_window() {
        let health = Health::new();
        let began = Instant::now();
        tokio::time::advance(Duration::from_millis(10)).await;
        for _ in 0..50 {
            health.failed(&refused(2), began);
        }
        assert_eq!(health.lock().windows, 1);
        assert_eq!(health.state().rate_limited, 50);
        let held = health.held_until().map(|until| until - Instant::now());
        assert!(held.is_some_and(|held| held >= Duration::from_secs(2)), "{held:?}");
        assert!(held.is_some_and(|held| held <= Duration::from_millis(2_200)), "{held:?}");
        tokio::time::advance(Duration::from_secs(3)).await;
        assert_eq!(health.held_until(), None);
        let began = Instant::now();
        health.failed(&refused(2), began);
        assert_eq!(health.lock().windows, 2);
        health.answered(Duration::from_secs(1), None, false);
        assert_eq!(health.lock().windows, 0);
    }

    #[tokio::test(start_paused = true)]
    async fn outages_lower_the_reliability_and_a_probe_that_is_answered_restores_it() {
        let health = Health::new();
        let now = Instant::now();
        for _ in 0..20 {
            health.failed(&CallError::new(FailureClass::Connection, "broken"), now);
        }
        assert!(health.state().reliability < 0.02);
        health.answered(Duration::from_secs(2), Some("m"), true);
        assert_eq!(health.state().reliability, 1.0);
        health.answered(Duration::from_secs(1), Some("m"), false);
        assert!(health.state().seconds.is_some_and(|seconds| (seconds - 1.8).abs() < 1e-9));
        for number in 0..100 {
            health.answered(Duration::from_secs(1), Some(&format!("m-{number}")), false);
        }
        assert_eq!(health.state().reported_models.len(), MAX_REPORTED_MODELS);
    }
}
