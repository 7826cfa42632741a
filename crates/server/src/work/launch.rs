//! New runs: checked whole, stored, and put into the queue.

use fullbench_engine::{Definitions, RunRequest, load_sent, prepare_new};
use fullbench_store::{DatasetVersion, RunOrder, RunRecord};
use fullbench_types::{RunId, RunKind, RunState};
use serde_json::Value;

use super::enqueue;
use crate::access::Caller;
use crate::app::App;
use crate::problem::{Problem, found};
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

/// The run that the same request made when it was sent before, which goes on; none where it made none.
pub(crate) async fn launched(
    app: &App,
    caller: &Caller,
    id: RunId,
) -> Result<Option<RunRecord>, Problem> {
    let run = found(caller.store.run(id).await.map_err(Problem::from))?;
    if let Some(run) = &run {
        go_on(app, caller, run);
    }
    Ok(run)
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
    go_on(app, caller, &record);
    Ok(record)
}

/// Puts a run into the queue that waits and is not there.
pub(crate) fn go_on(app: &App, caller: &Caller, run: &RunRecord) {
    if run.state == RunState::Pending && !app.queue().has(run.id) {
        enqueue(app, caller.store.organization(), run);
    }
}
