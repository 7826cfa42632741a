//! People who are signed in with a browser. A cookie itself is never stored, only its hash.

use std::time::Duration;

use fullbench_types::{OrganizationId, Plan};
use jiff::Timestamp;
use sea_orm::sea_query::{Expr, ExprTrait};
use sea_orm::{
    ActiveModelTrait, ActiveValue::Set, ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter,
    QueryOrder, TransactionTrait,
};
use uuid::Uuid;

use super::organizations::lock_organization;
use super::users::user_record;
use super::{OrganizationSettings, UserRecord, from_json, time, word};
use crate::entity::platform::{organization, session, user};
use crate::runs::now_milliseconds;
use crate::{EntityKind, ScopedStore, Store, StoreError};

/// What is known of a session when it begins.
#[derive(Debug, Clone)]
pub struct NewSession {
    /// The id it gets.
    pub id: Uuid,
    /// Whose it is.
    pub user: Uuid,
    /// Since when they had the password that they may have shown.
    pub password_set_at: Option<Timestamp>,
    /// SHA-256 of the cookie, in hexadecimal digits.
    pub token_hash: String,
    /// Where they came from.
    pub from_address: Option<String>,
    /// What they came with.
    pub user_agent: Option<String>,
    /// When it ends, however much it is used.
    pub expires_at: Timestamp,
}

/// Somebody who is signed in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRecord {
    /// Its id.
    pub id: Uuid,
    /// The organization it opens.
    pub organization: OrganizationId,
    /// Whose it is.
    pub user: Uuid,
    /// Where they came from.
    pub from_address: Option<String>,
    /// What they came with.
    pub user_agent: Option<String>,
    /// When it began.
    pub created_at: Timestamp,
    /// When it was last used, to the minute.
    pub last_seen_at: Timestamp,
    /// When it ends, however much it is used.
    pub expires_at: Timestamp,
}

/// A session with what its rights depend on.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionHolder {
    /// The session.
    pub session: SessionRecord,
    /// Whose it is.
    pub user: UserRecord,
    /// What the organization pays for.
    pub plan: Plan,
    /// What it has decided.
    pub settings: OrganizationSettings,
}

impl SessionHolder {
    /// Whether it opens anything at this time, given how long it may lie unused.
    #[must_use]
    pub fn is_open(&self, now: Timestamp, idle: Duration) -> bool {
        let unused = now.duration_since(self.session.last_seen_at).unsigned_abs();
        now < self.session.expires_at && unused < idle && self.user.disabled_at.is_none()
    }
}

impl Store {
    /// The session of this hash, whether it opens anything or not.
    pub async fn session_of_hash(&self, hash: &str) -> Result<Option<SessionHolder>, StoreError> {
        let found = session::Entity::find()
            .filter(session::Column::TokenHash.eq(hash))
            .one(self.system())
            .await?;
        let Some(row) = found else { return Ok(None) };
        let user = user::Entity::find_by_id(row.user_id).one(self.system()).await?;
        let owner =
            organization::Entity::find_by_id(row.organization_id).one(self.system()).await?;
        let (Some(user), Some(owner)) = (user, owner) else { return Ok(None) };
        Ok(Some(SessionHolder {
            session: session_record(row)?,
            user: user_record(user)?,
            plan: word(&owner.plan, Plan::from_word)?,
            settings: from_json(&owner.settings)?,
        }))
    }

    /// Notes that a session was used just now.
    pub async fn note_session_use(&self, id: Uuid) -> Result<(), StoreError> {
        session::Entity::update_many()
            .col_expr(session::Column::LastSeenAt, now_milliseconds().into())
            .filter(session::Column::Id.eq(id))
            .exec(self.system())
            .await?;
        Ok(())
    }

    /// Removes sessions that are over.
    pub async fn forget_ended_sessions(&self, idle: Duration) -> Result<(), StoreError> {
        let now = now_milliseconds();
        let unused = now.saturating_sub(i64::try_from(idle.as_millis()).unwrap_or(i64::MAX));
        let is_over =
            session::Column::ExpiresAt.lte(now).or(session::Column::LastSeenAt.lte(unused));
        session::Entity::delete_many().filter(is_over).exec(self.system()).await?;
        Ok(())
    }
}

impl ScopedStore {
    /// Begins a session; none where they may do nothing any more, or their password was changed since they showed it.
    pub async fn start_session(
        &self,
        new: NewSession,
    ) -> Result<Option<SessionRecord>, StoreError> {
        let now = now_milliseconds();
        let transaction = self.database.begin().await?;
        lock_organization(&transaction, self.organization).await?;
        let person = user::Entity::find_by_id(new.user)
            .filter(user::Column::OrganizationId.eq(self.organization.0))
            .filter(user::Column::DisabledAt.is_null())
            .one(&transaction)
            .await?;
        let seen = new.password_set_at.map(Timestamp::as_millisecond);
        if person.is_none_or(|person| person.password_set_at != seen) {
            return Ok(None);
        }
        let row = session::ActiveModel {
            id: Set(new.id),
            organization_id: Set(self.organization.0),
            user_id: Set(new.user),
            token_hash: Set(new.token_hash),
            from_address: Set(new.from_address),
            user_agent: Set(new.user_agent),
            created_at: Set(now),
            last_seen_at: Set(now),
            expires_at: Set(new.expires_at.as_millisecond()),
        };
        let row = row.insert(&transaction).await?;
        user::Entity::update_many()
            .col_expr(user::Column::LastSignInAt, now.into())
            .filter(user::Column::Id.eq(new.user))
            .exec(&transaction)
            .await?;
        transaction.commit().await?;
        session_record(row).map(Some)
    }

    /// The sessions of somebody, the last used first.
    pub async fn sessions_of(&self, user: Uuid) -> Result<Vec<SessionRecord>, StoreError> {
        let rows = session::Entity::find()
            .filter(session::Column::OrganizationId.eq(self.organization.0))
            .filter(session::Column::UserId.eq(user))
            .order_by_desc(session::Column::LastSeenAt)
            .order_by_desc(session::Column::Id)
            .all(&self.database)
            .await?;
        rows.into_iter().map(session_record).collect()
    }

    /// Ends one session of somebody.
    pub async fn end_session(&self, user: Uuid, id: Uuid) -> Result<(), StoreError> {
        let ended = session::Entity::delete_many()
            .filter(session::Column::OrganizationId.eq(self.organization.0))
            .filter(session::Column::UserId.eq(user))
            .filter(session::Column::Id.eq(id))
            .exec(&self.database)
            .await?;
        match ended.rows_affected {
            0 => Err(StoreError::NameNotFound { kind: EntityKind::Session, name: id.to_string() }),
            _ => Ok(()),
        }
    }
}

/// Ends the sessions of somebody, all but one.
pub(super) async fn end_sessions(
    connection: &impl ConnectionTrait,
    user: Uuid,
    but: Option<Uuid>,
) -> Result<(), StoreError> {
    let is_other = match but {
        Some(kept) => session::Column::Id.ne(kept),
        None => Expr::value(true),
    };
    session::Entity::delete_many()
        .filter(session::Column::UserId.eq(user))
        .filter(is_other)
        .exec(connection)
        .await?;
    Ok(())
}

fn session_record(row: session::Model) -> Result<SessionRecord, StoreError> {
    Ok(SessionRecord {
        id: row.id,
        organization: OrganizationId(row.organization_id),
        user: row.user_id,
        created_at: time(row.created_at)?,
        last_seen_at: time(row.last_seen_at)?,
        expires_at: time(row.expires_at)?,
        from_address: row.from_address,
        user_agent: row.user_agent,
    })
}
