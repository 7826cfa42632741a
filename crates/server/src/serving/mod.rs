//! The listening side: who may connect, how long they may take, and what is told of them.
//!
//! ```text
//! listener ─► a place among the connections ─► TLS ─► HTTP, under watch ─► router
//! ```
//! Every wait for somebody outside has an end, so that nobody holds a place by doing nothing.

mod accept;
mod bodies;
mod connection;
mod headers;
mod peer;
mod settings;
mod tls;
mod watch;

pub(crate) use accept::serve;
pub(crate) use bodies::{read_on, within_limits};
pub use headers::AllowedOrigin;
pub(crate) use headers::with_headers;
pub(crate) use peer::Peer;
pub use peer::{ProxyHeader, TrustedProxies};
pub use settings::ServingConfig;
pub(crate) use tls::Certificates;
pub use tls::{TlsError, TlsFiles};
