//! People of an organization.

use fullbench_types::{OrganizationId, UserRole};
use jiff::Timestamp;
use sea_orm::sea_query::Expr;
use sea_orm::{
    ActiveModelTrait, ActiveValue::Set, ColumnTrait, ConnectionTrait, EntityTrait, ExprTrait,
    PaginatorTrait, QueryFilter, QueryOrder, TransactionTrait,
};
use uuid::Uuid;

use super::organizations::lock_organization;
use super::sessions::end_sessions;
use super::{PasswordHash, time, word};
use crate::connection::ScopedTransaction;
use crate::entity::platform::{api_key, user};
use crate::runs::now_milliseconds;
use crate::{EntityKind, ScopedStore, StoreError};

/// A person of an organization.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserRecord {
    /// Their id.
    pub id: Uuid,
    /// Where they belong.
    pub organization: OrganizationId,
    /// Where they get mail.
    pub email: String,
    /// Their name.
    pub name: String,
    /// What they may do.
    pub role: UserRole,
    /// Whether they can sign in with a password.
    pub has_password: bool,
    /// Since when it is this password.
    pub password_set_at: Option<Timestamp>,
    /// Whether they are asked for a code too.
    pub has_second_factor: bool,
    /// Whether somebody else vouches for them.
    pub has_issuer: bool,
    /// Since when they are known.
    pub created_at: Timestamp,
    /// When they last signed in.
    pub last_sign_in_at: Option<Timestamp>,
    /// Since when they may do nothing.
    pub disabled_at: Option<Timestamp>,
}

/// What is known of a person when they are added.
#[derive(Debug, Clone)]
pub struct NewUser {
    /// Where they get mail.
    pub email: String,
    /// Their name.
    pub name: String,
    /// What they may do.
    pub role: UserRole,
    /// With what they sign in, where they do so with a password.
    pub password: Option<PasswordHash>,
}

/// What is to be different about somebody.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MemberChange {
    /// What they may do.
    pub role: Option<UserRole>,
    /// Whether they may do anything.
    pub disabled: Option<bool>,
}

impl ScopedStore {
    /// Adds a person.
    pub async fn add_user(&self, new: NewUser) -> Result<UserRecord, StoreError> {
        let transaction = self.begin_adding().await?;
        let added = self.insert_user(new, &transaction).await?;
        transaction.commit().await?;
        Ok(added)
    }

    /// Adds a person, unless there are as many as there may be.
    pub(super) async fn insert_user(
        &self,
        new: NewUser,
        transaction: &ScopedTransaction,
    ) -> Result<UserRecord, StoreError> {
        let now = now_milliseconds();
        let email = new.email.clone();
        let row = user::ActiveModel {
            id: Set(Uuid::now_v7()),
            organization_id: Set(self.organization.0),
            email: Set(new.email),
            name: Set(new.name),
            role: Set(new.role.as_str().to_owned()),
            password_set_at: Set(new.password.is_some().then_some(now)),
            password_hash: Set(new.password),
            created_at: Set(now),
            updated_at: Set(now),
            ..Default::default()
        };
        let taken = || StoreError::NameTaken { kind: EntityKind::User, name: email };
        let row = row.insert(transaction).await.map_err(StoreError::when_taken(taken))?;
        self.check_count(EntityKind::User, "users", transaction).await?;
        user_record(row)
    }

    /// Everybody of the organization, by mail address.
    pub async fn users(&self) -> Result<Vec<UserRecord>, StoreError> {
        let rows = user::Entity::find()
            .filter(user::Column::OrganizationId.eq(self.organization.0))
            .order_by_asc(user::Column::Email)
            .all(&self.database)
            .await?;
        rows.into_iter().map(user_record).collect()
    }

    /// A person.
    pub async fn user(&self, id: Uuid) -> Result<UserRecord, StoreError> {
        user_record(self.user_row(id, &self.database).await?)
    }

    /// The person with this mail address.
    pub async fn user_of_email(&self, email: &str) -> Result<Option<UserRecord>, StoreError> {
        let found = user::Entity::find()
            .filter(user::Column::OrganizationId.eq(self.organization.0))
            .filter(user::Column::Email.eq(email))
            .one(&self.database)
            .await?;
        found.map(user_record).transpose()
    }

    /// Gives a person another name.
    pub async fn rename_user(&self, id: Uuid, name: &str) -> Result<UserRecord, StoreError> {
        user::Entity::update_many()
            .col_expr(user::Column::Name, Expr::value(name))
            .col_expr(user::Column::UpdatedAt, now_milliseconds().into())
            .filter(user::Column::Id.eq(id))
            .filter(user::Column::OrganizationId.eq(self.organization.0))
            .exec(&self.database)
            .await?;
        self.user(id).await
    }

