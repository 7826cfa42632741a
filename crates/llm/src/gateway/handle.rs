//! One model, called with everything its limits and its provider ask for.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use fullbench_types::{ContentHash, Generation, Message, NanoDollars, Usage};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use super::counters::Counters;
use super::deployments::{Deployment, Entry, Past, sets_aside};
use super::turn::{NoTurn, Turn, Wanted};
use super::{GatewayOptions, GenerateError, ModelSnapshot};
use crate::cache::CacheMode;
use crate::config::{Limits, ModelConfig, RoutePolicy};
use crate::limits::{Breaker, BreakerState};
use crate::model::{CallError, FailureClass, Reply};
use crate::observed;
use crate::price::{Price, cost, price_of};
use crate::request::{GenerationRequest, Parameters};
use crate::retry::{call_in_time, pause_before_retry};
use crate::tokens::{estimate_messages, estimate_tokens, upper_estimate_messages};
use crate::traced::{self, Called, Operation};

/// Output tokens reserved for an answer whose length is not limited.
const RESERVED_OUTPUT_TOKENS: u32 = 4_096;

/// A model, called with everything its limits and its provider ask for.
pub struct ModelHandle {
    name: String,
    pub(super) config: ModelConfig,
    pub(super) limits: Limits,
    parameters: Arc<Parameters>,
    pub(super) price: Option<Price>,
    /// Tokens that a schema adds to every prompt, at most.
    schema_tokens: u64,
    revision: Option<String>,
    /// One, or one for each endpoint of a model that lists them.
    pub(super) deployments: Vec<Deployment>,
    /// How often a deployment was chosen.
    pub(super) choices: AtomicU64,
    pub(super) options: Arc<GatewayOptions>,
    pub(super) stop: CancellationToken,
    pub(super) counters: Counters,
}

impl ModelHandle {
    pub(super) fn new(
        config: &ModelConfig,
        limits: Limits,
        mut deployments: Vec<Deployment>,
        options: Arc<GatewayOptions>,
    ) -> Self {
        for (position, deployment) in deployments.iter_mut().enumerate() {
            deployment.position = position;
        }
        let schema = config.json_schema.as_ref().map(ToString::to_string).unwrap_or_default();
        Self {
            name: config.display_name(),
            limits,
            parameters: Arc::new(config.parameters()),
            price: price_of(config),
            schema_tokens: schema.len().div_ceil(2) as u64,
            revision: deployments.first().and_then(|deployment| deployment.model.revision()),
            deployments,
            choices: AtomicU64::new(0),
            stop: options.stop.child_token(),
            options,
            counters: Counters::default(),
            config: config.clone(),
        }
    }

    /// Makes no further call with this model: calls in flight finish, waiting ones end as stopped.
    pub fn give_up(&self) {
        self.stop.cancel();
    }

    /// Cancelled when the run is stopped or this model is given up.
    #[must_use]
    pub fn stopping(&self) -> &CancellationToken {
        &self.stop
    }

    /// What the provider's last failures were like, while its circuit breaker is not closed; of several endpoints,
    /// while none has a closed one.
    #[must_use]
    pub fn outage(&self) -> Option<String> {
        if self.breaker_state() == BreakerState::Closed {
            return None;
        }
        self.usable().next().map(|deployment| deployment.breaker.outage().message)
    }

    /// The deployments that are not set aside.
    fn usable(&self) -> impl Iterator<Item = &Deployment> {
        let sets_aside = self.config.has_endpoints();
        self.deployments.iter().filter(move |deployment| !(sets_aside && deployment.is_set_aside()))
    }

    /// The state of the deployment that is best off.
    fn breaker_state(&self) -> BreakerState {
        let states: Vec<_> = self.usable().map(|deployment| deployment.breaker.state()).collect();
        [BreakerState::Closed, BreakerState::HalfOpen]
            .into_iter()
            .find(|state| states.is_empty() || states.contains(state))
            .unwrap_or(BreakerState::Open)
    }

