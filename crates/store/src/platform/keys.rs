//! Bearer keys of an organization. A key itself is never stored, only its hash.

use std::time::Duration;

use fullbench_types::{Action, OrganizationId, Plan, UserRole};
use jiff::Timestamp;
use sea_orm::sea_query::{Expr, Value};
use sea_orm::{
    ActiveModelTrait, ActiveValue::Set, ColumnTrait, ConnectionTrait, EntityTrait, IntoActiveModel,
    QueryFilter, QueryOrder,
};
use uuid::Uuid;

use super::users::user_record;
use super::{OrganizationSettings, UserRecord, from_json, time, to_json, word};
use crate::connection::ScopedTransaction;
use crate::entity::platform::{api_key, organization, user};
use crate::runs::now_milliseconds;
use crate::{EntityKind, ScopedStore, Store, StoreError};

/// What is known of a key when it is made.
#[derive(Debug, Clone)]
pub struct NewApiKey {
    /// The id it gets.
    pub id: Uuid,
    /// What it is for.
    pub name: String,
    /// Whose it is.
    pub user: Option<Uuid>,
    /// What it may do.
    pub role: UserRole,
    /// The actions of the role that it is for; all of them where there are none.
    pub scopes: Option<Vec<Action>>,
    /// How often it may be used.
    pub requests_per_minute: Option<u32>,
    /// When it opens nothing any more.
    pub expires_at: Option<Timestamp>,
    /// Who made it.
    pub created_by: Option<String>,
    /// The key itself, as far as it is kept.
    pub secret: KeptSecret,
}

/// What is kept of a secret.
#[derive(Debug, Clone)]
pub struct KeptSecret {
    /// Its first letters, to tell keys apart.
    pub prefix: String,
    /// Its SHA-256, in hexadecimal digits.
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
    /// What it may do.
    pub role: UserRole,
    /// The actions of the role that it is for; all of them where there are none.
    pub scopes: Option<Vec<Action>>,
    /// How often it may be used.
    pub requests_per_minute: Option<u32>,
    /// Who made it.
    pub created_by: Option<String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last seen, to the minute.
    pub last_used_at: Option<Timestamp>,
    /// When it opens nothing any more.
    pub expires_at: Option<Timestamp>,
    /// Since when it opens nothing.
    pub revoked_at: Option<Timestamp>,
}

/// A key with what its rights depend on.
#[derive(Debug, Clone, PartialEq)]
pub struct KeyHolder {
    /// The key.
    pub key: ApiKeyRecord,
    /// Whose it is.
    pub user: Option<UserRecord>,
    /// What the organization pays for.
    pub plan: Plan,
    /// What it has decided.
    pub settings: OrganizationSettings,
}

impl KeyHolder {
    /// Whether it opens anything at this time.
    #[must_use]
    pub fn is_open(&self, now: Timestamp) -> bool {
        self.key.revoked_at.is_none()
            && self.key.expires_at.is_none_or(|end| now < end)
            && self.user.as_ref().is_none_or(|user| user.disabled_at.is_none())
    }
}

