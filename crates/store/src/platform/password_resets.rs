//! New passwords that people may set. What they are sent is never stored, only its hash.

use jiff::Timestamp;
use sea_orm::{
    ActiveModelTrait, ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter, TransactionTrait,
};
use uuid::Uuid;

use super::credentials::store_password;
use super::sessions::end_sessions;
use super::users::user_record;
use super::{PasswordHash, UserRecord};
use crate::connection::ScopedTransaction;
use crate::entity::platform::{password_reset, user};
use crate::runs::now_milliseconds;
use crate::{ScopedStore, Store, StoreError};

impl Store {
    /// Who may set a new password with what has this hash.
    pub async fn password_reset_of_hash(
        &self,
        hash: &str,
    ) -> Result<Option<UserRecord>, StoreError> {
        let found = password_reset::Entity::find()
            .filter(password_reset::Column::TokenHash.eq(hash))
            .filter(password_reset::Column::UsedAt.is_null())
            .filter(password_reset::Column::ExpiresAt.gt(now_milliseconds()))
            .one(self.system())
            .await?;
        let Some(reset) = found else { return Ok(None) };
        let found = user::Entity::find_by_id(reset.user_id)
            .filter(user::Column::DisabledAt.is_null())
            .one(self.system())
            .await?;
        found.map(user_record).transpose()
    }

    /// Removes what nobody can use any more.
    pub async fn forget_old_password_resets(&self) -> Result<(), StoreError> {
        password_reset::Entity::delete_many()
            .filter(password_reset::Column::ExpiresAt.lte(now_milliseconds()))
            .exec(self.system())
            .await?;
        Ok(())
    }
}

impl ScopedStore {
    /// Lets somebody set a new password until a time.
    pub async fn allow_password_reset(
        &self,
        user: Uuid,
        token_hash: String,
        expires_at: Timestamp,
    ) -> Result<(), StoreError> {
        let row = password_reset::ActiveModel {
            id: Set(Uuid::now_v7()),
            organization_id: Set(self.organization.0),
            user_id: Set(user),
            token_hash: Set(token_hash),
            created_at: Set(now_milliseconds()),
            expires_at: Set(expires_at.as_millisecond()),
            used_at: Set(None),
        };
        row.insert(&self.database).await?;
        Ok(())
    }

    /// Sets a new password, once: nothing that was sent before can be used again, and all sessions end.
    pub async fn complete_password_reset(
        &self,
        user: Uuid,
        token_hash: &str,
        password: PasswordHash,
    ) -> Result<bool, StoreError> {
        let now = now_milliseconds();
        let transaction = self.database.begin().await?;
        let used = password_reset::Entity::update_many()
            .col_expr(password_reset::Column::UsedAt, now.into())
            .filter(password_reset::Column::OrganizationId.eq(self.organization.0))
            .filter(password_reset::Column::UserId.eq(user))
            .filter(password_reset::Column::TokenHash.eq(token_hash))
            .filter(password_reset::Column::UsedAt.is_null())
            .filter(password_reset::Column::ExpiresAt.gt(now))
            .exec(&transaction)
            .await?;
        if used.rows_affected != 1 {
            return Ok(false);
        }
        end_resets(&transaction, user).await?;
        store_password(&transaction, user, password).await?;
        end_sessions(&transaction, user, None).await?;
        transaction.commit().await?;
        Ok(true)
    }
}

/// Lets no mail that somebody was sent set a password any more.
pub(super) async fn end_resets(
    transaction: &ScopedTransaction,
    user: Uuid,
) -> Result<(), StoreError> {
    password_reset::Entity::update_many()
        .col_expr(password_reset::Column::UsedAt, now_milliseconds().into())
        .filter(password_reset::Column::UserId.eq(user))
        .filter(password_reset::Column::UsedAt.is_null())
        .exec(transaction)
        .await?;
    Ok(())
}
