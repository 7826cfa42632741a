//! The spec of a stored run, with the scorers that were added to it later.

use fullbench_store::{RunRecord, ScopedStore};

use super::EvaluationSpec;
use crate::EngineError;

/// What a run rests on: its frozen spec, and behind the scorers it began with those that were added.
pub async fn stored_spec(
    store: &ScopedStore,
    run: &RunRecord,
) -> Result<EvaluationSpec, EngineError> {
    let damaged = |error: serde_json::Error| EngineError::StoredSpec(error.to_string());
    let mut spec: EvaluationSpec = serde_json::from_str(&run.spec).map_err(damaged)?;
    for entry in store.added_scorers(run.id).await? {
        spec.scorers.push(serde_json::from_str(&entry).map_err(damaged)?);
    }
    Ok(spec)
}