impl Store {
    /// The key of this hash, whether it opens anything or not.
    pub async fn api_key_of_hash(&self, hash: &str) -> Result<Option<KeyHolder>, StoreError> {
        let found = api_key::Entity::find()
            .filter(api_key::Column::Hash.eq(hash))
            .one(self.system())
            .await?;
        let Some(row) = found else { return Ok(None) };
        let user = match row.user_id {
            Some(user) => match user::Entity::find_by_id(user).one(self.system()).await? {
                Some(user) => Some(user),
                // They went a moment ago, and their keys with them.
                None => return Ok(None),
            },
            None => None,
        };
        let owner =
            organization::Entity::find_by_id(row.organization_id).one(self.system()).await?;
        let Some(owner) = owner else { return Ok(None) };
        Ok(Some(KeyHolder {
            key: key_record(row)?,
            user: user.map(user_record).transpose()?,
            plan: word(&owner.plan, Plan::from_word)?,
            settings: from_json(&owner.settings)?,
        }))
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
    /// Keeps a new key. One of this id that is there already gets the new secret: nobody was told the one before.
    pub async fn add_api_key(&self, new: NewApiKey) -> Result<ApiKeyRecord, StoreError> {
        let secret = new.secret;
        let row = api_key::ActiveModel {
            id: Set(new.id),
            organization_id: Set(self.organization.0),
            user_id: Set(new.user),
            name: Set(new.name),
            prefix: Set(secret.prefix.clone()),
            hash: Set(secret.hash.clone()),
            role: Set(new.role.as_str().to_owned()),
            scopes: Set(new.scopes.as_ref().map(to_json).transpose()?),
            requests_per_minute: Set(new.requests_per_minute.map(i64::from)),
            expires_at: Set(new.expires_at.map(Timestamp::as_millisecond)),
            created_by: Set(new.created_by),
            created_at: Set(now_milliseconds()),
            last_used_at: Set(None),
            revoked_at: Set(None),
        };
        let transaction = self.begin_adding().await?;
        let row = match self.remade_key(new.id, &secret, &transaction).await? {
            Some(made) => made,
            None => row.insert(&transaction).await?,
        };
        self.check_keys(&transaction).await?;
        transaction.commit().await?;
        key_record(row)
    }

    /// The key of this id with a new secret, where the same request made it before and could not tell it to anybody.
    async fn remade_key(
        &self,
        id: Uuid,
        secret: &KeptSecret,
        transaction: &ScopedTransaction,
    ) -> Result<Option<api_key::Model>, StoreError> {
        let Some(made) = self.api_key_row(id).one(transaction).await? else { return Ok(None) };
        let mut made = made.into_active_model();
        made.prefix = Set(secret.prefix.clone());
        made.hash = Set(secret.hash.clone());
        Ok(Some(made.update(transaction).await?))
    }

    /// Refuses a key that was added to as many as there may be. Those that open nothing any more give way to it, the oldest
    /// first.
    async fn check_keys(&self, transaction: &ScopedTransaction) -> Result<(), StoreError> {
        let too_many = self.too_many("api_keys", transaction).await?;
        if too_many == 0 {
            return Ok(());
        }
        let sql = "DELETE FROM api_keys WHERE id IN (SELECT id FROM api_keys WHERE organization_id = $1 \
            AND (revoked_at IS NOT NULL OR expires_at <= $2) ORDER BY id LIMIT $3)";
        let values: Vec<Value> =
            vec![self.organization.0.into(), now_milliseconds().into(), (too_many as i64).into()];
        transaction.execute_raw(self.statement(sql, values)).await?;
        self.check_count(EntityKind::ApiKey, "api_keys", transaction).await
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

    /// A key.
    pub async fn api_key(&self, id: Uuid) -> Result<ApiKeyRecord, StoreError> {
        let found = self.api_key_row(id).one(&self.database).await?;
        key_record(found.ok_or_else(|| unknown(id))?)
    }

    /// Makes a key that may do the same as another, which goes on for a while: whoever uses it has time to change. A successor that
    /// is there already gets the new secret.
    pub async fn renew_api_key(
        &self,
        id: Uuid,
        successor: Uuid,
        secret: KeptSecret,
        grace: Duration,
    ) -> Result<ApiKeyRecord, StoreError> {
        // A transaction that reads first cannot write any more once somebody else has written.
        let transaction = self.begin_adding().await?;
        if let Some(made) = self.remade_key(successor, &secret, &transaction).await? {
            transaction.commit().await?;
            return key_record(made);
        }
        let row = self.api_key_row(id).one(&transaction).await?.ok_or_else(|| unknown(id))?;
        let now = now_milliseconds();
        let end = now.saturating_add(i64::try_from(grace.as_millis()).unwrap_or(i64::MAX));
        let ended_by_then = row.expires_at.is_some_and(|expires| expires <= end);
        if row.revoked_at.is_some() || row.expires_at.is_some_and(|expires| expires <= now) {
            return Err(StoreError::Immutable {
                kind: EntityKind::ApiKey,
                name: id.to_string(),
                reason: "it opens nothing any more",
            });
        }
        if !ended_by_then {
            api_key::Entity::update_many()
                .col_expr(api_key::Column::ExpiresAt, Expr::value(end))
                .filter(api_key::Column::Id.eq(id))
                .exec(&transaction)
                .await?;
        }
        let next = api_key::ActiveModel {
            id: Set(successor),
            prefix: Set(secret.prefix),
            hash: Set(secret.hash),
            created_at: Set(now),
            last_used_at: Set(None),
            ..row.into_active_model().reset_all()
        };
        let next = next.insert(&transaction).await?;
        self.check_keys(&transaction).await?;
        transaction.commit().await?;
        key_record(next)
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
        self.api_key(id).await
    }

    fn api_key_row(&self, id: Uuid) -> sea_orm::Select<api_key::Entity> {
        api_key::Entity::find_by_id(id)
            .filter(api_key::Column::OrganizationId.eq(self.organization.0))
    }
}

fn unknown(id: Uuid) -> StoreError {
    StoreError::NameNotFound { kind: EntityKind::ApiKey, name: id.to_string() }
}

fn key_record(row: api_key::Model) -> Result<ApiKeyRecord, StoreError> {
    Ok(ApiKeyRecord {
        id: row.id,
        organization: OrganizationId(row.organization_id),
        user: row.user_id,
        role: word(&row.role, UserRole::from_word)?,
        scopes: row.scopes.as_deref().map(from_json).transpose()?,
        requests_per_minute: row
            .requests_per_minute
            .map(|limit| u32::try_from(limit).unwrap_or(u32::MAX)),
        created_at: time(row.created_at)?,
        last_used_at: row.last_used_at.map(time).transpose()?,
        expires_at: row.expires_at.map(time).transpose()?,
        revoked_at: row.revoked_at.map(time).transpose()?,
        name: row.name,
        prefix: row.prefix,
        created_by: row.created_by,
    })
}
