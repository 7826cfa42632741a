//! Money is reserved before a call and settled after it, so that a limit holds with calls in flight.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fullbench_types::NanoDollars;
use tokio::sync::Notify;

/// What a run, or an organization in a month, may spend, and has spent.
#[derive(Debug, Default)]
pub struct Budget {
    state: Mutex<State>,
    released: Notify,
    /// A budget of several that this one is part of.
    within: Option<Arc<Budget>>,
}

#[derive(Debug, Default)]
struct State {
    limit: Option<NanoDollars>,
    /// Spent, and known to whoever keeps the books.
    kept: NanoDollars,
    /// Spent since.
    settled: NanoDollars,
    outstanding: NanoDollars,
    refused: Option<BudgetExhausted>,
}

impl State {
    fn spent(&self) -> NanoDollars {
        self.kept + self.settled
    }

    /// Remembers why a call was refused, unless what is remembered says more.
    fn was_refused(&mut self, refused: BudgetExhausted) {
        if self.refused.is_none_or(|before| before.says() <= refused.says()) {
            self.refused = Some(refused);
        }
    }
}

/// The budget has no room for another call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub struct BudgetExhausted {
    /// It is the budget that several share.
    pub is_shared: bool,
    /// The limit.
    pub limit: NanoDollars,
    /// What was spent.
    pub spent: NanoDollars,
    /// What the call may cost at most; nothing where no price is known.
    pub needed: Option<NanoDollars>,
}

impl BudgetExhausted {
    /// How much it says of the budget: most where a call found no room that would have found it in the beginning, nothing where
    /// it has no price.
    fn says(&self) -> u8 {
        match self.needed {
            Some(needed) if needed <= self.limit => 2,
            Some(_) => 1,
            None => 0,
        }
    }
}

impl fmt::Display for BudgetExhausted {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { limit, spent, needed, .. } = self;
        match needed {
            Some(needed) => write!(
                formatter,
                "the budget is used up: {spent} of {limit} spent, and the next call may cost {needed}"
            ),
            None => write!(formatter, "there is a budget of {limit}, and no price is known"),
        }
    }
}

impl Budget {
    /// A budget of which some may be spent already; without a limit it only counts.
    #[must_use]
    pub fn new(limit: Option<NanoDollars>, already_spent: NanoDollars) -> Self {
        let state = State { limit, kept: already_spent, ..State::default() };
        Self { state: Mutex::new(state), ..Self::default() }
    }

    /// The same as a part of a budget that several share: a call needs room in both.
    #[must_use]
    pub fn within(self, shared: Arc<Self>) -> Self {
        Self { within: Some(shared), ..self }
    }

    /// What was spent so far.
    #[must_use]
    pub fn spent(&self) -> NanoDollars {
        self.lock().spent()
    }

    /// What is reserved by calls in flight.
    #[must_use]
    pub fn outstanding(&self) -> NanoDollars {
        self.lock().outstanding
    }

    /// The limit, where there is one.
    #[must_use]
    pub fn limit(&self) -> Option<NanoDollars> {
        self.lock().limit
    }

    /// Why a call was refused the last time.
    #[must_use]
    pub fn refused(&self) -> Option<BudgetExhausted> {
        self.lock().refused
    }

    /// Forgets that calls were refused, since a new time has begun.
    pub fn forget_refusals(&self) {
        self.lock().refused = None;
    }

    /// Refuses where nothing is left, before anything is begun that would be refused at its first call.
    ///
    /// # Errors
    /// When what may be spent is spent.
    pub fn refuse_used_up(&self) -> Result<(), BudgetExhausted> {
        let mut state = self.lock();
        let spent = state.spent();
        let Some(limit) = state.limit.filter(|limit| spent >= *limit) else { return Ok(()) };
        let needed = Some(NanoDollars::ZERO);
        let refused = BudgetExhausted { is_shared: false, limit, spent, needed };
        state.was_refused(refused);
        Err(refused)
    }

    /// Takes over the limit and what was spent from whoever keeps the books, others' calls among it.
    pub fn keep_to(&self, limit: Option<NanoDollars>, kept: NanoDollars) {
        let mut state = self.lock();
        (state.limit, state.kept) = (limit, kept);
        drop(state);
        self.released.notify_waiters();
    }

