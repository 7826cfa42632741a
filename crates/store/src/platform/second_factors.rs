//! Second factors of people: a sealed secret, the last code that was taken, and codes for whoever lost theirs.

use sea_orm::sea_query::{Expr, ExprTrait};
use sea_orm::{
    ActiveValue::Set, ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, TransactionTrait,
};
use uuid::Uuid;

use super::SealedSecret;
use crate::entity::platform::{recovery_code, user};
use crate::runs::now_milliseconds;
use crate::{EntityKind, ScopedStore, StoreError};

impl ScopedStore {
    /// Keeps the secret of a second factor, which counts once it is confirmed.
    pub async fn offer_second_factor(
        &self,
        id: Uuid,
        secret: SealedSecret,
    ) -> Result<(), StoreError> {
        let offered = user::Entity::update_many()
            .col_expr(user::Column::TotpSecret, Expr::value(secret))
            .col_expr(user::Column::TotpLastStep, Expr::value(None::<i64>))
            .filter(user::Column::Id.eq(id))
            .filter(user::Column::OrganizationId.eq(self.organization.0))
            .filter(user::Column::TotpConfirmedAt.is_null())
            .exec(&self.database)
            .await?;
        match offered.rows_affected {
            0 => Err(StoreError::Immutable {
                kind: EntityKind::User,
                name: id.to_string(),
                reason: "they have a second factor already",
            }),
            _ => Ok(()),
        }
    }

    /// Asks for the second factor from now on, of which a code of this time step was seen; with new codes for whoever loses it.
    pub async fn confirm_second_factor(
        &self,
        id: Uuid,
        secret: &SealedSecret,
        step: i64,
        code_hashes: &[String],
    ) -> Result<bool, StoreError> {
        let transaction = self.database.begin().await?;
        let confirmed = user::Entity::update_many()
            .col_expr(user::Column::TotpConfirmedAt, now_milliseconds().into())
            .col_expr(user::Column::TotpLastStep, step.into())
            .filter(user::Column::Id.eq(id))
            .filter(user::Column::OrganizationId.eq(self.organization.0))
            .filter(user::Column::TotpConfirmedAt.is_null())
            .filter(user::Column::TotpSecret.eq(secret.clone()))
            .exec(&transaction)
            .await?;
        if confirmed.rows_affected == 0 {
            return Ok(false);
        }
        self.insert_codes(id, code_hashes, &transaction).await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// Takes a code of this time step: not one that was taken before, nor an older one.
    pub async fn take_time_step(&self, id: Uuid, step: i64) -> Result<bool, StoreError> {
        let is_new = user::Column::TotpLastStep.is_null().or(user::Column::TotpLastStep.lt(step));
        let taken = user::Entity::update_many()
            .col_expr(user::Column::TotpLastStep, step.into())
            .filter(user::Column::Id.eq(id))
            .filter(user::Column::OrganizationId.eq(self.organization.0))
            .filter(is_new)
            .exec(&self.database)
            .await?;
        Ok(taken.rows_affected == 1)
    }

    /// Asks for no second factor any more.
    pub async fn remove_second_factor(&self, id: Uuid) -> Result<(), StoreError> {
        let transaction = self.database.begin().await?;
        user::Entity::update_many()
            .col_expr(user::Column::TotpSecret, Expr::value(None::<SealedSecret>))
            .col_expr(user::Column::TotpConfirmedAt, Expr::value(None::<i64>))
            .col_expr(user::Column::TotpLastStep, Expr::value(None::<i64>))
            .filter(user::Column::Id.eq(id))
            .filter(user::Column::OrganizationId.eq(self.organization.0))
            .exec(&transaction)
            .await?;
        self.insert_codes(id, &[], &transaction).await?;
        transaction.commit().await?;
        Ok(())
    }

    /// Puts new codes in the place of those there were.
    pub async fn replace_recovery_codes(
        &self,
        id: Uuid,
        code_hashes: &[String],
    ) -> Result<(), StoreError> {
        let transaction = self.database.begin().await?;
        self.insert_codes(id, code_hashes, &transaction).await?;
        transaction.commit().await?;
        Ok(())
    }

    /// Takes a code in place of the second factor; each is taken once.
    pub async fn take_recovery_code(&self, id: Uuid, hash: &str) -> Result<bool, StoreError> {
        let taken = recovery_code::Entity::update_many()
            .col_expr(recovery_code::Column::UsedAt, now_milliseconds().into())
            .filter(recovery_code::Column::OrganizationId.eq(self.organization.0))
            .filter(recovery_code::Column::UserId.eq(id))
            .filter(recovery_code::Column::CodeHash.eq(hash))
            .filter(recovery_code::Column::UsedAt.is_null())
            .exec(&self.database)
            .await?;
        Ok(taken.rows_affected == 1)
    }

    async fn insert_codes(
        &self,
        id: Uuid,
        hashes: &[String],
        transaction: &impl ConnectionTrait,
    ) -> Result<(), StoreError> {
        recovery_code::Entity::delete_many()
            .filter(recovery_code::Column::OrganizationId.eq(self.organization.0))
            .filter(recovery_code::Column::UserId.eq(id))
            .exec(transaction)
            .await?;
        if hashes.is_empty() {
            return Ok(());
        }
        let now = now_milliseconds();
        let rows = hashes.iter().map(|hash| recovery_code::ActiveModel {
            id: Set(Uuid::now_v7()),
            organization_id: Set(self.organization.0),
            user_id: Set(id),
            code_hash: Set(hash.clone()),
            created_at: Set(now),
            used_at: Set(None),
        });
        recovery_code::Entity::insert_many(rows).exec_without_returning(transaction).await?;
        Ok(())
    }
}
