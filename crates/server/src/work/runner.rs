//! Works on the runs of the queue, several at a time, each to its end, a cancellation or the server's shutdown.

use std::time::Duration;

use fullbench_engine::{EngineError, RunControl, RunEnd, execute, prepare_resume, summarize};
use fullbench_llm::CacheMode;
use fullbench_store::{EndOfRun, NewEvent, RunRecord, ScopedStore, StoreError};
use fullbench_traces::Cause;
use fullbench_types::{EventKind, OrganizationId, RunId, RunOrigin, RunState};
use jiff::Timestamp;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::again::pause;
use super::queue::{Cancelled, QueuedRun};
use crate::app::App;
use crate::problem::Problem;

/// How often runs are looked for that nobody works on any more.
const LOOK_AGAIN: Duration = Duration::from_secs(15);

/// Takes up what was not finished, and starts the workers.
pub(super) async fn start(app: &App) -> Result<(), EngineError> {
    take_over(app).await?;
    let sweeping = app.clone();
    app.tasks().spawn(async move {
        loop {
            tokio::select! {
                () = sweeping.stop().cancelled() => return,
                () = tokio::time::sleep(LOOK_AGAIN) => {}
            }
            if let Err(error) = take_over(&sweeping).await {
                tracing::warn!(%error, "runs to be taken up could not be read");
            }
        }
    });
    for _ in 0..app.config().concurrent_runs.max(1) {
        let app = app.clone();
        app.tasks().clone().spawn(async move {
            loop {
                tokio::select! {
                    () = app.stop().cancelled() => return,
                    (run, cancelled) = app.queue().pop() => {
                        // A task of its own, so that a fault ends this run and not the worker.
                        let worker = app.clone();
                        let worked = tokio::spawn(async move { work_on(&worker, run, cancelled).await });
                        let is_interrupted = worked.await.unwrap_or(false);
                        app.queue().put_down(run.run);
                        if is_interrupted {
                            let again = app.clone();
                            app.tasks().spawn(async move { take_up_again(&again, run).await });
                        }
                    }
                }
            }
        });
    }
    Ok(())
}

/// Puts runs into the queue that nobody here has: those of other servers that share the store and may be gone. Whoever has one, or
/// waits for late scores of one, holds its lock.
async fn take_over(app: &App) -> Result<(), EngineError> {
    for (organization, run, priority) in app.store().runs_to_do().await? {
        if !app.queue().has(run) {
            app.queue().push(QueuedRun { organization, run, priority, cause: None });
        }
    }
    Ok(())
}

/// Puts a stored run into the queue.
pub(crate) fn enqueue(app: &App, organization: OrganizationId, run: &RunRecord) {
    let (run, priority) = (run.id, run.order.priority);
    app.queue().push(QueuedRun { organization, run, priority, cause: Cause::current() });
}

/// Carries a run out; tells whether the store was not to be had, so that the run is as it was and goes on later.
async fn work_on(app: &App, queued: QueuedRun, cancelled: CancellationToken) -> bool {
    let store = app.store().scoped(queued.organization);
    let Err(error) = carry_out(app, &store, queued, &cancelled).await else { return false };
    if error.is_passing() {
        tracing::warn!(run = %queued.run, %error, "a run was interrupted, and goes on later");
        return true;
    }
    tracing::warn!(run = %queued.run, %error, "a run could not be carried out");
    // Without the budget it could go on.
    let is_open = matches!(error, EngineError::Uncounted(_));
    let state = if is_open { RunState::Incomplete } else { RunState::Failed };
    let ended = end(&store, queued.run, state, &[error.to_string()]).await;
    if let Err(error) = &ended {
        tracing::error!(run = %queued.run, %error, "the state of a run could not be kept");
    }
    ended.is_err_and(|error| error.is_passing())
}

/// Puts an interrupted run back into the queue after a pause. What its models had answered and could not be kept is asked for
/// again, mostly of the cache.
async fn take_up_again(app: &App, run: QueuedRun) {
    // Whoever looks for runs that nobody works on may have been here first.
    if pause(app).await && !app.queue().has(run.run) {
        app.queue().push(run);
    }
}

