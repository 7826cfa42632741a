//! Changing the master key while servers work.
//!
//! The file gets a key before anything is wrapped with it and loses one after nothing is any more. Data keys stay what they are,
//! so that nothing that they sealed has to be written anew.

use std::collections::BTreeMap;

use sea_orm::sea_query::{Condition, Expr};
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use uuid::Uuid;

use super::data_keys::{masters_in_use, place};
use super::master::{MasterKey, MasterKeyId, MasterKeys};
use super::{Keyring, Shared};
use crate::entity::platform::organization_key;
use crate::{Store, StoreError};

/// Data keys that are wrapped anew in one transaction.
const GROUP: u64 = 100;

/// A master key and what is wrapped with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MasterKeyStatus {
    /// The key.
    pub id: MasterKeyId,
    /// New things are wrapped with it.
    pub is_current: bool,
    /// It is at hand.
    pub is_here: bool,
    /// Data keys that are wrapped with it.
    pub data_keys: u64,
}

/// What a change of the master key has done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rotation {
    /// The current key now.
    pub current: MasterKeyId,
    /// It was made just now; else it was given by the environment.
    pub is_new: bool,
    /// Data keys that were wrapped anew.
    pub rewrapped: u64,
}

/// What came of forgetting old master keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForgottenKeys {
    /// Data keys that had to be wrapped anew first.
    pub rewrapped: u64,
    /// Keys that nothing is wrapped with any more.
    pub unused: Vec<MasterKeyId>,
    /// They were removed from the file; those of the environment are not ours to remove.
    pub are_removed: bool,
}

impl Store {
    /// The master keys there are and those that are missing, with the number of data keys under each; the current one first.
    pub async fn master_key_status(&self) -> Result<Vec<MasterKeyStatus>, StoreError> {
        let shared = &self.vault().shared;
        let mut counts: BTreeMap<String, i64> = organization_key::Entity::find()
            .select_only()
            .column(organization_key::Column::MasterId)
            .column_as(organization_key::Column::Number.count(), "data_keys")
            .filter(organization_key::Column::MasterId.is_not_null())
            .group_by(organization_key::Column::MasterId)
            .into_tuple::<(String, i64)>()
            .all(&shared.database)
            .await?
            .into_iter()
            .collect();
        let keys = shared.keyring.there()?;
        let mut status = Vec::new();
        for (place, key) in keys.iter().flat_map(MasterKeys::all).enumerate() {
            let data_keys = counts.remove(&key.id().0).unwrap_or(0) as u64;
            let id = key.id().clone();
            status.push(MasterKeyStatus { id, is_current: place == 0, is_here: true, data_keys });
        }
        for (id, data_keys) in counts {
            let (id, data_keys) = (MasterKeyId(id), data_keys as u64);
            status.push(MasterKeyStatus { id, is_current: false, is_here: false, data_keys });
        }
        Ok(status)
    }

    /// Makes a new master key and wraps all data keys with it; the keys before are kept. Where the environment gives the keys,
    /// all is wrapped with its current one.
    pub async fn rotate_master_key(&self) -> Result<Rotation, StoreError> {
        let shared = &self.vault().shared;
        let transaction = shared.begin_alone().await?;
        shared.refuse_strange(&transaction).await?;
        let keys = shared.keyring.fresh()?;
        let is_new = match &shared.keyring {
            Keyring::Given(_) => false,
            Keyring::File { file, .. } => {
                file.replace(&keys.replaced_by(MasterKey::generate()?))?;
                true
            }
        };
        transaction.commit().await?;
        let current = shared.keyring.fresh()?.current().id().clone();
        Ok(Rotation { current, is_new, rewrapped: shared.rewrap_all().await? })
    }

    /// Removes master keys that nothing is wrapped with any more, after wrapping anew what still is.
    pub async fn forget_old_master_keys(&self) -> Result<ForgottenKeys, StoreError> {
        let shared = &self.vault().shared;
        let mut rewrapped = shared.rewrap_all().await?;
        let transaction = shared.begin_alone().await?;
        // Made since; nobody makes any more until the transaction ends.
        rewrapped += shared.rewrap_some(&transaction, None).await?.rewrapped;
        let keys = shared.keyring.fresh()?;
        let in_use = masters_in_use(&transaction).await?;
        let (kept, unused): (Vec<_>, Vec<_>) =
            keys.all().skip(1).cloned().partition(|key| in_use.contains(key.id()));
        let are_removed = match &shared.keyring {
            Keyring::Given(_) => false,
            Keyring::File { file, .. } if !unused.is_empty() => {
                file.replace(&MasterKeys::new(keys.current().clone(), kept))?;
                true
            }
            Keyring::File { .. } => true,
        };
        transaction.commit().await?;
        let unused = unused.iter().map(|key| key.id().clone()).collect();
        Ok(ForgottenKeys { rewrapped, unused, are_removed })
    }
}

/// What was done in one transaction.
struct Group {
    rewrapped: u64,
    /// The last row that was looked at; none if it was the last of all.
    last: Option<(Uuid, i32)>,
}

impl Shared {
    /// Wraps with the current master key what is wrapped with others, a few at a time.
    async fn rewrap_all(&self) -> Result<u64, StoreError> {
        let (mut rewrapped, mut after) = (0, None);
        loop {
            let transaction = self.begin_alone().await?;
            let group = self.rewrap_some(&transaction, after).await?;
            transaction.commit().await?;
            rewrapped += group.rewrapped;
            match group.last {
                Some(last) => after = Some(last),
                None => return Ok(rewrapped),
            }
        }
    }

    async fn rewrap_some(
        &self,
        connection: &impl ConnectionTrait,
        after: Option<(Uuid, i32)>,
    ) -> Result<Group, StoreError> {
        let keys = self.keyring.fresh()?;
        let current = keys.current();
        let mut rows = organization_key::Entity::find()
            .filter(organization_key::Column::MasterId.ne(current.id().to_string()))
            .order_by_asc(organization_key::Column::OrganizationId)
            .order_by_asc(organization_key::Column::Number)
            .limit(GROUP);
        if let Some((organization, number)) = after {
            let same = Condition::all()
                .add(organization_key::Column::OrganizationId.eq(organization))
                .add(organization_key::Column::Number.gt(number));
            let later = organization_key::Column::OrganizationId.gt(organization);
            rows = rows.filter(Condition::any().add(same).add(later));
        }
        let rows = rows.all(connection).await?;
        let is_last = (rows.len() as u64) < GROUP;
        let last = rows.last().map(|row| (row.organization_id, row.number));
        let mut rewrapped = 0;
        for row in rows {
            let place = place(&row)?;
            let (Some(wrapped), Some(master)) = (row.wrapped, row.master_id) else { continue };
            let master = MasterKeyId(master);
            let key = keys.find(&master).ok_or(StoreError::MasterKeyUnknown(master))?;
            let again = current.wrap(place, &*key.unwrap(place, &wrapped)?)?;
            organization_key::Entity::update_many()
                .col_expr(organization_key::Column::Wrapped, Expr::value(again))
                .col_expr(organization_key::Column::MasterId, Expr::value(current.id().to_string()))
                .filter(organization_key::Column::OrganizationId.eq(row.organization_id))
                .filter(organization_key::Column::Number.eq(row.number))
                .filter(organization_key::Column::Wrapped.is_not_null())
                .exec(connection)
                .await?;
            rewrapped += 1;
        }
        Ok(Group { rewrapped, last: last.filter(|_| !is_last) })
    }
}
