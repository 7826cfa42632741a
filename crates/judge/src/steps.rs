//! Evaluation steps that a model writes once for each criterion, and where they are kept.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use fullbench_types::ContentHash;
use tokio::sync::OwnedMutexGuard;

/// Keeps evaluation steps by the hash of criterion, model and prompt.
#[async_trait]
pub trait StepsStore: Send + Sync {
    /// The steps, when there are some.
    async fn get(&self, key: &ContentHash) -> Option<Vec<String>>;

    /// A turn to write them, held until they are kept, so that nobody else pays for the same; none where nobody waits for another.
    async fn turn(&self, _key: &ContentHash) -> Option<OwnedMutexGuard<()>> {
        None
    }

    /// Keeps steps, and gives those that count: the first that were kept.
    async fn keep(&self, key: &ContentHash, steps: Vec<String>) -> Vec<String>;
}

/// Steps kept as long as the program runs.
#[derive(Debug, Default)]
pub struct MemorySteps {
    steps: Mutex<HashMap<ContentHash, Vec<String>>>,
}

#[async_trait]
impl StepsStore for MemorySteps {
    async fn get(&self, key: &ContentHash) -> Option<Vec<String>> {
        self.steps.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }

    async fn keep(&self, key: &ContentHash, steps: Vec<String>) -> Vec<String> {
        let mut kept = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
        kept.entry(*key).or_insert(steps).clone()
    }
}