    /// Changes what somebody may do, if they are still as they were seen. There is always an owner left, and whoever may do nothing is
    /// signed out everywhere.
    pub async fn change_member(
        &self,
        seen: &UserRecord,
        change: MemberChange,
    ) -> Result<UserRecord, StoreError> {
        let transaction = self.database.begin().await?;
        let row = self.member_as_seen(seen, &transaction).await?;
        let role = change.role.unwrap_or(seen.role);
        let is_disabled = change.disabled.unwrap_or(row.disabled_at.is_some());
        if role != UserRole::Owner || is_disabled {
            self.keep_an_owner(&row, &transaction).await?;
        }
        let now = now_milliseconds();
        let disabled_at = is_disabled.then(|| row.disabled_at.unwrap_or(now));
        user::Entity::update_many()
            .col_expr(user::Column::Role, Expr::value(role.as_str()))
            .col_expr(user::Column::DisabledAt, Expr::value(disabled_at))
            .col_expr(user::Column::UpdatedAt, now.into())
            .filter(user::Column::Id.eq(row.id))
            .exec(&transaction)
            .await?;
        if is_disabled {
            end_sessions(&transaction, row.id, None).await?;
        }
        let changed = self.user_row(row.id, &transaction).await?;
        transaction.commit().await?;
        user_record(changed)
    }

    /// Lets somebody go, if they are still as they were seen: their sessions end, and their keys open nothing any more.
    pub async fn remove_member(&self, seen: &UserRecord) -> Result<(), StoreError> {
        let transaction = self.database.begin().await?;
        let row = self.member_as_seen(seen, &transaction).await?;
        self.keep_an_owner(&row, &transaction).await?;
        // Keys stay to be seen in lists; without their owner they would be taken for those of a service.
        api_key::Entity::update_many()
            .col_expr(api_key::Column::RevokedAt, now_milliseconds().into())
            .filter(api_key::Column::UserId.eq(row.id))
            .filter(api_key::Column::RevokedAt.is_null())
            .exec(&transaction)
            .await?;
        api_key::Entity::update_many()
            .col_expr(api_key::Column::UserId, Expr::value(None::<Uuid>))
            .filter(api_key::Column::UserId.eq(row.id))
            .exec(&transaction)
            .await?;
        user::Entity::delete_by_id(row.id).exec(&transaction).await?;
        transaction.commit().await?;
        Ok(())
    }

    /// The row of somebody, while nobody else changes members of the organization.
    async fn member_as_seen(
        &self,
        seen: &UserRecord,
        transaction: &ScopedTransaction,
    ) -> Result<user::Model, StoreError> {
        lock_organization(transaction, self.organization).await?;
        let row = self.user_row(seen.id, transaction).await?;
        if row.role != seen.role.as_str() {
            return Err(StoreError::ChangedMeanwhile {
                kind: EntityKind::User,
                name: seen.email.clone(),
            });
        }
        Ok(row)
    }

    /// Refuses to go on where this is the only owner who can sign in.
    async fn keep_an_owner(
        &self,
        row: &user::Model,
        transaction: &ScopedTransaction,
    ) -> Result<(), StoreError> {
        let owner = UserRole::Owner.as_str();
        if row.role != owner || row.disabled_at.is_some() {
            return Ok(());
        }
        let others = user::Entity::find()
            .filter(user::Column::OrganizationId.eq(self.organization.0))
            .filter(user::Column::Role.eq(owner))
            .filter(user::Column::DisabledAt.is_null())
            .filter(user::Column::Id.ne(row.id))
            .all(transaction)
            .await?;
        for other in &others {
            if self.can_get_in(other, transaction).await? {
                return Ok(());
            }
        }
        Err(StoreError::LastOwner(row.email.clone()))
    }

    /// Whether somebody has a password, an issuer who vouches for them, or a key with all that their role allows.
    async fn can_get_in(
        &self,
        row: &user::Model,
        transaction: &ScopedTransaction,
    ) -> Result<bool, StoreError> {
        if row.password_hash.is_some() || row.oidc_subject.is_some() {
            return Ok(true);
        }
        let expires = api_key::Column::ExpiresAt;
        let keys = api_key::Entity::find()
            .filter(api_key::Column::OrganizationId.eq(self.organization.0))
            .filter(api_key::Column::UserId.eq(row.id))
            .filter(api_key::Column::Role.eq(&row.role))
            .filter(api_key::Column::Scopes.is_null())
            .filter(api_key::Column::RevokedAt.is_null())
            .filter(expires.is_null().or(expires.gt(now_milliseconds())));
        Ok(keys.count(transaction).await? > 0)
    }

    pub(super) async fn user_row(
        &self,
        id: Uuid,
        connection: &impl ConnectionTrait,
    ) -> Result<user::Model, StoreError> {
        let found = user::Entity::find_by_id(id)
            .filter(user::Column::OrganizationId.eq(self.organization.0))
            .one(connection)
            .await?;
        found.ok_or_else(|| StoreError::NameNotFound {
            kind: EntityKind::User,
            name: id.to_string(),
        })
    }
}

pub(super) fn user_record(row: user::Model) -> Result<UserRecord, StoreError> {
    Ok(UserRecord {
        id: row.id,
        organization: OrganizationId(row.organization_id),
        role: word(&row.role, UserRole::from_word)?,
        has_password: row.password_hash.is_some(),
        password_set_at: row.password_set_at.map(time).transpose()?,
        has_second_factor: row.totp_confirmed_at.is_some(),
        has_issuer: row.oidc_subject.is_some(),
        created_at: time(row.created_at)?,
        last_sign_in_at: row.last_sign_in_at.map(time).transpose()?,
        disabled_at: row.disabled_at.map(time).transpose()?,
        email: row.email,
        name: row.name,
    })
}
