//! The first start: an owner of the organization, and a key for them.

use fullbench_store::{NewApiKey, NewUser, Store, UserRecord};
use fullbench_types::{DEFAULT_ORGANIZATION, UserRole};
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

/// Makes an owner and their key where no key was ever made.
pub async fn first_key(store: &Store) -> Result<Option<FirstKey>, Problem> {
    if store.has_api_keys().await? {
        return Ok(None);
    }
    let scoped = store.scoped(DEFAULT_ORGANIZATION);
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
        id: Uuid::now_v7(),
        name: "first key of the owner".to_owned(),
        user: Some(owner.id),
        role: UserRole::Owner,
        scopes: None,
        requests_per_minute: None,
        expires_at: None,
        created_by: None,
        secret: secret.kept,
    };
    scoped.add_api_key(new).await?;
    Ok(Some(FirstKey { organization: organization.name, key: secret.shown_once }))
}
