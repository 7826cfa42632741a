//! The log of the installation tells that the logs of organizations began: one that is gone as a whole is missed.

use std::collections::BTreeSet;

use fullbench_types::{AuditPhase, DEFAULT_ORGANIZATION, OrganizationId, SYSTEM_ORGANIZATION};
use sea_orm::{ColumnTrait, Condition, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder};
use serde_json::json;
use uuid::Uuid;

use super::witness::SeenEnd;
use super::{
    AuditBeginning, AuditEntry, AuditFinding, AuditHash, AuditHead, AuditKey, LOG_BEGAN,
    NewAuditEntry, ORGANIZATION_ERASED,
};
use crate::connection::{SYSTEM, ScopedTransaction};
use crate::entity::platform::{audit_entry, audit_head};
use crate::{ScopedStore, Store, StoreError};

/// With this one the audit log came into a database.
const AUDIT_MIGRATION: &str = "m0015_audit";

/// What the first key was called while it was made without an entry.
const UNTOLD_KEY: &str = "first key of the owner";

/// The logs that began and were not erased since, as the log of the installation tells.
#[derive(Debug, Default)]
pub(super) struct ToldLogs(BTreeSet<Uuid>);

impl ToldLogs {
    /// Reads the next entry of the log of the installation.
    pub(super) fn see(&mut self, entry: &AuditEntry) {
        let Some(target) = entry.target.as_deref().and_then(|target| target.parse().ok()) else {
            return;
        };
        if entry.action == LOG_BEGAN {
            self.0.insert(target);
        } else if entry.action == ORGANIZATION_ERASED && entry.phase == AuditPhase::Done.as_str() {
            self.0.remove(&target);
        }
    }

    /// Adds logs that this machine has seen.
    pub(super) fn add<'seen>(&mut self, logs: impl Iterator<Item = &'seen SeenEnd>) {
        self.0.extend(logs.map(|seen| seen.head.organization_id.0));
    }

    /// Those that are not there.
    pub(super) fn missing(&self, there: &[AuditHead]) -> impl Iterator<Item = AuditFinding> {
        let is_there = |id: &Uuid| there.iter().any(|head| head.organization_id.0 == *id);
        self.0
            .iter()
            .filter(move |id| !is_there(id))
            .map(|id| AuditFinding::LogMissing { organization_id: OrganizationId(*id) })
    }
}

impl Store {
    /// Organizations that have a log, and are not there.
    pub async fn logs_without_organization(&self) -> Result<Vec<OrganizationId>, StoreError> {
        let system = self.scoped(SYSTEM_ORGANIZATION);
        system.logs_without_organization_in(self.system()).await
    }
}

impl ScopedStore {
    /// Tells in the log of the installation that this one begins, unless that was told before; says whether what was there
    /// since then was removed, or an older state put in its place, and what the end of the log of the installation is then.
    pub(super) async fn tell_beginning(
        &self,
        transaction: &ScopedTransaction,
        key: &AuditKey,
        head: &AuditHead,
    ) -> Result<(bool, Option<AuditHead>), StoreError> {
        if self.has_begun_in(transaction).await? {
            return Ok((head.number == 0 || key.has_sealed(head), None));
        }
        let installation = Self { organization: SYSTEM_ORGANIZATION, ..self.clone() };
        let began = NewAuditEntry {
            target: Some(self.organization.0.to_string()),
            after: Some(json!({"number": head.number})),
            ..NewAuditEntry::new(LOG_BEGAN, "system", AuditPhase::Done)
        };
        transaction.seen_by(SYSTEM).await?;
        let end = installation.locked_head(transaction, key).await?;
        let was_removed = installation.was_installation_removed_in(transaction, key, &end).await?;
        let end = installation.append_after(transaction, key, end, was_removed, &[began]).await?;
        transaction.seen_by(&self.organization.0.to_string()).await?;
        Ok((false, Some(end)))
    }

    /// Whether the log of the installation, which has this end, begins anew in the place of one that was removed.
    pub(super) async fn was_installation_removed_in(
        &self,
        transaction: &ScopedTransaction,
        key: &AuditKey,
        end: &AuditHead,
    ) -> Result<bool, StoreError> {
        if end.number > 0 {
            return Ok(false);
        }
        let mut others = self.logs_in(transaction).await?;
        // Those with no entry yet begin in this transaction.
        others.retain(|other| other.number > 0);
        let beginning = self.installation_beginning_in(transaction, None, &others, Some(key));
        Ok(beginning.await? == AuditBeginning::Needed)
    }

