//! Removes what is older than an organization keeps its data.

use std::time::Duration;

use fullbench_types::{AuditPhase, RunId};
use jiff::Timestamp;
use sea_orm::{ConnectionTrait, DbBackend};
use serde::Serialize;
use serde_json::json;
use uuid::Uuid;

use super::catalogue::{self, Owned, Stays};
use super::objects::blobs_of;
use super::runs::{Leftover, OPEN};
use super::{Removed, RemovedRows};
use crate::{AuditKey, NewAuditEntry, OrganizationRecord, RunLock, Store, StoreError};

/// Runs that are removed in one transaction: others wait no longer than for these.
const RUNS_TOGETHER: u64 = 100;
/// What is locked while data is removed, so that one process at a time does it. No run has such an id.
const LOCK: RunId = RunId(Uuid::from_u128(0x0072_6574_656e_7469_6f6e));
/// For how long frozen cases stay that nobody names: whoever made them may be about to.
const UNNAMED_STAY: Duration = Duration::from_secs(86_400);
/// For how long failed attempts to sign in are remembered, which belong to nobody.
const FAILURES_STAY: Duration = Duration::from_secs(30 * 86_400);

/// What was too old in an organization.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RetentionReport {
    /// The organization.
    pub organization: String,
    /// What is older goes; none where the organization has not said for how long it keeps its data, and only what has an end of
    /// its own goes.
    pub older_than: Option<Timestamp>,
    /// Rows that were removed, or would be, by table.
    pub rows: Vec<RemovedRows>,
    /// Blobs that were removed with them.
    pub blobs: u64,
}

