//! Several deployments of one model, each with its own fate, on a clock that only moves when everybody waits.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::time::Duration;

use async_trait::async_trait;
use fullbench_types::{DEFAULT_ORGANIZATION, Generation, Message, Role, Usage};
use tokio::time::{Instant, sleep};

use super::*;
use crate::config::{EndpointConfig, LimitsOverride, RoutePolicy};
use crate::model::{CallError, Reply};
use crate::price::Price;
use crate::rate::RateHeaders;
use crate::request::GenerationRequest;

/// What becomes of calls to one deployment.
#[derive(Clone, Copy)]
struct Fate {
    takes: Duration,
    fails: Option<FailureClass>,
    retry_after: Option<Duration>,
    reports: &'static str,
}

const SOUND: Fate =
    Fate { takes: Duration::from_millis(100), fails: None, retry_after: None, reports: "m" };

fn failing(class: FailureClass) -> Fate {
    Fate { takes: Duration::from_millis(1), fails: Some(class), ..SOUND }
}

/// Every deployment of the model, told apart by the address it is asked at.
struct Several {
    fates: Mutex<HashMap<String, Fate>>,
    started: Mutex<Vec<(String, Instant)>>,
}

impl Several {
    fn new(fates: &[Fate]) -> Arc<Self> {
        let fates = fates.iter().enumerate().map(|(number, fate)| (address(number), *fate));
        Arc::new(Self { fates: Mutex::new(fates.collect()), started: Mutex::default() })
    }

    fn set(&self, number: usize, fate: Fate) {
        self.fates.lock().unwrap().insert(address(number), fate);
    }

    /// Calls made to one of them.
    fn calls(&self, number: usize) -> usize {
        let started = self.started.lock().unwrap();
        started.iter().filter(|(at, _)| *at == address(number)).count()
    }
}

#[async_trait]
impl LanguageModel for Several {
    async fn generate(&self, request: &GenerationRequest) -> Result<Reply, CallError> {
        self.started.lock().unwrap().push((request.base_url.clone(), Instant::now()));
        let fate = self.fates.lock().unwrap()[&request.base_url];
        sleep(fate.takes).await;
        if let Some(class) = fate.fails {
            let mut error = CallError::new(class, "broken");
            error.retry_after = fate.retry_after;
            return Err(error);
        }
        let mut generation = Generation::recorded("answer".to_owned());
        generation.latency_us = u64::try_from(fate.takes.as_micros()).unwrap();
        generation.reported_model = Some(fate.reports.to_owned());
        generation.usage =
            Some(Usage { input_tokens: 1_000, output_tokens: 50, ..Usage::default() });
        Ok(Reply { generation, rate: RateHeaders::default() })
    }
}

fn address(number: usize) -> String {
    format!("http://127.0.0.1:{number}/v1")
}

fn config(count: usize, concurrency: u32) -> ModelConfig {
    let mut config = ModelConfig::parse("openai:m").unwrap();
    config.limits = Some(LimitsOverride { concurrency: Some(concurrency), ..Default::default() });
    config.max_tokens = Some(50);
    let endpoint = |number: usize| EndpointConfig {
        name: Some(format!("e{number}")),
        base_url: Some(address(number)),
        ..EndpointConfig::default()
    };
    config.endpoints = (0..count).map(endpoint).collect();
    config
}

fn gateway(budget: &Arc<Budget>) -> Gateway {
    Gateway::new(GatewayOptions {
        keys: ProviderKeys::default(),
        organization: DEFAULT_ORGANIZATION,
        cache: None,
        cache_mode: CacheMode::Off,
        budget: Arc::clone(budget),
        batch: None,
        stop: CancellationToken::new(),
    })
}

fn handle_of(config: &ModelConfig, model: &Arc<Several>) -> Arc<ModelHandle> {
    let budget = Arc::new(Budget::new(None, NanoDollars::ZERO));
    let model = Arc::clone(model) as Arc<dyn LanguageModel>;
    gateway(&budget).custom_model(config, &Limits::default(), model).unwrap()
}

fn messages(number: u32) -> Vec<Message> {
    vec![Message::new(Role::User, format!("question {number}"))]
}

