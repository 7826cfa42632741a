//! Members as they are shown.

use fullbench_store::UserRecord;
use fullbench_types::UserRole;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

/// A person of the organization.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Member {
    user_id: Uuid,
    email: String,
    name: String,
    role: UserRole,
    /// Whether a code is asked for when they sign in.
    has_second_factor: bool,
    created_at: Timestamp,
    last_sign_in_at: Option<Timestamp>,
    /// Since when they may do nothing.
    disabled_at: Option<Timestamp>,
}

/// Everybody of the organization.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Members {
    pub(super) members: Vec<Member>,
}

impl From<UserRecord> for Member {
    fn from(record: UserRecord) -> Self {
        Self {
            user_id: record.id,
            email: record.email,
            name: record.name,
            role: record.role,
            has_second_factor: record.has_second_factor,
            created_at: record.created_at,
            last_sign_in_at: record.last_sign_in_at,
            disabled_at: record.disabled_at,
        }
    }
}
