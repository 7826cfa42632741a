//! Data keys in their table: made when they are first needed, unwrapped when they are read.

use std::collections::BTreeMap;

use fullbench_types::OrganizationId;
use sea_orm::sea_query::Expr;
use sea_orm::{
    ActiveModelTrait, ActiveValue::Set, ColumnTrait, ConnectionTrait, DbBackend, EntityTrait,
    QueryFilter, QueryOrder, QuerySelect, TransactionTrait,
};
use zeroize::Zeroizing;

use super::master::MasterKeyId;
use super::sealer::{DataKey, DataKeys};
use super::{DataKeyPlace, KEY_BYTES, Shared, random};
use crate::connection::ScopedTransaction;
use crate::entity::platform::{organization_key, provider_key};
use crate::runs::now_milliseconds;
use crate::{StoreError, sqlite};

/// The advisory lock of whoever makes keys or changes master keys.
const CHANGING: i64 = 0x0066_756c_6c6b_6579;

impl Shared {
    /// The keys of an organization; with a new one where there is none.
    pub(super) async fn read_or_make(
        &self,
        organization: OrganizationId,
    ) -> Result<DataKeys, StoreError> {
        let keys = self.read(organization).await?;
        if keys.can_seal() {
            return Ok(keys);
        }
        self.make(organization).await?;
        self.read(organization).await
    }

    /// The keys of an organization as they are in the table.
    pub(super) async fn read(&self, organization: OrganizationId) -> Result<DataKeys, StoreError> {
        match self.read_once(organization).await {
            // The master key was changed between the look at the table and the look at the file.
            Err(StoreError::MasterKeyUnknown(_)) => self.read_once(organization).await,
            read => read,
        }
    }

    async fn read_once(&self, organization: OrganizationId) -> Result<DataKeys, StoreError> {
        let mut keys = BTreeMap::new();
        for row in rows_of(organization, &self.database).await? {
            let place = place(&row)?;
            let key = match (row.wrapped, row.master_id) {
                (Some(wrapped), Some(master)) => {
                    Some(self.keyring.find(&MasterKeyId(master))?.unwrap(place, &wrapped)?)
                }
                _ => None,
            };
            keys.insert(place.number, DataKey { place, key });
        }
        Ok(DataKeys { keys })
    }

    /// Makes a key, unless another process was first.
    async fn make(&self, organization: OrganizationId) -> Result<(), StoreError> {
        let transaction = self.begin_alone().await?;
        let rows = rows_of(organization, &transaction).await?;
        if rows.iter().any(|row| row.wrapped.is_some()) {
            return Ok(());
        }
        self.add(organization, &rows, transaction).await.map(drop)
    }

    /// Makes a key beside those that there are; none where nothing was ever sealed.
    pub(super) async fn make_successor(
        &self,
        organization: OrganizationId,
    ) -> Result<Option<i32>, StoreError> {
        let transaction = self.begin_alone().await?;
        let rows = rows_of(organization, &transaction).await?;
        if rows.iter().all(|row| row.wrapped.is_none()) {
            return Ok(None);
        }
        self.add(organization, &rows, transaction).await.map(Some)
    }

    /// Adds a key to those of an organization, and gives its number.
    async fn add(
        &self,
        organization: OrganizationId,
        rows: &[organization_key::Model],
        transaction: ScopedTransaction,
    ) -> Result<i32, StoreError> {
        // As the file has it now: a key that is about to be forgotten must wrap nothing new.
        self.refuse_strange(&transaction).await?;
        let masters = self.keyring.fresh()?;
        let number = rows.iter().map(|row| row.number).max().unwrap_or(0) + 1;
        let place = DataKeyPlace { organization, number: number as u32 };
        let key = Zeroizing::new(random::<KEY_BYTES>()?);
        let row = organization_key::ActiveModel {
            organization_id: Set(organization.0),
            number: Set(number),
            wrapped: Set(Some(masters.current().wrap(place, &key)?)),
            master_id: Set(Some(masters.current().id().to_string())),
            created_at: Set(now_milliseconds()),
            deleted_at: Set(None),
        };
        row.insert(&transaction).await?;
        transaction.commit().await?;
        Ok(number)
    }