    /// How often the breakers opened; endpoints at one address share theirs.
    fn breaker_opened_times(&self) -> u64 {
        let mut counted: Vec<&Arc<Breaker>> = Vec::new();
        for Deployment { breaker, .. } in &self.deployments {
            if !counted.iter().any(|other| Arc::ptr_eq(other, breaker)) {
                counted.push(breaker);
            }
        }
        counted.iter().map(|breaker| breaker.opened_times()).sum()
    }

    /// The model's name in tables.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The model's configuration.
    #[must_use]
    pub fn config(&self) -> &ModelConfig {
        &self.config
    }

    /// The limits that hold for the model.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The model's price, where it is known; of several endpoints the dearest.
    #[must_use]
    pub fn price(&self) -> Option<Price> {
        self.price
    }

    /// The complete request for these messages.
    #[must_use]
    pub fn request(
        &self,
        messages: Vec<Message>,
        repetition: u32,
        sample: u32,
    ) -> GenerationRequest {
        GenerationRequest {
            organization: self.options.organization,
            provider: self.config.provider,
            base_url: self.config.effective_base_url().to_owned(),
            model: self.config.model.clone().unwrap_or_default(),
            revision: self.revision.clone(),
            messages,
            parameters: Arc::clone(&self.parameters),
            repetition,
            sample,
        }
    }

    /// One answer, from the cache or from the provider.
    ///
    /// # Errors
    /// When there is no answer within the limits, the budget is used up, or the run was stopped.
    pub async fn generate(
        &self,
        messages: Vec<Message>,
        repetition: u32,
        sample: u32,
    ) -> Result<Generation, GenerateError> {
        let request = self.request(messages, repetition, sample);
        let mut key = None;
        if let Some(cache) = &self.options.cache
            && self.options.cache_mode != CacheMode::Off
        {
            let request_key = request.cache_key();
            if let Some(generation) = cache.get(&request_key).await {
                if self.was_paid_in_batch(&request_key, &generation) {
                    return Ok(generation);
                }
                return Ok(self.served_from_cache(generation));
            }
            key = Some(request_key);
        }
        if self.options.cache_mode == CacheMode::Only {
            let message = "the answer is not in the cache, and no model may be called";
            return Err(self.failure(&CallError::new(FailureClass::NotCached, message), 0, None));
        }
        if let Some(answer) = self.ask_in_batch(&request, key).await {
            return answer;
        }
        self.ask(&request, key).await
    }

    /// The answer that is kept for a request, where there is one.
    pub async fn cached(
        &self,
        messages: Vec<Message>,
        repetition: u32,
        sample: u32,
    ) -> Option<Generation> {
        let cache = self.options.cache.as_ref()?;
        if self.options.cache_mode == CacheMode::Off {
            return None;
        }
        let key = self.request(messages, repetition, sample).cache_key();
        cache.get(&key).await.map(|generation| self.served_from_cache(generation))
    }

    /// Keeps an answer that was not given to this request alone, such as a part of a longer one.
    pub async fn remember(
        &self,
        messages: Vec<Message>,
        repetition: u32,
        sample: u32,
        generation: &Generation,
    ) {
        if let Some(cache) = &self.options.cache
            && self.options.cache_mode == CacheMode::Use
        {
            let key = self.request(messages, repetition, sample).cache_key();
            cache.put(&key, generation).await;
        }
    }

    fn served_from_cache(&self, generation: Generation) -> Generation {
        self.counters.count_cache_hit();
        Generation {
            cached: true,
            saved: generation.cost.filter(|cost| *cost != NanoDollars::ZERO),
            attempts: 0,
            cost: Some(NanoDollars::ZERO),
            queue_us: 0,
            ..generation
        }
    }

