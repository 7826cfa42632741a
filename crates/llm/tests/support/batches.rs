//! Provider batches kept in memory, as the store would keep them.

use std::sync::{Mutex, MutexGuard};

use async_trait::async_trait;
use fullbench_llm::{BatchRecord, BatchState, BatchStore, BatchStoreError};
use fullbench_types::ProviderBatchId;

#[derive(Default)]
pub struct MemoryBatches(Mutex<Vec<BatchRecord>>);

impl MemoryBatches {
    /// What a later process is told.
    pub fn kept(&self) -> Vec<BatchRecord> {
        let batches = self.lock();
        batches.iter().filter(|batch| batch.state != BatchState::Failed).cloned().collect()
    }

    pub fn states(&self) -> Vec<BatchState> {
        self.lock().iter().map(|batch| batch.state).collect()
    }

    pub fn count(&self, state: BatchState) -> usize {
        self.states().into_iter().filter(|other| *other == state).count()
    }

    /// As if the process had died between the submission and the note of it.
    pub fn forget_submissions(&self) {
        for batch in self.lock().iter_mut() {
            batch.state = BatchState::Submitting;
            batch.remote_id = None;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<BatchRecord>> {
        self.0.lock().unwrap()
    }
}

#[async_trait]
impl BatchStore for MemoryBatches {
    async fn add(&self, batch: &BatchRecord) -> Result<(), BatchStoreError> {
        self.lock().push(batch.clone());
        Ok(())
    }

    async fn update(
        &self,
        id: ProviderBatchId,
        state: BatchState,
        remote_id: Option<&str>,
    ) -> Result<(), BatchStoreError> {
        for batch in self.lock().iter_mut().filter(|batch| batch.id == id) {
            batch.state = state;
            batch.remote_id = remote_id.map(str::to_owned).or_else(|| batch.remote_id.clone());
        }
        Ok(())
    }
}
