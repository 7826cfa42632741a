//! Requests and tokens per minute, spread evenly, and the pauses that providers ask for.
//!
//! Each limit is a bucket after the generic cell rate algorithm (ITU-T I.371): a minute never has more than its
//! limit and one second's worth of burst.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Hands out the moments at which calls may begin.
#[derive(Debug)]
pub(crate) struct Pacer {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    requests: Option<Bucket>,
    tokens: Option<Bucket>,
    held_until: Option<Instant>,
}

#[derive(Debug)]
struct Bucket {
    /// Seconds one unit takes.
    interval: f64,
    /// Units that may come at once.
    burst: f64,
    /// When everything handed out so far has been paid for.
    paid_at: Instant,
}

impl Bucket {
    fn new(per_minute: u32, now: Instant) -> Self {
        let burst = (f64::from(per_minute) / 60.0).floor().max(1.0);
        Self { interval: 60.0 / f64::from(per_minute), burst, paid_at: now }
    }

    /// The first moment at which so many units may begin. Units beyond the burst wait until all is paid.
    fn earliest(&self, units: f64, now: Instant) -> Instant {
        let credit = (self.burst - units).max(0.0) * self.interval;
        let earliest = self.paid_at.checked_sub(Duration::from_secs_f64(credit));
        earliest.unwrap_or(now).max(now)
    }

    fn take(&mut self, units: f64, at: Instant) {
        self.paid_at = self.paid_at.max(at) + Duration::from_secs_f64(units * self.interval);
    }

    /// Corrects an estimate by the difference to what it was.
    fn correct(&mut self, difference: f64) {
        let change = Duration::from_secs_f64(difference.abs() * self.interval);
        self.paid_at = if difference >= 0.0 {
            self.paid_at + change
        } else {
            self.paid_at.checked_sub(change).unwrap_or(self.paid_at)
        };
    }
}

impl State {
    /// The first moment at which one call of so many tokens may begin.
    fn earliest(&self, tokens: u64, now: Instant) -> Instant {
        let requests = self.requests.as_ref().map(|bucket| bucket.earliest(1.0, now));
        let tokens = self.tokens.as_ref().map(|bucket| bucket.earliest(tokens as f64, now));
        requests.max(tokens).unwrap_or(now)
    }

    fn take(&mut self, tokens: u64, at: Instant) {
        if let Some(bucket) = &mut self.requests {
            bucket.take(1.0, at);
        }
        if let Some(bucket) = &mut self.tokens {
            bucket.take(tokens as f64, at);
        }
    }
}

/// A slot in the pace that goes back when it is dropped, unless it is kept.
#[derive(Debug)]
pub(crate) struct Slot<'pacer> {
    pacer: &'pacer Pacer,
    tokens: u64,
    is_kept: bool,
}

impl<'pacer> Slot<'pacer> {
    /// Waits for the next slot; one at a time may do so, or slots given back would be missing in the middle.
    pub(super) async fn next(pacer: &'pacer Pacer, tokens: u64) -> Self {
        let at = pacer.take(tokens);
        let slot = Self { pacer, tokens, is_kept: false };
        if at > Instant::now() {
            tokio::time::sleep_until(at).await;
        }
        slot
    }

    /// The slot is used.
    pub(crate) fn keep(mut self) {
        self.is_kept = true;
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        if !self.is_kept {
            self.pacer.give_back(self.tokens);
        }
    }
}

impl Pacer {
    pub(crate) fn new(requests_per_minute: Option<u32>, tokens_per_minute: Option<u32>) -> Self {
        let now = Instant::now();
        let state = State {
            requests: requests_per_minute.map(|limit| Bucket::new(limit, now)),
            tokens: tokens_per_minute.map(|limit| Bucket::new(limit, now)),
            held_until: None,
        };
        Self { state: Mutex::new(state) }
    }

    /// Takes a slot for one call of about so many tokens, and tells when it is.
    pub(crate) fn take(&self, tokens: u64) -> Instant {
        let mut state = self.lock();
        let at = state.earliest(tokens, Instant::now());
        state.take(tokens, at);
        at
    }

