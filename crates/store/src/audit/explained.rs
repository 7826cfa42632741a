//! What the log of the installation tells that explains why entries are missing which were seen: that the log was erased with
//! its organization, or that a backup was restored in its place.

use std::collections::BTreeMap;

use fullbench_types::{AuditPhase, SYSTEM_ORGANIZATION};
use uuid::Uuid;

use super::witness::SeenEnd;
use super::{
    AuditBeginning, AuditEntry, AuditKey, BACKUP_RESTORED, ChainCheck, ORGANIZATION_ERASED,
};
use crate::connection::{SYSTEM, ScopedTransaction};
use crate::{ScopedStore, StoreError};

/// How far the clocks of servers may be apart, in milliseconds.
const CLOCKS_APART: i64 = 60_000;

/// What was removed by intention, and when that was last, in milliseconds since 1970.
#[derive(Debug, Default)]
pub(super) struct Explained {
    erased: BTreeMap<Uuid, i64>,
    restored: Option<i64>,
}

impl Explained {
    /// Whether what was seen of a log may be gone.
    pub(super) fn has(&self, seen: &SeenEnd) -> bool {
        let erased = self.erased.get(&seen.head.organization_id.0).copied();
        self.restored.max(erased).is_some_and(|at| at >= seen.at - CLOCKS_APART)
    }

    fn see(&mut self, entry: &AuditEntry) {
        if entry.phase != AuditPhase::Done.as_str() {
            return;
        }
        let target = || entry.target.as_deref().and_then(|target| target.parse().ok());
        if entry.action == BACKUP_RESTORED {
            self.restored = self.restored.max(Some(entry.at));
        } else if entry.action == ORGANIZATION_ERASED
            && let Some(erased) = target()
        {
            let at = self.erased.entry(erased).or_insert(entry.at);
            *at = entry.at.max(*at);
        }
    }
}

impl ScopedStore {
    /// What the log of the installation explains. It is believed as far as it leads to its sealed end without a break, and not at
    /// all without the key of the seal: anybody who owns the database can add a row.
    pub(super) async fn explained_in(
        &self,
        transaction: &ScopedTransaction,
        key: Option<&AuditKey>,
    ) -> Result<Explained, StoreError> {
        let Some(key) = key else { return Ok(Explained::default()) };
        let installation = Self { organization: SYSTEM_ORGANIZATION, ..self.clone() };
        let mut check = ChainCheck::new(Some(SYSTEM_ORGANIZATION), None, None);
        let mut explained = Explained::default();
        transaction.seen_by(SYSTEM).await?;
        let head = installation.audit_head_in(transaction).await?;
        let reading = installation.each_entry_in(transaction, |entry| {
            let found = check.finding_count();
            check.entry(entry);
            match check.finding_count() > found {
                true => explained = Explained::default(),
                false => explained.see(entry),
            }
        });
        reading.await?;
        if self.organization != SYSTEM_ORGANIZATION {
            transaction.seen_by(&self.organization.0.to_string()).await?;
        }
        let found = check.finding_count();
        let report = check.finish(head.as_ref(), Some(key), AuditBeginning::Needed);
        let is_end_whole = report.finding_count == found;
        Ok(if is_end_whole { explained } else { Explained::default() })
    }
}
