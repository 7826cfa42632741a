//! The listening side: TLS, and clients that are slow, many or too large.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod bodies;
#[path = "../common/mod.rs"]
mod common;
mod connections;
mod headers;
mod log;
mod raw;
mod tls;

use common::TestServer;
use common::backend::Place;
use fullbench_server::{ServerConfig, ServingConfig};

/// A server that takes connections in this way.
async fn serving(serving: ServingConfig) -> TestServer {
    let config = ServerConfig { serving, ..ServerConfig::default() };
    TestServer::start_with(Place::sqlite(), config).await
}