/// Asks so many questions at once, all of which must be answered; tells how long that took, and the names.
async fn ask(handle: &Arc<ModelHandle>, count: u32) -> (Duration, Vec<String>) {
    let started = Instant::now();
    let tasks: Vec<_> = (0..count)
        .map(|number| {
            let handle = Arc::clone(handle);
            tokio::spawn(async move { handle.generate(messages(number), 0, 0).await })
        })
        .collect();
    let mut names = Vec::new();
    for task in tasks {
        names.push(task.await.unwrap().unwrap().endpoint.unwrap());
    }
    (started.elapsed(), names)
}

async fn failure(handle: &ModelHandle) -> (FailureClass, UnitFailure, Option<String>) {
    match handle.generate(messages(0), 0, 0).await {
        Err(GenerateError::Failed { failure, class, hint }) => (class, failure, hint),
        other => panic!("{other:?}"),
    }
}

/// The time that so many calls take when each is 100 ms long and so many are under way.
fn ideal(calls: u32, places: u32) -> Duration {
    Duration::from_millis(100) * calls.div_ceil(places)
}

#[tokio::test(start_paused = true)]
async fn throughput_falls_no_further_than_the_healthy_share_allows() {
    let slow = Fate { takes: Duration::from_secs(1), ..SOUND };
    let limited =
        Fate { retry_after: Some(Duration::from_secs(1)), ..failing(FailureClass::RateLimit) };
    let (calls, places) = (3_000, 10);
    for (fault, name) in [
        (SOUND, "healthy"),
        (failing(FailureClass::Connection), "down"),
        (Fate { takes: Duration::from_secs(20), ..failing(FailureClass::Timeout) }, "hangs"),
        (slow, "slow"),
        (limited, "limited"),
    ] {
        let model = Several::new(&[SOUND, SOUND, fault]);
        let handle = handle_of(&config(3, places), &model);
        let (took, names) = ask(&handle, calls).await;
        assert_eq!(names.len(), calls as usize);
        let healthy = if name == "healthy" { 3 } else { 2 };
        let best = ideal(calls, healthy * places);
        // Calls that hang when the breaker opens, or begin last at the slow one, end after the others.
        let slack = fault.takes + Duration::from_millis(500);
        assert!(took <= best + slack, "{name}: {took:?} instead of {best:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_endpoint_that_is_down_gets_probes_and_comes_back() {
    let model = Several::new(&[SOUND, SOUND, failing(FailureClass::Connection)]);
    let handle = handle_of(&config(3, 10), &model);
    let (took, _) = ask(&handle, 4_000).await;
    let down = &handle.snapshot().endpoints[2];
    assert_eq!((down.breaker, down.answers), (BreakerState::Open, 0));
    // Up to 20 failures and those on their way open the breaker; 0.5, 1, 2, 4, 8 s later there is a probe.
    assert!(took < Duration::from_secs(25), "{took:?}");
    assert!(model.calls(2) <= 30 + 6, "{} calls", model.calls(2));
    assert_eq!(handle.snapshot().breaker, BreakerState::Closed, "the others go on");
    assert_eq!(handle.outage(), None);

    model.set(2, SOUND);
    sleep(Duration::from_secs(31)).await;
    let before = handle.snapshot().endpoints[2].answers;
    let (took, names) = ask(&handle, 3_000).await;
    assert!(took <= ideal(3_000, 30) + Duration::from_millis(300), "{took:?}");
    let share = names.iter().filter(|name| *name == "e2").count();
    assert!(share >= 900, "{share} of 3000 after {before}");
    assert_eq!(handle.snapshot().endpoints[2].breaker, BreakerState::Closed);
}

#[tokio::test(start_paused = true)]
async fn a_recovered_endpoint_is_found_again_where_the_others_never_fill_up() {
    let model = Several::new(&[SOUND, Fate { takes: Duration::from_secs(2), ..SOUND }]);
    let handle = handle_of(&config(2, 50), &model);
    for number in 0..200 {
        handle.generate(messages(number), 0, 0).await.unwrap();
    }
    let (fast, slow) = (model.calls(0), model.calls(1));
    assert!((5..=20).contains(&slow), "now and then it is tried: {slow} of {}", fast + slow);
    model.set(1, Fate { takes: Duration::from_millis(20), ..SOUND });
    for number in 200..1_400 {
        handle.generate(messages(number), 0, 0).await.unwrap();
    }
    let mut faster_by_now = 0;
    for number in 1_400..1_500 {
        let endpoint = handle.generate(messages(number), 0, 0).await.unwrap().endpoint;
        faster_by_now += u32::from(endpoint.as_deref() == Some("e1"));
    }
    assert!(faster_by_now > 80, "{faster_by_now} of 100");
}

#[tokio::test(start_paused = true)]
async fn a_rate_limited_endpoint_is_left_alone_for_as_long_as_it_asks() {
    let wait = Duration::from_secs(30);
    let limited = Fate { retry_after: Some(wait), ..failing(FailureClass::RateLimit) };
    let model = Several::new(&[SOUND, limited]);
    let handle = handle_of(&config(2, 10), &model);
    let (took, names) = ask(&handle, 1_000).await;
    assert!(took < Duration::from_secs(11), "{took:?}");
    assert!(names.iter().all(|name| name == "e0"));
    assert_eq!(model.calls(1), 10, "the first burst, and nothing more");
    assert_eq!(handle.snapshot().endpoints[1].rate_limited, 10);
    assert_eq!(handle.snapshot().endpoints[1].concurrency_limit, 5, "halved once");
    model.set(1, SOUND);
    sleep(wait * 2).await;
    let (_, names) = ask(&handle, 1_000).await;
    assert!(names.iter().any(|name| name == "e1"), "it is asked again");
}

#[tokio::test(start_paused = true)]
async fn a_retry_goes_elsewhere_at_once_and_comes_back_only_after_a_pause() {
    let model = Several::new(&[failing(FailureClass::Server), SOUND]);
    let mut config = config(2, 10);
    config.route = RoutePolicy::Priority;
    let handle = handle_of(&config, &model);
    let started = Instant::now();
    let generation = handle.generate(messages(0), 0, 0).await.unwrap();
    assert_eq!((generation.attempts, generation.endpoint.as_deref()), (2, Some("e1")));
    assert!(started.elapsed() < Duration::from_millis(110), "{:?}", started.elapsed());
    model.set(1, failing(FailureClass::Server));
    let started = Instant::now();
    let (class, failure, _) = failure(&handle).await;
    assert_eq!((class, failure.attempts), (FailureClass::Server, 8));
    assert!(failure.message.starts_with('e'), "the endpoint is named: {}", failure.message);
    assert!(started.elapsed() > Duration::from_millis(20), "{:?}", started.elapsed());
}

#[tokio::test(start_paused = true)]
async fn an_endpoint_that_refuses_its_key_is_set_aside_and_the_others_carry_on() {
    let model = Several::new(&[failing(FailureClass::Auth), SOUND, failing(FailureClass::Quota)]);
    let mut config = config(3, 10);
    config.endpoints[0].api_key_env = Some("PATH".to_owned());
    config.limits = Some(LimitsOverride { attempts: Some(1), ..config.limits.unwrap() });
    let handle = handle_of(&config, &model);
    let (_, names) = ask(&handle, 500).await;
    assert!(names.iter().all(|name| name == "e1"));
    assert!(model.calls(0) <= 10 && model.calls(2) <= 10, "those on their way, and no more");
    let snapshot = handle.snapshot();
    let set_aside: Vec<_> =
        snapshot.endpoints.iter().map(|endpoint| endpoint.set_aside.as_deref()).collect();
    assert_eq!(set_aside, [Some("broken"), None, Some("broken")]);
    assert_eq!(snapshot.concurrency_limit, 10, "that of the one that is left");
    assert_eq!(snapshot.retries_by_class.len(), 0, "nothing failed that counts");

    model.set(1, failing(FailureClass::NotFound));
    let (class, refused, hint) = failure(&handle).await;
    assert_eq!((class, refused.attempts), (FailureClass::Auth, 1));
    assert_eq!(refused.message, "no endpoint is left: e0: broken; e1: broken; e2: broken");
    assert!(hint.unwrap().contains("PATH"), "the key of the endpoint that refused it");
    let (_, refused, _) = failure(&handle).await;
    assert_eq!(refused.attempts, 0, "nothing is called any more");
}

#[tokio::test(start_paused = true)]
async fn a_refused_request_is_refused_whichever_endpoint_is_asked() {
    let model =
        Several::new(&[failing(FailureClass::BadRequest), failing(FailureClass::BadRequest)]);
    let handle = handle_of(&config(2, 10), &model);
    let (class, failure, _) = failure(&handle).await;
    assert_eq!((class, failure.attempts), (FailureClass::BadRequest, 1));
}

#[tokio::test(start_paused = true)]
async fn when_all_are_down_units_fail_within_their_deadline() {
    let model = Several::new(&[failing(FailureClass::Connection); 3]);
    let mut config = config(3, 10);
    let own = config.limits.unwrap();
    config.limits =
        Some(LimitsOverride { attempts: Some(1_000), deadline_seconds: Some(30.0), ..own });
    let handle = handle_of(&config, &model);
    let started = Instant::now();
    let tasks: Vec<_> = (0..200)
        .map(|number| {
            let handle = Arc::clone(&handle);
            tokio::spawn(async move { handle.generate(messages(number), 0, 0).await })
        })
        .collect();
    for task in tasks {
        let error = task.await.unwrap().unwrap_err();
        assert!(matches!(error, GenerateError::Failed { class: FailureClass::Connection, .. }));
    }
    assert!(started.elapsed() < Duration::from_secs(60), "{:?}", started.elapsed());
    let calls: usize = (0..3).map(|number| model.calls(number)).sum();
    assert!(calls < 200, "the breakers spared them: {calls} calls");
    assert!(handle.outage().unwrap().contains("broken"));
}

#[tokio::test(start_paused = true)]
async fn a_wait_beyond_the_deadline_at_all_of_them_fails_at_once() {
    let hour = Some(Duration::from_secs(3_600));
    let limited = Fate { retry_after: hour, ..failing(FailureClass::RateLimit) };
    let model = Several::new(&[limited; 2]);
    let handle = handle_of(&config(2, 10), &model);
    let started = Instant::now();
    let (class, failed, _) = failure(&handle).await;
    assert_eq!((class, failed.attempts), (FailureClass::RateLimit, 2));
    let (class, failed, _) = failure(&handle).await;
    assert_eq!((class, failed.attempts), (FailureClass::RateLimit, 0));
    assert!(started.elapsed() < Duration::from_secs(1), "{:?}", started.elapsed());
}

#[tokio::test(start_paused = true)]
async fn the_policy_decides_among_those_with_a_free_place() {
    let mut config = config(3, 10);
    for (endpoint, input) in config.endpoints.iter_mut().zip([3.0, 1.0, 2.0]) {
        let price = Price { input, output: 0.0, cached_input: None, cache_write: None };
        endpoint.price = Some(price);
    }
    for (policy, expected) in
        [(RoutePolicy::Cost, ["e1", "e2"]), (RoutePolicy::Priority, ["e0", "e1"])]
    {
        config.route = policy;
        let handle = handle_of(&config, &Several::new(&[SOUND; 3]));
        let (_, mut names) = ask(&handle, 20).await;
        names.sort();
        names.dedup();
        assert_eq!(names, expected, "the third is not needed");
    }
    config.route = RoutePolicy::Latency;
    let handle = handle_of(&config, &Several::new(&[SOUND; 3]));
    let (_, names) = ask(&handle, 15).await;
    for name in ["e0", "e1", "e2"] {
        assert_eq!(names.iter().filter(|other| *other == name).count(), 5, "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_dearest_price_is_reserved_and_the_endpoints_own_is_paid() {
    let mut config = config(2, 10);
    config.route = RoutePolicy::Priority;
    for (endpoint, input) in config.endpoints.iter_mut().zip([1.0, 1_000.0]) {
        let price = Price { input, output: input, cached_input: None, cache_write: None };
        endpoint.price = Some(price);
    }
    let model = Several::new(&[SOUND; 2]) as Arc<dyn LanguageModel>;
    let budget = Arc::new(Budget::new(Some(NanoDollars(80_000_000)), NanoDollars::ZERO));
    let handle = gateway(&budget).custom_model(&config, &Limits::default(), model).unwrap();
    let generation = handle.generate(messages(0), 0, 0).await.unwrap();
    assert_eq!(generation.cost, Some(NanoDollars(1_050_000)), "1,050 tokens at $1 a million");
    assert_eq!(budget.spent(), NanoDollars(1_050_000));
    let tight = Arc::new(Budget::new(Some(NanoDollars(60_000_000)), NanoDollars::ZERO));
    let model = Several::new(&[SOUND; 2]) as Arc<dyn LanguageModel>;
    let handle = gateway(&tight).custom_model(&config, &Limits::default(), model).unwrap();
    let refused = handle.generate(messages(0), 0, 0).await;
    assert!(matches!(refused, Err(GenerateError::BudgetExhausted(_))), "71 tokens at $1,000");
}

#[tokio::test(start_paused = true)]
async fn a_pace_of_each_endpoint_is_kept_and_used_up_and_never_fails_a_unit() {
    let mut config = config(2, 10);
    config.limits = Some(LimitsOverride { deadline_seconds: Some(5.0), ..config.limits.unwrap() });
    for (endpoint, pace) in config.endpoints.iter_mut().zip([60, 120]) {
        endpoint.limits =
            Some(LimitsOverride { requests_per_minute: Some(pace), ..Default::default() });
    }
    let model = Several::new(&[SOUND; 2]);
    let (took, _) = ask(&handle_of(&config, &model), 180).await;
    assert!(took >= Duration::from_secs(58) && took <= Duration::from_secs(61), "{took:?}");
    assert!((58..=61).contains(&model.calls(0)), "{}", model.calls(0));

    // One with a slow pace holds nobody up who can be served by the other.
    config.endpoints[1].limits = None;
    let model = Several::new(&[SOUND; 2]);
    let (took, _) = ask(&handle_of(&config, &model), 1_000).await;
    assert!(took <= Duration::from_secs(11), "{took:?}");
    assert!((9..=11).contains(&model.calls(0)), "{}", model.calls(0));
}

#[tokio::test(start_paused = true)]
async fn names_that_differ_are_kept_by_endpoint() {
    let model = Several::new(&[SOUND, Fate { reports: "m-2", ..SOUND }]);
    let handle = handle_of(&config(2, 10), &model);
    ask(&handle, 40).await;
    let endpoints = handle.snapshot().endpoints;
    assert_eq!(endpoints[0].reported_models, ["m"]);
    assert_eq!(endpoints[1].reported_models, ["m-2"]);
    assert_eq!(endpoints[0].latency, Some(Duration::from_millis(100)));
    assert_eq!(endpoints[0].answers + endpoints[1].answers, 40);
}

#[tokio::test(start_paused = true)]
async fn the_cache_key_is_the_models_whatever_its_endpoints_are() {
    let model = Several::new(&[SOUND; 3]);
    let plain = ModelConfig { endpoints: Vec::new(), ..config(0, 10) };
    let key =
        |config: &ModelConfig| handle_of(config, &model).request(messages(0), 0, 0).cache_key();
    assert_eq!(key(&plain), key(&config(2, 10)));
    assert_eq!(key(&plain), key(&ModelConfig { route: RoutePolicy::Cost, ..config(3, 99) }));
}

#[tokio::test(start_paused = true)]
async fn stopping_ends_those_who_wait() {
    let model = Several::new(&[Fate { takes: Duration::from_secs(10), ..SOUND }; 2]);
    let handle = handle_of(&config(2, 1), &model);
    let tasks: Vec<_> = (0..5)
        .map(|number| {
            let handle = Arc::clone(&handle);
            tokio::spawn(async move { handle.generate(messages(number), 0, 0).await })
        })
        .collect();
    sleep(Duration::from_secs(1)).await;
    handle.give_up();
    let mut finished = 0;
    for task in tasks {
        match task.await.unwrap() {
            Ok(_) => finished += 1,
            Err(error) => assert_eq!(error, GenerateError::Stopped),
        }
    }
    assert_eq!(finished, 2);
}
