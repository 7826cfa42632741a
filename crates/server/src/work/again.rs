//! What is done again because the store was not to be had.

use std::time::Duration;

use fullbench_store::StoreError;

use crate::app::App;

/// How long to wait before the next try.
const PAUSE: Duration = Duration::from_secs(5);

/// Waits a while; tells whether the server goes on.
pub(super) async fn pause(app: &App) -> bool {
    tokio::select! {
        () = app.stop().cancelled() => false,
        () = tokio::time::sleep(PAUSE) => true,
    }
}

/// Asks the store until it answers, or until the server stops.
pub(crate) async fn until_answered<T, Asked>(
    app: &App,
    ask: impl Fn() -> Asked,
) -> Result<T, StoreError>
where
    Asked: Future<Output = Result<T, StoreError>>,
{
    loop {
        match ask().await {
            Err(error) if error.is_passing() => {
                tracing::warn!(%error, "the store could not be used");
                if !pause(app).await {
                    return Err(error);
                }
            }
            other => return other,
        }
    }
}
