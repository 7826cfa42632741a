//! New runs: checked whole, stored, and put into the queue.

use fullbench_engine::{Definitions, RunRequest, load_sent, prepare_new};
use fullbench_store::{DatasetVersion, RunOrder, RunRecord};
use fullbench_types::{RunId, RunKind};
use serde_json::Value;

use super::enqueue;
use crate::access::Caller;
use crate::app::App;
use crate::problem::Problem;
use crate::quotas::RoomForRun;

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
    caller: &Caller,
    room: RoomForRun,
    wanted: Wanted,
) -> Result<RunRecord, Problem> {
    let Wanted { id, kind, document, dataset, order } = wanted;
    let store = &caller.store;
    let definitions = Definitions::read(store).await?;
    let evaluation = load_sent(document, dataset, &definitions, &app.config().rules)?;
    let version = &app.config().version;
    let units = room.left();
    let request = RunRequest { id, kind, needs_keys: true, group_by: None, version, order, units };
    let prepared = prepare_new(evaluation, store, request).await?;
    let record = prepared.record.clone();
    room.keep(record.planned_units);
    // The worker takes the lock that this let go of.
    drop(prepared);
    if record.state == fullbench_types::RunState::Pending && !app.queue().has(record.id) {
        enqueue(app, store.organization(), &record);
    }
    Ok(record)
}
