//! Adds entries to the chain of an organization.

use fullbench_types::{AuditPhase, SYSTEM_ORGANIZATION};
use sea_orm::{
    ColumnTrait, ConnectionTrait, DbBackend, EntityTrait, QueryFilter, QueryOrder,
    TransactionTrait, Value,
};
use serde_json::json;

use super::chain::NO_HASH;
use super::read::entry;
use super::{AuditEntry, AuditHash, AuditHead, AuditKey, NewAuditEntry, SEAL_BROKEN};
use crate::connection::ScopedTransaction;
use crate::entity::platform::audit_entry;
use crate::insert::InsertMany;
use crate::{EntityKind, Purpose, ScopedStore, Store, StoreError};

const COLUMNS: &str = "organization_id, number, at, actor, credential, from_address, request_id, action, \
    target, phase, status, before, after, previous_hash, hash";

/// The ends of the chains that entries were added to.
#[derive(Debug)]
pub(crate) struct NewEnds {
    pub(super) own: AuditHead,
    /// That of the installation, where it was told something.
    pub(super) installation: Option<AuditHead>,
}

impl Store {
    /// What the audit logs of this store are sealed with. It is not in the database: the master key opens it.
    pub async fn audit_key(&self) -> Result<AuditKey, StoreError> {
        let key = self.system_keys().derived(Purpose::Audit, &[b"head"]).await?;
        Ok(AuditKey::new(*key))
    }
}

impl ScopedStore {
    /// Adds entries to the end of the chain, all or none of them, and gives the new end. An end that is not as this server
    /// sealed it, or that is older than the one this machine saw last, is told by an entry of its own first, so that it stays to
    /// be seen.
    pub async fn append_audit(
        &self,
        key: &AuditKey,
        new: &[NewAuditEntry],
    ) -> Result<AuditHead, StoreError> {
        let transaction = self.database.begin().await?;
        let ends = self.append_audit_in(&transaction, key, new).await?;
        transaction.commit().await?;
        self.witness.keep(&ends);
        Ok(ends.own)
    }

    /// Adds entries in a transaction; the new ends are to be kept by the witness once it is committed.
    pub(crate) async fn append_audit_in(
        &self,
        transaction: &ScopedTransaction,
        key: &AuditKey,
        new: &[NewAuditEntry],
    ) -> Result<NewEnds, StoreError> {
        let head = self.locked_head(transaction, key).await?;
        self.refuse_erased(transaction).await?;
        let (was_removed, installation) = if self.organization == SYSTEM_ORGANIZATION {
            (self.was_installation_removed_in(transaction, key, &head).await?, None)
        } else if head.number > 0 && key.has_sealed_told(&head) {
            (false, None)
        } else {
            self.tell_beginning(transaction, key, &head).await?
        };
        let own = self.append_after(transaction, key, head, was_removed, new).await?;
        Ok(NewEnds { own, installation })
    }

    /// Adds entries after the end of the chain, which is held. Where all before was removed that stays to be seen as well.
    pub(super) async fn append_after(
        &self,
        transaction: &ScopedTransaction,
        key: &AuditKey,
        head: AuditHead,
        was_removed: bool,
        new: &[NewAuditEntry],
    ) -> Result<AuditHead, StoreError> {
        let newest = self.newest(transaction).await?;
        let (number, hash) =
            newest.as_ref().map_or((0, NO_HASH), |entry| (entry.number, entry.hash));
        let is_sealed =
            !was_removed && key.has_sealed(&head) && (head.number, head.hash) == (number, hash);
        let missed = self.missed_in(transaction, key, (number, hash)).await?;
        let left = missed.unwrap_or(head);
        let broken = (!is_sealed || missed.is_some()).then(|| NewAuditEntry {
            before: Some(json!({"number": left.number, "hash": left.hash})),
            after: Some(json!({"number": number, "hash": hash})),
            ..NewAuditEntry::new(SEAL_BROKEN, "system", AuditPhase::Failed)
        });
        if broken.is_some() {
            let organization = self.organization.0;
            tracing::error!(%organization, "the end of an audit log is not as the server left it: see `fullbench audit verify`");
            metrics::counter!("fullbench_audit_seal_broken_total").increment(1);
        }
        // Numbers that were given are not given again: the gap stays to be seen as well.
        let (mut number, mut hash) = [Some(head), missed]
            .into_iter()
            .flatten()
            .filter(|end| key.has_sealed(end))
            .map(|end| (end.number, end.hash))
            .fold((number, hash), |newest, end| if end.0 > newest.0 { end } else { newest });
        let mut entries = Vec::with_capacity(new.len() + 1);
        for new in broken.iter().chain(new) {
            let entry = new.placed(self.organization, number + 1, hash);
            (number, hash) = (entry.number, entry.hash);
            entries.push(entry);
        }
        let insert = InsertMany { table: "audit_entries", columns: COLUMNS, conflict: "" };
        let values_of = |entry: &AuditEntry, all: &mut Vec<Value>| {
            values(entry, all);
            Ok(())
        };
        insert.run(transaction, &entries, values_of).await?;
        let head = key.seal(self.organization, number, hash);
        let sql =
            "UPDATE audit_heads SET number = $1, hash = $2, mac = $3 WHERE organization_id = $4";
        let values = vec![
            (number as i64).into(),
            hash.0.to_vec().into(),
            head.mac.0.to_vec().into(),
            self.organization.0.into(),
        ];
        transaction.execute_raw(self.statement(sql, values)).await?;
        Ok(head)
    }