    /// Calls the provider until there is an answer or no further attempt is allowed.
    async fn ask(
        &self,
        request: &GenerationRequest,
        key: Option<ContentHash>,
    ) -> Result<Generation, GenerateError> {
        let started = Instant::now();
        let mut deadline = started + self.limits.deadline();
        let mut attempts = 0;
        let mut spared = 0;
        let mut past = Past::default();
        let mut last_error: Option<(CallError, &Deployment)> = None;
        loop {
            let wanted = self.wanted(request);
            let turn = match self.turn(&wanted, &past, &mut deadline).await {
                Ok(turn) => turn,
                Err(NoTurn::Ended(error)) => return Err(error),
                Err(NoTurn::Refused) => return Err(self.no_endpoint_left(attempts)),
                Err(NoTurn::Late(error)) => {
                    let last = last_error.as_ref().map(|(error, at)| (error, Some(*at)));
                    let (error, deployment) = last.unwrap_or((&error, None));
                    return Err(self.failure(error, attempts, deployment));
                }
            };
            attempts += 1;
            let (deployment, began) = (turn.deployment, Instant::now());
            let span = traced::call(Operation::Chat, &self.called(deployment), attempts);
            let call = self.call(deployment, request, deadline).instrument(span.clone());
            let error = match call.await {
                Ok(reply) => {
                    let generation = self.finish(request, reply, turn, wanted.tokens);
                    traced::answered(&span, &generation);
                    let queue = started.elapsed() - latency(&generation).min(started.elapsed());
                    let queue_us = u64::try_from(queue.as_micros()).unwrap_or(u64::MAX);
                    let generation = Generation { attempts, queue_us, ..generation };
                    if let (Some(cache), Some(key)) = (&self.options.cache, &key) {
                        cache.put(key, &generation).await;
                    }
                    return Ok(generation);
                }
                Err(error) => error,
            };
            traced::failed(&span, &error);
            drop(span);
            self.give_back(turn, &error, wanted.tokens, began);
            if self.config.has_endpoints() && sets_aside(error.class) {
                tracing::debug!(model = %self.name, endpoint = deployment.name, class = %error.class, "endpoint set aside: {error}");
                // It says nothing of the others: the attempt does not count.
                spared += 1;
                continue;
            }
            let counted = attempts - spared;
            let Some(pause) = self.pause(&error, counted, deadline, deployment, &mut past) else {
                return Err(self.failure(&error, attempts, Some(deployment)));
            };
            tracing::debug!(model = %self.name, endpoint = deployment.name, class = %error.class, attempts, ?pause, "call failed, trying again");
            self.counters.count_retry(error.class);
            last_error = Some((error, deployment));
            self.unless_stopped(sleep(pause)).await?;
        }
    }

    /// How long to wait before the next attempt; none when there is none. With several endpoints another one may be
    /// asked at once, and the pause is kept by the one that failed.
    fn pause(
        &self,
        error: &CallError,
        attempts: u32,
        deadline: Instant,
        deployment: &Deployment,
        past: &mut Past,
    ) -> Option<Duration> {
        if !self.config.has_endpoints() {
            return pause_before_retry(error, attempts, &self.limits, deadline);
        }
        if !error.class.is_retryable() || attempts >= self.limits.attempts {
            return None;
        }
        past.failed_at(deployment, error);
        Some(Duration::ZERO)
    }

    /// Whom a call of a deployment goes to, as traces have it.
    fn called<'call>(&'call self, deployment: &'call Deployment) -> Called<'call> {
        Called {
            provider: self.config.provider,
            model: self.config.model.as_deref().unwrap_or_default(),
            base_url: &deployment.base_url,
            endpoint: deployment.name.as_deref(),
        }
    }

    /// Makes one call within its time.
    async fn call(
        &self,
        deployment: &Deployment,
        request: &GenerationRequest,
        deadline: Instant,
    ) -> Result<Reply, CallError> {
        let _in_flight = (self.counters.begin_call(), deployment.begin_call());
        // The cache key has the model's address; what is sent is made for the address it is sent to.
        let request = if request.base_url == deployment.base_url {
            Cow::Borrowed(request)
        } else {
            let base_url = deployment.base_url.clone();
            Cow::Owned(GenerationRequest { base_url, ..request.clone() })
        };
        let began = Instant::now();
        let call = deployment.model.generate(&request);
        let result = call_in_time(&deployment.limits, deadline, call).await;
        let provider = self.config.provider.as_str();
        observed::call_ended(provider, &self.name, &result, began.elapsed());
        result
    }

