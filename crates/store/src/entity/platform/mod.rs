//! The tables of the platform: organizations, data sets, versions, cases, agreed answers, documents, prompts, events, webhooks, keys.

pub(crate) mod api_key;
pub(crate) mod audit_entry;
pub(crate) mod audit_head;
pub(crate) mod dataset;
pub(crate) mod dataset_version;
pub(crate) mod document;
pub(crate) mod event;
pub(crate) mod ground_truth;
pub(crate) mod idempotency_key;
pub(crate) mod invitation;
pub(crate) mod organization;
pub(crate) mod organization_key;
pub(crate) mod password_reset;
pub(crate) mod prompt;
pub(crate) mod prompt_version;
pub(crate) mod provider_key;
pub(crate) mod recovery_code;
pub(crate) mod session;
pub(crate) mod sign_in_failure;
pub(crate) mod spending;
pub(crate) mod test_case;
pub(crate) mod user;
pub(crate) mod webhook;
pub(crate) mod webhook_attempt;
pub(crate) mod webhook_delivery;
