//! Users and their bearer keys. A key itself is never stored, only its hash.

use fullbench_types::{OrganizationId, UserRole};
use jiff::Timestamp;
use sea_orm::{
    ActiveModelTrait, ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter, QueryOrder,
};
use uuid::Uuid;

use super::{time, word};
use crate::entity::platform::{api_key, user};
use crate::runs::now_milliseconds;
use crate::{EntityKind, ScopedStore, Store, StoreError};

/// A person of an organization.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserRecord {
    /// Their id.
    pub id: Uuid,
    /// Where they get mail.
    pub email: String,
    /// Their name.
    pub name: String,
    /// What they may do.
    pub role: UserRole,
    /// Since when they are known.
    pub created_at: Timestamp,
}

/// What is known of a key when it is made.
#[derive(Debug, Clone)]
pub struct NewApiKey {
    /// The id it gets.
    pub id: Uuid,
    /// What it is for.
    pub name: String,
    /// Whose it is.
    pub user: Option<Uuid>,
    /// Its first letters, to tell keys apart.
    pub prefix: String,
    /// SHA-256 of the key, in hexadecimal digits.
    pub hash: String,
}

/// A bearer key, without the key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiKeyRecord {
    /// Its id.
    pub id: Uuid,
    /// The organization it opens.
    pub organization: OrganizationId,
    /// Whose it is.
    pub user: Option<Uuid>,
    /// What it is for.
    pub name: String,
    /// Its first letters.
    pub prefix: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last seen, to the minute.
    pub last_used_at: Option<Timestamp>,
    /// Since when it opens nothing.
    pub revoked_at: Option<Timestamp>,
}

impl Store {
    /// The key of this hash, revoked or not.
    pub async fn api_key_of_hash(&self, hash: &str) -> Result<Option<ApiKeyRecord>, StoreError> {
        let found = api_key::Entity::find()
            .filter(api_key::Column::Hash.eq(hash))
            .one(self.system())
            .await?;
        found.map(key_record).transpose()
    }

    /// Whether any key was ever made.
    pub async fn has_api_keys(&self) -> Result<bool, StoreError> {
        Ok(api_key::Entity::find().one(self.system()).await?.is_some())
    }

    /// Notes that keys were used just now.
    pub async fn note_key_use(&self, keys: &[Uuid]) -> Result<(), StoreError> {
        api_key::Entity::update_many()
            .col_expr(api_key::Column::LastUsedAt, now_milliseconds().into())
            .filter(api_key::Column::Id.is_in(keys.iter().copied()))
            .exec(self.system())
            .await?;
        Ok(())
    }
}

impl ScopedStore {
    /// Adds a person.
    pub async fn add_user(
        &self,
        email: &str,
        name: &str,
        role: UserRole,
    ) -> Result<UserRecord, StoreError> {
        let now = now_milliseconds();
        let row = user::ActiveModel {
            id: Set(Uuid::now_v7()),
            organization_id: Set(self.organization.0),
            email: Set(email.to_owned()),
            name: Set(name.to_owned()),
            role: Set(role.as_str().to_owned()),
            created_at: Set(now),
            updated_at: Set(now),
        };
        let taken = || StoreError::NameTaken { kind: EntityKind::User, name: email.to_owned() };
        user_record(row.insert(&self.database).await.map_err(StoreError::when_taken(taken))?)
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

    /// Keeps a new key; the same id again gives what is kept.
    pub async fn add_api_key(&self, new: NewApiKey) -> Result<ApiKeyRecord, StoreError> {
        let row = api_key::ActiveModel {
            id: Set(new.id),
            organization_id: Set(self.organization.0),
            user_id: Set(new.user),
            name: Set(new.name),
            prefix: Set(new.prefix),
            hash: Set(new.hash),
            created_at: Set(now_milliseconds()),
            last_used_at: Set(None),
            revoked_at: Set(None),
        };
        key_record(row.insert(&self.database).await?)
    }

    /// All keys of the organization, the newest first.
    pub async fn api_keys(&self) -> Result<Vec<ApiKeyRecord>, StoreError> {
        let rows = api_key::Entity::find()
            .filter(api_key::Column::OrganizationId.eq(self.organization.0))
            .order_by_desc(api_key::Column::Id)
            .all(&self.database)
            .await?;
        rows.into_iter().map(key_record).collect()
    }

    /// Lets a key open nothing from now on.
    pub async fn revoke_api_key(&self, id: Uuid) -> Result<ApiKeyRecord, StoreError> {
        api_key::Entity::update_many()
            .col_expr(api_key::Column::RevokedAt, now_milliseconds().into())
            .filter(api_key::Column::Id.eq(id))
            .filter(api_key::Column::OrganizationId.eq(self.organization.0))
            .filter(api_key::Column::RevokedAt.is_null())
            .exec(&self.database)
            .await?;
        let found = api_key::Entity::find_by_id(id)
            .filter(api_key::Column::OrganizationId.eq(self.organization.0))
            .one(&self.database)
            .await?;
        key_record(found.ok_or_else(|| StoreError::NameNotFound {
            kind: EntityKind::ApiKey,
            name: id.to_string(),
        })?)
    }
}

fn user_record(row: user::Model) -> Result<UserRecord, StoreError> {
    Ok(UserRecord {
        id: row.id,
        role: word(&row.role, UserRole::from_word)?,
        created_at: time(row.created_at)?,
        email: row.email,
        name: row.name,
    })
}

fn key_record(row: api_key::Model) -> Result<ApiKeyRecord, StoreError> {
    Ok(ApiKeyRecord {
        id: row.id,
        organization: OrganizationId(row.organization_id),
        user: row.user_id,
        created_at: time(row.created_at)?,
        last_used_at: row.last_used_at.map(time).transpose()?,
        revoked_at: row.revoked_at.map(time).transpose()?,
        name: row.name,
        prefix: row.prefix,
    })
}
