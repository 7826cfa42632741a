//! How connections are taken.

use std::time::Duration;

use super::{AllowedOrigin, TlsFiles, TrustedProxies};

/// How connections are taken.
#[derive(Debug, Clone)]
pub struct ServingConfig {
    /// Certificate and key; without them connections are plain.
    pub tls: Option<TlsFiles>,
    /// How often the files of the certificate are looked at.
    pub reload_every: Duration,
    /// Connections at the same time; more wait until one ends.
    pub max_connections: usize,
    /// How long a handshake of TLS may take.
    pub handshake_timeout: Duration,
    /// How long the head of a request may take, from the connection or its first byte on.
    pub header_timeout: Duration,
    /// How long a connection stays open without a request.
    pub idle_timeout: Duration,
    /// How long a client may take nothing of what it is sent.
    pub stall_timeout: Duration,
    /// How long nothing may come of a body that is being sent.
    pub body_idle_timeout: Duration,
    /// How long a body may take in all, unless it is a file.
    pub body_timeout: Duration,
    /// The largest head of a request that is answered.
    pub max_header_bytes: usize,
    /// Who may say for whom they ask.
    pub proxies: TrustedProxies,
    /// Origins whose pages may use the API; none but the server's own by default.
    pub origins: Vec<AllowedOrigin>,
}

impl Default for ServingConfig {
    fn default() -> Self {
        Self {
            tls: None,
            reload_every: Duration::from_secs(5),
            max_connections: 16_384,
            handshake_timeout: Duration::from_secs(10),
            header_timeout: Duration::from_secs(15),
            // Longer than proxies keep theirs, so that none sends a request into a connection that is being closed.
            idle_timeout: Duration::from_secs(90),
            stall_timeout: Duration::from_secs(60),
            body_idle_timeout: Duration::from_secs(30),
            body_timeout: Duration::from_secs(120),
            max_header_bytes: 64 << 10,
            proxies: TrustedProxies::default(),
            origins: Vec::new(),
        }
    }
}