impl Store {
    /// Takes the removal of old data for this process; none where another one does it.
    pub async fn lock_retention(&self) -> Result<Option<RunLock>, StoreError> {
        let organization = fullbench_types::SYSTEM_ORGANIZATION;
        match self.scoped(organization).lock_run(LOCK).await {
            Ok(lock) => Ok(Some(lock)),
            Err(StoreError::RunLocked(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Removes what is older than each organization keeps its data, and what nobody keeps for longer; those that have not said
    /// keep the rest for ever. The audit logs of those that have say how much it was.
    pub async fn remove_old_data(
        &self,
        key: &AuditKey,
        now: Timestamp,
    ) -> Result<Vec<RetentionReport>, StoreError> {
        let tables = catalogue::tables().await?;
        let (mut reports, mut failed) = (Vec::new(), None);
        for organization in self.organizations().await? {
            match self.remove_and_tell(&organization, &tables, now, key).await {
                Ok(report) => reports.push(report),
                // What fails for one is no reason for the others to keep theirs.
                Err(error) => {
                    let organization = organization.slug;
                    tracing::error!(organization, %error, "what is too old could not be removed");
                    failed = failed.or(Some(error));
                }
            }
        }
        if let Err(error) = self.finish_erasures(key).await {
            tracing::error!(%error, "the erasure of an organization is still to be finished");
            failed = failed.or(Some(error));
        }
        let oldest = now.as_millisecond() - FAILURES_STAY.as_millis() as i64;
        let sql = format!("DELETE FROM sign_in_failures WHERE last_at < {oldest}");
        self.system().execute_unprepared(&sql).await?;
        self.tidy_folder(now)?;
        if let Err(error) = self.sweep_objects(now).await {
            tracing::error!(%error, "objects that nobody needs could not be removed");
            failed = failed.or(Some(error));
        }
        match failed {
            Some(error) => Err(error),
            None => Ok(reports),
        }
    }

    /// Removes what is too old in an organization; its audit log says how much it was.
    async fn remove_and_tell(
        &self,
        organization: &OrganizationRecord,
        tables: &[Owned],
        now: Timestamp,
        key: &AuditKey,
    ) -> Result<RetentionReport, StoreError> {
        let mut removed = Removed::default();
        let done = self.remove_older(organization, tables, now, &mut removed).await;
        // What is gone is told, whether the rest could go or not.
        let report = RetentionReport {
            organization: organization.slug.clone(),
            older_than: older_than(organization, now),
            rows: removed.sorted(),
            blobs: *done.as_ref().unwrap_or(&0),
        };
        if report.older_than.is_some() && !report.rows.is_empty() {
            let entry = NewAuditEntry {
                after: Some(json!(report)),
                ..NewAuditEntry::new("retention", "system", AuditPhase::Done)
            };
            self.scoped(organization.id).append_audit(key, &[entry]).await?;
        }
        done.map(|_| report)
    }

    /// What would be removed.
    pub async fn old_data(&self, now: Timestamp) -> Result<Vec<RetentionReport>, StoreError> {
        let tables = catalogue::tables().await?;
        let mut reports = Vec::new();
        for organization in self.organizations().await? {
            let older_than = older_than(&organization, now);
            let scoped = self.scoped(organization.id);
            let old_runs = old_runs(older_than);
            let mut removed = Removed::default();
            for owned in &tables {
                let condition = match (too_old(owned, older_than, now), owned.table.place("run_id"))
                {
                    _ if owned.table.name == "runs" => old_runs.clone(),
                    (Some(is_old), Some(_)) => format!(
                        "organization_id = $1 AND ({is_old} OR run_id IN (SELECT id FROM runs WHERE {old_runs}))"
                    ),
                    (Some(is_old), None) => format!("organization_id = $1 AND {is_old}"),
                    (None, Some(_)) => format!(
                        "organization_id = $1 AND run_id IN (SELECT id FROM runs WHERE {old_runs})"
                    ),
                    (None, None) => continue,
                };
                let name = &owned.table.name;
                let sql = format!("SELECT COUNT(*) FROM \"{name}\" WHERE {condition}");
                let values = vec![organization.id.0.into()];
                let row = scoped.database.query_one_raw(scoped.statement(sql, values)).await?;
                let rows = row.map(|row| row.try_get_by_index::<i64>(0)).transpose()?;
                removed.add(name, rows.unwrap_or(0) as u64);
            }
            let (organization, rows) = (organization.slug, removed.sorted());
            reports.push(RetentionReport { organization, older_than, rows, blobs: 0 });
        }
        Ok(reports)
    }

    /// Adds what is removed to `removed`, as soon as it is gone; gives the number of blobs.
    async fn remove_older(
        &self,
        organization: &OrganizationRecord,
        tables: &[Owned],
        now: Timestamp,
        removed: &mut Removed,
    ) -> Result<u64, StoreError> {
        let scoped = self.scoped(organization.id);
        let older_than = older_than(organization, now);
        let mut leftover = Leftover::default();
        let unnamed_before = now.as_millisecond() - UNNAMED_STAY.as_millis() as i64;
        // One that is resumed meanwhile stays.
        let lock = match scoped.database.get_database_backend() {
            DbBackend::Postgres => "FOR UPDATE",
            _ => "",
        };
        let old_runs = format!(
            "SELECT id FROM runs WHERE {} ORDER BY id LIMIT {RUNS_TOGETHER} {lock}",
            old_runs(older_than)
        );
        while older_than.is_some() {
            let transaction = scoped.begin_removing().await?;
            let values = vec![organization.id.0.into()];
            let rows = transaction.query_all_raw(scoped.statement(&old_runs, values)).await?;
            let runs: Vec<Uuid> =
                rows.iter().map(|row| row.try_get_by_index(0)).collect::<Result<_, _>>()?;
            if runs.is_empty() {
                break;
            }
            let mut gone = Removed::default();
            let going = (&mut gone, &mut leftover);
            scoped.remove_runs_in(&transaction, tables, &runs, going).await?;
            transaction.commit().await?;
            removed.append(gone);
        }
        let mut gone = Removed::default();
        let transaction = scoped.begin_removing().await?;
        for owned in tables.iter().rev() {
            let Some(is_old) = too_old(owned, older_than, now) else { continue };
            let name = &owned.table.name;
            let sql = format!("DELETE FROM \"{name}\" WHERE organization_id = $1 AND {is_old}");
            let values = vec![organization.id.0.into()];
            gone.add(name, scoped.deleted(&transaction, sql, values).await?);
        }
        transaction.commit().await?;
        removed.append(gone);
        // What the runs were on may be needed by others: those go that nobody names.
        let manifests = scoped.remove_unnamed_contents(unnamed_before, removed).await?;
        scoped.remove_unused_blocks(blobs_of(&manifests)).await
    }
}

/// Which runs of an organization are too old.
fn old_runs(older_than: Option<Timestamp>) -> String {
    let bound = older_than.map_or(0, Timestamp::as_millisecond);
    format!("organization_id = $1 AND updated_at < {bound} AND state NOT IN {OPEN}")
}

/// Which rows of a table are too old; none where they do not go by their own age.
fn too_old(owned: &Owned, older_than: Option<Timestamp>, now: Timestamp) -> Option<String> {
    let older_than = older_than.map(Timestamp::as_millisecond);
    let (column, bound) = match owned.stays {
        Stays::Since(_) if owned.table.name == "runs" => return None,
        Stays::Since(column) => (column, older_than?),
        Stays::SinceAtMost(column, most) => {
            let oldest = now.as_millisecond() - most.as_millis() as i64;
            (column, older_than.map_or(oldest, |older_than| older_than.max(oldest)))
        }
        Stays::Always | Stays::WithRun | Stays::WhileUsed | Stays::WithParent => return None,
    };
    Some(format!("\"{column}\" < {bound}"))
}

/// What is older than this goes; none where everything stays.
pub(crate) fn older_than(organization: &OrganizationRecord, now: Timestamp) -> Option<Timestamp> {
    let days = organization.settings.data_retention_days?;
    let hours = i64::from(days).checked_mul(24)?;
    now.checked_sub(jiff::SignedDuration::from_hours(hours)).ok()
}
