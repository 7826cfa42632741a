//! How a server is set up.

use fullbench_engine::SentRules;

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
    /// Webhooks may go to private addresses.
    pub allow_private_webhooks: bool,
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
            allow_private_webhooks: false,
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }
}
