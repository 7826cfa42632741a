//! The platform: a REST API over the same engine, store and scorers as the command line.
//!
//! ```text
//! request ─► extract (who calls, what they send) ─► resources (thin handlers) ─► engine, store
//!                                                        │
//!                                                        ▼
//!                                    work (queue of runs, writer of single evaluations) ─► events ─► webhooks
//! ```
//! Every handler works through the store of the caller's organization; there is no other way to the data.

mod access;
mod api;
mod app;
mod audit;
mod config;
mod extract;
mod files;
mod first_start;
mod mail;
mod metrics;
mod problem;
mod quotas;
mod resources;
mod routes;
mod secrets;
mod server;
mod serving;
mod stream;
mod traced;
mod work;

pub use access::oidc::OidcConfig;
pub use access::password_hash;
pub use config::ServerConfig;
pub use first_start::{FirstKey, first_key};
pub use mail::MailConfig;
pub use problem::{FieldProblem, Problem, ProblemDocument};
pub use quotas::{Limit, PlanLimit, Quotas};
pub use server::{Server, StartError, check_signing_in};
pub use serving::{AllowedOrigin, ProxyHeader, ServingConfig, TlsError, TlsFiles, TrustedProxies};

/// The OpenAPI document of the API.
#[must_use]
pub fn openapi() -> serde_json::Value {
    api::openapi(&routes::endpoints())
}
