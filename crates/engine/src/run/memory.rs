//! What scorers keep from one run to the next, in the store of the run. A store that fails costs another call, not the run.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};

use async_trait::async_trait;
use fullbench_judge::StepsStore;
use fullbench_score::{JudgedOutput, JudgedStore, Memory};
use fullbench_store::{JudgedRecord, ScopedStore};
use fullbench_types::{ContentHash, OrganizationId};
use tokio::sync::{Mutex as Turn, OwnedMutexGuard};

/// The store as a place for what scorers keep.
pub(crate) fn memory(store: &ScopedStore, uses_cache: bool) -> Memory {
    let kept = Arc::new(Kept(store.clone()));
    Memory { steps: kept.clone(), judged: if uses_cache { Some(kept) } else { None } }
}

struct Kept(ScopedStore);

/// Who writes evaluation steps just now, in this process.
static TURNS: LazyLock<Mutex<HashMap<StepsKey, Weak<Turn<()>>>>> = LazyLock::new(Mutex::default);

type StepsKey = (OrganizationId, ContentHash);

#[async_trait]
impl StepsStore for Kept {
    async fn get(&self, key: &ContentHash) -> Option<Vec<String>> {
        self.0.evaluation_steps(key).await.ok().flatten()
    }

    async fn turn(&self, key: &ContentHash) -> Option<OwnedMutexGuard<()>> {
        let turn = {
            let mut turns = TURNS.lock().unwrap_or_else(PoisonError::into_inner);
            turns.retain(|_, turn| turn.strong_count() > 0);
            let key = (self.0.organization(), *key);
            let turn = turns.get(&key).and_then(Weak::upgrade).unwrap_or_default();
            turns.insert(key, Arc::downgrade(&turn));
            turn
        };
        Some(turn.lock_owned().await)
    }

    async fn keep(&self, key: &ContentHash, steps: Vec<String>) -> Vec<String> {
        self.0.keep_evaluation_steps(key, &steps).await.unwrap_or(steps)
    }
}

#[async_trait]
impl JudgedStore for Kept {
    async fn judged(&self, space: &ContentHash) -> Vec<JudgedOutput> {
        let records = self.0.judged_outputs(space).await.unwrap_or_default();
        let judged = |record: JudgedRecord| JudgedOutput {
            case: record.case_key,
            input: record.input,
            output: record.output,
            vector: record.vector,
            score: record.score,
            full_cost: record.full_cost,
        };
        records.into_iter().map(judged).collect()
    }

    async fn keep(&self, space: &ContentHash, judged: &JudgedOutput) {
        let record = JudgedRecord {
            case_key: judged.case.clone(),
            input: judged.input.clone(),
            output: judged.output.clone(),
            vector: judged.vector.clone(),
            score: judged.score.clone(),
            full_cost: judged.full_cost,
        };
        // One that is not kept is judged again.
        let _ = self.0.keep_judged_output(space, &record).await;
    }
}
