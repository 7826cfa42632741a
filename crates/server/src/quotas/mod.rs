//! How much an organization may do, and have of that which grows.

mod records;

pub(crate) use records::{HINT as RECORDS_HINT, Place, RecordCounts, RoomForRun};

use std::num::NonZeroU32;

use fullbench_store::{ScopedStore, SpendingCeilings};
use fullbench_types::{NanoDollars, Plan};

use crate::access::Caller;
use crate::app::App;
use crate::config::ServerConfig;
use crate::problem::{Problem, QUOTA, TOO_LARGE};

/// How much an organization may do and have; nothing for as much as there is room for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quotas {
    /// Requests in a minute.
    pub requests_per_minute: Option<NonZeroU32>,
    /// Bytes of uploaded files.
    pub stored_bytes: Option<u64>,
    /// Runs that wait or are worked on.
    pub open_runs: Option<u64>,
    /// Results and documents that are kept.
    pub records: Option<u64>,
    /// What may be spent in a month, whatever budget the organization gives itself.
    pub month: Option<NanoDollars>,
}

impl Default for Quotas {
    fn default() -> Self {
        Self {
            requests_per_minute: NonZeroU32::new(60_000),
            stored_bytes: None,
            open_runs: Some(10_000),
            records: None,
            month: None,
        }
    }
}

/// What is otherwise for organizations with a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlanLimit {
    /// The plan.
    pub plan: Plan,
    /// How much it allows.
    pub limit: Limit,
}

/// How much there may be of one thing; nothing for as much as there is room for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// Requests in a minute.
    RequestsPerMinute(Option<NonZeroU32>),
    /// Bytes of uploaded files.
    StoredBytes(Option<u64>),
    /// Runs that wait or are worked on.
    OpenRuns(Option<u64>),
    /// Results and documents that are kept.
    Records(Option<u64>),
    /// What may be spent in a month.
    Month(Option<NanoDollars>),
}

impl ServerConfig {
    /// How much an organization with this plan may do and have.
    pub(crate) fn quotas_of(&self, plan: Plan) -> Quotas {
        let mut quotas = self.quotas;
        for limited in self.plan_limits.iter().filter(|limited| limited.plan == plan) {
            match limited.limit {
                Limit::RequestsPerMinute(limit) => quotas.requests_per_minute = limit,
                Limit::StoredBytes(limit) => quotas.stored_bytes = limit,
                Limit::OpenRuns(limit) => quotas.open_runs = limit,
                Limit::Records(limit) => quotas.records = limit,
                Limit::Month(limit) => quotas.month = limit,
            }
        }
        quotas
    }

    /// What organizations may spend, by their plan.
    pub(crate) fn spending_ceilings(&self) -> SpendingCeilings {
        let plans = Plan::ALL.iter().map(|plan| (*plan, self.quotas_of(*plan).month)).collect();
        SpendingCeilings { everybody: self.quotas.month, plans }
    }
}

/// How large a file may be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Room {
    /// Its bytes at most.
    pub(crate) most: u64,
    /// It is what is left of the organization's quota.
    quota: Option<u64>,
}

impl Room {
    /// Why a file that is larger is refused.
    pub(crate) fn problem(self) -> Problem {
        let Self { most, quota } = self;
        let Some(quota) = quota else {
            return Problem::new(TOO_LARGE, format!("the file has more than {most} bytes"))
                .hint("upload it in parts, or ask who runs the server for a higher limit");
        };
        let detail = format!("files may have {quota} bytes together, of which {most} are left");
        Problem::new(QUOTA, detail).hint("remove data sets that are not needed any more")
    }
}

/// How large a file may be that is uploaded now. Others that come at the same time are counted once they are there: of several the
/// last one may be refused then.
pub(crate) async fn room_for_a_file(app: &App, caller: &Caller) -> Result<Room, Problem> {
    let most = app.config().max_upload_bytes;
    let Some(quota) = caller.quotas.stored_bytes else {
        return Ok(Room { most, quota: None });
    };
    let left = quota.saturating_sub(caller.store.stored_bytes().await?);
    let room = match left < most {
        true => Room { most: left, quota: Some(quota) },
        false => Room { most, quota: None },
    };
    if room.most == 0 { Err(room.problem()) } else { Ok(room) }
}

/// Room for a run that is asked for, before anything of it is kept.
pub(crate) async fn room_for_run(app: &App, caller: &Caller) -> Result<RoomForRun, Problem> {
    check_runs(caller.quotas, &caller.store).await?;
    app.records().room_for_run(caller.quotas, &caller.store).await
}

/// Refuses one run more than there may be.
pub(crate) async fn check_runs(quotas: Quotas, store: &ScopedStore) -> Result<(), Problem> {
    let Some(quota) = quotas.open_runs else { return Ok(()) };
    let open = store.open_runs().await?;
    if open < quota {
        return Ok(());
    }
    let detail = format!("{open} runs have not ended, and {quota} are allowed");
    Err(Problem::new(QUOTA, detail).hint("wait for some of them to end, or cancel them"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_changes_what_it_names() {
        let requests = |limit| Limit::RequestsPerMinute(NonZeroU32::new(limit));
        let plan_limits = vec![
            PlanLimit { plan: Plan::Free, limit: requests(600) },
            PlanLimit { plan: Plan::Free, limit: Limit::StoredBytes(Some(1 << 30)) },
            PlanLimit { plan: Plan::Enterprise, limit: requests(0) },
        ];
        let config = ServerConfig { plan_limits, ..ServerConfig::default() };
        let quotas = |plan| {
            let quotas = config.quotas_of(plan);
            (quotas.requests_per_minute.map(NonZeroU32::get), quotas.stored_bytes)
        };
        assert_eq!(quotas(Plan::Free), (Some(600), Some(1 << 30)));
        assert_eq!(quotas(Plan::Starter), (Some(60_000), None));
        assert_eq!(quotas(Plan::Enterprise), (None, None));
    }
}
