//! Removes what is older than an organization keeps its data.

use std::time::Duration;

use fullbench_types::{AuditPhase, RunId};
use jiff::Timestamp;
use sea_orm::ConnectionTrait;
use serde::Serialize;
use serde_json::json;
use uuid::Uuid;

use super::catalogue::{self, Owned};
use super::objects::{blobs_of, remove_unused, remove_unused_sealed};
use super::runs::{Leftover, OPEN, age_column};
use super::{Removed, RemovedRows};
use crate::{AuditKey, NewAuditEntry, OrganizationRecord, RunLock, Store, StoreError};

/// Runs that are removed in one transaction: others wait no longer than for these.
const RUNS_TOGETHER: u64 = 100;
/// What is locked while data is removed, so that one process at a time does it. No run has such an id.
const LOCK: RunId = RunId(Uuid::from_u128(0x0072_6574_656e_7469_6f6e));
/// For how long failed attempts to sign in are remembered, which belong to nobody.
const FAILURES_STAY: Duration = Duration::from_secs(30 * 86_400);

/// What was too old in an organization.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RetentionReport {
    /// The organization.
    pub organization: String,
    /// What is older goes.
    pub older_than: Timestamp,
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

    /// Removes what is older than each organization keeps its data; those that have not said keep it for ever. The audit log of
    /// each says how much it was.
    pub async fn remove_old_data(
        &self,
        key: &AuditKey,
        now: Timestamp,
    ) -> Result<Vec<RetentionReport>, StoreError> {
        let tables = catalogue::tables().await?;
        let (mut reports, mut failed) = (Vec::new(), None);
        for organization in self.organizations().await? {
            let Some(older_than) = older_than(&organization, now) else { continue };
            match self.remove_and_tell(&organization, &tables, older_than, key).await {
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
        older_than: Timestamp,
        key: &AuditKey,
    ) -> Result<RetentionReport, StoreError> {
        let report = self.remove_older(organization, tables, older_than).await?;
        if !report.rows.is_empty() {
            let entry = NewAuditEntry {
                after: Some(json!(report)),
                ..NewAuditEntry::new("retention", "system", AuditPhase::Done)
            };
            self.scoped(organization.id).append_audit(key, &[entry]).await?;
        }
        Ok(report)
    }

    /// What would be removed.
    pub async fn old_data(&self, now: Timestamp) -> Result<Vec<RetentionReport>, StoreError> {
        let tables = catalogue::tables().await?;
        let mut reports = Vec::new();
        for organization in self.organizations().await? {
            let Some(older_than) = older_than(&organization, now) else { continue };
            let scoped = self.scoped(organization.id);
            let old_runs =
                format!("organization_id = $1 AND updated_at < $2 AND state NOT IN {OPEN}");
            let mut removed = Removed::default();
            for owned in &tables {
                let condition = match (age_column(owned), owned.table.place("run_id")) {
                    _ if owned.table.name == "runs" => old_runs.clone(),
                    (Some(column), Some(_)) => format!(
                        "organization_id = $1 AND (\"{column}\" < $2 OR run_id IN (SELECT id FROM runs WHERE {old_runs}))"
                    ),
                    (Some(column), None) => format!("organization_id = $1 AND \"{column}\" < $2"),
                    (None, Some(_)) => format!(
                        "organization_id = $1 AND run_id IN (SELECT id FROM runs WHERE {old_runs})"
                    ),
                    (None, None) => continue,
                };
                let name = &owned.table.name;
                let sql = format!("SELECT COUNT(*) FROM \"{name}\" WHERE {condition}");
                let values = vec![organization.id.0.into(), older_than.as_millisecond().into()];
                let row = scoped.database.query_one_raw(scoped.statement(sql, values)).await?;
                let rows = row.map(|row| row.try_get_by_index::<i64>(0)).transpose()?;
                removed.add(name, rows.unwrap_or(0) as u64);
            }
            let (organization, rows) = (organization.slug, removed.sorted());
            reports.push(RetentionReport { organization, older_than, rows, blobs: 0 });
        }
        Ok(reports)
    }

    async fn remove_older(
        &self,
        organization: &OrganizationRecord,
        tables: &[Owned],
        older_than: Timestamp,
    ) -> Result<RetentionReport, StoreError> {
        let scoped = self.scoped(organization.id);
        let bound = older_than.as_millisecond();
        let (mut removed, mut leftover) = (Removed::default(), Leftover::default());
        let old_runs = format!(
            "SELECT id FROM runs WHERE organization_id = $1 AND updated_at < $2 \
             AND state NOT IN {OPEN} ORDER BY id LIMIT {RUNS_TOGETHER}"
        );
        loop {
            let transaction = scoped.begin_removing().await?;
            let values = vec![organization.id.0.into(), bound.into()];
            let rows = transaction.query_all_raw(scoped.statement(&old_runs, values)).await?;
            let runs: Vec<Uuid> =
                rows.iter().map(|row| row.try_get_by_index(0)).collect::<Result<_, _>>()?;
            if runs.is_empty() {
                break;
            }
            let gone = (&mut removed, &mut leftover);
            scoped.remove_runs_in(&transaction, tables, &runs, gone).await?;
            transaction.commit().await?;
        }
        let transaction = scoped.begin_removing().await?;
        for owned in tables.iter().rev() {
            let Some(column) = age_column(owned) else { continue };
            let name = &owned.table.name;
            let sql =
                format!("DELETE FROM \"{name}\" WHERE organization_id = $1 AND \"{column}\" < $2");
            let values = vec![organization.id.0.into(), bound.into()];
            removed.add(name, scoped.deleted(&transaction, sql, values).await?);
        }
        let manifests = scoped.remove_contents_in(&transaction, &leftover, &mut removed).await?;
        transaction.commit().await?;
        let named = blobs_of(&manifests);
        let sealed = remove_unused_sealed(&scoped, &named).await?;
        let blobs = sealed + remove_unused(self.system(), &scoped.objects, named, None).await?;
        let (organization, rows) = (organization.slug.clone(), removed.sorted());
        Ok(RetentionReport { organization, older_than, rows, blobs })
    }
}

/// What is older than this goes; none where everything stays.
fn older_than(organization: &OrganizationRecord, now: Timestamp) -> Option<Timestamp> {
    let days = organization.settings.data_retention_days?;
    let hours = i64::from(days).checked_mul(24)?;
    now.checked_sub(jiff::SignedDuration::from_hours(hours)).ok()
}
