//! The cases of a version as runs use them: frozen, with the answers that were agreed on.

use std::collections::BTreeMap;
use std::sync::Arc;

use fullbench_engine::with_ground_truth;
use fullbench_store::{DatasetVersion, ScopedStore, VersionRecord, ground_truth_source};
use fullbench_types::{ContentHash, ValidationStatus};
use serde_json::Value;
use uuid::Uuid;

use crate::problem::{CONFLICT, INTERNAL, Problem};

/// The frozen cases of a valid version, with the agreed answers that there are now in place of its references. The result is
/// made once for every state of the agreed answers.
pub(crate) async fn frozen(
    store: &ScopedStore,
    version_id: Uuid,
) -> Result<DatasetVersion, Problem> {
    let version = store.version(version_id).await?;
    let content = check_valid(&version)?;
    let revision = version.ground_truth_revision;
    let uploaded = store.dataset(&content).await?;
    if revision == 0 {
        return Ok(uploaded);
    }
    let source_hash = ground_truth_source(&content, revision);
    if let Some(made) = store.dataset_of_source(&source_hash).await? {
        return Ok(made);
    }
    let answers = agreed_answers(store, version_id, revision).await?;
    let mut cases = store.cases(Arc::new(uploaded)).await?;
    let objects = store.objects().await?;
    let made = in_background(move || with_ground_truth(&mut cases, objects, &answers)).await??;
    store.save_dataset(&made, &source_hash).await?;
    Ok(made)
}

/// The accepted answers by the position of the case: the newest that was agreed on counts.
async fn agreed_answers(
    store: &ScopedStore,
    version: Uuid,
    revision: u64,
) -> Result<BTreeMap<u64, Vec<Value>>, Problem> {
    let truths = store.ground_truths_until(version, revision).await?;
    let ids: Vec<Uuid> = truths.iter().map(|truth| truth.case).collect();
    let positions = store.case_positions(version, &ids).await?;
    let mut answers = BTreeMap::new();
    for truth in truths {
        let Some(position) = positions.get(&truth.case) else { continue };
        match accepted(&truth.value) {
            Some(accepted) => answers.insert(*position, accepted),
            // A rubric alone says nothing about the answer: what the file says counts again.
            None => answers.remove(position),
        };
    }
    Ok(answers)
}

/// The hash of a version's frozen cases; refuses one whose rows are not all cases.
pub(crate) fn check_valid(version: &VersionRecord) -> Result<ContentHash, Problem> {
    let number = version.number;
    let (detail, hint) = match (version.validation, version.content) {
        (ValidationStatus::Valid, Some(content)) => return Ok(content),
        (ValidationStatus::Pending, _) => {
            let detail = format!("the rows of version {number} are still being looked at");
            (detail, "wait until its `validation_status` is VALID")
        }
        _ => {
            let detail = format!("some rows of version {number} are no cases");
            (detail, "its `validation_errors` say which; upload a corrected file")
        }
    };
    Err(Problem::new(CONFLICT, detail).hint(hint))
}

/// Does something that takes its time with files or numbers, where it holds nobody up.
pub(crate) async fn in_background<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Problem> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|_| Problem::new(INTERNAL, "the server failed on this request"))
}

fn accepted(value: &Value) -> Option<Vec<Value>> {
    match (value.get("acceptable_answers"), value.get("answer")) {
        (Some(Value::Array(several)), _) if !several.is_empty() => Some(several.clone()),
        (_, Some(answer)) if !answer.is_null() => Some(vec![answer.clone()]),
        _ => None,
    }
}