    /// Says that some of what was spent is in the books by now, and what they say.
    pub fn was_kept(&self, amount: NanoDollars, kept: NanoDollars) {
        let mut state = self.lock();
        state.kept = kept;
        state.settled = state.settled - amount.min(state.settled);
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
            let shared = self.within.as_ref().map(|shared| shared.released.notified());
            let mut shared = std::pin::pin!(shared);
            if let Some(shared) = shared.as_mut().as_pin_mut() {
                shared.enable();
            }
            if let Some(reservation) = self.try_reserve(amount)? {
                return Ok(reservation);
            }
            match shared.as_pin_mut() {
                Some(shared) => tokio::select! { () = released => {}, () = shared => {} },
                None => released.await,
            }
        }
    }

    /// Refuses a call of which nobody knows what it costs, if there is a limit, own or shared.
    ///
    /// # Errors
    /// Where there is one: it could not be kept.
    pub(crate) fn refuse_unpriced(&self) -> Result<(), BudgetExhausted> {
        let shared = self.within.as_ref().map_or(Ok(()), |shared| shared.refuse_unpriced());
        let shared = shared.map_err(|error| BudgetExhausted { is_shared: true, ..error });
        let mut state = self.lock();
        let own = state.limit.map(|limit| {
            let spent = state.spent();
            BudgetExhausted { is_shared: false, limit, spent, needed: None }
        });
        let refused = own.or(shared.err());
        if let Some(refused) = refused {
            state.was_refused(refused);
        }
        refused.map_or(Ok(()), Err)
    }

    /// The reservation, or none while calls in flight are in the way.
    pub(crate) fn try_reserve(
        self: &Arc<Self>,
        amount: NanoDollars,
    ) -> Result<Option<Reservation>, BudgetExhausted> {
        let mut state = self.lock();
        let spent = state.spent();
        if let Some(limit) = state.limit {
            // No room even if all calls in flight cost nothing.
            if spent + amount > limit {
                let needed = Some(amount);
                let error = BudgetExhausted { is_shared: false, limit, spent, needed };
                state.was_refused(error);
                return Err(error);
            }
            if spent + state.outstanding + amount > limit {
                return Ok(None);
            }
        }
        // Held meanwhile, so that nothing is reserved there that would be given back at once, which wakes whoever waits.
        let shared = match &self.within {
            Some(shared) => match shared.try_reserve(amount) {
                Ok(Some(reservation)) => Some(Box::new(reservation)),
                Ok(None) => return Ok(None),
                Err(error) => {
                    let error = BudgetExhausted { is_shared: true, ..error };
                    state.was_refused(error);
                    return Err(error);
                }
            },
            None => None,
        };
        state.outstanding += amount;
        Ok(Some(Reservation { budget: Arc::clone(self), amount, shared }))
    }

    fn release(&self, amount: NanoDollars, actual: NanoDollars) {
        let mut state = self.lock();
        state.outstanding -= amount;
        state.settled += actual;
        let has_limit = state.limit.is_some();
        drop(state);
        if has_limit {
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
    shared: Option<Box<Reservation>>,
}

impl Reservation {
    /// Books what the call did cost and gives the rest back.
    pub fn settle(mut self, actual: NanoDollars) {
        let amount = std::mem::take(&mut self.amount);
        self.budget.release(amount, actual);
        if let Some(shared) = self.shared.take() {
            shared.settle(actual);
        }
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

    #[tokio::test(start_paused = true)]
    async fn a_shared_budget_holds_for_all_its_parts_together() {
        let shared = budget(100, 0);
        let part = |limit: Option<i64>| {
            let own = Budget::new(limit.map(NanoDollars), NanoDollars::ZERO);
            Arc::new(own.within(Arc::clone(&shared)))
        };
        let (one, other) = (part(None), part(Some(30)));
        let in_flight = one.reserve(NanoDollars(80)).await.unwrap();
        let error = other.reserve(NanoDollars(31)).await.unwrap_err();
        assert!(!error.is_shared, "its own limit is in the way");
        assert_eq!(shared.outstanding(), NanoDollars(80), "what was refused is given back");
        let waiting = tokio::spawn({
            let other = Arc::clone(&other);
            async move { other.reserve(NanoDollars(30)).await }
        });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        in_flight.settle(NanoDollars(60));
        waiting.await.unwrap().unwrap().settle(NanoDollars(30));
        assert_eq!((shared.spent(), one.spent()), (NanoDollars(90), NanoDollars(60)));
        let error = one.reserve(NanoDollars(11)).await.unwrap_err();
        assert!(error.is_shared && one.refused() == Some(error));
        shared.was_kept(NanoDollars(90), NanoDollars(90));
        shared.keep_to(Some(NanoDollars(200)), NanoDollars(150));
        assert_eq!(shared.spent(), NanoDollars(150), "others spent meanwhile");
        assert!(one.reserve(NanoDollars(50)).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn who_waits_for_room_of_its_own_keeps_nobody_from_working() {
        let shared = budget(100, 0);
        let own = Budget::new(Some(NanoDollars(30)), NanoDollars::ZERO);
        let own = Arc::new(own.within(Arc::clone(&shared)));
        let in_flight = own.reserve(NanoDollars(20)).await.unwrap();
        let waiting = tokio::time::timeout(Duration::from_secs(1), own.reserve(NanoDollars(20)));
        assert!(waiting.await.is_err(), "the time goes on while it waits");
        assert_eq!(shared.outstanding(), NanoDollars(20), "it holds nothing meanwhile");
        in_flight.settle(NanoDollars(5));
        assert!(own.reserve(NanoDollars(20)).await.is_ok());
    }

    #[test]
    fn a_call_without_a_price_is_refused_where_there_is_a_limit() {
        let without = Arc::new(Budget::new(None, NanoDollars::ZERO));
        assert!(without.refuse_unpriced().is_ok());
        assert!(!budget(100, 0).refuse_unpriced().unwrap_err().is_shared);
        let part = Budget::new(None, NanoDollars::ZERO).within(budget(100, 0));
        let refused = part.refuse_unpriced().unwrap_err();
        assert!(refused.is_shared && refused.needed.is_none());
        assert_eq!(part.refused(), Some(refused));
    }

    #[tokio::test]
    async fn a_call_that_could_never_be_made_hides_none_that_found_no_room() {
        let budget = budget(100, 98);
        let too_dear = budget.reserve(NanoDollars(150)).await.unwrap_err();
        assert_eq!(budget.refused(), Some(too_dear));
        let no_room = budget.reserve(NanoDollars(5)).await.unwrap_err();
        budget.reserve(NanoDollars(150)).await.unwrap_err();
        budget.refuse_unpriced().unwrap_err();
        assert_eq!(budget.refused(), Some(no_room));
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
