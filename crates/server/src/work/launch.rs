//! New runs: checked whole, stored, and put into the queue.

use fullbench_engine::{Definitions, RunRequest, load_sent, prepare_new};
use fullbench_store::{DatasetVersion, RunOrder, RunRecord, ScopedStore};
use fullbench_types::{RunId, RunKind, ValidationStatus};
use serde_json::Value;
use uuid::Uuid;

use super::enqueue;
use crate::app::App;
use crate::problem::{CONFLICT, Problem};

/// A run that is wanted.
pub(crate) struct Wanted {
    pub(crate) id: RunId,
    pub(crate) kind: Option<RunKind>,
    /// The evaluation, as an evaluation file says it, without its cases.
    pub(crate) document: Value,
    pub(crate) dataset: DatasetVersion,
    pub(crate) order: RunOrder,
}

/// Stores a run and puts it into the queue; nothing is stored of one that is not right.
pub(crate) async fn launch(
    app: &App,
    store: &ScopedStore,
    wanted: Wanted,
) -> Result<RunRecord, Problem> {
    let Wanted { id, kind, document, dataset, order } = wanted;
    let definitions = Definitions::read(store).await?;
    let evaluation = load_sent(document, dataset, &definitions, &app.config().rules)
        .map_err(|error| Problem::from(error).renamed("scorers", "metrics"))?;
    let version = &app.config().version;
    let request = RunRequest { id, kind, needs_keys: true, group_by: None, version, order };
    let prepared = prepare_new(evaluation, store, request)
        .await
        .map_err(|error| Problem::from(error).renamed("scorers", "metrics"))?;
    let record = prepared.record.clone();
    // The worker takes the lock that this let go of.
    drop(prepared);
    if record.state == fullbench_types::RunState::Pending && !app.queue().has(record.id) {
        enqueue(app, store.organization(), &record);
    }
    Ok(record)
}

/// The frozen cases of a version.
pub(crate) async fn frozen(store: &ScopedStore, version: Uuid) -> Result<DatasetVersion, Problem> {
    let record = store.version(version).await?;
    match (record.validation, record.content) {
        (ValidationStatus::Valid, Some(content)) => Ok(store.dataset(&content).await?),
        (ValidationStatus::Pending, _) => {
            let problem =
                Problem::new(CONFLICT, "the rows of the version are still being looked at");
            Err(problem.hint("wait until its `validation_status` is VALID"))
        }
        _ => Err(Problem::new(CONFLICT, "some rows of the version are no cases")
            .hint("its `validation_errors` say which; upload a new version")),
    }
}
