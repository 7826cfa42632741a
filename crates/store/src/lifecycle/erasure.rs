//! Erases an organization with everything it owns.

use std::collections::BTreeSet;
use std::time::Duration;

use fullbench_types::{
    AuditPhase, DEFAULT_ORGANIZATION, OrganizationId, RunId, SYSTEM_ORGANIZATION,
};
use jiff::Timestamp;
use sea_orm::{ActiveModelTrait, ConnectionTrait, DbBackend, TransactionTrait};
use serde::Serialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::catalogue::{self, Owned};
use super::objects::{blobs_of, remove_unused};
use super::runs::OPEN;
use super::{Removed, RemovedRows};
use crate::audit::ORGANIZATION_ERASED;
use crate::connection::{ScopedConnection, ScopedTransaction};
use crate::objects::sha256_text;
use crate::platform::{default_organization, hold_organization};
use crate::{
    AskedBy, AuditEntry, AuditFilter, AuditKey, DiskCache, NewAuditEntry, RunLock, ScopedStore,
    Store, StoreError, sqlite,
};

/// What an entry in the log of the installation says when nothing of the organizations erased before it is left in the files.
const ERASURES_FINISHED: &str = "erasures_finished";
/// Erasures that are looked through for those that have not ended.
const ERASED_TOGETHER: u64 = 1000;

/// For how long it is looked for what came after an erasure, by a request that another server had let in before.
const LOOKED_FOR: Duration = Duration::from_secs(86_400);

/// How often the removal of rows is tried, and how much longer each time the next try waits.
const TRIES: u32 = 6;
const PAUSE: Duration = Duration::from_millis(200);

/// What stays of the organization of the command line: its row, which is made anew.
const KEPT_OF_DEFAULT: &str = "organizations";

/// What was erased: the one thing that is kept of the organization, beside its id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ErasureReceipt {
    /// The organization that was.
    pub organization_id: OrganizationId,
    /// When it was erased.
    pub erased_at: Timestamp,
    /// Rows, by table.
    pub rows: Vec<RemovedRows>,
    /// Blobs that nobody else had.
    pub blobs: u64,
    /// Uploaded files.
    pub files: u64,
    /// Replies of providers in the response cache of this machine.
    pub cached_replies: u64,
    /// SHA-256 of all of the above, as JSON.
    pub sha256: String,
    /// Why the files of the database may still have something of it, if they may: it is tried again every hour.
    #[serde(skip)]
    pub still_to_do: Option<String>,
}

impl Store {
    /// Erases an organization: every row that carries its id, the objects and files that nobody else has, and its replies in the
    /// response cache. Runs of it must not go on, and none of its files be looked through. What was erased is told to the log of the installation, by numbers only.
    ///
    /// What is not in the database goes first: a kill in between leaves an organization that can be erased again. The receipt is
    /// kept with the removal of the rows; what is left to do then is found there, and done by [`Self::finish_erasures`].
    pub async fn erase_organization(
        &self,
        organization: OrganizationId,
        key: &AuditKey,
        by: impl Into<AskedBy>,
    ) -> Result<ErasureReceipt, StoreError> {
        let by = by.into();
        let scoped = self.scoped(organization);
        scoped.organization_record().await?;
        let _held = (scoped.lock_open_runs().await?, scoped.lock_pending_versions(None).await?);
        let told = |phase, after| told(organization, &by, phase, after);
        let system = self.scoped(SYSTEM_ORGANIZATION);
        system.append_audit(key, &[told(AuditPhase::Asked, None)]).await?;
        scoped.close_access().await?;
        let blobs = scoped.erase_blobs(self).await?;
        let files = scoped.objects.delete_files_of(organization).await?;
        let cached_replies = DiskCache::erase(&scoped.home, organization).await?;
        let tables = catalogue::tables().await?;
        let receipt = |rows| {
            let receipt = ErasureReceipt {
                organization_id: organization,
                erased_at: Timestamp::now(),
                rows,
                blobs,
                files,
                cached_replies,
                sha256: String::new(),
                still_to_do: None,
            };
            let text = json!(receipt).to_string();
            ErasureReceipt { sha256: sha256_text(Sha256::new_with_prefix(text)), ..receipt }
        };
        let receipt = self.erase_rows_told(&scoped, &tables, key, |rows| {
            let receipt = receipt(rows);
            (Some(told(AuditPhase::Done, Some(json!(receipt)))), receipt)
        });
        let receipt = receipt.await?;
        scoped.vault.forget(organization);
        // What was on its way when access was closed.
        self.erase_late_rows(&scoped, &tables, key, &by).await?;
        if let Err(error) = scoped.witness.forget(organization) {
            tracing::warn!(%error, "what was seen of an erased audit log is still there");
        }
        let still_to_do = match self.finish_erasures(key).await {
            Ok(()) => None,
            Err(error) => {
                tracing::warn!(%error, "the files of the database may still have something of an erased organization");
                Some(error.to_string())
            }
        };
        Ok(ErasureReceipt { still_to_do, ..receipt })
    }

