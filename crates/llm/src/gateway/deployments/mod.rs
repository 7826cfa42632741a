//! Where a model is called: one deployment, or several equivalent ones of which each attempt chooses one.
//!
//! A deployment has a free way when it is not set aside, asks for no pause, its breaker lets calls through, and its
//! limits have room. Among those the policy chooses; when there is none, a call takes whichever is free first.

mod health;
mod preference;
mod route;

use std::sync::Arc;
use std::time::Duration;

use fullbench_types::{Generation, NanoDollars};
use tokio::time::{Instant, sleep_until};

use super::counters::{Counters, InFlight};
use crate::config::{Limits, ModelConfig};
use crate::limits::{Admission, Breaker, BreakerState, Lane, Permit};
use crate::model::{CallError, LanguageModel};
use crate::price::{Price, price_of};
use health::Health;

pub(super) use health::sets_aside;
pub(super) use route::Past;

/// A model at one address with one key.
pub(super) struct Deployment {
    /// Its place in the list.
    pub(super) position: usize,
    /// What results call it; none for the only one of a model that lists no endpoints.
    pub(super) name: Option<String>,
    /// Where it is served.
    pub(super) base_url: String,
    pub(super) model: Arc<dyn LanguageModel>,
    pub(super) lane: Arc<Lane>,
    pub(super) breaker: Arc<Breaker>,
    pub(super) limits: Limits,
    pub(super) price: Option<Price>,
    /// Where its key comes from.
    pub(super) account: Option<String>,
    counters: Counters,
    health: Health,
}

/// A place and leave to call.
pub(super) struct Entry {
    pub(super) permit: Permit,
    pub(super) admission: Admission,
}

/// What is going on with one endpoint of a model that has several.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EndpointSnapshot {
    /// What results call it.
    pub name: String,
    /// Calls of the model on their way to it.
    pub in_flight: u32,
    /// Calls it takes at once, at the moment.
    pub concurrency_limit: u32,
    /// Calls made, failed ones included.
    pub calls: u64,
    /// Calls that were answered.
    pub answers: u64,
    /// Calls that failed.
    pub failures: u64,
    /// Of those, the ones refused by a rate limit.
    pub rate_limited: u64,
    /// Whether calls go through.
    pub breaker: BreakerState,
    /// How often its breaker has opened.
    pub breaker_opened_times: u64,
    /// How long an answer takes, smoothed; none before the first.
    pub latency: Option<Duration>,
    /// What its calls cost.
    pub spent: NanoDollars,
    /// Why it gets no further call in this run.
    pub set_aside: Option<String>,
    /// The names its model was reported by; two endpoints with different ones may not be equivalent.
    pub reported_models: Vec<String>,
}

impl Deployment {
    pub(super) fn new(
        name: Option<String>,
        config: &ModelConfig,
        account: Option<String>,
        limits: Limits,
        model: Arc<dyn LanguageModel>,
        lane: Arc<Lane>,
        breaker: Arc<Breaker>,
    ) -> Self {
        Self {
            position: 0,
            name,
            base_url: config.effective_base_url().to_owned(),
            model,
            lane,
            breaker,
            limits,
            price: price_of(config),
            account,
            counters: Counters::default(),
            health: Health::new(),
        }
    }

    /// Counts a call, which is in flight until the guard is dropped.
    pub(super) fn begin_call(&self) -> InFlight<'_> {
        self.counters.begin_call()
    }

    /// Notes what an answer says of the deployment.
    pub(super) fn answered(&self, generation: &Generation, output_tokens: u64, was_probe: bool) {
        self.counters.count_answer(output_tokens, generation.cost.unwrap_or_default());
        let latency = Duration::from_micros(generation.latency_us);
        self.health.answered(latency, generation.reported_model.as_deref(), was_probe);
    }

    /// Notes what a failure of a call that began then says of the deployment.
    pub(super) fn failed(&self, error: &CallError, began: Instant) {
        self.health.failed(error, began);
    }

    pub(super) fn is_set_aside(&self) -> bool {
        self.health.is_set_aside()
    }

    /// Why it is set aside.
    pub(super) fn refusal(&self) -> Option<CallError> {
        self.health.state().set_aside
    }

    /// Until when the provider asked not to be called: by a refusal, or by what it said of its window.
    fn held_until(&self) -> Option<Instant> {
        self.health.held_until().max(self.lane.pacer.held_until())
    }

    /// Whether the deployment itself would take a call now; one's own limits may still be in the way.
    fn is_open(&self) -> bool {
        !self.is_set_aside() && self.held_until().is_none() && self.breaker.lets_through()
    }

    /// Waits until the deployment would take a call; forever when it is set aside.
    async fn until_open(&self) {
        while !self.is_open() {
            if self.is_set_aside() {
                return std::future::pending().await;
            }
            match self.held_until() {
                Some(until) => sleep_until(until).await,
                None => self.breaker.until_it_lets_through().await,
            }
        }
    }

    /// A place, a slot and leave to call, when all of them are free now.
    fn try_enter(&self, tokens: u64) -> Option<Entry> {
        if !self.is_open() {
            return None;
        }
        let permit = self.lane.concurrency.try_acquire()?;
        let admission = self.breaker.try_admit()?;
        self.lane.pacer.try_take(tokens).then_some(Entry { permit, admission })
    }

    /// A place, a slot and leave to call, after waiting for each; whatever was taken goes back when the wait is given up.
    async fn enter(&self, tokens: u64) -> Entry {
        loop {
            // No place is kept while the provider is in the way: another model may have use for it.
            self.until_open().await;
            let permit = self.lane.concurrency.acquire().await;
            if !self.is_open() {
                continue;
            }
            let slot = self.lane.slot_in_line(tokens).await;
            if !self.is_open() {
                continue;
            }
            if let Some(admission) = self.breaker.try_admit() {
                slot.keep();
                return Entry { permit, admission };
            }
        }
    }

    /// What is going on here; none where the model lists no endpoints.
    pub(super) fn snapshot(&self) -> Option<EndpointSnapshot> {
        let health = self.health.state();
        Some(EndpointSnapshot {
            name: self.name.clone()?,
            in_flight: self.counters.in_flight(),
            concurrency_limit: self.lane.concurrency.current_limit(),
            calls: self.counters.calls(),
            answers: self.counters.answers(),
            failures: health.failures,
            rate_limited: health.rate_limited,
            breaker: self.breaker.state(),
            breaker_opened_times: self.breaker.opened_times(),
            latency: health.seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
            spent: self.counters.spent(),
            set_aside: health.set_aside.map(|error| error.message),
            reported_models: health.reported_models.into_iter().collect(),
        })
    }
}
