//! Works on the runs of the queue, several at a time, each to its end, a cancellation or the server's shutdown.

use fullbench_engine::{EngineError, RunControl, RunEnd, execute, prepare_resume, summarize};
use fullbench_llm::CacheMode;
use fullbench_store::{NewEvent, RunRecord, ScopedStore, StoreError};
use fullbench_types::{OrganizationId, RunId, RunState};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::queue::QueuedRun;
use crate::app::App;

/// Takes up what was not finished, and starts the workers.
pub(super) async fn start(app: &App) -> Result<(), EngineError> {
    for (organization, run, priority) in app.store().runs_to_do().await? {
        app.queue().push(QueuedRun { organization, run, priority });
    }
    for _ in 0..app.config().concurrent_runs.max(1) {
        let app = app.clone();
        app.tasks().clone().spawn(async move {
            loop {
                tokio::select! {
                    () = app.stop().cancelled() => return,
                    (run, cancelled) = app.queue().pop() => {
                        // A task of its own, so that a fault ends this run and not the worker.
                        let (app, id) = (app.clone(), run.run);
                        let queue = app.clone();
                        let _ = tokio::spawn(async move { work_on(&app, run, cancelled).await }).await;
                        queue.queue().put_down(id);
                    }
                }
            }
        });
    }
    Ok(())
}

/// Puts a stored run into the queue.
pub(crate) fn enqueue(app: &App, organization: OrganizationId, run: &RunRecord) {
    let priority = run.order.priority;
    app.queue().push(QueuedRun { organization, run: run.id, priority });
}

async fn work_on(app: &App, queued: QueuedRun, cancelled: CancellationToken) {
    let store = app.store().scoped(queued.organization);
    if let Err(error) = carry_out(app, &store, queued.run, &cancelled).await {
        tracing::warn!(run = %queued.run, %error, "a run could not be carried out");
        let ended = end(&store, queued.run, RunState::Failed, &[error.to_string()]).await;
        if let Err(error) = ended {
            tracing::error!(run = %queued.run, %error, "the state of a run could not be kept");
        }
    }
}

async fn carry_out(
    app: &App,
    store: &ScopedStore,
    id: RunId,
    cancelled: &CancellationToken,
) -> Result<(), EngineError> {
    let record = store.run(id).await?;
    if !matches!(record.state, RunState::Pending | RunState::Running) {
        return Ok(());
    }
    let stop = CancellationToken::new();
    let stopping = tokio::spawn({
        let (stop, cancelled, shutdown) = (stop.clone(), cancelled.clone(), app.stop().clone());
        async move {
            tokio::select! { () = cancelled.cancelled() => {}, () = shutdown.cancelled() => {} }
            stop.cancel();
        }
    });
    let prepared = prepare_resume(record, store, true).await?;
    tell(store, id, "run.started", json!({})).await?;
    let control =
        RunControl { stop, cache_mode: CacheMode::Use, budget: None, provider_batch: false };
    let ended = execute(prepared, control, |_| {}).await;
    stopping.abort();
    let RunEnd { record, open, .. } = ended?;
    if cancelled.is_cancelled() {
        let notes = vec!["cancelled on request".to_owned()];
        end(store, id, RunState::Cancelled, &notes).await?;
    } else if app.stop().is_cancelled() && open > 0 {
        // The next server goes on with it.
        store.set_run_state(id, RunState::Pending, &record.notes).await?;
    } else {
        end(store, id, record.state, &record.notes).await?;
    }
    Ok(())
}

/// Keeps how a run ended with its numbers, and tells it.
pub(crate) async fn end(
    store: &ScopedStore,
    id: RunId,
    state: RunState,
    notes: &[String],
) -> Result<RunRecord, EngineError> {
    let record = store.set_run_state(id, state, notes).await?;
    let mut data = json!({ "status": state });
    // A run that failed before its first answer has no numbers.
    if let Ok(report) = summarize(store, &record, None).await {
        let summary = serde_json::to_value(&report)
            .map_err(|error| EngineError::StoredSpec(error.to_string()))?;
        store.set_run_summary(id, &summary).await?;
        data["gates"] = summary["gates"].clone();
    }
    let kind = match state {
        RunState::Completed => "run.completed",
        RunState::Cancelled => "run.cancelled",
        RunState::Failed => "run.failed",
        _ => "run.incomplete",
    };
    tell(store, id, kind, data).await?;
    Ok(record)
}

async fn tell(
    store: &ScopedStore,
    run: RunId,
    kind: &'static str,
    data: Value,
) -> Result<(), StoreError> {
    store.add_events(&[NewEvent { run: Some(run), kind, data }]).await
}
