//! How many calls may be in flight: additive increase, multiplicative decrease, first come first served.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

/// Places for calls in flight. Starts with all of them, halves on a 429, grows back one by one.
#[derive(Debug)]
pub(crate) struct Concurrency {
    ceiling: u32,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    limit: u32,
    in_flight: u32,
    /// Counts halvings: a call that began in an earlier round says nothing about this one.
    round: u64,
    /// Successes since the limit last changed.
    successes: u32,
    waiting: VecDeque<oneshot::Sender<Permit>>,
}

impl Concurrency {
    pub(crate) fn new(ceiling: u32) -> Self {
        let state = State {
            limit: ceiling,
            in_flight: 0,
            round: 0,
            successes: 0,
            waiting: VecDeque::new(),
        };
        Self { ceiling, state: Mutex::new(state) }
    }

    /// How many calls may be in flight now.
    pub(crate) fn current_limit(&self) -> u32 {
        self.lock().limit
    }

    /// The share of places that are free, from 0 to 1.
    pub(crate) fn headroom(&self) -> f64 {
        let state = self.lock();
        f64::from(state.limit.saturating_sub(state.in_flight)) / f64::from(state.limit.max(1))
    }

    /// How many places are taken.
    #[cfg(test)]
    pub(crate) fn in_flight(&self) -> u32 {
        self.lock().in_flight
    }

    /// A place, when one is free and nobody waits for it.
    pub(crate) fn try_acquire(self: &Arc<Self>) -> Option<Permit> {
        let mut state = self.lock();
        if state.in_flight >= state.limit || !state.waiting.is_empty() {
            return None;
        }
        state.in_flight += 1;
        Some(Permit { round: state.round, owner: Some(Arc::clone(self)) })
    }

    /// A place, after everybody who asked before.
    pub(crate) async fn acquire(self: &Arc<Self>) -> Permit {
        loop {
            if let Some(permit) = self.try_acquire() {
                return permit;
            }
            let (sender, receiver) = oneshot::channel();
            self.lock().wait(sender);
            // A place may have become free between the two locks.
            self.hand_out();
            if let Ok(permit) = receiver.await {
                return permit;
            }
        }
    }

    /// A call of the permit succeeded: after a window of successes there is one place more.
    pub(crate) fn succeeded(self: &Arc<Self>, permit: &Permit) {
        let mut state = self.lock();
        if state.limit >= self.ceiling || permit.round != state.round {
            return;
        }
        state.successes += 1;
        if state.successes < state.limit {
            return;
        }
        state.successes = 0;
        state.limit += 1;
        drop(state);
        self.hand_out();
    }

    /// A call of the permit met a rate limit: half of the places, once per round.
    pub(crate) fn throttled(&self, permit: &Permit) {
        let mut state = self.lock();
        if permit.round != state.round {
            return;
        }
        state.round += 1;
        state.successes = 0;
        state.limit = (state.limit / 2).max(1);
    }

    /// Gives free places to those who wait.
    fn hand_out(self: &Arc<Self>) {
        loop {
            let mut state = self.lock();
            if state.in_flight >= state.limit {
                return;
            }
            let Some(sender) = state.waiting.pop_front() else { return };
            state.in_flight += 1;
            let permit = Permit { round: state.round, owner: Some(Arc::clone(self)) };
            drop(state);
            if let Err(mut permit) = sender.send(permit) {
                // Who waited has gone: the place is free again, and the loop goes on to the next.
                permit.owner = None;
                self.lock().in_flight -= 1;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Joins the line; those at its head who have gone since, to a place elsewhere, are forgotten.
    fn wait(&mut self, sender: oneshot::Sender<Permit>) {
        while self.waiting.front().is_some_and(oneshot::Sender::is_closed) {
            self.waiting.pop_front();
        }
        self.waiting.push_back(sender);
    }
}

/// A place in flight; dropping it gives it to the next.
#[derive(Debug)]
pub(crate) struct Permit {
    round: u64,
    owner: Option<Arc<Concurrency>>,
}

impl Drop for Permit {
    fn drop(&mut self) {
        if let Some(owner) = self.owner.take() {
            owner.lock().in_flight -= 1;
            owner.hand_out();
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;
    use std::time::Duration;

    fn places(count: u32) -> Arc<Concurrency> {
        Arc::new(Concurrency::new(count))
    }

    #[tokio::test]
    async fn a_burst_of_refusals_halves_the_limit_only_once() {
        let places = places(16);
        let permits: Vec<Permit> = (0..16).map(|_| places.try_acquire().unwrap()).collect();
        for permit in &permits {
            places.throttled(permit);
        }
        assert_eq!(places.current_limit(), 8);
        drop(permits);
        let later = places.acquire().await;
        places.throttled(&later);
        assert_eq!(places.current_limit(), 4);
    }

    #[tokio::test]
    async fn the_limit_grows_back_by_one_per_window_and_never_above_the_users() {
        let places = places(4);
        for _ in 0..3 {
            let permit = places.acquire().await;
            places.throttled(&permit);
        }
        assert_eq!(places.current_limit(), 1, "never below one");
        let mut limits = Vec::new();
        for _ in 0..8 {
            let permit = places.acquire().await;
            places.succeeded(&permit);
            limits.push(places.current_limit());
        }
        assert_eq!(limits, [2, 2, 3, 3, 3, 4, 4, 4]);
    }

    #[tokio::test(start_paused = true)]
    async fn places_go_to_those_who_waited_longest() {
        let places = places(1);
        let held = places.acquire().await;
        let order = Arc::new(Mutex::new(Vec::new()));
        let mut tasks = Vec::new();
        for number in 0..5 {
            let (places, order) = (Arc::clone(&places), Arc::clone(&order));
            tasks.push(tokio::spawn(async move {
                let _permit = places.acquire().await;
                order.lock().unwrap().push(number);
            }));
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        tasks[1].abort();
        tokio::time::sleep(Duration::from_millis(1)).await;
        drop(held);
        for task in tasks {
            let _ = task.await;
        }
        assert_eq!(*order.lock().unwrap(), [0, 2, 3, 4]);
        assert_eq!(places.in_flight(), 0);
    }

    #[tokio::test]
    async fn a_thousand_who_gave_up_do_not_lose_the_place() {
        let places = places(1);
        let held = places.acquire().await;
        for _ in 0..10_000 {
            let waiting = places.acquire();
            tokio::pin!(waiting);
            assert!(futures_poll_once(waiting.as_mut()).await);
        }
        drop(held);
        assert_eq!(places.in_flight(), 0);
        assert!(places.try_acquire().is_some());
    }

    #[tokio::test]
    async fn those_who_found_a_place_elsewhere_are_forgotten() {
        let places = places(2);
        let _held = (places.acquire().await, places.acquire().await);
        assert_eq!(places.headroom(), 0.0);
        for _ in 0..1_000 {
            let waiting = places.acquire();
            tokio::pin!(waiting);
            assert!(futures_poll_once(waiting.as_mut()).await);
        }
        assert_eq!(places.lock().waiting.len(), 1);
    }

    /// Polls once and tells whether the future still waits.
    async fn futures_poll_once<F: Future>(mut future: std::pin::Pin<&mut F>) -> bool {
        std::future::poll_fn(|context| {
            std::task::Poll::Ready(future.as_mut().poll(context).is_pending())
        })
        .await
    }
}
