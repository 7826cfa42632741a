//! Waiting for one's turn: a place, an open line, a slot in the pace, and the money.

use fullbench_types::NanoDollars;
use tokio::time::{Instant, sleep_until, timeout_at};

use super::{GenerateError, ModelHandle};
use crate::budget::Reservation;
use crate::limits::{Admission, Permit};
use crate::model::{CallError, FailureClass};

/// Everything a call needs before it is made; given back when dropped.
pub(super) struct Turn {
    pub(super) permit: Permit,
    pub(super) admission: Admission,
    pub(super) reservation: Reservation,
}

/// Why a turn did not come.
pub(super) enum NoTurn {
    /// It would come after the deadline.
    Late(CallError),
    /// Nothing may be called any more.
    Ended(GenerateError),
}

impl From<GenerateError> for NoTurn {
    fn from(error: GenerateError) -> Self {
        Self::Ended(error)
    }
}

impl ModelHandle {
    /// Waits for a turn. Waiting for one's own limits moves the deadline: only what the provider makes a unit
    /// wait for counts against it, so that a slow pace never fails a unit.
    pub(super) async fn turn(
        &self,
        tokens: u64,
        most_expensive: NanoDollars,
        deadline: &mut Instant,
    ) -> Result<Turn, NoTurn> {
        if self.stop.is_cancelled() {
            return Err(GenerateError::Stopped.into());
        }
        let permit = match self.lane.concurrency.try_acquire() {
            Some(permit) => permit,
            None => self.on_own_time(deadline, self.lane.concurrency.acquire()).await?,
        };
        let mut has_slot = false;
        let admission = loop {
            let admission = match self.breaker.try_admit() {
                Some(admission) => admission,
                None => self
                    .unless_stopped(timeout_at(*deadline, self.breaker.admit()))
                    .await?
                    .map_err(|_| NoTurn::Late(self.breaker.outage()))?,
            };
            if !has_slot {
                has_slot = true;
                let slot = self.lane.pacer.take(tokens);
                if slot > Instant::now() {
                    self.on_own_time(deadline, sleep_until(slot)).await?;
                }
            }
            while let Some(until) = self.lane.pacer.held_until() {
                if until > *deadline {
                    return Err(NoTurn::Late(held_too_long(until)));
                }
                self.unless_stopped(sleep_until(until)).await?;
            }
            if admission.still_holds() {
                break admission;
            }
        };
        let budget = &self.options.budget;
        let exhausted = |error| NoTurn::Ended(GenerateError::BudgetExhausted(error));
        let reservation = match budget.try_reserve(most_expensive).map_err(exhausted)? {
            Some(reservation) => reservation,
            None => self
                .on_own_time(deadline, budget.reserve(most_expensive))
                .await?
                .map_err(exhausted)?,
        };
        Ok(Turn { permit, admission, reservation })
    }

    /// Waits for something that the user's own limits are the cause of.
    async fn on_own_time<T>(
        &self,
        deadline: &mut Instant,
        waiting: impl Future<Output = T>,
    ) -> Result<T, GenerateError> {
        let asked = Instant::now();
        let result = self.unless_stopped(waiting).await?;
        *deadline += asked.elapsed();
        Ok(result)
    }

    /// Waits for something, unless the run is stopped first.
    pub(super) async fn unless_stopped<T>(
        &self,
        waiting: impl Future<Output = T>,
    ) -> Result<T, GenerateError> {
        tokio::select! {
            biased;
            () = self.stop.cancelled() => Err(GenerateError::Stopped),
            result = waiting => Ok(result),
        }
    }
}

fn held_too_long(until: Instant) -> CallError {
    let seconds = until.saturating_duration_since(Instant::now()).as_secs();
    let message = format!("the provider's limit is used up, and begins anew only in {seconds} s");
    CallError::new(FailureClass::RateLimit, message)
}