    /// Whether the log of the installation tells that this one began, and was not erased since.
    pub(super) async fn has_begun_in(
        &self,
        transaction: &ScopedTransaction,
    ) -> Result<bool, StoreError> {
        let is_erased = Condition::all()
            .add(audit_entry::Column::Action.eq(ORGANIZATION_ERASED))
            .add(audit_entry::Column::Phase.eq(AuditPhase::Done.as_str()));
        let told = audit_entry::Entity::find()
            .filter(audit_entry::Column::OrganizationId.eq(SYSTEM_ORGANIZATION.0))
            .filter(audit_entry::Column::Target.eq(self.organization.0.to_string()))
            .filter(Condition::any().add(audit_entry::Column::Action.eq(LOG_BEGAN)).add(is_erased))
            .order_by_desc(audit_entry::Column::Number);
        transaction.seen_by(SYSTEM).await?;
        let newest = told.one(transaction).await?;
        transaction.seen_by(&self.organization.0.to_string()).await?;
        Ok(newest.is_some_and(|entry| entry.action == LOG_BEGAN))
    }

    /// The ends of the logs of all organizations.
    pub(super) async fn logs_in(
        &self,
        transaction: &ScopedTransaction,
    ) -> Result<Vec<AuditHead>, StoreError> {
        transaction.seen_by(SYSTEM).await?;
        let rows = audit_head::Entity::find()
            .filter(audit_head::Column::OrganizationId.ne(SYSTEM_ORGANIZATION.0))
            .all(transaction)
            .await?;
        Ok(rows.into_iter().map(head).collect())
    }

    /// Organizations that have a log, and are not there.
    pub(super) async fn logs_without_organization_in(
        &self,
        connection: &impl ConnectionTrait,
    ) -> Result<Vec<OrganizationId>, StoreError> {
        let sql = "SELECT organization_id FROM audit_heads WHERE organization_id <> $1 \
             AND organization_id NOT IN (SELECT id FROM organizations) ORDER BY organization_id";
        let statement = self.statement(sql, vec![SYSTEM_ORGANIZATION.0.into()]);
        let rows = connection.query_all_raw(statement).await?;
        rows.iter().map(|row| Ok(OrganizationId(row.try_get_by_index(0)?))).collect()
    }

    /// Whether the log of the installation itself must be there: another one is sealed as one of which it tells, or there are
    /// organizations and keys, which nobody makes without an entry, and no log at all.
    pub(super) async fn installation_beginning_in(
        &self,
        transaction: &ScopedTransaction,
        own: Option<&AuditHead>,
        others: &[AuditHead],
        key: Option<&AuditKey>,
    ) -> Result<AuditBeginning, StoreError> {
        let is_told = |head: &AuditHead| key.is_some_and(|key| key.has_sealed_told(head));
        if own.is_some() || others.iter().any(is_told) {
            return Ok(AuditBeginning::Needed);
        }
        if !others.is_empty() {
            return Ok(AuditBeginning::Untold);
        }
        transaction.seen_by(SYSTEM).await?;
        // Those that are older than the audit log may be without it.
        let sql = "WITH began AS (SELECT 1000 * applied_at AS at FROM seaql_migrations WHERE version = $2) \
             SELECT 1 FROM organizations, began WHERE id <> $1 AND created_at >= at \
             UNION ALL SELECT 1 FROM api_keys, began WHERE created_at >= at AND name <> $3 LIMIT 1";
        let values = vec![DEFAULT_ORGANIZATION.0.into(), AUDIT_MIGRATION.into(), UNTOLD_KEY.into()];
        let made = self.statement(sql, values);
        match transaction.query_one_raw(made).await? {
            Some(_) => Ok(AuditBeginning::Needed),
            None => Ok(AuditBeginning::Untold),
        }
    }
}

/// The end of a chain, whatever somebody may have made of it.
pub(super) fn head(row: audit_head::Model) -> AuditHead {
    AuditHead {
        organization_id: OrganizationId(row.organization_id),
        number: u64::try_from(row.number).unwrap_or(0),
        hash: AuditHash::from_stored(&row.hash),
        mac: AuditHash::from_stored(&row.mac),
    }
}
