//! Invitations as they are shown.

use fullbench_store::InvitationRecord;
use fullbench_types::UserRole;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

/// Somebody who is asked to join.
#[derive(Clone, Serialize, JsonSchema)]
pub(super) struct Invitation {
    invitation_id: Uuid,
    email: String,
    role: UserRole,
    /// Who asks them.
    created_by: Option<String>,
    created_at: Timestamp,
    /// Until when it can be accepted.
    expires_at: Timestamp,
    accepted_at: Option<Timestamp>,
    /// Since when it can no longer be accepted.
    revoked_at: Option<Timestamp>,
}

/// An invitation that was just made.
#[derive(Serialize, JsonSchema)]
pub(super) struct CreatedInvitation {
    #[serde(flatten)]
    pub(super) about: Invitation,
    /// Whether it is sent by mail.
    pub(super) is_mailed: bool,
    /// What they need to accept; null where it is mailed, and when the request is repeated.
    pub(super) token: Option<String>,
    /// The page on which they accept, where the server knows its public address.
    pub(super) link: Option<String>,
}

/// Everybody who was asked.
#[derive(Serialize, JsonSchema)]
pub(super) struct Invitations {
    pub(super) invitations: Vec<Invitation>,
}

impl From<InvitationRecord> for Invitation {
    fn from(record: InvitationRecord) -> Self {
        Self {
            invitation_id: record.id,
            email: record.email,
            role: record.role,
            created_by: record.created_by,
            created_at: record.created_at,
            expires_at: record.expires_at,
            accepted_at: record.accepted_at,
            revoked_at: record.revoked_at,
        }
    }
}
