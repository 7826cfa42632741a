//! Evaluation steps of judges, kept in the store of the run.

use async_trait::async_trait;
use fullbench_judge::StepsStore;
use fullbench_store::ScopedStore;
use fullbench_types::ContentHash;

/// The store as a place for evaluation steps. One that fails costs the model another call, not the run.
pub(crate) struct KeptSteps(pub(crate) ScopedStore);

#[async_trait]
impl StepsStore for KeptSteps {
    async fn get(&self, key: &ContentHash) -> Option<Vec<String>> {
        self.0.evaluation_steps(key).await.ok().flatten()
    }

    async fn keep(&self, key: &ContentHash, steps: Vec<String>) -> Vec<String> {
        self.0.keep_evaluation_steps(key, &steps).await.unwrap_or(steps)
    }
}
