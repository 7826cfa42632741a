//! The way of a request that goes to its provider in a batch: budget, batch, and the next batch when it failed.
//!
//! Places, pace and circuit breaker are those of single calls, and waiting for a batch knows no deadline.

use std::sync::Arc;

use fullbench_types::{ContentHash, Generation, NanoDollars};
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep};

use super::handle::estimated_usage;
use super::{GenerateError, ModelHandle};
use crate::batch::{Batcher, Told};
use crate::budget::Reservation;
use crate::error::LlmError;
use crate::model::{CallError, FailureClass};
use crate::price::cost;
use crate::request::GenerationRequest;
use crate::wire::Answer;

impl ModelHandle {
    /// The answer from a batch; none where the request is to be called by itself.
    pub(super) async fn ask_in_batch(
        &self,
        request: &GenerationRequest,
        cache_key: Option<ContentHash>,
    ) -> Option<Result<Generation, GenerateError>> {
        let batcher = self.options.batch.as_ref()?;
        if !Batcher::serves(&self.config) {
            return None;
        }
        let key = cache_key.unwrap_or_else(|| request.cache_key());
        let mut waiting = match batcher.waiting_already(&self.config, &key) {
            Ok(waiting) => waiting,
            Err(error) => return Some(Err(self.unusable(&error))),
        };
        let started = Instant::now();
        let mut reservation = None;
        let mut attempts = 0;
        loop {
            if waiting.is_none() && !batcher.submits() {
                return None;
            }
            if reservation.is_none() {
                match self.reserve_for_batch(request).await {
                    Ok(reserved) => reservation = Some(reserved),
                    Err(error) => return Some(Err(error)),
                }
            }
            let told = match waiting.take() {
                Some(told) => told,
                None => match batcher.put(&self.config, request, key) {
                    Ok(told) => told,
                    Err(error) => return Some(Err(self.unusable(&error))),
                },
            };
            let error = match self.told(told).await {
                Err(stopped) => return Some(Err(stopped)),
                Ok(Told::Answer(answer)) => {
                    let (answer, raw) = *answer;
                    let generation = self.booked(request, answer, raw, reservation.take());
                    let queue_us = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
                    let generation = Generation { attempts: attempts + 1, queue_us, ..generation };
                    if let (Some(cache), Some(key)) = (&self.options.cache, &cache_key) {
                        cache.put(key, &generation).await;
                    }
                    return Some(Ok(generation));
                }
                Ok(Told::Unfetched(error)) => {
                    return Some(Err(self.failure(&error, attempts + 1, None)));
                }
                Ok(Told::Unasked) => None,
                Ok(Told::Failed(error)) => Some(error),
            };
            if let Some(error) = error {
                attempts += 1;
                if !error.class.is_retryable() || attempts >= self.limits.attempts {
                    return Some(Err(self.failure(&error, attempts, None)));
                }
                self.counters.count_retry(error.class);
                if error.class == FailureClass::RateLimit
                    && let Err(stopped) =
                        self.unless_stopped(sleep(batcher.pause_without_room())).await
                {
                    return Some(Err(stopped));
                }
            } else {
                // It may be in an older batch as well.
                waiting = batcher.waiting_already(&self.config, &key).ok().flatten();
            }
        }
    }

    /// Whether an answer in the cache is one that this run paid for in a batch and has not recorded: then it is booked, not free.
    pub(super) fn was_paid_in_batch(&self, key: &ContentHash, generation: &Generation) -> bool {
        let sent = |batcher: &Arc<Batcher>| {
            Batcher::serves(&self.config) && batcher.was_sent_before(&self.config, key)
        };
        if !self.options.batch.as_ref().is_some_and(sent) {
            return false;
        }
        let spent = generation.cost.unwrap_or_default();
        // Money that is spent is spent, whatever the limit.
        if let Ok(Some(reservation)) = self.options.budget.try_reserve(NanoDollars::ZERO) {
            reservation.settle(spent);
        }
        let tokens = generation.usage.unwrap_or_default().output_tokens;
        self.counters.count_answer(tokens, spent);
        true
    }

    /// Sets aside what the request may cost at most in a batch.
    async fn reserve_for_batch(
        &self,
        request: &GenerationRequest,
    ) -> Result<Reservation, GenerateError> {
        if self.stop.is_cancelled() {
            return Err(GenerateError::Stopped);
        }
        self.refuse_unpriced()?;
        let most = NanoDollars((self.most_expensive(request).0 + 1) / 2);
        Ok(self.unless_stopped(self.options.budget.reserve(most)).await??)
    }

    /// What a batch says. An answer that is there is taken, even when the run is being stopped.
    async fn told(&self, told: oneshot::Receiver<Told>) -> Result<Told, GenerateError> {
        let _in_flight = self.counters.begin_call();
        tokio::select! {
            biased;
            told = told => told.map_err(|_| GenerateError::Stopped),
            () = self.stop.cancelled() => Err(GenerateError::Stopped),
        }
    }

    /// Books an answer at the price of batches. Nobody knows how long the provider worked on it.
    fn booked(
        &self,
        request: &GenerationRequest,
        answer: Answer,
        raw: String,
        reservation: Option<Reservation>,
    ) -> Generation {
        let mut generation = answer.into_generation(0, None, Some(raw));
        let used = generation.usage.unwrap_or_else(|| estimated_usage(request, &generation));
        generation.cost = self.price.map(|price| cost(&price.in_batch(), &used));
        let spent = generation.cost.unwrap_or_default();
        if let Some(reservation) = reservation {
            reservation.settle(spent);
        }
        self.counters.count_answer(used.output_tokens, spent);
        generation
    }

    fn unusable(&self, error: &LlmError) -> GenerateError {
        self.failure(&CallError::new(FailureClass::Auth, error.to_string()), 0, None)
    }
}