    /// Takes a slot when there is one now.
    pub(crate) fn try_take(&self, tokens: u64) -> bool {
        let now = Instant::now();
        let mut state = self.lock();
        let is_free = state.earliest(tokens, now) <= now;
        if is_free {
            state.take(tokens, now);
        }
        is_free
    }

    /// Gives back a slot that was taken and not used.
    fn give_back(&self, tokens: u64) {
        let mut state = self.lock();
        if let Some(bucket) = &mut state.requests {
            bucket.correct(-1.0);
        }
        if let Some(bucket) = &mut state.tokens {
            bucket.correct(-(tokens as f64));
        }
    }

    /// Replaces the estimate of a call by what it used.
    pub(crate) fn correct(&self, estimated: u64, used: u64) {
        if let Some(bucket) = &mut self.lock().tokens {
            bucket.correct(used as f64 - estimated as f64);
        }
    }

    /// Holds every call back for a while, as the provider asked.
    pub(crate) fn hold(&self, pause: Duration) {
        let Some(until) = Instant::now().checked_add(pause) else { return };
        let mut state = self.lock();
        state.held_until = state.held_until.max(Some(until));
    }

    /// Until when calls are held back; none when they are not.
    pub(crate) fn held_until(&self) -> Option<Instant> {
        let mut state = self.lock();
        if state.held_until.is_some_and(|until| until <= Instant::now()) {
            state.held_until = None;
        }
        state.held_until
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_minute_never_has_more_requests_than_the_limit_and_the_burst() {
        for limit in [1, 7, 60, 600, 5_000] {
            let pacer = Pacer::new(Some(limit), None);
            let start = Instant::now();
            let slots: Vec<f64> = (0..3 * limit + 10)
                .map(|_| pacer.take(0).duration_since(start).as_secs_f64())
                .collect();
            let burst = (limit / 60).max(1) as usize;
            let before = |moment: f64| slots.partition_point(|slot| *slot < moment);
            let in_minute = |from: f64| before(from + 60.0 - 1e-6) - before(from);
            for from in &slots {
                assert!(in_minute(*from) <= limit as usize + burst, "{limit} per minute");
            }
            assert!(in_minute(0.0) >= limit as usize, "the limit is used: {limit} per minute");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn tokens_are_paced_and_corrected() {
        let pacer = Pacer::new(None, Some(6_000));
        let start = Instant::now();
        let wait = |tokens| pacer.take(tokens).duration_since(start).as_secs_f64().round();
        assert_eq!(wait(1_000), 0.0, "a call larger than the burst goes when all is paid");
        assert_eq!(wait(1_000), 10.0);
        pacer.correct(1_000, 0);
        assert_eq!(wait(1_000), 10.0, "what was not used is given back");
        pacer.correct(1_000, 2_000);
        assert_eq!(wait(1_000), 30.0, "what was used beyond the estimate is paid");
    }

    #[tokio::test(start_paused = true)]
    async fn a_slot_that_is_not_used_goes_to_the_next() {
        let pacer = Pacer::new(Some(60), Some(600));
        let start = Instant::now();
        assert!(pacer.try_take(10), "the first slot is now");
        assert!(!pacer.try_take(10), "and the second is not");
        for _ in 0..10 {
            let waiting = tokio::time::timeout(Duration::from_millis(50), Slot::next(&pacer, 10));
            assert!(waiting.await.is_err(), "given up before its time");
        }
        Slot::next(&pacer, 10).await.keep();
        assert_eq!(start.elapsed().as_millis(), 1_000, "nothing was lost by those who gave up");
        drop(Slot::next(&pacer, 10).await);
        assert_eq!(start.elapsed().as_millis(), 2_000);
        Slot::next(&pacer, 10).await.keep();
        assert_eq!(start.elapsed().as_millis(), 2_000, "given back at its time: free at once");
    }

    #[tokio::test(start_paused = true)]
    async fn a_hold_ends_at_its_reset() {
        let pacer = Pacer::new(None, None);
        assert_eq!(pacer.held_until(), None);
        pacer.hold(Duration::from_secs(5));
        pacer.hold(Duration::from_secs(2));
        assert_eq!(pacer.held_until(), Some(Instant::now() + Duration::from_secs(5)));
        tokio::time::advance(Duration::from_secs(6)).await;
        assert_eq!(pacer.held_until(), None);
    }
}