    /// Books a success: cost, pace, places, breaker.
    fn finish(
        &self,
        request: &GenerationRequest,
        reply: Reply,
        turn: Turn<'_>,
        tokens: u64,
    ) -> Generation {
        let Reply { mut generation, rate } = reply;
        let Turn { deployment, entry: Entry { permit, admission }, reservation } = turn;
        let used = generation.usage.unwrap_or_else(|| estimated_usage(request, &generation));
        generation.endpoint = deployment.name.clone();
        generation.cost = deployment.price.map(|price| cost(&price, &used));
        let spent = generation.cost.unwrap_or_default();
        observed::paid(self.config.provider.as_str(), &generation);
        reservation.settle(spent);
        self.counters.count_answer(used.output_tokens, spent);
        deployment.answered(&generation, used.output_tokens, admission.is_probe());
        deployment.lane.succeeded(&permit, tokens, used.input_tokens + used.output_tokens, &rate);
        admission.succeeded();
        generation
    }

    /// Books a failure. A failed call costs nothing: providers bill answers.
    fn give_back(&self, turn: Turn<'_>, error: &CallError, tokens: u64, began: Instant) {
        let Turn { deployment, entry: Entry { permit, admission }, reservation } = turn;
        drop(reservation);
        deployment.failed(error, began);
        deployment.lane.failed(&permit, tokens, error);
        admission.failed(error);
    }

    /// What a call will need, about and at most.
    fn wanted(&self, request: &GenerationRequest) -> Wanted {
        let is_paced = |deployment: &Deployment| deployment.limits.tokens_per_minute.is_some();
        let is_paced = self.deployments.iter().any(is_paced);
        let is_compared = self.config.has_endpoints() && self.config.route == RoutePolicy::Cost;
        let mut usage = Usage::default();
        if is_paced || is_compared {
            usage.input_tokens = estimate_messages(&request.messages) + self.schema_tokens / 2;
            usage.output_tokens = self.counters.expected_output_tokens(self.config.max_tokens);
        }
        let tokens = if is_paced { usage.input_tokens + usage.output_tokens } else { 0 };
        Wanted { tokens, usage, most_expensive: self.most_expensive(request) }
    }

    /// Refuses to call a model without a price where there is a budget: nobody could keep it.
    pub(super) fn refuse_unpriced(&self) -> Result<(), GenerateError> {
        if self.deployments.iter().any(|deployment| deployment.price.is_none()) {
            self.options.budget.refuse_unpriced()?;
        }
        Ok(())
    }

    /// What a call may cost at most, at the dearest deployment; nothing where no price is known.
    pub(super) fn most_expensive(&self, request: &GenerationRequest) -> NanoDollars {
        let output = self.config.max_tokens.unwrap_or(RESERVED_OUTPUT_TOKENS);
        let usage = Usage {
            input_tokens: upper_estimate_messages(&request.messages) + self.schema_tokens,
            output_tokens: u64::from(output) * u64::from(self.config.n.unwrap_or(1)),
            ..Usage::default()
        };
        let prices = self.deployments.iter().filter_map(|deployment| deployment.price);
        let costs = prices.map(|price| {
            let input = price.cache_write.map_or(price.input, |write| write.max(price.input));
            cost(&Price { input, ..price }, &usage)
        });
        costs.max().unwrap_or_default()
    }

    /// What is going on with this model.
    #[must_use]
    pub fn snapshot(&self) -> ModelSnapshot {
        ModelSnapshot {
            in_flight: self.counters.in_flight(),
            concurrency_limit: self
                .usable()
                .map(|deployment| deployment.lane.concurrency.current_limit())
                .fold(0, u32::saturating_add),
            calls: self.counters.calls(),
            answers: self.counters.answers(),
            cache_hits: self.counters.cache_hits(),
            retries_by_class: self.counters.retries_by_class(),
            breaker: self.breaker_state(),
            breaker_opened_times: self.breaker_opened_times(),
            spent: self.counters.spent(),
            endpoints: self.deployments.iter().filter_map(Deployment::snapshot).collect(),
        }
    }
}

/// Tokens of a call whose provider did not count them.
pub(super) fn estimated_usage(request: &GenerationRequest, generation: &Generation) -> Usage {
    Usage {
        input_tokens: estimate_messages(&request.messages),
        output_tokens: estimate_tokens(&generation.text),
        ..Usage::default()
    }
}

fn latency(generation: &Generation) -> Duration {
    Duration::from_micros(generation.latency_us)
}
