//! The log of the installation tells that the logs of organizations began: one that is gone as a whole is missed.

use std::collections::BTreeSet;

use fullbench_types::{AuditPhase, DEFAULT_ORGANIZATION, OrganizationId, SYSTEM_ORGANIZATION};
use sea_orm::{ColumnTrait, Condition, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder};
use serde_json::json;
use uuid::Uuid;

use super::{
    AuditBeginning, AuditEntry, AuditFinding, AuditHash, AuditHead, AuditKey, LOG_BEGAN,
    NewAuditEntry, ORGANIZATION_ERASED,
};
use crate::connection::{SYSTEM, ScopedTransaction};
use crate::entity::platform::{audit_entry, audit_head};
use crate::{ScopedStore, StoreError};

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

    /// Those that are not there.
    pub(super) fn missing(&self, there: &[AuditHead]) -> impl Iterator<Item = AuditFinding> {
        let is_there = |id: &Uuid| there.iter().any(|head| head.organization_id.0 == *id);
        self.0
            .iter()
            .filter(move |id| !is_there(id))
            .map(|id| AuditFinding::LogMissing { organization_id: OrganizationId(*id) })
    }
}

impl ScopedStore {
    /// Tells in the log of the installation that this one begins, unless that was told before; says whether what was there
    /// since then was removed, or an older state put in its place.
    pub(super) async fn tell_beginning(
        &self,
        transaction: &ScopedTransaction,
        key: &AuditKey,
        head: &AuditHead,
    ) -> Result<bool, StoreError> {
        let has_begun = self.has_begun_in(transaction).await?;
        if !has_begun {
            let installation = Self { organization: SYSTEM_ORGANIZATION, ..self.clone() };
            let began = NewAuditEntry {
                target: Some(self.organization.0.to_string()),
                after: Some(json!({"number": head.number})),
                ..NewAuditEntry::new(LOG_BEGAN, "system", AuditPhase::Done)
            };
            transaction.seen_by(SYSTEM).await?;
            let end = installation.locked_head(transaction, key).await?;
            installation.append_after(transaction, key, end, false, &[began]).await?;
            transaction.seen_by(&self.organization.0.to_string()).await?;
        }
        Ok(has_begun && (head.number == 0 || key.has_sealed(head)))
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
        let sql =
            "SELECT 1 FROM organizations WHERE id <> $1 UNION ALL SELECT 1 FROM api_keys LIMIT 1";
        let made = self.statement(sql, vec![DEFAULT_ORGANIZATION.0.into()]);
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