    /// Refuses to go on with master keys none of which wrapped anything of what there is: they are those of another database.
    pub(super) async fn refuse_strange(
        &self,
        connection: &impl ConnectionTrait,
    ) -> Result<(), StoreError> {
        let wrapped_with = masters_in_use(connection).await?;
        let Some(one) = wrapped_with.first() else { return Ok(()) };
        let keys = self.keyring.there()?;
        let is_known = |id| keys.as_ref().is_some_and(|keys| keys.find(id).is_some());
        match wrapped_with.iter().any(is_known) {
            true => Ok(()),
            false => Err(StoreError::MasterKeyUnknown(one.clone())),
        }
    }

    /// Makes sure that there are master keys, and that every key can be unwrapped.
    pub(super) async fn check(&self) -> Result<(), StoreError> {
        let wrapped_with = masters_in_use(&self.database).await?;
        if wrapped_with.is_empty() {
            return self.keyring.fresh().map(drop);
        }
        for id in &wrapped_with {
            self.keyring.find(id)?;
        }
        Ok(())
    }

    /// Deletes the keys of an organization that were before this one, or all, and its keys of providers, which they sealed. The
    /// rows of keys stay, so that no number is given again.
    pub(super) async fn delete(
        &self,
        organization: OrganizationId,
        before: Option<i32>,
    ) -> Result<u64, StoreError> {
        let transaction = self.database.begin().await?;
        let is_sqlite = transaction.get_database_backend() == DbBackend::Sqlite;
        if is_sqlite {
            transaction.execute_unprepared("PRAGMA secure_delete = ON").await?;
        }
        let done = organization_key::Entity::update_many()
            .col_expr(organization_key::Column::Wrapped, Expr::value(None::<Vec<u8>>))
            .col_expr(organization_key::Column::MasterId, Expr::value(None::<String>))
            .col_expr(organization_key::Column::DeletedAt, Expr::value(now_milliseconds()))
            .filter(organization_key::Column::OrganizationId.eq(organization.0))
            .filter(organization_key::Column::Wrapped.is_not_null())
            .filter(organization_key::Column::Number.lt(before.unwrap_or(i32::MAX)))
            .exec(&transaction)
            .await?;
        provider_key::Entity::delete_many()
            .filter(provider_key::Column::OrganizationId.eq(organization.0))
            .exec(&transaction)
            .await?;
        transaction.commit().await?;
        if is_sqlite {
            // Nothing of the wrapped keys is left in the log of the file.
            sqlite::empty_log(&self.database).await?;
        }
        Ok(done.rows_affected)
    }

    /// A transaction in which no other process makes keys or changes master keys.
    pub(super) async fn begin_alone(&self) -> Result<ScopedTransaction, StoreError> {
        let transaction = self.database.begin().await?;
        let lock = match transaction.get_database_backend() {
            DbBackend::Postgres => format!("SELECT pg_advisory_xact_lock({CHANGING})"),
            // Whoever is going to write is alone, even if there is nothing to be written.
            _ => "UPDATE organization_keys SET number = number WHERE number < 0".to_owned(),
        };
        transaction.execute_unprepared(&lock).await?;
        Ok(transaction)
    }
}

/// The rows of an organization, deleted ones among them.
async fn rows_of(
    organization: OrganizationId,
    connection: &impl ConnectionTrait,
) -> Result<Vec<organization_key::Model>, StoreError> {
    let rows = organization_key::Entity::find()
        .filter(organization_key::Column::OrganizationId.eq(organization.0))
        .order_by_asc(organization_key::Column::Number);
    Ok(rows.all(connection).await?)
}

/// The master keys that something is wrapped with.
pub(super) async fn masters_in_use(
    connection: &impl ConnectionTrait,
) -> Result<Vec<MasterKeyId>, StoreError> {
    let ids: Vec<String> = organization_key::Entity::find()
        .select_only()
        .column(organization_key::Column::MasterId)
        .distinct()
        .filter(organization_key::Column::MasterId.is_not_null())
        .order_by_asc(organization_key::Column::MasterId)
        .into_tuple()
        .all(connection)
        .await?;
    Ok(ids.into_iter().map(MasterKeyId).collect())
}

/// Where the key of a row belongs.
pub(super) fn place(row: &organization_key::Model) -> Result<DataKeyPlace, StoreError> {
    let number = u32::try_from(row.number)
        .map_err(|_| StoreError::Damaged("the number of a key".to_owned()))?;
    Ok(DataKeyPlace { organization: OrganizationId(row.organization_id), number })
}
