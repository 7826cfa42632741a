//! The circuit breaker of a provider: when it is down, calls wait instead of failing one after the other.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

use crate::model::{CallError, FailureClass};

/// Outages in a row that open the breaker.
const FAILURES_TO_OPEN: u32 = 20;

/// How long it stays open at first; doubled by every probe that fails.
const FIRST_PAUSE: Duration = Duration::from_millis(500);

const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Whether calls go through.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum BreakerState {
    /// They do.
    #[default]
    Closed,
    /// They wait: the provider is down.
    Open,
    /// One call probes whether the provider is back.
    HalfOpen,
}

impl BreakerState {
    /// The word for displays.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Open => "open",
            Self::HalfOpen => "half_open",
        }
    }
}

/// Opens after outages in a row with no success between; only one call probes after each pause.
#[derive(Debug)]
pub(crate) struct Breaker {
    inner: Mutex<Inner>,
    changed: Notify,
}

#[derive(Debug)]
struct Inner {
    state: BreakerState,
    failures: u32,
    pause: Duration,
    open_until: Instant,
    opened_times: u64,
    last_failure: Option<(FailureClass, String)>,
}

impl Breaker {
    pub(crate) fn new() -> Self {
        let inner = Inner {
            state: BreakerState::Closed,
            failures: 0,
            pause: FIRST_PAUSE,
            open_until: Instant::now(),
            opened_times: 0,
            last_failure: None,
        };
        Self { inner: Mutex::new(inner), changed: Notify::new() }
    }

    pub(crate) fn state(&self) -> BreakerState {
        self.lock().state
    }

    pub(crate) fn opened_times(&self) -> u64 {
        self.lock().opened_times
    }

    /// What a caller that cannot wait any longer is told.
    pub(crate) fn outage(&self) -> CallError {
        match self.lock().last_failure.clone() {
            Some((class, message)) => CallError::new(
                class,
                format!("the provider is down; the last failure was: {message}"),
            ),
            None => CallError::new(FailureClass::Server, "the provider is down"),
        }
    }

    /// Leave to call, when it can be given without waiting.
    pub(crate) fn try_admit(self: &Arc<Self>) -> Option<Admission> {
        let mut inner = self.lock();
        let is_probe = match inner.state {
            BreakerState::Closed => false,
            BreakerState::Open if Instant::now() >= inner.open_until => {
                inner.state = BreakerState::HalfOpen;
                true
            }
            BreakerState::Open | BreakerState::HalfOpen => return None,
        };
        Some(Admission { breaker: Arc::clone(self), is_probe })
    }

    /// Leave to call, after waiting while the breaker is open.
    pub(crate) async fn admit(self: &Arc<Self>) -> Admission {
        loop {
            if let Some(admission) = self.try_admit() {
                return admission;
            }
            self.until_it_lets_through().await;
        }
    }

    /// Whether a call would be let through now, as the probe or as any other.
    pub(crate) fn lets_through(&self) -> bool {
        self.state() == BreakerState::Closed || self.is_due_for_a_probe()
    }

    /// Whether the next call would be the probe.
    pub(crate) fn is_due_for_a_probe(&self) -> bool {
        let inner = self.lock();
        inner.state == BreakerState::Open && Instant::now() >= inner.open_until
    }

    /// Waits until a call would be let through; somebody else's may be first.
    pub(crate) async fn until_it_lets_through(&self) {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if self.lets_through() {
                return;
            }
            let (state, open_until) = {
                let inner = self.lock();
                (inner.state, inner.open_until)
            };
            if state == BreakerState::Open {
                tokio::select! {
                    () = tokio::time::sleep_until(open_until) => {}
                    () = changed => {}
                }
            } else {
                changed.await;
            }
        }
    }

    fn close(&self) {
        let mut inner = self.lock();
        inner.failures = 0;
        if inner.state == BreakerState::Closed {
            return;
        }
        inner.state = BreakerState::Closed;
        inner.pause = FIRST_PAUSE;
        drop(inner);
        self.changed.notify_waiters();
    }

    fn count_outage(&self, error: &CallError, is_probe: bool) {
        let mut inner = self.lock();
        match inner.state {
            BreakerState::Closed => {
                inner.failures += 1;
                if inner.failures >= FAILURES_TO_OPEN {
                    inner.opened_times += 1;
                    inner.open();
                }
            }
            BreakerState::HalfOpen if is_probe => {
                inner.pause = (inner.pause * 2).min(LONGEST_PAUSE);
                inner.open();
            }
            // A call that began before the breaker opened says nothing new.
            BreakerState::Open | BreakerState::HalfOpen => return,
        }
        inner.last_failure = Some((error.class, error.message.clone()));
        drop(inner);
        self.changed.notify_waiters();
    }

    /// A probe that was given up: the next caller may probe at once.
    fn abandon_probe(&self) {
        let mut inner = self.lock();
        if inner.state == BreakerState::HalfOpen {
            inner.state = BreakerState::Open;
            inner.open_until = Instant::now();
        }
        drop(inner);
        self.changed.notify_waiters();
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn open(&mut self) {
        self.state = BreakerState::Open;
        self.failures = 0;
        self.open_until = Instant::now() + self.pause;
    }
}

