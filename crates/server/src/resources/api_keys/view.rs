//! Keys as they are shown.

use fullbench_store::ApiKeyRecord;
use fullbench_types::{Action, UserRole};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

/// A bearer key, without the key.
#[derive(Clone, Serialize, JsonSchema)]
pub(super) struct ApiKey {
    api_key_id: Uuid,
    /// What the key is for.
    name: String,
    /// The first letters of the key.
    prefix: String,
    /// What it may do.
    role: UserRole,
    /// The actions of the role that it is for; null for all of them.
    scopes: Option<Vec<Action>>,
    /// Whose it is; null for a service.
    user_id: Option<Uuid>,
    /// How often it may be used.
    requests_per_minute: Option<u32>,
    /// Who made it.
    created_by: Option<String>,
    created_at: Timestamp,
    /// When it was last seen, to the minute.
    last_used_at: Option<Timestamp>,
    /// When it opens nothing any more.
    expires_at: Option<Timestamp>,
    /// Since when it opens nothing.
    revoked_at: Option<Timestamp>,
}

/// A new key: the only time that it is shown.
#[derive(Serialize, JsonSchema)]
pub(super) struct CreatedApiKey {
    #[serde(flatten)]
    pub(super) about: ApiKey,
    /// The key itself; null when the request is repeated, since it is kept nowhere.
    pub(super) key: Option<String>,
}

/// Keys of the organization.
#[derive(Serialize, JsonSchema)]
pub(super) struct ApiKeys {
    pub(super) api_keys: Vec<ApiKey>,
}

impl From<ApiKeyRecord> for ApiKey {
    fn from(record: ApiKeyRecord) -> Self {
        Self {
            api_key_id: record.id,
            name: record.name,
            prefix: record.prefix,
            role: record.role,
            scopes: record.scopes,
            user_id: record.user,
            requests_per_minute: record.requests_per_minute,
            created_by: record.created_by,
            created_at: record.created_at,
            last_used_at: record.last_used_at,
            expires_at: record.expires_at,
            revoked_at: record.revoked_at,
        }
    }
}
