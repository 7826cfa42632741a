//! The trait of the exact response cache; `store` implements it.

use async_trait::async_trait;
use fullbench_types::{ContentHash, Generation};

/// Answers by the hash of their complete request. Only complete answers are ever put in: no error, no cut-off stream.
#[async_trait]
pub trait ResponseCache: Send + Sync {
    /// The answer to a request, when there is one.
    async fn get(&self, key: &ContentHash) -> Option<Generation>;

    /// Keeps an answer.
    async fn put(&self, key: &ContentHash, generation: &Generation);
}

/// What the cache may be used for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum CacheMode {
    /// Read and write.
    #[default]
    Use,
    /// Neither read nor write.
    Off,
    /// Read, and call no model.
    Only,
}
