//! How long results that cannot be kept are tried to be kept again, so that nothing is lost that was paid for.

use std::pin::Pin;
use std::time::Duration;

use fullbench_types::RunId;
use tokio::time::Instant;

use crate::StoreError;

/// How long to wait before results are kept again that could not be, which doubles up to an end.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// For how long that is tried.
const PATIENCE: Duration = Duration::from_secs(600);

/// With whoever tries to keep results again and again while the store cannot be used.
pub(crate) struct Patience<GiveUp> {
    run: RunId,
    give_up: Pin<Box<GiveUp>>,
    pause: Duration,
    until: Instant,
}

impl<GiveUp: Future<Output = ()>> Patience<GiveUp> {
    /// For results of a run, until it is told to give up.
    pub(crate) fn new(run: RunId, give_up: GiveUp) -> Self {
        let until = Instant::now() + PATIENCE;
        Self { run, give_up: Box::pin(give_up), pause: FIRST_PAUSE, until }
    }

    /// Waits until the next try; the error where there is none.
    pub(crate) async fn wait(&mut self, error: StoreError) -> Result<(), StoreError> {
        if !error.is_passing() || Instant::now() >= self.until {
            return Err(error);
        }
        tracing::warn!(run = %self.run, %error, "results wait until they can be kept");
        tokio::select! {
            () = &mut self.give_up => return Err(error),
            () = tokio::time::sleep(self.pause) => {}
        }
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
        Ok(())
    }
}