/// Leave to make one call, whose outcome is told to the breaker.
#[derive(Debug)]
pub(crate) struct Admission {
    breaker: Arc<Breaker>,
    is_probe: bool,
}

impl Admission {
    /// Whether the call may still be made: a breaker that opened since holds it back, unless it is the probe.
    pub(crate) fn still_holds(&self) -> bool {
        self.is_probe || self.breaker.state() == BreakerState::Closed
    }

    /// Whether the call finds out if the provider is back.
    pub(crate) fn is_probe(&self) -> bool {
        self.is_probe
    }

    /// The call succeeded.
    pub(crate) fn succeeded(mut self) {
        self.is_probe = false;
        self.breaker.close();
    }

    /// The call failed.
    pub(crate) fn failed(mut self, error: &CallError) {
        let is_probe = std::mem::take(&mut self.is_probe);
        if error.class.is_outage() {
            self.breaker.count_outage(error, is_probe);
        } else if is_probe {
            // Any other refusal comes from a provider that is back.
            self.breaker.close();
        }
    }
}

impl Drop for Admission {
    fn drop(&mut self) {
        if self.is_probe {
            self.breaker.abandon_probe();
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;

    fn error(class: FailureClass) -> CallError {
        CallError::new(class, "broken")
    }

    fn fail(breaker: &Arc<Breaker>, class: FailureClass, times: u32) {
        for _ in 0..times {
            breaker.try_admit().unwrap().failed(&error(class));
        }
    }

    fn open_breaker() -> Arc<Breaker> {
        let breaker = Arc::new(Breaker::new());
        fail(&breaker, FailureClass::Server, FAILURES_TO_OPEN);
        assert_eq!(breaker.state(), BreakerState::Open);
        breaker
    }

    #[tokio::test(start_paused = true)]
    async fn only_outages_in_a_row_open_it() {
        let breaker = Arc::new(Breaker::new());
        fail(&breaker, FailureClass::Server, FAILURES_TO_OPEN - 1);
        breaker.try_admit().unwrap().succeeded();
        fail(&breaker, FailureClass::Timeout, FAILURES_TO_OPEN - 1);
        for class in [FailureClass::RateLimit, FailureClass::Malformed, FailureClass::BadRequest] {
            fail(&breaker, class, 100);
        }
        assert_eq!(breaker.state(), BreakerState::Closed);
        fail(&breaker, FailureClass::Connection, 1);
        assert_eq!(breaker.state(), BreakerState::Open);
        assert_eq!(breaker.opened_times(), 1);
        assert!(breaker.outage().message.contains("broken"));
    }

    #[tokio::test(start_paused = true)]
    async fn a_single_probe_goes_through_after_a_growing_pause() {
        let breaker = open_breaker();
        let mut pause = FIRST_PAUSE;
        for _ in 0..8 {
            let asked = Instant::now();
            let probe = breaker.admit().await;
            // The clock of the timer has a resolution of a millisecond.
            let waited = asked.elapsed();
            assert!(waited >= pause && waited <= pause + Duration::from_millis(2), "{waited:?}");
            assert_eq!(breaker.state(), BreakerState::HalfOpen);
            assert!(breaker.try_admit().is_none(), "one probe at a time");
            probe.failed(&error(FailureClass::Server));
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
        assert_eq!(breaker.opened_times(), 1, "a failed probe keeps it open");
    }

    #[tokio::test(start_paused = true)]
    async fn a_probe_that_succeeds_lets_everyone_through() {
        let breaker = open_breaker();
        let probe = breaker.admit().await;
        let waiting = tokio::spawn({
            let breaker = Arc::clone(&breaker);
            async move { breaker.admit().await.still_holds() }
        });
        tokio::task::yield_now().await;
        probe.succeeded();
        assert!(waiting.await.unwrap());
        assert_eq!(breaker.state(), BreakerState::Closed);
    }

    #[tokio::test(start_paused = true)]
    async fn a_probe_that_is_given_up_does_not_lock_the_provider_out() {
        let breaker = open_breaker();
        drop(breaker.admit().await);
        assert_eq!(breaker.state(), BreakerState::Open);
        let probe = breaker.admit().await;
        probe.failed(&error(FailureClass::RateLimit));
        assert_eq!(breaker.state(), BreakerState::Closed, "a provider that answers 429 is back");
    }
}
