//! A session as it is shown.

use fullbench_store::{OrganizationRecord, SessionRecord, UserRecord};
use fullbench_types::{Action, UserRole};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

/// Who is signed in, and what they may do.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Session {
    session_id: Uuid,
    user: SignedIn,
    organization: Joined,
    /// All that their role allows.
    actions: Vec<Action>,
    /// For the header `X-CSRF-Token` of requests that change something.
    csrf_token: String,
    /// When they have to sign in again, however much the session is used.
    expires_at: Timestamp,
}

/// Somebody who is signed in.
#[derive(Serialize, JsonSchema)]
struct SignedIn {
    user_id: Uuid,
    email: String,
    name: String,
    role: UserRole,
    /// Whether they have a password.
    has_password: bool,
    /// Whether a code is asked for when they sign in.
    has_second_factor: bool,
}

/// Where they belong.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "SessionOrganization")]
struct Joined {
    organization_id: Uuid,
    name: String,
    slug: String,
}

impl Session {
    pub(super) fn new(
        user: &UserRecord,
        session: &SessionRecord,
        organization: OrganizationRecord,
        csrf_token: String,
    ) -> Self {
        let actions = Action::ALL.iter().copied().filter(|action| user.role.allows(*action));
        Self {
            session_id: session.id,
            user: SignedIn {
                user_id: user.id,
                email: user.email.clone(),
                name: user.name.clone(),
                role: user.role,
                has_password: user.has_password,
                has_second_factor: user.has_second_factor,
            },
            organization: Joined {
                organization_id: organization.id.0,
                name: organization.name,
                slug: organization.slug,
            },
            actions: actions.collect(),
            csrf_token,
            expires_at: session.expires_at,
        }
    }
}
