//! Stops everything that works for an organization, and erases it.

use std::time::Duration;

use fullbench_store::{AskedBy, ErasureReceipt, RunFilter, RunRecord, ScopedStore, StoreError};
use fullbench_types::{OrganizationId, RunState};
use tokio::time::{Instant, sleep, timeout};

use super::runner::cancel;
use crate::app::App;
use crate::problem::{CONFLICT, Problem};

/// How long runs and files are waited for that are to end, and how often they are looked at.
const PATIENCE: Duration = Duration::from_secs(120);
const LOOK_AGAIN: Duration = Duration::from_millis(100);
/// Runs that are looked at together.
const TOGETHER: u64 = 100;

/// Erases an organization, once its runs have stopped. From then on nothing of it is in the memory of this server either.
pub(crate) async fn erase(
    app: &App,
    organization: OrganizationId,
    by: AskedBy,
) -> Result<ErasureReceipt, Problem> {
    let store = app.store().scoped(organization);
    // Whoever was let in a moment ago is looked for again, and nothing is begun for single answers. Those whose late scores are
    // waited for hold their locks until then.
    forget(app, organization);
    let closed = app.ongoing().close(organization);
    timeout(PATIENCE, closed.ended()).await.map_err(|_| still_working())?;
    stop(app, &store).await?;
    let (until, key) = (Instant::now() + PATIENCE, app.audit().key().await?);
    let erased = loop {
        match app.store().erase_organization(organization, &key, by.clone()).await {
            // It ends by itself.
            Err(StoreError::BeingValidated) if Instant::now() < until => sleep(LOOK_AGAIN).await,
            ended => break ended,
        }
    };
    forget(app, organization);
    Ok(erased?)
}

/// Forgets what is kept in memory.
fn forget(app: &App, organization: OrganizationId) {
    app.keys().forget(|holder| holder.key.organization == organization);
    app.sessions().forget(|holder| holder.session.organization == organization);
    app.singles().forget(organization);
    app.reports().forget();
}

/// Cancels all runs that are open, and waits until nobody here works on them.
async fn stop(app: &App, store: &ScopedStore) -> Result<(), Problem> {
    let until = Instant::now() + PATIENCE;
    let mut asked = Vec::new();
    loop {
        let open = open_runs(store).await?;
        if open.iter().all(|run| asked.contains(&run.id) && !app.queue().has(run.id)) {
            return Ok(());
        }
        for run in open {
            if !asked.contains(&run.id) {
                asked.push(run.id);
                cancel(app, store, run).await?;
            }
        }
        if Instant::now() > until {
            return Err(still_working());
        }
        sleep(LOOK_AGAIN).await;
    }
}

fn still_working() -> Problem {
    Problem::new(CONFLICT, "a run of the organization does not stop")
        .hint("cancel it, and try again when it has ended")
}

async fn open_runs(store: &ScopedStore) -> Result<Vec<RunRecord>, Problem> {
    let mut open = Vec::new();
    for state in [RunState::Pending, RunState::Running] {
        let filter = RunFilter { state: Some(state), ..RunFilter::default() };
        let page = fullbench_store::Page { offset: 0, limit: TOGETHER };
        open.extend(store.find_runs(&filter, page).await?.0);
    }
    Ok(open)
}
