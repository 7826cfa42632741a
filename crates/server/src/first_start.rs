//! The first start: an owner of the organization, and a key for them.

use fullbench_store::{NewApiKey, NewAuditEntry, NewUser, Store, UserRecord};
use fullbench_types::{AuditPhase, DEFAULT_ORGANIZATION, UserRole};
use uuid::Uuid;

use crate::access::{KEY_PREFIX, NewSecret};
use crate::problem::Problem;

/// The key of the first owner: the only time that it is shown.
pub struct FirstKey {
    /// The name of the organization.
    pub organization: String,
    /// The key.
    pub key: String,
}

/// Makes an owner and their key where no key was ever made. It is the first that the audit log tells.
pub async fn first_key(store: &Store) -> Result<Option<FirstKey>, Problem> {
    if store.has_api_keys().await? {
        return Ok(None);
    }
    let scoped = store.scoped(DEFAULT_ORGANIZATION);
    let (id, audit_key) = (Uuid::now_v7(), store.audit_key().await?);
    let noted = |phase| NewAuditEntry {
        target: Some(id.to_string()),
        ..NewAuditEntry::new("create_first_api_key", "system", phase)
    };
    scoped.append_audit(&audit_key, &[noted(AuditPhase::Asked)]).await?;
    let organization = scoped.organization_record().await?;
    let is_owner = |user: &UserRecord| user.role == UserRole::Owner && user.disabled_at.is_none();
    let owner = match scoped.users().await?.into_iter().find(is_owner) {
        Some(owner) => owner,
        None => {
            let new = NewUser {
                email: "owner@localhost".to_owned(),
                name: "Owner".to_owned(),
                role: UserRole::Owner,
                password: None,
            };
            scoped.add_user(new).await?
        }
    };
    let secret = NewSecret::new(KEY_PREFIX)?;
    let new = NewApiKey {
        id,
        name: "the owner's first key".to_owned(),
        user: Some(owner.id),
        role: UserRole::Owner,
        scopes: None,
        requests_per_minute: None,
        expires_at: None,
        created_by: None,
        secret: secret.kept,
    };
    scoped.add_api_key(new).await?;
    // The key is there and is shown only now: that it was asked for is in the log.
    if let Err(error) = scoped.append_audit(&audit_key, &[noted(AuditPhase::Done)]).await {
        tracing::error!(%error, "the audit log misses the end of what made the first key");
    }
    Ok(Some(FirstKey { organization: organization.name, key: secret.shown_once }))
}
