//! Reads the audit log of an organization.

use fullbench_types::SYSTEM_ORGANIZATION;
use jiff::Timestamp;
use sea_orm::{
    ColumnTrait, ConnectionTrait, DbErr, EntityTrait, FromQueryResult, QueryFilter, QueryOrder,
    QueryResult, QuerySelect, Select,
};

use super::beginning::{ToldLogs, head};
use super::witness::SeenEnd;
use super::{
    AuditBeginning, AuditEntry, AuditFinding, AuditHash, AuditHead, AuditKey, AuditReport,
    ChainCheck,
};
use crate::entity::platform::{audit_entry, audit_head};
use crate::{ScopedStore, StoreError};

/// Entries that are read together.
const TOGETHER: u64 = 4096;

/// Which entries are wanted.
#[derive(Debug, Clone, Default)]
pub struct AuditFilter {
    /// At this time or later.
    pub since: Option<Timestamp>,
    /// Before this time.
    pub until: Option<Timestamp>,
    /// By whom.
    pub actor: Option<String>,
    /// What was to be done.
    pub action: Option<String>,
    /// What it was about.
    pub target: Option<String>,
    /// Older than the one of this number.
    pub before_number: Option<u64>,
}

impl ScopedStore {
    /// The newest entries that are wanted.
    pub async fn audit_entries(
        &self,
        filter: &AuditFilter,
        limit: u64,
    ) -> Result<Vec<AuditEntry>, StoreError> {
        let mut rows = self.audit_rows();
        let AuditFilter { since, until, actor, action, target, before_number } = filter;
        if let Some(since) = since {
            rows = rows.filter(audit_entry::Column::At.gte(since.as_millisecond()));
        }
        if let Some(until) = until {
            rows = rows.filter(audit_entry::Column::At.lt(until.as_millisecond()));
        }
        if let Some(actor) = actor {
            rows = rows.filter(audit_entry::Column::Actor.eq(actor));
        }
        if let Some(action) = action {
            rows = rows.filter(audit_entry::Column::Action.eq(action));
        }
        if let Some(target) = target {
            rows = rows.filter(audit_entry::Column::Target.eq(target));
        }
        if let Some(number) = before_number {
            let number = i64::try_from(*number).unwrap_or(i64::MAX);
            rows = rows.filter(audit_entry::Column::Number.lt(number));
        }
        let rows = rows.order_by_desc(audit_entry::Column::Number).limit(limit);
        let rows = rows.into_model::<Damaged>().all(&self.database).await?;
        Ok(rows.into_iter().map(|row| entry(row.0)).collect())
    }

    /// The end of the chain; none before the first entry.
    pub async fn audit_head(&self) -> Result<Option<AuditHead>, StoreError> {
        self.audit_head_in(&self.database).await
    }

    /// Entries after one, up to another, in order.
    pub async fn audit_entries_between(
        &self,
        after: u64,
        up_to: u64,
    ) -> Result<Vec<AuditEntry>, StoreError> {
        self.audit_entries_in(&self.database, Some(after), up_to).await
    }

    /// Reads the whole chain again, as it is at one moment, and says what is not as it was written. One of the entries is
    /// expected to have this hash.
    pub async fn verify_audit(
        &self,
        key: Option<&AuditKey>,
        expected: Option<AuditHash>,
    ) -> Result<AuditReport, StoreError> {
        // Before the log is looked at, which only grows.
        let seen = self.witness.seen(self.organization);
        let seen_logs = match self.organization {
            SYSTEM_ORGANIZATION => self.witness.all_seen(),
            _ => Vec::new(),
        };
        let snapshot = self.database.snapshot().await?;
        let head = self.audit_head_in(&snapshot).await?;
        let mut check =
            ChainCheck::new(Some(self.organization), expected, seen.map(|seen| seen.head));
        let mut told = ToldLogs::default();
        let reading = self.each_entry_in(&snapshot, |entry| {
            check.entry(entry);
            told.see(entry);
        });
        reading.await?;
        if let Some(seen) = seen.filter(|_| check.misses_seen())
            && self.explained_in(&snapshot, key).await?.has(&seen)
        {
            check.forget_seen();
        }
        let beginning = if self.organization == SYSTEM_ORGANIZATION {
            let there = self.logs_in(&snapshot).await?;
            let is_gone = |seen: &SeenEnd| {
                !there.iter().any(|head| head.organization_id == seen.head.organization_id)
            };
            let gone: Vec<_> = seen_logs.into_iter().filter(is_gone).collect();
            if !gone.is_empty() {
                let explained = self.explained_in(&snapshot, key).await?;
                told.add(gone.iter().filter(|seen| !explained.has(seen)));
            }
            told.missing(&there).for_each(|finding| check.found(finding));
            for organization_id in self.logs_without_organization_in(&snapshot).await? {
                check.found(AuditFinding::OrganizationMissing { organization_id });
            }
            self.installation_beginning_in(&snapshot, head.as_ref(), &there, key).await?
        } else {
            match self.has_begun_in(&snapshot).await? {
                true => AuditBeginning::Told,
                false => AuditBeginning::Untold,
            }
        };
        Ok(check.finish(head.as_ref(), key, beginning))
    }