async fn carry_out(
    app: &App,
    store: &ScopedStore,
    QueuedRun { run: id, cause, .. }: QueuedRun,
    cancelled: &CancellationToken,
) -> Result<(), EngineError> {
    let record = store.run(id).await?;
    if !is_open(&record) {
        return Ok(());
    }
    let prepared = match prepare_resume(record, store, true).await {
        // Another server works on it; if that one dies, the run is found again.
        Err(EngineError::Store(StoreError::RunLocked(_))) => return Ok(()),
        other => other?,
    };
    // Whoever had it until a moment ago may have ended it, or died after its end was asked for.
    let record = store.run(id).await?;
    if !is_open(&record) {
        return Ok(());
    }
    if record.is_cancel_asked {
        end_cancelled(store, id).await?;
        return Ok(());
    }
    tell_wait(&record);
    let stop = CancellationToken::new();
    let stopping = tokio::spawn({
        let (stop, cancelled, shutdown) = (stop.clone(), cancelled.clone(), app.stop().clone());
        async move {
            tokio::select! { () = cancelled.cancelled() => {}, () = shutdown.cancelled() => {} }
            stop.cancel();
        }
    });
    let started = NewEvent { run: Some(id), kind: EventKind::RunStarted, data: json!({}) };
    store.add_events(&[started]).await?;
    let control = RunControl {
        stop,
        cache_mode: CacheMode::Use,
        budget: None,
        provider_batch: false,
        leaves_end_to_caller: true,
    };
    // The request is over before the run is: they are linked, and neither is in the other.
    let link_to_request = |_| {
        if let Some(cause) = cause {
            cause.link();
        }
    };
    let ended = execute(prepared, control, link_to_request).await;
    stopping.abort();
    let RunEnd { record, open, .. } = match ended {
        // Another server has taken it over, and goes on with it.
        Err(EngineError::Store(StoreError::RunLocked(_))) => return Ok(()),
        ended => ended?,
    };
    if cancelled.is_cancelled() {
        end_cancelled(store, id).await?;
    } else if app.stop().is_cancelled() && open > 0 {
        // The next server goes on with it.
        store.set_run_state(id, RunState::Pending, &record.notes).await?;
    } else {
        end(store, id, record.state, &record.notes).await?;
    }
    Ok(())
}

/// Measures how long a run waited since it was asked for, once somebody has it and if nobody had it before.
fn tell_wait(record: &RunRecord) {
    if record.started_at.is_none() {
        let waited = Timestamp::now().duration_since(record.created_at).as_secs_f64();
        let priority = record.order.priority.as_str();
        metrics::histogram!("fullbench_queue_wait_seconds", "priority" => priority)
            .record(waited.max(0.0));
    }
}

fn is_open(record: &RunRecord) -> bool {
    matches!(record.state, RunState::Pending | RunState::Running)
}

/// Gives a run up: stops it if it is worked on here, ends it if nobody works on it, and refuses if another process does.
pub(crate) async fn cancel(
    app: &App,
    store: &ScopedStore,
    run: RunRecord,
) -> Result<RunRecord, Problem> {
    // Held until the end is kept, so that nobody begins meanwhile.
    let _alone = match app.queue().has(run.id) {
        true => None,
        false => Some(store.lock_run(run.id).await?),
    };
    store.ask_to_cancel(run.id).await?;
    match app.queue().cancel(run.id) {
        Cancelled::Taken => Ok(run),
        Cancelled::Waiting | Cancelled::Neither => Ok(end_cancelled(store, run.id).await?),
    }
}

/// Keeps that a run was given up on request, and tells it.
async fn end_cancelled(store: &ScopedStore, id: RunId) -> Result<RunRecord, EngineError> {
    end(store, id, RunState::Cancelled, &["cancelled on request".to_owned()]).await
}

async fn is_answered_execution(
    store: &ScopedStore,
    record: &RunRecord,
) -> Result<bool, EngineError> {
    let is_execution = record.order.origin == RunOrigin::Execution;
    Ok(is_execution && store.lane_progress(record.id).await?.iter().any(|lane| lane.answered > 0))
}

/// Keeps how a run ended with its numbers, and tells it.
pub(crate) async fn end(
    store: &ScopedStore,
    id: RunId,
    state: RunState,
    notes: &[String],
) -> Result<RunRecord, EngineError> {
    let record = store.run(id).await?;
    let state = match state {
        // Its answer is there, and scores that are missing are asked for by whoever wants them.
        RunState::Incomplete if is_answered_execution(store, &record).await? => RunState::Completed,
        other => other,
    };
    let record = RunRecord { state, notes: notes.to_vec(), ..record };
    let mut told = json!({ "status": state });
    let report = match summarize(store, &record, None).await {
        Ok(report) => Some(report),
        Err(error) if error.is_passing() => return Err(error),
        // A run that failed before its first answer has no numbers.
        Err(_) => None,
    };
    let summary = report.map(serde_json::to_value).transpose();
    let summary = summary.map_err(|error| EngineError::StoredSpec(error.to_string()))?;
    if let Some(summary) = &summary {
        told["gates"] = summary["gates"].clone();
    }
    let kind = match state {
        RunState::Completed => EventKind::RunCompleted,
        RunState::Cancelled => EventKind::RunCancelled,
        RunState::Failed => EventKind::RunFailed,
        _ => EventKind::RunIncomplete,
    };
    let end = EndOfRun { state, notes, summary: summary.as_ref(), kind, told };
    let ended = store.end_run(id, end).await?;
    metrics::counter!("fullbench_runs_ended_total", "state" => state.as_str()).increment(1);
    Ok(ended)
}
