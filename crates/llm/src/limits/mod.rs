//! What holds calls back: places in flight, pace per minute, and a breaker while the provider is down.

mod breaker;
mod concurrency;
mod pace;

pub use breaker::BreakerState;
pub(crate) use breaker::{Admission, Breaker};
pub(crate) use concurrency::{Concurrency, Permit};
pub(crate) use pace::{Pacer, Slot};

use std::sync::Arc;

use tokio::sync::Mutex;
use tokio::time::{Instant, sleep_until};

use crate::config::Limits;
use crate::model::{CallError, FailureClass};
use crate::rate::RateHeaders;

/// The places and the pace of one provider, or of one model that has its own.
#[derive(Debug)]
pub(crate) struct Lane {
    pub(crate) concurrency: Arc<Concurrency>,
    pub(crate) pacer: Pacer,
    /// Held by who is next to get a slot, of those who may still go elsewhere.
    line: Mutex<()>,
}

impl Lane {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            concurrency: Arc::new(Concurrency::new(limits.concurrency)),
            pacer: Pacer::new(limits.requests_per_minute, limits.tokens_per_minute),
            line: Mutex::new(()),
        }
    }

    /// A place among the calls in flight.
    pub(crate) async fn place(&self, deadline: &mut Instant) -> Permit {
        match self.concurrency.try_acquire() {
            Some(permit) => permit,
            None => on_own_time(deadline, self.concurrency.acquire()).await,
        }
    }

    /// Waits for a slot in the pace for a call of about so many tokens.
    pub(crate) async fn slot(&self, tokens: u64, deadline: &mut Instant) {
        let slot = self.pacer.take(tokens);
        if slot > Instant::now() {
            on_own_time(deadline, sleep_until(slot)).await;
        }
    }

    /// Waits in line for a slot in the pace, which goes back when the wait is given up.
    pub(crate) async fn slot_in_line(&self, tokens: u64) -> Slot<'_> {
        let _next = self.line.lock().await;
        Slot::next(&self.pacer, tokens).await
    }

    /// Waits until the provider's window begins anew, unless that is after the deadline.
    pub(crate) async fn released(&self, deadline: Instant) -> Result<(), CallError> {
        while let Some(until) = self.pacer.held_until() {
            if until > deadline {
                return Err(held_too_long(until));
            }
            sleep_until(until).await;
        }
        Ok(())
    }

    /// Books a call that was answered.
    pub(crate) fn succeeded(&self, permit: &Permit, estimated: u64, used: u64, rate: &RateHeaders) {
        self.pacer.correct(estimated, used);
        self.hold(rate);
        self.concurrency.succeeded(permit);
    }

    /// Books a call that failed, and used nothing.
    pub(crate) fn failed(&self, permit: &Permit, estimated: u64, error: &CallError) {
        self.pacer.correct(estimated, 0);
        self.hold(&error.rate);
        if error.class == FailureClass::RateLimit {
            self.concurrency.throttled(permit);
        }
    }

    fn hold(&self, rate: &RateHeaders) {
        if let Some(hold) = rate.hold() {
            self.pacer.hold(hold);
        }
    }
}

/// Waits for something that the user's own limits are the cause of, and moves the deadline by as much: only what
/// the provider makes a call wait for counts against it, so that a slow pace never fails a unit.
pub(crate) async fn on_own_time<T>(deadline: &mut Instant, waiting: impl Future<Output = T>) -> T {
    let asked = Instant::now();
    let result = waiting.await;
    *deadline += asked.elapsed();
    result
}

pub(crate) fn held_too_long(until: Instant) -> CallError {
    let seconds = until.saturating_duration_since(Instant::now()).as_secs();
    let message = format!("the provider's limit is used up, and begins anew only in {seconds} s");
    CallError::new(FailureClass::RateLimit, message)
}
