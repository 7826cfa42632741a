//! A model that follows a script, on a clock that only moves when everybody waits.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use fullbench_types::{
    ContentHash, DEFAULT_ORGANIZATION, FailureReason, FinishReason, Generation, Message, Role,
    Usage,
};
use tokio::time::{Instant, sleep};

use super::*;
use crate::config::LimitsOverride;
use crate::model::{CallError, Reply};
use crate::price::Price;
use crate::rate::RateHeaders;
use crate::request::GenerationRequest;

/// Fails as the script says, then answers; each call takes a while.
struct Scripted {
    failures: Mutex<VecDeque<CallError>>,
    takes: Duration,
    rate: RateHeaders,
    in_flight: AtomicU32,
    most_in_flight: AtomicU32,
    started: Mutex<Vec<Instant>>,
}

impl Scripted {
    fn new(failures: Vec<CallError>) -> Self {
        Self {
            failures: Mutex::new(failures.into()),
            takes: Duration::from_millis(100),
            rate: RateHeaders::default(),
            in_flight: AtomicU32::new(0),
            most_in_flight: AtomicU32::new(0),
            started: Mutex::default(),
        }
    }

    fn calls(&self) -> usize {
        self.started.lock().unwrap().len()
    }
}

#[async_trait]
impl LanguageModel for Scripted {
    async fn generate(&self, _request: &GenerationRequest) -> Result<Reply, CallError> {
        self.started.lock().unwrap().push(Instant::now());
        let now = self.in_flight.fetch_add(1, Ordering::SeqCst) + 1;
        self.most_in_flight.fetch_max(now, Ordering::SeqCst);
        sleep(self.takes).await;
        self.in_flight.fetch_sub(1, Ordering::SeqCst);
        if let Some(error) = self.failures.lock().unwrap().pop_front() {
            return Err(error);
        }
        let mut generation = Generation::recorded("answer".to_owned());
        generation.finish_reason = FinishReason::Stop;
        generation.latency_us = u64::try_from(self.takes.as_micros()).unwrap();
        generation.usage =
            Some(Usage { input_tokens: 1_000, output_tokens: 50, ..Usage::default() });
        Ok(Reply { generation, rate: self.rate })
    }
}

#[derive(Default)]
struct MemoryCache(Mutex<HashMap<ContentHash, Generation>>);

#[async_trait]
impl ResponseCache for MemoryCache {
    async fn get(&self, key: &ContentHash) -> Option<Generation> {
        self.0.lock().unwrap().get(key).cloned()
    }

    async fn put(&self, key: &ContentHash, generation: &Generation) {
        self.0.lock().unwrap().insert(*key, generation.clone());
    }
}

struct Fixture {
    gateway: Gateway,
    cache: Arc<MemoryCache>,
    budget: Arc<Budget>,
    stop: CancellationToken,
}

fn fixture_with(cache_mode: CacheMode, limit: Option<NanoDollars>) -> Fixture {
    let cache = Arc::new(MemoryCache::default());
    let budget = Arc::new(Budget::new(limit, NanoDollars::ZERO));
    let stop = CancellationToken::new();
    let gateway = Gateway::new(GatewayOptions {
        keys: ProviderKeys::default(),
        organization: DEFAULT_ORGANIZATION,
        cache: Some(Arc::clone(&cache) as Arc<dyn ResponseCache>),
        cache_mode,
        budget: Arc::clone(&budget),
        stop: stop.clone(),
        batch: None,
    });
    Fixture { gateway, cache, budget, stop }
}

fn fixture() -> Fixture {
    fixture_with(CacheMode::Use, None)
}

/// gpt-4o-mini: 1,000 tokens in and 50 out cost $0.00018.
fn config() -> ModelConfig {
    let mut config = ModelConfig::parse("openai:m").unwrap();
    config.price = Some(Price { input: 0.15, output: 0.6, cached_input: None, cache_write: None });
    config.max_tokens = Some(50);
    config
}

