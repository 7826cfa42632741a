//! Money is reserved before a call and settled after it, so that a limit holds with calls in flight.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fullbench_types::NanoDollars;
use tokio::sync::Notify;

/// What a run may spend, and has spent.
#[derive(Debug)]
pub struct Budget {
    limit: Option<NanoDollars>,
    state: Mutex<State>,
    released: Notify,
}

#[derive(Debug, Default)]
struct State {
    spent: NanoDollars,
    outstanding: NanoDollars,
}

/// The budget has no room for another call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the budget is used up: {spent} of {limit} spent, and the next call may cost {needed}")]
pub struct BudgetExhausted {
    /// The limit.
    pub limit: NanoDollars,
    /// What was spent.
    pub spent: NanoDollars,
    /// What the call may cost at most.
    pub needed: NanoDollars,
}

impl Budget {
    /// A budget of which some may be spent already; without a limit it only counts.
    #[must_use]
    pub fn new(limit: Option<NanoDollars>, already_spent: NanoDollars) -> Self {
        let state = State { spent: already_spent, outstanding: NanoDollars::ZERO };
        Self { limit, state: Mutex::new(state), released: Notify::new() }
    }

    /// What was spent so far.
    #[must_use]
    pub fn spent(&self) -> NanoDollars {
        self.lock().spent
    }

    /// What is reserved by calls in flight.
    #[must_use]
    pub fn outstanding(&self) -> NanoDollars {
        self.lock().outstanding
    }

    /// The limit, where there is one.
    #[must_use]
    pub fn limit(&self) -> Option<NanoDollars> {
        self.limit
    }

    /// Sets an amount aside, waiting while only calls in flight are in the way.
    ///
    /// # Errors
    /// When what is spent leaves no room for the amount: waiting would not help.
    pub async fn reserve(
        self: &Arc<Self>,
        amount: NanoDollars,
    ) -> Result<Reservation, BudgetExhausted> {
        loop {
            let released = self.released.notified();
            tokio::pin!(released);
            released.as_mut().enable();
            if let Some(reservation) = self.try_reserve(amount)? {
                return Ok(reservation);
            }
            released.await;
        }
    }

    /// The reservation, or none while calls in flight are in the way.
    pub(crate) fn try_reserve(
        self: &Arc<Self>,
        amount: NanoDollars,
    ) -> Result<Option<Reservation>, BudgetExhausted> {
        let mut state = self.lock();
        if let Some(limit) = self.limit {
            if state.spent + amount > limit {
                return Err(BudgetExhausted { limit, spent: state.spent, needed: amount });
            }
            if state.spent + state.outstanding + amount > limit {
                return Ok(None);
            }
        }
        state.outstanding += amount;
        Ok(Some(Reservation { budget: Arc::clone(self), amount }))
    }

    fn release(&self, amount: NanoDollars, actual: NanoDollars) {
        let mut state = self.lock();
        state.outstanding -= amount;
        state.spent += actual;
        drop(state);
        if self.limit.is_some() {
            self.released.notify_waiters();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Money set aside for one call; dropping it gives it back.
#[derive(Debug)]
pub struct Reservation {
    budget: Arc<Budget>,
    amount: NanoDollars,
}

impl Reservation {
    /// Books what the call did cost and gives the rest back.
    pub fn settle(mut self, actual: NanoDollars) {
        let amount = std::mem::take(&mut self.amount);
        self.budget.release(amount, actual);
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if self.amount != NanoDollars::ZERO {
            self.budget.release(self.amount, NanoDollars::ZERO);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;
    use proptest::prelude::*;
    use std::time::Duration;

    fn budget(limit: i64, spent: i64) -> Arc<Budget> {
        Arc::new(Budget::new(Some(NanoDollars(limit)), NanoDollars(spent)))
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_waits_for_calls_in_flight_and_is_refused_when_waiting_would_not_help() {
        let budget = budget(100, 40);
        let first = budget.reserve(NanoDollars(50)).await.unwrap();
        let waiting = tokio::time::timeout(Duration::from_secs(1), budget.reserve(NanoDollars(20)));
        assert!(waiting.await.is_err(), "only the call in flight is in the way");
        let second = tokio::spawn({
            let budget = Arc::clone(&budget);
            async move { budget.reserve(NanoDollars(20)).await }
        });
        tokio::task::yield_now().await;
        first.settle(NanoDollars(30));
        let second = second.await.unwrap().unwrap();
        assert_eq!(budget.spent(), NanoDollars(70));
        let error = budget.reserve(NanoDollars(31)).await.unwrap_err();
        assert_eq!(error.spent, NanoDollars(70));
        drop(second);
        assert_eq!(budget.outstanding(), NanoDollars::ZERO);
        assert!(budget.reserve(NanoDollars(30)).await.is_ok());
    }

    #[tokio::test]
    async fn without_a_limit_spending_is_only_counted() {
        let budget = Arc::new(Budget::new(None, NanoDollars::ZERO));
        budget.reserve(NanoDollars(5)).await.unwrap().settle(NanoDollars(7));
        assert_eq!(budget.spent(), NanoDollars(7));
    }

    proptest! {
        #[test]
        fn spending_never_passes_the_limit(
            limit in 0i64..1_000,
            calls in prop::collection::vec((0i64..300, 0.0f64..=1.0, any::<bool>()), 1..60),
        ) {
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            runtime.block_on(async {
                let budget = budget(limit, 0);
                let mut open = Vec::new();
                for (amount, share, settle_now) in calls {
                    if let Ok(Some(reservation)) = budget.try_reserve(NanoDollars(amount)) {
                        open.push((reservation, NanoDollars((amount as f64 * share) as i64)));
                    }
                    if settle_now && !open.is_empty() {
                        let (reservation, actual) = open.remove(0);
                        reservation.settle(actual);
                    }
                    prop_assert!(budget.spent() + budget.outstanding() <= NanoDollars(limit));
                }
                for (reservation, actual) in open {
                    reservation.settle(actual);
                }
                prop_assert!(budget.spent() <= NanoDollars(limit));
                prop_assert_eq!(budget.outstanding(), NanoDollars::ZERO);
                Ok(())
            })?;
        }
    }
}
