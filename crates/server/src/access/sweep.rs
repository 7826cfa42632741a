//! Removes what is over: sessions, tokens, and failures of long ago.

use std::time::Duration;

use fullbench_store::StoreError;

use crate::app::App;

/// How often it is done.
const EVERY: Duration = Duration::from_secs(3600);

/// Begins to remove what is over, until the server ends.
pub(crate) fn start(app: &App) {
    let sweeper = app.clone();
    app.tasks().spawn(async move {
        loop {
            if let Err(error) = sweep(&sweeper).await {
                tracing::warn!(%error, "what is over could not be removed");
            }
            tokio::select! {
                () = tokio::time::sleep(EVERY) => {}
                () = sweeper.stop().cancelled() => return,
            }
        }
    });
}

async fn sweep(app: &App) -> Result<(), StoreError> {
    app.store().forget_ended_sessions(app.config().session_idle_end).await?;
    app.store().forget_old_password_resets().await?;
    app.store().forget_old_tries().await
}
