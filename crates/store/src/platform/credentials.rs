//! With what people sign in: passwords, and who vouches for them.

use jiff::Timestamp;
use sea_orm::sea_query::{Expr, ExprTrait};
use sea_orm::{
    ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QuerySelect, QueryTrait,
    TransactionTrait,
};
use uuid::Uuid;

use super::organizations::lock_organization;
use super::password_resets::end_resets;
use super::sessions::end_sessions;
use super::users::user_record;
use super::{PasswordHash, SealedSecret, UserRecord};
use crate::connection::ScopedTransaction;
use crate::entity::platform::{organization, user};
use crate::runs::now_milliseconds;
use crate::{ScopedStore, Store, StoreError};

/// Somebody with what they sign in with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Credentials {
    /// Who it is.
    pub user: UserRecord,
    /// The hash of their password.
    pub password: Option<PasswordHash>,
    /// The secret of their second factor, confirmed or not.
    pub totp_secret: Option<SealedSecret>,
}

impl Store {
    /// Whoever may sign in with this mail address, in any organization or in the one of this slug.
    pub async fn credentials_of_email(
        &self,
        email: &str,
        slug: Option<&str>,
    ) -> Result<Vec<Credentials>, StoreError> {
        let mut people = user::Entity::find()
            .filter(user::Column::Email.eq(email))
            .filter(user::Column::DisabledAt.is_null());
        if let Some(slug) = slug {
            let named = organization::Entity::find()
                .select_only()
                .column(organization::Column::Id)
                .filter(organization::Column::Slug.eq(slug))
                .into_query();
            people = people.filter(user::Column::OrganizationId.in_subquery(named));
        }
        people.all(self.system()).await?.into_iter().map(credentials).collect()
    }
}

impl ScopedStore {
    /// With what somebody signs in.
    pub async fn credentials(&self, id: Uuid) -> Result<Credentials, StoreError> {
        credentials(self.user_row(id, &self.database).await?)
    }

    /// Gives somebody a new password, and ends their sessions and what they were mailed.
    pub async fn set_password(&self, id: Uuid, password: PasswordHash) -> Result<(), StoreError> {
        let transaction = self.database.begin().await?;
        lock_organization(&transaction, self.organization).await?;
        self.user_row(id, &transaction).await?;
        replace_password(&transaction, id, password, None).await?;
        transaction.commit().await?;
        Ok(())
    }

    /// The same by themselves, which leaves the session they are in; false where their password was changed since they showed it.
    pub async fn change_password(
        &self,
        person: &UserRecord,
        password: PasswordHash,
        current: Uuid,
    ) -> Result<bool, StoreError> {
        let transaction = self.database.begin().await?;
        lock_organization(&transaction, self.organization).await?;
        let row = self.user_row(person.id, &transaction).await?;
        if row.password_set_at != person.password_set_at.map(Timestamp::as_millisecond) {
            return Ok(false);
        }
        replace_password(&transaction, person.id, password, Some(current)).await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// Keeps the same password under another hash, if it is still the one of the old hash.
    pub async fn rehash_password(
        &self,
        id: Uuid,
        old: PasswordHash,
        new: PasswordHash,
    ) -> Result<(), StoreError> {
        user::Entity::update_many()
            .col_expr(user::Column::PasswordHash, Expr::value(new))
            .filter(user::Column::Id.eq(id))
            .filter(user::Column::OrganizationId.eq(self.organization.0))
            .filter(user::Column::PasswordHash.eq(old))
            .exec(&self.database)
            .await?;
        Ok(())
    }

    /// Who is called this by an issuer.
    pub async fn user_of_subject(
        &self,
        issuer: &str,
        subject: &str,
    ) -> Result<Option<UserRecord>, StoreError> {
        let found = user::Entity::find()
            .filter(user::Column::OrganizationId.eq(self.organization.0))
            .filter(user::Column::OidcIssuer.eq(issuer))
            .filter(user::Column::OidcSubject.eq(subject))
            .one(&self.database)
            .await?;
        found.map(user_record).transpose()
    }

    /// Remembers what an issuer calls somebody; only the first time.
    pub async fn link_subject(
        &self,
        id: Uuid,
        issuer: &str,
        subject: &str,
    ) -> Result<bool, StoreError> {
        let linked = user::Entity::update_many()
            .col_expr(user::Column::OidcIssuer, Expr::value(issuer))
            .col_expr(user::Column::OidcSubject, Expr::value(subject))
            .col_expr(user::Column::UpdatedAt, now_milliseconds().into())
            .filter(user::Column::Id.eq(id))
            .filter(user::Column::OrganizationId.eq(self.organization.0))
            .filter(user::Column::OidcSubject.is_null())
            .exec(&self.database)
            .await?;
        Ok(linked.rows_affected == 1)
    }
}

/// A new password, with which all sessions but one end, and what was mailed.
async fn replace_password(
    transaction: &ScopedTransaction,
    id: Uuid,
    password: PasswordHash,
    but: Option<Uuid>,
) -> Result<(), StoreError> {
    store_password(transaction, id, password).await?;
    end_sessions(transaction, id, but).await?;
    end_resets(transaction, id).await
}

pub(super) async fn store_password(
    connection: &impl ConnectionTrait,
    id: Uuid,
    password: PasswordHash,
) -> Result<(), StoreError> {
    let now = now_milliseconds();
    // No two passwords have the same time: it tells them apart.
    let before = user::Column::PasswordSetAt;
    let set_at = Expr::case(before.gte(now), Expr::col(before).add(1)).finally(now);
    user::Entity::update_many()
        .col_expr(user::Column::PasswordHash, Expr::value(password))
        .col_expr(user::Column::PasswordSetAt, set_at.into())
        .col_expr(user::Column::UpdatedAt, now.into())
        .filter(user::Column::Id.eq(id))
        .exec(connection)
        .await?;
    Ok(())
}

fn credentials(row: user::Model) -> Result<Credentials, StoreError> {
    Ok(Credentials {
        password: row.password_hash.clone(),
        totp_secret: row.totp_secret.clone(),
        user: user_record(row)?,
    })
}
