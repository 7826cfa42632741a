//! What a team's platform keeps: organizations with users and keys, data sets with versions, cases and agreed answers, documents,
//! prompts with versions, events and who is sent them, and requests that must not be carried out twice.

mod cases;
mod credentials;
mod datasets;
mod deliveries;
mod documents;
mod events;
mod ground_truths;
mod idempotency;
mod invitations;
mod keys;
mod organizations;
mod outbox;
mod password_hash;
mod password_resets;
mod prompts;
mod provider_keys;
mod sealed_secret;
mod second_factors;
mod sessions;
mod sign_in_failures;
mod singles;
mod users;
mod versions;
mod webhooks;

pub use cases::{CaseRecord, NewCase};
pub use credentials::Credentials;
pub use datasets::{DatasetChange, DatasetRecord, NewDataset};
pub use deliveries::{AttemptRecord, DeliveryFilter, DeliveryRecord};
pub use documents::{DocumentRecord, NewDocument};
pub(crate) use events::{AddedEvents, EventHub};
pub use events::{EventRecord, NewEvent};
pub use ground_truths::{GroundTruthRecord, NewGroundTruth};
pub use idempotency::{Claim, KeptAnswer};
pub use invitations::{InvitationPace, InvitationRecord, NewInvitation};
pub use keys::{ApiKeyRecord, KeptSecret, KeyHolder, NewApiKey};
pub use organizations::{
    NewOrganization, OrganizationChange, OrganizationRecord, OrganizationSettings,
};
pub(crate) use organizations::{
    default_organization, hold_organization, lock_organization, refuse_erased, unknown,
    wait_briefly,
};
pub use outbox::{AfterAttempt, DueDelivery};
pub use password_hash::PasswordHash;
pub use prompts::{
    NewPrompt, NewPromptVersion, PromptChange, PromptContent, PromptRecord, PromptVersionRecord,
};
pub use provider_keys::{NewProviderKey, ProviderKeyRecord};
pub use sealed_secret::SealedSecret;
pub use sessions::{NewSession, SessionHolder, SessionRecord};
pub use sign_in_failures::CountedTry;
pub use singles::SingleRun;
pub use users::{MemberChange, NewUser, UserRecord};
pub use versions::{NewVersion, VersionRecord, VersionValidation};
pub use webhooks::{NewWebhook, WebhookChange, WebhookRecord};

use jiff::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::StoreError;

/// A slice of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    /// How many to leave out.
    pub offset: u64,
    /// How many to give at most.
    pub limit: u64,
}

pub(crate) fn time(milliseconds: i64) -> Result<Timestamp, StoreError> {
    Timestamp::from_millisecond(milliseconds)
        .map_err(|_| StoreError::Damaged("a time out of range".to_owned()))
}

/// A stored word read back.
pub(crate) fn word<T>(word: &str, read: impl Fn(&str) -> Option<T>) -> Result<T, StoreError> {
    read(word).ok_or_else(|| StoreError::Damaged(format!("an unknown word `{word}`")))
}

pub(crate) fn to_json(value: &impl Serialize) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::Damaged(error.to_string()))
}

pub(crate) fn from_json<T: DeserializeOwned>(json: &str) -> Result<T, StoreError> {
    serde_json::from_str(json).map_err(|error| StoreError::Damaged(error.to_string()))
}
