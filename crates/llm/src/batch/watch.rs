//! Waits for the end of a batch, fetches its results and gives each to the call that waits for it.

use std::sync::Arc;

use tokio::time::sleep;

use super::batcher::Shared;
use super::client::{BatchClient, Results};
use super::known::{KnownBatch, Told};
use super::line::note;
use super::search::{Patience, longer, search};
use super::store::BatchState;
use crate::model::{CallError, FailureClass};
use crate::wire::batch::RemoteBatch;

/// How watching ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Watched {
    /// Everyone who waited was told, or nobody waits any more.
    Told,
    /// The provider had no room for the batch: nobody was told yet.
    NoRoom,
}

/// Waits for a batch of an earlier process.
pub(super) async fn watch(shared: Arc<Shared>, client: Arc<BatchClient>, batch: Arc<KnownBatch>) {
    if watch_to_end(&shared, &client, &batch).await == Watched::NoRoom {
        note(&shared, &batch, BatchState::Failed, None).await;
        batch.tell_all(true, || Told::Unasked);
    }
}

/// Waits for a batch and tells everyone, unless the process ends before.
pub(super) async fn watch_to_end(
    shared: &Shared,
    client: &BatchClient,
    batch: &KnownBatch,
) -> Watched {
    let ended = tokio::select! {
        biased;
        () = shared.stop.cancelled() => return Watched::Told,
        ended = end_of(shared, client, batch) => ended,
    };
    match ended {
        Ok(End::Results(remote, results)) => {
            let had_no_room = remote.missing.class == FailureClass::RateLimit;
            if had_no_room && results.is_empty() && remote.refused.is_empty() {
                return Watched::NoRoom;
            }
            batch.end(*remote, results);
            note(shared, batch, BatchState::Done, batch.remote_id().as_deref()).await;
        }
        Ok(End::NeverThere) => {
            note(shared, batch, BatchState::Failed, None).await;
            batch.tell_all(true, || Told::Unasked);
        }
        Ok(End::Forgotten) => {
            note(shared, batch, BatchState::Failed, None).await;
            let was_fetched_before = batch.was_fetched_before();
            batch.tell_all(true, || match was_fetched_before {
                true => Told::Unasked,
                false => Told::Failed(CallError::new(
                    FailureClass::Server,
                    "the provider does not know the batch any more",
                )),
            });
        }
        Err(error) => {
            let message = format!("the batch could not be fetched: {}", error.message);
            batch.tell_all(false, || {
                Told::Unfetched(CallError { message: message.clone(), ..error.clone() })
            });
        }
    }
    Watched::Told
}

/// How a batch ended.
enum End {
    Results(Box<RemoteBatch>, Results),
    /// It never arrived at the provider.
    NeverThere,
    /// The provider had it, and has it no longer.
    Forgotten,
}

/// Waits for the end of a batch.
async fn end_of(
    shared: &Shared,
    client: &BatchClient,
    batch: &KnownBatch,
) -> Result<End, CallError> {
    let remote_id = match batch.remote_id() {
        Some(remote_id) => remote_id,
        None => {
            let Some(found) = search(shared, client, batch).await? else {
                return Ok(End::NeverThere);
            };
            batch.set_remote_id(&found);
            note(shared, batch, BatchState::Submitted, Some(&found)).await;
            found
        }
    };
    let mut patience = Patience::new(shared.options.patience);
    let mut pause = shared.options.first_look;
    loop {
        match patience.through(look(client, batch, &remote_id)).await {
            Ok(Some(Some((remote, results)))) => {
                return Ok(End::Results(Box::new(remote), results));
            }
            Ok(_) => {}
            Err(error) if error.class == FailureClass::NotFound => return Ok(End::Forgotten),
            Err(error) => return Err(error),
        }
        sleep(pause).await;
        pause = longer(pause, shared.options.longest_look);
    }
}

/// What a provider says of a batch, and its results once it has ended.
async fn look(
    client: &BatchClient,
    batch: &KnownBatch,
    remote_id: &str,
) -> Result<Option<(RemoteBatch, Results)>, CallError> {
    let remote = client.status(remote_id).await?;
    batch.set_done(remote.done);
    if !remote.is_ended {
        return Ok(None);
    }
    let results = client.results(&batch.record, &remote).await?;
    Ok(Some((remote, results)))
}