    /// Does what is left of erasures that were killed or could not end: rows that came after, and what is left of removed ones in
    /// the files of the database.
    pub async fn finish_erasures(&self, key: &AuditKey) -> Result<(), StoreError> {
        // Hints that cannot be removed keep nobody from the rest.
        if let Err(error) = self.forget_explained_logs(key).await {
            tracing::warn!(%error, "what was seen of an erased audit log is still there");
        }
        let system = self.scoped(SYSTEM_ORGANIZATION);
        let finished = system.newest_of(ERASURES_FINISHED, 1).await?;
        let finished = finished.first().map_or(0, finished_up_to);
        let erased = system.newest_of(ORGANIZATION_ERASED, ERASED_TOGETHER).await?;
        let now = Timestamp::now().as_millisecond();
        let is_looked_at = |entry: &&AuditEntry| {
            entry.number > finished || now - entry.at < LOOKED_FOR.as_millis() as i64
        };
        let looked_at: BTreeSet<Uuid> = erased
            .iter()
            .filter(is_looked_at)
            .filter_map(|entry| entry.target.as_deref()?.parse().ok())
            .collect();
        let tables = catalogue::tables().await?;
        for organization in looked_at {
            let scoped = self.scoped(OrganizationId(organization));
            match scoped.organization_record().await {
                // It is there again, as that of the command line always is: what it has came after.
                Ok(_) => continue,
                Err(StoreError::NameNotFound { .. }) => {}
                Err(error) => return Err(error),
            }
            // Most often there is nothing: that is seen without keeping anybody from writing.
            if scoped.has_rows(self.system(), &tables).await? {
                self.erase_late_rows(&scoped, &tables, key, &"system".into()).await?;
            }
        }
        // With what was told of late rows: it is not finished before nothing is left of them either.
        let newest = system.newest_of(ORGANIZATION_ERASED, ERASED_TOGETHER).await?;
        let Some(newest) = newest.first().filter(|newest| newest.number > finished) else {
            return Ok(());
        };
        if self.system().get_database_backend() == DbBackend::Sqlite {
            sqlite::forget_removed(self.system()).await?;
        }
        let done = NewAuditEntry {
            after: Some(json!({"up_to": newest.number})),
            ..NewAuditEntry::new(ERASURES_FINISHED, "system", AuditPhase::Done)
        };
        system.append_audit(key, &[done]).await?;
        Ok(())
    }

    /// Removes rows that came after, and tells of it where there were any.
    async fn erase_late_rows(
        &self,
        scoped: &ScopedStore,
        tables: &[Owned],
        key: &AuditKey,
        by: &AskedBy,
    ) -> Result<(), StoreError> {
        let late = self.erase_rows_told(scoped, tables, key, |rows| {
            let after = Some(json!({"rows": rows}));
            let entry = told(scoped.organization, by, AuditPhase::Done, after);
            ((!rows.is_empty()).then_some(entry), ())
        });
        late.await
    }

    /// Removes every row of the organization, together with what the log of the installation is told of it.
    ///
    /// Who still works for the organization on another server holds rows of it too. Where both wait for each other the database
    /// ends one of them; this one begins again, since nobody could ask for it any more.
    async fn erase_rows_told<T>(
        &self,
        scoped: &ScopedStore,
        tables: &[Owned],
        key: &AuditKey,
        told: impl Fn(Vec<RemovedRows>) -> (Option<NewAuditEntry>, T),
    ) -> Result<T, StoreError> {
        let system = self.scoped(SYSTEM_ORGANIZATION);
        let erased = async || {
            let (transaction, rows) = self.erase_rows(scoped, tables).await?;
            let (entry, done) = told(rows);
            let ends = match entry {
                Some(entry) => Some(system.append_audit_in(&transaction, key, &[entry]).await?),
                None => None,
            };
            Ok((transaction, ends, done))
        };
        let mut tries = 1;
        let (transaction, ends, done) = loop {
            match erased().await {
                Err(error @ StoreError::DatabaseDown(_)) if tries < TRIES => {
                    tracing::warn!(%error, "an erasure begins again");
                    tokio::time::sleep(PAUSE * tries).await;
                    tries += 1;
                }
                ended => break ended?,
            }
        };
        transaction.commit().await?;
        if let Some(ends) = ends {
            system.witness.keep(&ends);
        }
        Ok(done)
    }

