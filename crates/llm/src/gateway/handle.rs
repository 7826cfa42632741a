//! One model, called with everything its limits and its provider ask for.

use std::sync::Arc;
use std::time::Duration;

use fullbench_types::{ContentHash, Generation, Message, NanoDollars, UnitFailure, Usage};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use super::counters::Counters;
use super::turn::{NoTurn, Turn};
use super::{GatewayOptions, GenerateError, ModelSnapshot};
use crate::cache::CacheMode;
use crate::config::{Limits, ModelConfig};
use crate::limits::{Breaker, BreakerState, Lane};
use crate::model::{CallError, FailureClass, LanguageModel, Reply};
use crate::price::{Price, cost, price_of};
use crate::request::{GenerationRequest, Parameters};
use crate::retry::{call_in_time, pause_before_retry};
use crate::tokens::{estimate_messages, estimate_tokens, upper_estimate_messages};

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
    model: Arc<dyn LanguageModel>,
    revision: Option<String>,
    pub(super) lane: Arc<Lane>,
    pub(super) breaker: Arc<Breaker>,
    pub(super) options: Arc<GatewayOptions>,
    pub(super) stop: CancellationToken,
    pub(super) counters: Counters,
}

impl ModelHandle {
    pub(super) fn new(
        config: &ModelConfig,
        limits: Limits,
        model: Arc<dyn LanguageModel>,
        lane: Arc<Lane>,
        breaker: Arc<Breaker>,
        options: Arc<GatewayOptions>,
    ) -> Self {
        let schema = config.json_schema.as_ref().map(ToString::to_string).unwrap_or_default();
        Self {
            name: config.display_name(),
            limits,
            parameters: Arc::new(config.parameters()),
            price: price_of(config),
            schema_tokens: schema.len().div_ceil(2) as u64,
            revision: model.revision(),
            model,
            lane,
            breaker,
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

    /// What the provider's last failures were like, while its circuit breaker is not closed.
    #[must_use]
    pub fn outage(&self) -> Option<String> {
        (self.breaker.state() != BreakerState::Closed).then(|| self.breaker.outage().message)
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

    /// The model's price, where it is known.
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
                return Ok(self.served_from_cache(generation));
            }
            key = Some(request_key);
        }
        if self.options.cache_mode == CacheMode::Only {
            let message = "the answer is not in the cache, and no model may be called";
            return Err(self.failure(&CallError::new(FailureClass::NotCached, message), 0));
        }
        if let Some(answer) = self.ask_in_batch(&request, key).await {
            return answer;
        }
        self.ask(&request, key).await
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
        let mut last_error: Option<CallError> = None;
        loop {
            let tokens = self.expected_tokens(request);
            let turn = match self.turn(tokens, self.most_expensive(request), &mut deadline).await {
                Ok(turn) => turn,
                Err(NoTurn::Ended(error)) => return Err(error),
                Err(NoTurn::Late(error)) => {
                    return Err(self.failure(&last_error.unwrap_or(error), attempts));
                }
            };
            attempts += 1;
            let error = match self.call(request, deadline).await {
                Ok(reply) => {
                    let generation = self.finish(request, reply, turn, tokens);
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
            self.give_back(turn, &error, tokens);
            let Some(pause) = pause_before_retry(&error, attempts, &self.limits, deadline) else {
                return Err(self.failure(&error, attempts));
            };
            tracing::debug!(model = %self.name, class = %error.class, attempts, ?pause, "call failed, trying again");
            self.counters.count_retry(error.class);
            last_error = Some(error);
            self.unless_stopped(sleep(pause)).await?;
        }
    }

    /// Makes one call within its time.
    async fn call(
        &self,
        request: &GenerationRequest,
        deadline: Instant,
    ) -> Result<Reply, CallError> {
        let _in_flight = self.counters.begin_call();
        call_in_time(&self.limits, deadline, self.model.generate(request)).await
    }

    /// Books a success: cost, pace, places, breaker.
    fn finish(
        &self,
        request: &GenerationRequest,
        reply: Reply,
        turn: Turn,
        tokens: u64,
    ) -> Generation {
        let Reply { mut generation, rate } = reply;
        let Turn { permit, admission, reservation } = turn;
        let used = generation.usage.unwrap_or_else(|| estimated_usage(request, &generation));
        generation.cost = self.price.map(|price| cost(&price, &used));
        let spent = generation.cost.unwrap_or_default();
        reservation.settle(spent);
        self.counters.count_answer(used.output_tokens, spent);
        self.lane.succeeded(&permit, tokens, used.input_tokens + used.output_tokens, &rate);
        admission.succeeded();
        generation
    }

    /// Books a failure. A failed call costs nothing: providers bill answers.
    fn give_back(&self, turn: Turn, error: &CallError, tokens: u64) {
        let Turn { permit, admission, reservation } = turn;
        drop(reservation);
        self.lane.failed(&permit, tokens, error);
        admission.failed(error);
    }

    pub(super) fn failure(&self, error: &CallError, attempts: u32) -> GenerateError {
        GenerateError::Failed {
            failure: UnitFailure {
                reason: error.class.reason(),
                message: error.message.clone(),
                attempts,
            },
            class: error.class,
            hint: error.class.hint(self.config.key_variable()),
        }
    }

    /// Tokens a call will use, about.
    fn expected_tokens(&self, request: &GenerationRequest) -> u64 {
        if self.limits.tokens_per_minute.is_none() {
            return 0;
        }
        let output = self.counters.expected_output_tokens(self.config.max_tokens);
        estimate_messages(&request.messages) + self.schema_tokens / 2 + output
    }

    /// What a call may cost at most; nothing where the price is unknown.
    pub(super) fn most_expensive(&self, request: &GenerationRequest) -> NanoDollars {
        let Some(price) = self.price else { return NanoDollars::ZERO };
        let output = self.config.max_tokens.unwrap_or(RESERVED_OUTPUT_TOKENS);
        let usage = Usage {
            input_tokens: upper_estimate_messages(&request.messages) + self.schema_tokens,
            output_tokens: u64::from(output) * u64::from(self.config.n.unwrap_or(1)),
            ..Usage::default()
        };
        let dearest_input = price.cache_write.map_or(price.input, |write| write.max(price.input));
        cost(&Price { input: dearest_input, ..price }, &usage)
    }

    /// What is going on with this model.
    #[must_use]
    pub fn snapshot(&self) -> ModelSnapshot {
        ModelSnapshot {
            in_flight: self.counters.in_flight(),
            concurrency_limit: self.lane.concurrency.current_limit(),
            calls: self.counters.calls(),
            answers: self.counters.answers(),
            cache_hits: self.counters.cache_hits(),
            retries_by_class: self.counters.retries_by_class(),
            breaker: self.breaker.state(),
            breaker_opened_times: self.breaker.opened_times(),
            spent: self.counters.spent(),
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
