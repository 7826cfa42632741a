//! How much an organization may have of that which grows.

use fullbench_store::ScopedStore;
use fullbench_types::{ErrorCode, RunId};

use crate::app::App;
use crate::problem::{Problem, QUOTA};

/// How much an organization may have; nothing for as much as there is room for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quotas {
    /// Bytes of uploaded files.
    pub stored_bytes: Option<u64>,
    /// Runs that wait or are worked on.
    pub open_runs: Option<u64>,
}

impl Default for Quotas {
    fn default() -> Self {
        Self { stored_bytes: None, open_runs: Some(10_000) }
    }
}

/// How large a file may be that is uploaded now. Files that come at the same time are not known to each other, so that together
/// they may be a little over it.
pub(crate) async fn room_for_a_file(app: &App, store: &ScopedStore) -> Result<u64, Problem> {
    let most = app.config().max_upload_bytes;
    let Some(quota) = app.config().quotas.stored_bytes else { return Ok(most) };
    let used = store.stored_bytes().await?;
    match quota.checked_sub(used) {
        Some(left) if left > 0 => Ok(most.min(left)),
        _ => {
            let detail = format!("{used} bytes of files are stored, and {quota} are allowed");
            Err(Problem::new(QUOTA, detail).hint("remove data sets that are not needed any more"))
        }
    }
}

/// Refuses one run more than there may be; one that is there already is none more.
pub(crate) async fn check_runs(app: &App, store: &ScopedStore, new: RunId) -> Result<(), Problem> {
    let Some(quota) = app.config().quotas.open_runs else { return Ok(()) };
    let open = store.open_runs().await?;
    if open < quota {
        return Ok(());
    }
    match store.run(new).await {
        Ok(_) => Ok(()),
        Err(error) if error.code() == ErrorCode::NotFound => {
            let detail = format!("{open} runs have not ended, and {quota} are allowed");
            Err(Problem::new(QUOTA, detail).hint("wait for some of them to end, or cancel them"))
        }
        Err(error) => Err(error.into()),
    }
}
