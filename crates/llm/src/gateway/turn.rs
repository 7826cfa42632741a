//! Waiting for one's turn: a place, an open line, a slot in the pace, and the money.

use fullbench_types::NanoDollars;
use tokio::time::{Instant, timeout_at};

use super::{GenerateError, ModelHandle};
use crate::budget::Reservation;
use crate::limits::{Admission, Permit, on_own_time};
use crate::model::CallError;

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
    /// Waits for a turn; see [`on_own_time`] for what moves the deadline.
    pub(super) async fn turn(
        &self,
        tokens: u64,
        most_expensive: NanoDollars,
        deadline: &mut Instant,
    ) -> Result<Turn, NoTurn> {
        if self.stop.is_cancelled() {
            return Err(GenerateError::Stopped.into());
        }
        let permit = self.unless_stopped(self.lane.place(deadline)).await?;
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
                self.unless_stopped(self.lane.slot(tokens, deadline)).await?;
            }
            self.unless_stopped(self.lane.released(*deadline)).await?.map_err(NoTurn::Late)?;
            if admission.still_holds() {
                break admission;
            }
        };
        let budget = &self.options.budget;
        let exhausted = |error| NoTurn::Ended(GenerateError::BudgetExhausted(error));
        let reservation = match budget.try_reserve(most_expensive).map_err(exhausted)? {
            Some(reservation) => reservation,
            None => self
                .unless_stopped(on_own_time(deadline, budget.reserve(most_expensive)))
                .await?
                .map_err(exhausted)?,
        };
        Ok(Turn { permit, admission, reservation })
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
