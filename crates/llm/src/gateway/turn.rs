//! Waiting for one's turn: a place, an open line, a slot in the pace, and the money.

use fullbench_types::{NanoDollars, Usage};
use tokio::time::{Instant, timeout_at};

use super::deployments::{Deployment, Entry, Past};
use super::{GenerateError, ModelHandle};
use crate::budget::Reservation;
use crate::limits::on_own_time;
use crate::model::CallError;

/// Everything a call needs before it is made; given back when dropped.
pub(super) struct Turn<'handle> {
    pub(super) deployment: &'handle Deployment,
    pub(super) entry: Entry,
    pub(super) reservation: Reservation,
}

/// What a call will need.
pub(super) struct Wanted {
    /// Tokens it will use, about; 0 where they are not limited.
    pub(super) tokens: u64,
    /// The same by kind, where deployments are compared by cost.
    pub(super) usage: Usage,
    /// What it may cost at most.
    pub(super) most_expensive: NanoDollars,
}

/// Why a turn did not come.
pub(super) enum NoTurn {
    /// It would come after the deadline.
    Late(CallError),
    /// Every deployment has refused to be called at all.
    Refused,
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
        wanted: &Wanted,
        past: &Past,
        deadline: &mut Instant,
    ) -> Result<Turn<'_>, NoTurn> {
        if self.stop.is_cancelled() {
            return Err(GenerateError::Stopped.into());
        }
        self.refuse_unpriced()?;
        let (deployment, entry) = match self.deployments.as_slice() {
            [only] if !self.config().has_endpoints() => {
                (only, self.enter(only, wanted.tokens, deadline).await?)
            }
            _ => self.enter_one_of_several(wanted, past, deadline).await?,
        };
        let budget = &self.options.budget;
        let exhausted = |error| NoTurn::Ended(GenerateError::BudgetExhausted(error));
        let reservation = match budget.try_reserve(wanted.most_expensive).map_err(exhausted)? {
            Some(reservation) => reservation,
            None => self
                .unless_stopped(on_own_time(deadline, budget.reserve(wanted.most_expensive)))
                .await?
                .map_err(exhausted)?,
        };
        Ok(Turn { deployment, entry, reservation })
    }

    /// Waits for a place at the only deployment.
    async fn enter(
        &self,
        deployment: &Deployment,
        tokens: u64,
        deadline: &mut Instant,
    ) -> Result<Entry, NoTurn> {
        let Deployment { lane, breaker, .. } = deployment;
        let permit = self.unless_stopped(lane.place(deadline)).await?;
        let mut has_slot = false;
        loop {
            let admission = match breaker.try_admit() {
                Some(admission) => admission,
                None => self
                    .unless_stopped(timeout_at(*deadline, breaker.admit()))
                    .await?
                    .map_err(|_| NoTurn::Late(breaker.outage()))?,
            };
            if !has_slot {
                has_slot = true;
                self.unless_stopped(lane.slot(tokens, deadline)).await?;
            }
            self.unless_stopped(lane.released(*deadline)).await?.map_err(NoTurn::Late)?;
            if admission.still_holds() {
                return Ok(Entry { permit, admission });
            }
        }
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
