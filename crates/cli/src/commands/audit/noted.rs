//! What is done on the database itself, without the server, is in the audit log as well.

use fullbench_store::{NewAuditEntry, ScopedStore, Store};
use fullbench_types::{AuditPhase, OrganizationId};
use serde::Serialize;

use crate::failure::CliError;

/// Who it is, as records say it.
pub(crate) const ACTOR: &str = "command line";

/// Something that is being done to an organization, between two entries of its log.
pub(crate) struct Noted {
    log: ScopedStore,
    key: fullbench_store::AuditKey,
    entry: NewAuditEntry,
}

impl Noted {
    /// Notes that it is about to be done, which it is not where this fails.
    pub(crate) async fn begin(
        store: &Store,
        organization: OrganizationId,
        action: &str,
        target: Option<String>,
    ) -> Result<Self, CliError> {
        let (log, key) = (store.scoped(organization), store.audit_key().await?);
        let entry =
            NewAuditEntry { target, ..NewAuditEntry::new(action, ACTOR, AuditPhase::Asked) };
        log.append_audit(&key, std::slice::from_ref(&entry)).await?;
        Ok(Self { log, key, entry })
    }

    /// What was there before is noted with what is there then.
    pub(crate) fn instead_of(mut self, before: &impl Serialize) -> Self {
        self.entry.before = serde_json::to_value(before).ok();
        self
    }

    /// Notes that it was done, and what is there now.
    pub(crate) async fn end(self, after: &impl Serialize) -> Result<(), CliError> {
        let entry = NewAuditEntry {
            at: jiff::Timestamp::now(),
            phase: AuditPhase::Done,
            after: serde_json::to_value(after).ok().filter(|after| !after.is_null()),
            ..self.entry
        };
        self.log.append_audit(&self.key, &[entry]).await?;
        Ok(())
    }
}
