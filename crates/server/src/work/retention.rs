//! Removes old data once an hour: that of the database one server at a time, and every server what is in its folder.

use std::time::Duration;

use fullbench_store::CacheLimits;
use jiff::Timestamp;

use crate::app::App;

/// When data is looked for that is too old first, how often then, and how much later at most: servers that start together do not
/// ask together.
const FIRST: Duration = Duration::from_secs(300);
const EVERY: Duration = Duration::from_secs(3600);
const LATER: Duration = Duration::from_secs(600);

/// Starts looking for old data.
pub(super) fn start(app: &App) {
    let app = app.clone();
    app.tasks().clone().spawn(async move {
        let mut pause = FIRST;
        loop {
            tokio::select! {
                () = app.stop().cancelled() => return,
                () = tokio::time::sleep(pause + jitter()) => {}
            }
            pause = EVERY;
            if let Err(error) = remove(&app).await {
                tracing::error!(%error, "data that is too old could not be removed");
            }
        }
    });
}

async fn remove(app: &App) -> Result<(), fullbench_store::StoreError> {
    let now = Timestamp::now();
    // A cache that cannot be read keeps nobody from the rest.
    match app.store().tidy_cache(CacheLimits::default(), now).await {
        Ok(0) => {}
        Ok(replies) => {
            tracing::info!(replies, "removed cached replies that were too old, or too many");
        }
        Err(error) => tracing::error!(%error, "cached replies that are too old are still there"),
    }
    let key = app.audit().key().await?;
    let Some(_alone) = app.store().lock_retention().await? else {
        // Another server does it; what is in the folder of this one is for this one to remove.
        if let Err(error) = app.store().forget_explained_logs(&key).await {
            tracing::warn!(%error, "what was seen of an erased audit log is still there");
        }
        return app.store().tidy_folder(now);
    };
    let reports = app.store().remove_old_data(&key, now).await?;
    for report in reports.iter().filter(|report| !report.rows.is_empty()) {
        let rows: u64 = report.rows.iter().map(|rows| rows.rows).sum();
        tracing::info!(organization = report.organization, rows, "removed what was too old");
    }
    Ok(())
}

fn jitter() -> Duration {
    let mut random = [0; 4];
    // Without random numbers all wait for the same time.
    let _ = getrandom::fill(&mut random);
    LATER.mul_f64(f64::from(u32::from_le_bytes(random)) / f64::from(u32::MAX))
}
