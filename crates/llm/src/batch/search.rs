//! Looks for a batch at its provider that may have arrived there, although nobody was told.

use std::collections::HashSet;
use std::time::Duration;

use jiff::SignedDuration;
use tokio::time::{Instant, sleep};

use super::batcher::Shared;
use super::client::BatchClient;
use super::known::KnownBatch;
use crate::model::CallError;
use crate::wire::Wire;
use crate::wire::batch::RemoteBatch;

/// How far the clocks of a provider and this machine may be apart.
const CLOCKS_APART: SignedDuration = SignedDuration::from_hours(1);

/// The provider's id of a batch, or none where it never arrived.
///
/// OpenAI keeps our id with the batch. Anthropic keeps nothing, so that batches of the same size made since are waited for,
/// and recognized by the ids of their requests.
///
/// # Errors
/// When the provider refuses to say, or cannot be reached for too long.
pub(super) async fn search(
    shared: &Shared,
    client: &BatchClient,
    batch: &KnownBatch,
) -> Result<Option<String>, CallError> {
    let record = &batch.record;
    let mut others: HashSet<String> = shared.others(batch).into_iter().collect();
    let mut patience = Patience::new(shared.options.patience);
    let mut pause = shared.options.first_look;
    loop {
        let mut is_unclear = false;
        for remote in patience.through(candidates(client, batch)).await?.unwrap_or_default() {
            if client.wire != Wire::Anthropic {
                return Ok(Some(remote.id));
            }
            if others.contains(&remote.id) {
                continue;
            }
            if !remote.is_ended {
                is_unclear = true;
                continue;
            }
            match patience.through(client.is_ours(record, &remote)).await? {
                Some(true) => return Ok(Some(remote.id)),
                Some(false) => {
                    others.insert(remote.id);
                }
                None => is_unclear = true,
            }
        }
        if !is_unclear && !patience.is_failing() {
            return Ok(None);
        }
        sleep(pause).await;
        pause = longer(pause, shared.options.longest_look);
    }
}

/// Batches at the provider that may be this one.
async fn candidates(
    client: &BatchClient,
    batch: &KnownBatch,
) -> Result<Vec<RemoteBatch>, CallError> {
    let record = &batch.record;
    let since = record.created_at.saturating_sub(CLOCKS_APART).unwrap_or(record.created_at);
    let marker = record.id.to_string();
    let mut found = Vec::new();
    let mut path = Some(client.wire.first_page());
    while let Some(next) = path {
        let page = client.page(&next).await?;
        path = page.next;
        for remote in page.batches {
            if remote.created < since {
                return Ok(found);
            }
            let may_be = match client.wire {
                Wire::Anthropic => remote.requests == record.keys.len() as u64,
                _ => remote.marker.as_deref() == Some(&marker),
            };
            if may_be {
                found.push(remote);
            }
        }
    }
    Ok(found)
}

/// The next pause of one who looks again and again.
pub(super) fn longer(pause: Duration, longest: Duration) -> Duration {
    pause.mul_f64(1.5).min(longest)
}

/// Bears failures that may pass, for so long.
pub(super) struct Patience {
    allowed: Duration,
    failing_since: Option<Instant>,
}

impl Patience {
    pub(super) fn new(allowed: Duration) -> Self {
        Self { allowed, failing_since: None }
    }

    /// Whether the last call failed.
    pub(super) fn is_failing(&self) -> bool {
        self.failing_since.is_some()
    }

    /// What a call gives, or none when it failed in a way that may pass.
    pub(super) async fn through<T>(
        &mut self,
        call: impl Future<Output = Result<T, CallError>>,
    ) -> Result<Option<T>, CallError> {
        match call.await {
            Ok(given) => {
                self.failing_since = None;
                Ok(Some(given))
            }
            Err(error) if !error.class.is_retryable() => Err(error),
            Err(error) => {
                let since = *self.failing_since.get_or_insert_with(Instant::now);
                if since.elapsed() >= self.allowed { Err(error) } else { Ok(None) }
            }
        }
    }
}
