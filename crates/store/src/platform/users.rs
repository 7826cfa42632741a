//! People of an organization.

use fullbench_types::UserRole;
use jiff::Timestamp;
use sea_orm::{
    ActiveModelTrait, ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter, QueryOrder,
};
use uuid::Uuid;

use super::{time, word};
use crate::entity::platform::user;
use crate::runs::now_milliseconds;
use crate::{EntityKind, ScopedStore, StoreError};

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
    /// When they last signed in.
    pub last_sign_in_at: Option<Timestamp>,
    /// Since when they may do nothing.
    pub disabled_at: Option<Timestamp>,
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
            ..Default::default()
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
}

pub(super) fn user_record(row: user::Model) -> Result<UserRecord, StoreError> {
    Ok(UserRecord {
        id: row.id,
        role: word(&row.role, UserRole::from_word)?,
        created_at: time(row.created_at)?,
        last_sign_in_at: row.last_sign_in_at.map(time).transpose()?,
        disabled_at: row.disabled_at.map(time).transpose()?,
        email: row.email,
        name: row.name,
    })
}