    /// Removes every row of the organization, once the transaction is committed. That of the command line is there again
    /// afterwards, with nothing in it.
    async fn erase_rows(
        &self,
        scoped: &ScopedStore,
        tables: &[Owned],
    ) -> Result<(ScopedTransaction, Vec<RemovedRows>), StoreError> {
        let transaction = self.system().begin().await?;
        if transaction.get_database_backend() == DbBackend::Sqlite {
            transaction.execute_unprepared("PRAGMA secure_delete = ON").await?;
        }
        let mut removed = Removed::default();
        scoped.remove_all_in(&transaction, tables, &mut removed).await?;
        if scoped.organization == DEFAULT_ORGANIZATION {
            default_organization().update(&transaction).await?;
        }
        Ok((transaction, removed.sorted()))
    }
}

/// What the log of the installation is told of an erasure.
fn told(
    organization: OrganizationId,
    by: &AskedBy,
    phase: AuditPhase,
    after: Option<Value>,
) -> NewAuditEntry {
    NewAuditEntry {
        target: Some(organization.0.to_string()),
        after,
        ..NewAuditEntry::asked_by(by, ORGANIZATION_ERASED, phase)
    }
}

/// The number of the last erasure that an entry says to be finished.
fn finished_up_to(entry: &AuditEntry) -> u64 {
    let after = entry.after.as_deref().and_then(|after| serde_json::from_str::<Value>(after).ok());
    after.and_then(|after| after.get("up_to")?.as_u64()).unwrap_or(entry.number)
}

impl ScopedStore {
    /// The newest entries of what was done, of so many that tell of it.
    async fn newest_of(&self, action: &str, limit: u64) -> Result<Vec<AuditEntry>, StoreError> {
        let filter = AuditFilter { action: Some(action.to_owned()), ..AuditFilter::default() };
        let mut entries = self.audit_entries(&filter, limit).await?;
        entries.retain(|entry| entry.phase == AuditPhase::Done.as_str());
        Ok(entries)
    }

    /// Holds every run that is open, so that nobody works on it; refuses where somebody does.
    async fn lock_open_runs(&self) -> Result<Vec<RunLock>, StoreError> {
        let sql = format!("SELECT id FROM runs WHERE organization_id = $1 AND state IN {OPEN}");
        let values = vec![self.organization.0.into()];
        let mut locks = Vec::new();
        for row in self.database.query_all_raw(self.statement(sql, values)).await? {
            locks.push(self.lock_run(RunId(row.try_get_by_index::<Uuid>(0)?)).await?);
        }
        Ok(locks)
    }

    /// Lets nobody in any more.
    async fn close_access(&self) -> Result<(), StoreError> {
        for sql in [
            "UPDATE api_keys SET revoked_at = 0 WHERE organization_id = $1",
            "DELETE FROM sessions WHERE organization_id = $1",
        ] {
            self.deleted(&self.database, sql, vec![self.organization.0.into()]).await?;
        }
        Ok(())
    }

    /// Removes the blobs that only this organization names.
    async fn erase_blobs(&self, store: &Store) -> Result<u64, StoreError> {
        let sql = "SELECT manifest FROM dataset_contents WHERE organization_id = $1";
        let values = vec![self.organization.0.into()];
        let rows = self.database.query_all_raw(self.statement(sql, values)).await?;
        let manifests: Vec<String> =
            rows.iter().map(|row| row.try_get_by_index(0)).collect::<Result<_, _>>()?;
        let except = Some(self.organization);
        remove_unused(store.system(), &self.objects, blobs_of(&manifests), except).await
    }

    /// Whether there is any row of the organization.
    async fn has_rows(
        &self,
        system: &ScopedConnection,
        tables: &[Owned],
    ) -> Result<bool, StoreError> {
        let owners = tables.iter().filter_map(|owned| Some((&owned.table.name, owned.owner()?)));
        for (name, owner) in owners {
            let sql = format!("SELECT 1 FROM \"{name}\" WHERE {owner} = $1 LIMIT 1");
            let statement = self.statement(sql, vec![self.organization.0.into()]);
            if system.query_one_raw(statement).await?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    async fn remove_all_in(
        &self,
        transaction: &ScopedTransaction,
        tables: &[Owned],
        removed: &mut Removed,
    ) -> Result<(), StoreError> {
        // Nobody changes anything of it meanwhile: whoever does holds this row first.
        hold_organization(transaction, self.organization).await?;
        let mut in_order: Vec<&Owned> = tables.iter().rev().collect();
        in_order.sort_by_key(|owned| match owned.table.name.as_str() {
            // The end of the audit log goes before its entries, which cannot go while it is there.
            "audit_heads" => 1,
            "audit_entries" => 2,
            "organizations" => 3,
            _ => 0,
        });
        for owned in in_order {
            let Some(owner) = owned.owner() else { continue };
            let name = &owned.table.name;
            if self.organization == DEFAULT_ORGANIZATION && name == KEPT_OF_DEFAULT {
                continue;
            }
            let sql = format!("DELETE FROM \"{name}\" WHERE {owner} = $1");
            let rows = self.deleted(transaction, sql, vec![self.organization.0.into()]).await?;
            removed.add(name, rows);
        }
        Ok(())
    }
}