fn messages(text: &str) -> Vec<Message> {
    vec![Message::new(Role::User, text)]
}

fn errors(class: FailureClass, count: usize) -> Vec<CallError> {
    vec![CallError::new(class, "broken"); count]
}

impl Fixture {
    fn handle(&self, model: &Arc<Scripted>, limits: &Limits) -> Arc<ModelHandle> {
        self.gateway
            .custom_model(&config(), limits, Arc::clone(model) as Arc<dyn LanguageModel>)
            .unwrap()
    }
}

#[tokio::test(start_paused = true)]
async fn passing_failures_are_tried_again_and_leave_no_trace_in_the_answer() {
    let fixture = fixture();
    let mut failures = errors(FailureClass::Server, 1);
    for class in [FailureClass::RateLimit, FailureClass::Malformed, FailureClass::Connection] {
        failures.extend(errors(class, 1));
    }
    let model = Arc::new(Scripted::new(failures));
    let handle = fixture.handle(&model, &Limits::default());
    let started = Instant::now();
    let generation = handle.generate(messages("x"), 0, 0).await.unwrap();
    assert_eq!((generation.text.as_str(), generation.attempts), ("answer", 5));
    assert_eq!(generation.cost, Some(NanoDollars(180_000)));
    assert_eq!(generation.latency_us, 100_000);
    let queue = started.elapsed() - Duration::from_millis(100);
    assert_eq!(u128::from(generation.queue_us), queue.as_micros());
    assert_eq!(fixture.budget.spent(), NanoDollars(180_000));
    let snapshot = handle.snapshot();
    assert_eq!((snapshot.calls, snapshot.in_flight), (5, 0));
    assert_eq!(snapshot.retries_by_class.values().sum::<u64>(), 4);
    assert_eq!(snapshot.concurrency_limit, 25, "halved by the one rate limit");
}

#[tokio::test(start_paused = true)]
async fn a_deterministic_refusal_is_not_tried_again_and_says_what_to_do() {
    let fixture = fixture();
    let model = Arc::new(Scripted::new(errors(FailureClass::Auth, 10)));
    let handle = fixture.handle(&model, &Limits::default());
    let error = handle.generate(messages("x"), 0, 0).await.unwrap_err();
    let GenerateError::Failed { failure, class, hint } = error else { panic!("{error:?}") };
    assert_eq!((class, failure.attempts), (FailureClass::Auth, 1));
    assert_eq!(failure.reason, FailureReason::ProviderError);
    assert!(hint.unwrap().contains("OPENAI_API_KEY"));
    assert_eq!(model.calls(), 1);
    assert!(fixture.cache.0.lock().unwrap().is_empty(), "errors are never cached");
    assert_eq!(fixture.budget.outstanding(), NanoDollars::ZERO);
}

#[tokio::test(start_paused = true)]
async fn attempts_and_the_deadline_are_kept() {
    let fixture = fixture();
    let model = Arc::new(Scripted::new(errors(FailureClass::Malformed, 100)));
    let handle = fixture.handle(&model, &Limits { attempts: 3, ..Limits::default() });
    let error = handle.generate(messages("x"), 0, 0).await.unwrap_err();
    assert!(matches!(&error, GenerateError::Failed { failure, .. } if failure.attempts == 3));
    let limits = Limits { attempts: 1_000, deadline_seconds: 5.0, ..Limits::default() };
    let handle = fixture.handle(&model, &limits);
    let started = Instant::now();
    assert!(handle.generate(messages("x"), 0, 0).await.is_err());
    assert!(started.elapsed() <= Duration::from_secs(5));
}

