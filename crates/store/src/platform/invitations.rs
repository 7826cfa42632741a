//! People who are asked to join. What they are sent is never stored, only its hash.

use std::time::Duration;

use fullbench_types::{OrganizationId, UserRole};
use jiff::Timestamp;
use sea_orm::{
    ActiveModelTrait, ActiveValue::Set, ColumnTrait, EntityTrait, IntoActiveModel, PaginatorTrait,
    QueryFilter, QueryOrder, Select,
};
use uuid::Uuid;

use super::{NewUser, PasswordHash, UserRecord, time, word};
use crate::connection::ScopedTransaction;
use crate::entity::platform::{api_key, invitation, user};
use crate::runs::now_milliseconds;
use crate::{EntityKind, ScopedStore, Store, StoreError};

/// What is known of an invitation when it is made.
#[derive(Debug, Clone)]
pub struct NewInvitation {
    /// The id it gets.
    pub id: Uuid,
    /// Who is asked.
    pub email: String,
    /// What they are going to be allowed.
    pub role: UserRole,
    /// SHA-256 of the token, in hexadecimal digits.
    pub token_hash: String,
    /// Who asks them.
    pub created_by: Option<String>,
    /// Until when it can be accepted.
    pub expires_at: Timestamp,
}

/// How many people may be asked to join.
#[derive(Debug, Clone, Copy)]
pub struct InvitationPace {
    /// In this time.
    pub within: Duration,
    /// How often the same address.
    pub to_one: u64,
    /// How often in all.
    pub to_all: u64,
}

/// Somebody who is asked to join.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvitationRecord {
    /// Its id.
    pub id: Uuid,
    /// What they are asked to join.
    pub organization: OrganizationId,
    /// Who is asked.
    pub email: String,
    /// What they are going to be allowed.
    pub role: UserRole,
    /// Who asks them.
    pub created_by: Option<String>,
    /// When they were asked.
    pub created_at: Timestamp,
    /// Until when it can be accepted.
    pub expires_at: Timestamp,
    /// When it was accepted.
    pub accepted_at: Option<Timestamp>,
    /// When it was taken back.
    pub revoked_at: Option<Timestamp>,
}

impl InvitationRecord {
    /// Whether it can be accepted at this time.
    #[must_use]
    pub fn is_open(&self, now: Timestamp) -> bool {
        self.accepted_at.is_none() && self.revoked_at.is_none() && now < self.expires_at
    }
}

impl Store {
    /// The invitation of this hash, whether it can be accepted or not.
    pub async fn invitation_of_hash(
        &self,
        hash: &str,
    ) -> Result<Option<InvitationRecord>, StoreError> {
        let found = invitation::Entity::find()
            .filter(invitation::Column::TokenHash.eq(hash))
            .one(self.system())
            .await?;
        found.map(invitation_record).transpose()
    }
}

impl ScopedStore {
    /// Asks somebody to join; what they were sent before can no longer be accepted. None where there were too many lately. One of
    /// this id that is there already gets the new token: the one before was sent to nobody.
    pub async fn invite(
        &self,
        new: NewInvitation,
        pace: InvitationPace,
    ) -> Result<Option<InvitationRecord>, StoreError> {
        let now = now_milliseconds();
        // Those who invite at the same time are counted one after the other.
        let transaction = self.begin_adding().await?;
        if let Some(made) = self.invitation_row(new.id).one(&transaction).await? {
            let mut made = made.into_active_model();
            made.token_hash = Set(new.token_hash);
            let row = made.update(&transaction).await?;
            transaction.commit().await?;
            return invitation_record(row).map(Some);
        }
        let since = now.saturating_sub(pace.within.as_millis() as i64);
        let lately = invitation::Entity::find()
            .filter(invitation::Column::OrganizationId.eq(self.organization.0))
            .filter(invitation::Column::CreatedAt.gt(since));
        let to_them = lately.clone().filter(invitation::Column::Email.eq(&new.email));
        if to_them.count(&transaction).await? >= pace.to_one
            || lately.count(&transaction).await? >= pace.to_all
        {
            return Ok(None);
        }
        invitation::Entity::update_many()
            .col_expr(invitation::Column::RevokedAt, now.into())
            .filter(invitation::Column::OrganizationId.eq(self.organization.0))
            .filter(invitation::Column::Email.eq(&new.email))
            .filter(invitation::Column::AcceptedAt.is_null())
            .filter(invitation::Column::RevokedAt.is_null())
            .exec(&transaction)
            .await?;
        let row = invitation::ActiveModel {
            id: Set(new.id),
            organization_id: Set(self.organization.0),
            email: Set(new.email),
            role: Set(new.role.as_str().to_owned()),
            token_hash: Set(new.token_hash),
            created_by: Set(new.created_by),
            created_at: Set(now),
            expires_at: Set(new.expires_at.as_millisecond()),
            accepted_at: Set(None),
            revoked_at: Set(None),
        };
        let row = row.insert(&transaction).await?;
        transaction.commit().await?;
        invitation_record(row).map(Some)
    }

