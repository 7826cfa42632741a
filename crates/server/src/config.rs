//! How a server is set up.

use std::time::Duration;

use fullbench_engine::SentRules;
use fullbench_llm::Secret;

use crate::access::oidc::OidcConfig;
use crate::mail::MailConfig;
use crate::quotas::{PlanLimit, Quotas};
use crate::serving::ServingConfig;

/// How long a receiver of events is left alone after each try, about a day in all.
const WEBHOOK_WAITS: [u64; 9] = [5, 30, 120, 600, 1800, 7200, 18_000, 28_800, 28_800];

/// How a server is set up.
#[derive(Debug, Clone)]
pub struct ServerConfig {
    /// What evaluations of users may reach.
    pub rules: SentRules,
    /// The largest JSON body.
    pub max_body_bytes: usize,
    /// The largest file.
    pub max_upload_bytes: u64,
    /// Runs that are worked on at the same time.
    pub concurrent_runs: usize,
    /// How much an organization may do and have.
    pub quotas: Quotas,
    /// What is otherwise for organizations with a plan.
    pub plan_limits: Vec<PlanLimit>,
    /// Webhooks may go to private addresses.
    pub allow_private_webhooks: bool,
    /// How long to wait after each try to reach a webhook; after the last one it is given up.
    pub webhook_waits: Vec<Duration>,
    /// How often what alerts watch is looked at.
    pub alert_every: Duration,
    /// Who has this may read measurements; without it, only the machine itself.
    pub metrics_token: Option<Secret>,
    /// How connections are taken.
    pub serving: ServingConfig,
    /// Cookies are kept by browsers only with TLS, as they should be wherever there is TLS.
    pub secure_cookies: bool,
    /// After how long without use somebody has to sign in again.
    pub session_idle_end: Duration,
    /// After how long everybody has to sign in again.
    pub session_end: Duration,
    /// Where people find the server, for links in mail.
    pub public_url: Option<reqwest::Url>,
    /// How mail is sent; without it links are shown to who invites.
    pub mail: Option<MailConfig>,
    /// Who else vouches for people.
    pub oidc: Option<OidcConfig>,
    /// The version of fullbench that runs say made them.
    pub version: String,
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self {
            rules: SentRules::default(),
            max_body_bytes: 8 << 20,
            max_upload_bytes: 4 << 30,
            concurrent_runs: 4,
            quotas: Quotas::default(),
            plan_limits: Vec::new(),
            allow_private_webhooks: false,
            webhook_waits: WEBHOOK_WAITS.map(Duration::from_secs).to_vec(),
            alert_every: Duration::from_secs(30),
            metrics_token: None,
            serving: ServingConfig::default(),
            secure_cookies: false,
            session_idle_end: Duration::from_secs(12 * 3600),
            session_end: Duration::from_secs(30 * 86_400),
            public_url: None,
            mail: None,
            oidc: None,
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }
}
