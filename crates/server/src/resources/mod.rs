//! One folder for each kind of thing that the API is about.

pub(crate) mod account;
pub(crate) mod api_keys;
pub(crate) mod audit_log;
pub(crate) mod baselines;
pub(crate) mod criteria;
pub(crate) mod datasets;
pub(crate) mod documents;
pub(crate) mod evaluations;
pub(crate) mod events;
pub(crate) mod executions;
pub(crate) mod health;
pub(crate) mod invitations;
pub(crate) mod judgements;
pub(crate) mod judges;
pub(crate) mod members;
pub(crate) mod methods;
pub(crate) mod metrics;
pub(crate) mod models;
pub(crate) mod organization;
pub(crate) mod password_resets;
pub(crate) mod prompts;
pub(crate) mod provider_keys;
pub(crate) mod runs;
pub(crate) mod session;
pub(crate) mod thresholds;
pub(crate) mod webhooks;