    /// The end of the chain, made where there is none, and held until the transaction ends: entries are numbered one after the
    /// other.
    pub(super) async fn locked_head(
        &self,
        transaction: &ScopedTransaction,
        key: &AuditKey,
    ) -> Result<AuditHead, StoreError> {
        let first = key.seal(self.organization, 0, NO_HASH);
        let sql = "INSERT INTO audit_heads (organization_id, number, hash, mac) VALUES ($1, 0, $2, $3) \
             ON CONFLICT (organization_id) DO UPDATE SET number = audit_heads.number \
             RETURNING number, hash, mac";
        let values = vec![
            self.organization.0.into(),
            first.hash.0.to_vec().into(),
            first.mac.0.to_vec().into(),
        ];
        let row = transaction.query_one_raw(self.statement(sql, values)).await?;
        let row = row.ok_or_else(|| StoreError::Damaged("the audit log has no end".to_owned()))?;
        let hash = |place| row.try_get_by_index::<Vec<u8>>(place);
        Ok(AuditHead {
            organization_id: self.organization,
            number: u64::try_from(row.try_get_by_index::<i64>(0)?).unwrap_or(0),
            hash: AuditHash::from_stored(&hash(1)?),
            mac: AuditHash::from_stored(&hash(2)?),
        })
    }

    /// Refuses an organization that is gone: nothing of it comes back.
    async fn refuse_erased(&self, transaction: &ScopedTransaction) -> Result<(), StoreError> {
        if self.organization == SYSTEM_ORGANIZATION {
            return Ok(());
        }
        let lock = match transaction.get_database_backend() {
            DbBackend::Postgres => " FOR KEY SHARE",
            _ => "",
        };
        let sql = format!("SELECT id FROM organizations WHERE id = $1{lock}");
        let statement = self.statement(sql, vec![self.organization.0.into()]);
        match transaction.query_one_raw(statement).await? {
            Some(_) => Ok(()),
            None => Err(StoreError::NameNotFound {
                kind: EntityKind::Organization,
                name: self.organization.0.to_string(),
            }),
        }
    }

    async fn newest(
        &self,
        transaction: &ScopedTransaction,
    ) -> Result<Option<AuditEntry>, StoreError> {
        let rows = audit_entry::Entity::find()
            .filter(audit_entry::Column::OrganizationId.eq(self.organization.0))
            .order_by_desc(audit_entry::Column::Number);
        Ok(rows.one(transaction).await?.map(entry))
    }
}

fn values(entry: &AuditEntry, values: &mut Vec<Value>) {
    values.extend([
        entry.organization_id.into(),
        (entry.number as i64).into(),
        entry.at.into(),
        entry.actor.clone().into(),
        entry.credential.clone().into(),
        entry.from_address.clone().into(),
        entry.request_id.clone().into(),
        entry.action.clone().into(),
        entry.target.clone().into(),
        entry.phase.clone().into(),
        entry.status.into(),
        entry.before.clone().into(),
        entry.after.clone().into(),
        entry.previous_hash.0.to_vec().into(),
        entry.hash.0.to_vec().into(),
    ]);
}