    /// All invitations, the newest first.
    pub async fn invitations(&self) -> Result<Vec<InvitationRecord>, StoreError> {
        let rows = invitation::Entity::find()
            .filter(invitation::Column::OrganizationId.eq(self.organization.0))
            .order_by_desc(invitation::Column::CreatedAt)
            .order_by_desc(invitation::Column::Id)
            .all(&self.database)
            .await?;
        rows.into_iter().map(invitation_record).collect()
    }

    /// An invitation.
    pub async fn invitation(&self, id: Uuid) -> Result<InvitationRecord, StoreError> {
        let found = self.invitation_row(id).one(&self.database).await?;
        invitation_record(found.ok_or_else(|| unknown(id))?)
    }

    /// Takes an invitation back.
    pub async fn revoke_invitation(&self, id: Uuid) -> Result<InvitationRecord, StoreError> {
        invitation::Entity::update_many()
            .col_expr(invitation::Column::RevokedAt, now_milliseconds().into())
            .filter(invitation::Column::Id.eq(id))
            .filter(invitation::Column::OrganizationId.eq(self.organization.0))
            .filter(invitation::Column::AcceptedAt.is_null())
            .filter(invitation::Column::RevokedAt.is_null())
            .exec(&self.database)
            .await?;
        self.invitation(id).await
    }

    fn invitation_row(&self, id: Uuid) -> Select<invitation::Entity> {
        invitation::Entity::find_by_id(id)
            .filter(invitation::Column::OrganizationId.eq(self.organization.0))
    }

    /// Accepts an invitation, once, and adds who was asked, if whoever asked them may still give the role away.
    pub async fn accept_invitation(
        &self,
        id: Uuid,
        name: String,
        password: Option<PasswordHash>,
    ) -> Result<UserRecord, StoreError> {
        let now = now_milliseconds();
        let invitation = self.invitation(id).await?;
        let transaction = self.begin_adding().await?;
        let accepted = invitation::Entity::update_many()
            .col_expr(invitation::Column::AcceptedAt, now.into())
            .filter(invitation::Column::Id.eq(id))
            .filter(invitation::Column::OrganizationId.eq(self.organization.0))
            .filter(invitation::Column::AcceptedAt.is_null())
            .filter(invitation::Column::RevokedAt.is_null())
            .filter(invitation::Column::ExpiresAt.gt(now))
            .exec(&transaction)
            .await?;
        if accepted.rows_affected != 1 {
            return Err(unknown(id));
        }
        if !self.may_still_invite(&invitation, &transaction).await? {
            return Err(unknown(id));
        }
        let InvitationRecord { email, role, .. } = invitation;
        let new = NewUser { email, name, role, password };
        let added = self.insert_user(new, &transaction).await?;
        transaction.commit().await?;
        Ok(added)
    }

    /// Whether who made an invitation is still there and may do what it allows.
    async fn may_still_invite(
        &self,
        invitation: &InvitationRecord,
        transaction: &ScopedTransaction,
    ) -> Result<bool, StoreError> {
        let maker = invitation.created_by.as_deref().and_then(|maker| maker.split_once(':'));
        let people =
            || user::Entity::find().filter(user::Column::OrganizationId.eq(self.organization.0));
        let may_give =
            |role: &str| word(role, UserRole::from_word).map(|role| role.covers(invitation.role));
        let may_person_give = |person: Option<user::Model>| match person {
            Some(person) if person.disabled_at.is_none() => may_give(&person.role),
            _ => Ok(false),
        };
        match maker {
            Some(("user", email)) => {
                let person = people().filter(user::Column::Email.eq(email));
                may_person_give(person.one(transaction).await?)
            }
            Some(("key", prefix)) => {
                let keys = api_key::Entity::find()
                    .filter(api_key::Column::OrganizationId.eq(self.organization.0))
                    .filter(api_key::Column::Prefix.eq(prefix));
                let keys = keys.all(transaction).await?;
                // Of several keys that begin alike nobody knows which it was: all of them have to be good for it.
                for key in &keys {
                    let is_over = key.expires_at.is_some_and(|end| end <= now_milliseconds());
                    if key.revoked_at.is_some() || is_over || !may_give(&key.role)? {
                        return Ok(false);
                    }
                    if let Some(owner) = key.user_id {
                        let owner = people().filter(user::Column::Id.eq(owner));
                        if !may_person_give(owner.one(transaction).await?)? {
                            return Ok(false);
                        }
                    }
                }
                Ok(!keys.is_empty())
            }
            _ => Ok(true),
        }
    }
}

fn unknown(id: Uuid) -> StoreError {
    StoreError::NameNotFound { kind: EntityKind::Invitation, name: id.to_string() }
}

fn invitation_record(row: invitation::Model) -> Result<InvitationRecord, StoreError> {
    Ok(InvitationRecord {
        id: row.id,
        organization: OrganizationId(row.organization_id),
        role: word(&row.role, UserRole::from_word)?,
        created_at: time(row.created_at)?,
        expires_at: time(row.expires_at)?,
        accepted_at: row.accepted_at.map(time).transpose()?,
        revoked_at: row.revoked_at.map(time).transpose()?,
        email: row.email,
        created_by: row.created_by,
    })
}