#[tokio::test(start_paused = true)]
async fn a_wait_beyond_the_deadline_fails_at_once_as_rate_limited() {
    let fixture = fixture();
    let mut error = CallError::new(FailureClass::RateLimit, "slow down");
    error.retry_after = Some(Duration::from_secs(3_600));
    let model = Arc::new(Scripted::new(vec![error]));
    let handle = fixture.handle(&model, &Limits::default());
    let started = Instant::now();
    let error = handle.generate(messages("x"), 0, 0).await.unwrap_err();
    assert!(matches!(&error, GenerateError::Failed { failure, .. }
        if failure.reason == FailureReason::RateLimited));
    assert!(started.elapsed() < Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn a_retry_waits_as_long_as_the_provider_asked() {
    let fixture = fixture();
    let mut error = CallError::new(FailureClass::RateLimit, "slow down");
    error.retry_after = Some(Duration::from_secs(30));
    let model = Arc::new(Scripted::new(vec![error]));
    let handle = fixture.handle(&model, &Limits::default());
    handle.generate(messages("x"), 0, 0).await.unwrap();
    let started = model.started.lock().unwrap().clone();
    assert!(started[1] - started[0] >= Duration::from_secs(30));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_hangs_is_a_timeout() {
    let fixture = fixture();
    let model =
        Arc::new(Scripted { takes: Duration::from_secs(1_000), ..Scripted::new(Vec::new()) });
    let limits = Limits { timeout_seconds: 2.0, attempts: 2, ..Limits::default() };
    let handle = fixture.handle(&model, &limits);
    let error = handle.generate(messages("x"), 0, 0).await.unwrap_err();
    let GenerateError::Failed { failure, class, .. } = error else { panic!("{error:?}") };
    assert_eq!((class, failure.reason), (FailureClass::Timeout, FailureReason::Timeout));
    assert_eq!(failure.message, "no complete reply within 2.0 s");
    assert_eq!(handle.snapshot().in_flight, 0);
}

#[tokio::test(start_paused = true)]
async fn a_cached_answer_costs_nothing_and_says_so() {
    let fixture = fixture();
    let model = Arc::new(Scripted::new(Vec::new()));
    let handle = fixture.handle(&model, &Limits::default());
    let first = handle.generate(messages("x"), 0, 0).await.unwrap();
    let second = handle.generate(messages("x"), 0, 0).await.unwrap();
    assert!(second.cached && !first.cached);
    assert_eq!((second.attempts, second.cost), (0, Some(NanoDollars::ZERO)));
    assert_eq!(second.latency_us, first.latency_us, "latency as it was first measured");
    handle.generate(messages("x"), 1, 0).await.unwrap();
    handle.generate(messages("x"), 0, 1).await.unwrap();
    assert_eq!(model.calls(), 3, "repetitions and samples have answers of their own");
    assert_eq!(handle.snapshot().cache_hits, 1);
    assert_eq!(fixture.budget.spent(), NanoDollars(3 * 180_000));
}

#[tokio::test(start_paused = true)]
async fn the_cache_can_be_left_out_or_be_all_there_is() {
    let off = fixture_with(CacheMode::Off, None);
    let model = Arc::new(Scripted::new(Vec::new()));
    let handle = off.handle(&model, &Limits::default());
    handle.generate(messages("x"), 0, 0).await.unwrap();
    handle.generate(messages("x"), 0, 0).await.unwrap();
    assert_eq!(model.calls(), 2);
    assert!(off.cache.0.lock().unwrap().is_empty());
    let only = fixture_with(CacheMode::Only, None);
    let handle = only.handle(&model, &Limits::default());
    let error = handle.generate(messages("x"), 0, 0).await.unwrap_err();
    assert!(matches!(&error, GenerateError::Failed { class: FailureClass::NotCached, failure, .. }
        if failure.attempts == 0));
    assert!(
        only.gateway.model(&ModelConfig::parse("gemini:m").unwrap(), &Limits::default()).is_ok()
    );
}

#[tokio::test(start_paused = true)]
async fn the_budget_ends_the_run_before_it_is_passed() {
    // Each call costs $0.00018 and reserves a little less than that: 50 tokens out, and a short prompt.
    let fixture = fixture_with(CacheMode::Off, Some(NanoDollars(1_000_000)));
    let model = Arc::new(Scripted::new(Vec::new()));
    let handle = fixture.handle(&model, &Limits::default());
    let long_prompt = "word ".repeat(1_000);
    let mut answers = 0;
    loop {
        match handle.generate(messages(&long_prompt), 0, 0).await {
            Ok(_) => answers += 1,
            Err(error) => {
                assert!(matches!(error, GenerateError::BudgetExhausted(_)));
                break;
            }
        }
    }
    assert!(answers > 0);
    assert!(fixture.budget.spent() <= NanoDollars(1_000_000));
}

#[tokio::test(start_paused = true)]
async fn stopping_lets_calls_in_flight_finish_and_begins_nothing_new() {
    let fixture = fixture();
    let model = Arc::new(Scripted { takes: Duration::from_secs(10), ..Scripted::new(Vec::new()) });
    let limits = Limits { concurrency: 2, ..Limits::default() };
    let handle = fixture.handle(&model, &limits);
    let tasks: Vec<_> = (0..5)
        .map(|number| {
            let handle = Arc::clone(&handle);
            tokio::spawn(async move { handle.generate(messages(&number.to_string()), 0, 0).await })
        })
        .collect();
    sleep(Duration::from_secs(1)).await;
    fixture.stop.cancel();
    let mut finished = 0;
    for task in tasks {
        match task.await.unwrap() {
            Ok(_) => finished += 1,
            Err(error) => assert_eq!(error, GenerateError::Stopped),
        }
    }
    assert_eq!((finished, model.calls()), (2, 2));
    assert_eq!(fixture.budget.spent(), NanoDollars(2 * 180_000), "what was called counts");
}

#[tokio::test(start_paused = true)]
async fn models_of_one_provider_share_its_places_unless_they_have_their_own() {
    let fixture = fixture();
    let model = Arc::new(Scripted::new(Vec::new()));
    let limits = Limits { concurrency: 3, ..Limits::default() };
    let first = fixture.handle(&model, &limits);
    let second = fixture.handle(&model, &limits);
    let ask = |handle: &Arc<ModelHandle>, number: u32| {
        let handle = Arc::clone(handle);
        tokio::spawn(async move { handle.generate(messages("x"), number, 0).await.unwrap() })
    };
    let tasks: Vec<_> =
        (0..20).flat_map(|number| [ask(&first, number), ask(&second, number + 100)]).collect();
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(model.most_in_flight.load(Ordering::SeqCst), 3);
    let mut own = config();
    own.limits = Some(LimitsOverride { concurrency: Some(7), ..LimitsOverride::default() });
    let third = fixture.gateway.custom_model(&own, &limits, model).unwrap();
    assert_eq!(third.snapshot().concurrency_limit, 7);
}

#[tokio::test(start_paused = true)]
async fn a_slow_pace_of_ones_own_never_fails_a_unit() {
    let fixture = fixture();
    let model = Arc::new(Scripted::new(Vec::new()));
    let limits =
        Limits { requests_per_minute: Some(6), deadline_seconds: 5.0, ..Limits::default() };
    let handle = fixture.handle(&model, &limits);
    let started = Instant::now();
    let tasks: Vec<_> = (0..12)
        .map(|number| {
            let handle = Arc::clone(&handle);
            tokio::spawn(async move { handle.generate(messages("x"), number, 0).await })
        })
        .collect();
    for task in tasks {
        task.await.unwrap().unwrap();
    }
    assert!(started.elapsed() >= Duration::from_secs(100), "{:?}", started.elapsed());
}

#[tokio::test(start_paused = true)]
async fn nothing_is_called_before_the_reset_that_the_headers_name() {
    let fixture = fixture();
    let rate = RateHeaders {
        remaining_requests: Some(0),
        reset_requests: Some(Duration::from_secs(20)),
        ..RateHeaders::default()
    };
    let model = Arc::new(Scripted { rate, ..Scripted::new(Vec::new()) });
    let handle = fixture.handle(&model, &Limits::default());
    handle.generate(messages("x"), 0, 0).await.unwrap();
    handle.generate(messages("x"), 1, 0).await.unwrap();
    let started = model.started.lock().unwrap().clone();
    assert!(started[1] - started[0] >= Duration::from_secs(20));
}

#[tokio::test(start_paused = true)]
async fn an_outage_opens_the_breaker_and_its_end_closes_it() {
    let fixture = fixture();
    let model = Arc::new(Scripted::new(errors(FailureClass::Server, 25)));
    let handle = fixture.handle(&model, &Limits { attempts: 50, ..Limits::default() });
    let tasks: Vec<_> = (0..40)
        .map(|number| {
            let handle = Arc::clone(&handle);
            tokio::spawn(async move { handle.generate(messages("x"), number, 0).await })
        })
        .collect();
    for task in tasks {
        task.await.unwrap().unwrap();
    }
    let snapshot = handle.snapshot();
    assert_eq!((snapshot.breaker, snapshot.breaker_opened_times), (BreakerState::Closed, 1));
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_stays_down_fails_units_within_their_deadline() {
    let fixture = fixture();
    let model = Arc::new(Scripted::new(errors(FailureClass::Connection, 10_000)));
    let limits = Limits { attempts: 1_000, deadline_seconds: 30.0, ..Limits::default() };
    let handle = fixture.handle(&model, &limits);
    let started = Instant::now();
    let tasks: Vec<_> = (0..100)
        .map(|number| {
            let handle = Arc::clone(&handle);
            tokio::spawn(async move { handle.generate(messages("x"), number, 0).await })
        })
        .collect();
    for task in tasks {
        let error = task.await.unwrap().unwrap_err();
        assert!(matches!(error, GenerateError::Failed { class: FailureClass::Connection, .. }));
    }
    assert!(started.elapsed() < Duration::from_secs(100), "{:?}", started.elapsed());
    assert!(model.calls() < 200, "the breaker spared the provider: {} calls", model.calls());
}

#[test]
fn a_missing_key_and_a_recorded_model_are_refused_before_any_call() {
    let fixture = fixture();
    let mut config = ModelConfig::parse("openai:m").unwrap();
    config.api_key_env = Some("FULLBENCH_TEST_KEY_THAT_IS_NOT_SET".to_owned());
    let missing = fixture.gateway.model(&config, &Limits::default()).err().unwrap();
    assert!(matches!(missing, LlmError::MissingKey { .. }));
    assert_eq!(missing.code(), fullbench_types::ErrorCode::Unauthorized);
    let recorded = ModelConfig::parse("recorded").unwrap();
    let refused = fixture.gateway.model(&recorded, &Limits::default()).err().unwrap();
    assert!(matches!(refused, LlmError::Recorded { .. }));
}

#[tokio::test]
async fn addresses_that_nobody_calls_any_more_do_not_pile_up() {
    let fixture = fixture();
    let model = Arc::new(Scripted::new(Vec::new()));
    let used = fixture.handle(&model, &Limits::default());
    for number in 0..3 * KEPT_UNUSED {
        let mut elsewhere = config();
        elsewhere.base_url = Some(format!("http://host-{number}.example/v1"));
        let model = Arc::clone(&model) as Arc<dyn LanguageModel>;
        fixture.gateway.custom_model(&elsewhere, &Limits::default(), model).unwrap();
    }
    let shared = fixture.gateway.shared.lock().unwrap();
    assert!(shared.breakers.len() <= KEPT_UNUSED, "{}", shared.breakers.len());
    assert!(shared.lanes.len() <= KEPT_UNUSED, "{}", shared.lanes.len());
    let endpoint = (Provider::Openai, config().effective_base_url().to_owned());
    assert!(shared.breakers.contains_key(&endpoint), "what is in use stays");
    drop(used);
}
