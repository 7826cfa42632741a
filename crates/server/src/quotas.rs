//! How much an organization may have of that which grows.

use fullbench_store::ScopedStore;
use fullbench_types::{ErrorCode, RunId};

use crate::app::App;
use crate::problem::{Problem, QUOTA, TOO_LARGE};

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

/// How large a file may be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Room {
    /// Its bytes at most.
    pub(crate) most: u64,
    /// It is what is left of the organization's quota.
    quota: Option<u64>,
}

impl Room {
    /// Why a file that is larger is refused.
    pub(crate) fn problem(self) -> Problem {
        let Self { most, quota } = self;
        let Some(quota) = quota else {
            return Problem::new(TOO_LARGE, format!("the file has more than {most} bytes"))
                .hint("upload it in parts, or ask who runs the server for a higher limit");
        };
        let detail = format!("files may have {quota} bytes together, of which {most} are left");
        Problem::new(QUOTA, detail).hint("remove data sets that are not needed any more")
    }
}

/// How large a file may be that is uploaded now. Files that come at the same time are not known to each other, so that together
/// they may be a little over it.
pub(crate) async fn room_for_a_file(app: &App, store: &ScopedStore) -> Result<Room, Problem> {
    let most = app.config().max_upload_bytes;
    let Some(quota) = app.config().quotas.stored_bytes else {
        return Ok(Room { most, quota: None });
    };
    let left = quota.saturating_sub(store.stored_bytes().await?);
    let room = match left < most {
        true => Room { most: left, quota: Some(quota) },
        false => Room { most, quota: None },
    };
    if room.most == 0 { Err(room.problem()) } else { Ok(room) }
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