    pub(super) async fn audit_head_in(
        &self,
        connection: &impl ConnectionTrait,
    ) -> Result<Option<AuditHead>, StoreError> {
        let rows = audit_head::Entity::find()
            .filter(audit_head::Column::OrganizationId.eq(self.organization.0));
        Ok(rows.one(connection).await?.map(head))
    }

    /// Reads all entries, in order.
    pub(super) async fn each_entry_in(
        &self,
        connection: &impl ConnectionTrait,
        mut see: impl FnMut(&AuditEntry),
    ) -> Result<(), StoreError> {
        let mut last = None;
        loop {
            let entries = self.audit_entries_in(connection, last, u64::MAX).await?;
            let Some(newest) = entries.last() else { return Ok(()) };
            entries.iter().for_each(&mut see);
            // A number that cannot be read comes after all others, again and again.
            if last.replace(newest.number) == Some(newest.number) {
                return Ok(());
            }
        }
    }

    async fn audit_entries_in(
        &self,
        connection: &impl ConnectionTrait,
        after: Option<u64>,
        up_to: u64,
    ) -> Result<Vec<AuditEntry>, StoreError> {
        let bound = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        let rows = self
            .audit_rows()
            .filter(audit_entry::Column::Number.gt(after.map_or(i64::MIN, bound)))
            .filter(audit_entry::Column::Number.lte(bound(up_to)))
            .order_by_asc(audit_entry::Column::Number)
            .limit(TOGETHER);
        let rows = rows.into_model::<Damaged>().all(connection).await?;
        Ok(rows.into_iter().map(|row| entry(row.0)).collect())
    }

    fn audit_rows(&self) -> Select<audit_entry::Entity> {
        audit_entry::Entity::find()
            .filter(audit_entry::Column::OrganizationId.eq(self.organization.0))
    }
}

/// What stands for a field that cannot be read, since somebody put something of another type there, as SQLite lets them: no field
/// that was written is like it, so that the hash is another one.
const UNREADABLE: &str = "\u{fffd} unreadable";

/// A row that may have been damaged.
struct Damaged(audit_entry::Model);

impl FromQueryResult for Damaged {
    fn from_query_result(row: &QueryResult, prefix: &str) -> Result<Self, DbErr> {
        let number = |column: &str| row.try_get(prefix, column).unwrap_or(i64::MAX);
        let text = |column: &str| -> String {
            row.try_get(prefix, column).unwrap_or_else(|_| UNREADABLE.to_owned())
        };
        let optional = |column: &str| -> Option<String> {
            row.try_get(prefix, column).unwrap_or_else(|_| Some(UNREADABLE.to_owned()))
        };
        let bytes = |column: &str| -> Vec<u8> { row.try_get(prefix, column).unwrap_or_default() };
        Ok(Self(audit_entry::Model {
            organization_id: row.try_get(prefix, "organization_id")?,
            number: number("number"),
            at: number("at"),
            actor: text("actor"),
            credential: optional("credential"),
            from_address: optional("from_address"),
            request_id: optional("request_id"),
            action: text("action"),
            target: optional("target"),
            phase: text("phase"),
            status: row.try_get(prefix, "status").unwrap_or(Some(i64::MAX)),
            before: optional("before"),
            after: optional("after"),
            previous_hash: bytes("previous_hash"),
            hash: bytes("hash"),
        }))
    }
}

/// An entry, whatever somebody made of it: what is wrong with it is for the check to say.
pub(super) fn entry(row: audit_entry::Model) -> AuditEntry {
    AuditEntry {
        organization_id: row.organization_id,
        number: u64::try_from(row.number).unwrap_or(0),
        at: row.at,
        actor: row.actor,
        credential: row.credential,
        from_address: row.from_address,
        request_id: row.request_id,
        action: row.action,
        target: row.target,
        phase: row.phase,
        status: row.status,
        before: row.before,
        after: row.after,
        previous_hash: AuditHash::from_stored(&row.previous_hash),
        hash: AuditHash::from_stored(&row.hash),
    }
}
