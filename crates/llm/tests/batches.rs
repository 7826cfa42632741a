//! Provider batches over real HTTP: every fault, restarts, and no result on a wrong request.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use fullbench_llm::{
    BatchOptions, BatchRecord, BatchState, BatchStore, Batcher, Budget, CacheMode, FailureClass,
    Gateway, GatewayOptions, GenerateError, Limits, ModelConfig, ModelHandle, Price, Provider,
    ProviderKeys, ResponseCache,
};
use fullbench_simllm::{BatchConfig, Simulator, SimulatorConfig};
use fullbench_types::{
    ContentHash, DEFAULT_ORGANIZATION, Generation, NanoDollars, ProviderBatchId,
};
use support::batches::MemoryBatches;
use support::{config, handle, simulator, user};
use tokio_util::sync::CancellationToken;

const PROVIDERS: [Provider; 2] = [Provider::Openai, Provider::Anthropic];

fn quick() -> BatchOptions {
    BatchOptions {
        quiet: Duration::from_millis(150),
        first_look: Duration::from_millis(20),
        longest_look: Duration::from_millis(100),
        ..BatchOptions::default()
    }
}

/// One process: a batcher with a gateway before it.
struct Session {
    batcher: Arc<Batcher>,
    model: Arc<ModelHandle>,
    stop: CancellationToken,
    budget: Arc<Budget>,
}

fn session_with(
    store: &Arc<MemoryBatches>,
    config: &ModelConfig,
    options: BatchOptions,
    limit: Option<NanoDollars>,
) -> Session {
    let batcher = Arc::new(Batcher::new(Arc::clone(store) as _, store.kept(), options));
    let stop = CancellationToken::new();
    let budget = Arc::new(Budget::new(limit, NanoDollars::ZERO));
    let gateway = Gateway::new(GatewayOptions {
        keys: ProviderKeys::default(),
        organization: DEFAULT_ORGANIZATION,
        cache: None,
        cache_mode: CacheMode::Off,
        budget: Arc::clone(&budget),
        stop: stop.clone(),
        batch: Some(Arc::clone(&batcher)),
    });
    let model = gateway.model(config, &Limits::default()).unwrap();
    Session { batcher, model, stop, budget }
}

/// Replies kept from one process to the next.
#[derive(Default)]
struct MemoryCache(Mutex<HashMap<ContentHash, Generation>>);

#[async_trait::async_trait]
impl ResponseCache for MemoryCache {
    async fn get(&self, key: &ContentHash) -> Option<Generation> {
        self.0.lock().unwrap().get(key).cloned()
    }

    async fn put(&self, key: &ContentHash, generation: &Generation) {
        self.0.lock().unwrap().insert(*key, generation.clone());
    }
}

fn session(store: &Arc<MemoryBatches>, config: &ModelConfig) -> Session {
    session_with(store, config, quick(), None)
}

fn question(number: usize) -> String {
    format!("What is {number} + {}?", number * 7)
}

type Answers = Vec<Result<Generation, GenerateError>>;

fn ask(model: &Arc<ModelHandle>, count: usize) -> tokio::task::JoinHandle<Answers> {
    let model = Arc::clone(model);
    tokio::spawn(async move {
        let calls = (0..count).map(|number| model.generate(user(&question(number)), 0, 0));
        futures::future::join_all(calls).await
    })
}

/// `echo` answers with the question, so that an answer on a wrong request shows.
fn assert_each_has_its_own(answers: &Answers) {
    for (number, answer) in answers.iter().enumerate() {
        assert_eq!(answer.as_ref().unwrap().text, question(number));
    }
}

fn with_batches(batch: BatchConfig) -> Simulator {
    simulator(SimulatorConfig { batch, ..SimulatorConfig::default() })
}

/// Waits until batches are at the provider.
async fn until_submitted(store: &MemoryBatches, batches: usize) {
    while store.count(BatchState::Submitted) < batches {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn answers_are_those_of_single_calls_at_half_the_price() {
    for provider in PROVIDERS {
        let simulator = with_batches(BatchConfig { delay_ms: 100, ..BatchConfig::default() });
        let mut config = config(&simulator, provider, "sim-80");
        config.price =
            Some(Price { input: 1.0, output: 2.0, cached_input: None, cache_write: None });
        config.stream = true;
        let store = Arc::new(MemoryBatches::default());
        let session = session(&store, &config);
        let batched = ask(&session.model, 40).await.unwrap();
        config.stream = false;
        let single = ask(&handle(&config, &Limits::default()), 40).await.unwrap();
        let mut spent = 0;
        for (batched, single) in batched.iter().zip(&single) {
            let (batched, single) = (batched.as_ref().unwrap(), single.as_ref().unwrap());
            assert_eq!(batched.text, single.text);
            assert_eq!(batched.usage, single.usage);
            assert_eq!(batched.finish_reason, single.finish_reason);
            assert_eq!(batched.raw, single.raw);
            assert_eq!(batched.cost.unwrap().0 * 2, single.cost.unwrap().0);
            assert_eq!((batched.attempts, batched.latency_us, batched.cached), (1, 0, false));
            spent += batched.cost.unwrap().0;
        }
        assert_eq!(session.budget.spent(), NanoDollars(spent));
        assert_eq!(session.budget.outstanding(), NanoDollars::ZERO);
        assert_eq!(session.model.snapshot().spent, NanoDollars(spent));
        assert_eq!(store.states(), [BatchState::Done]);
        let seen = simulator.stats();
        assert_eq!((seen.batches, seen.batched_requests), (1, 40), "{provider}");
    }
}

#[tokio::test]
async fn no_fault_puts_a_result_on_a_wrong_request() {
    let faults = BatchConfig {
        missing: 0.05,
        doubled: 0.1,
        errored: 0.05,
        expired: 0.05,
        unknown: 0.1,
        garbled: 0.05,
        trouble: 0.2,
        ..BatchConfig::default()
    };
    for provider in PROVIDERS {
        let simulator = with_batches(faults.clone());
        let store = Arc::new(MemoryBatches::default());
        let session = session(&store, &config(&simulator, provider, "echo"));
        let answers = ask(&session.model, 300).await.unwrap();
        assert_each_has_its_own(&answers);
        let again = answers.iter().filter(|answer| answer.as_ref().unwrap().attempts > 1).count();
        assert!((40..120).contains(&again), "{provider}: {again} needed another batch");
        let seen = simulator.stats();
        assert_eq!(seen.repeats_after_success, 0, "nothing that was answered is asked again");
        assert!((2..20).contains(&seen.batches), "{provider}: {} batches", seen.batches);
    }
}

#[tokio::test]
async fn a_request_that_always_fails_ends_as_a_call_would() {
    let cases = [
        (BatchConfig { errored: 1.0, ..BatchConfig::default() }, FailureClass::Server),
        (BatchConfig { expired: 1.0, ..BatchConfig::default() }, FailureClass::Timeout),
        (BatchConfig { missing: 1.0, ..BatchConfig::default() }, FailureClass::Malformed),
        (BatchConfig { garbled: 1.0, ..BatchConfig::default() }, FailureClass::Malformed),
    ];
    for provider in PROVIDERS {
        for (fault, expected) in cases.clone() {
            let simulator = with_batches(fault);
            let mut config = config(&simulator, provider, "echo");
            config.limits = Some(serde_json::from_str(r#"{"attempts": 2}"#).unwrap());
            let store = Arc::new(MemoryBatches::default());
            let session = session(&store, &config);
            for answer in ask(&session.model, 3).await.unwrap() {
                match answer.unwrap_err() {
                    GenerateError::Failed { class, failure, .. } => {
                        assert_eq!((class, failure.attempts), (expected, 2), "{provider}");
                    }
                    other => panic!("{other}"),
                }
            }
            assert_eq!(simulator.stats().batches, 2);
            assert_eq!(session.budget.outstanding(), NanoDollars::ZERO);
        }
    }
}

#[tokio::test]
async fn what_no_batch_can_change_is_not_sent_again() {
    for provider in PROVIDERS {
        let simulator = simulator(SimulatorConfig {
            max_context_tokens: Some(2),
            ..SimulatorConfig::default()
        });
        let store = Arc::new(MemoryBatches::default());
        let session = session(&store, &config(&simulator, provider, "echo"));
        let answer = ask(&session.model, 1).await.unwrap().remove(0);
        let class = match answer.unwrap_err() {
            GenerateError::Failed { class, .. } => class,
            other => panic!("{other}"),
        };
        assert_eq!((class, simulator.stats().batches), (FailureClass::ContextTooLong, 1));
    }
}

#[tokio::test]
async fn a_refused_key_is_told_and_nothing_is_left_open() {
    for provider in PROVIDERS {
        let simulator = simulator(SimulatorConfig {
            require_key: Some("other".to_owned()),
            ..SimulatorConfig::default()
        });
        let store = Arc::new(MemoryBatches::default());
        let session = session(&store, &config(&simulator, provider, "echo"));
        for answer in ask(&session.model, 5).await.unwrap() {
            let error = answer.unwrap_err();
            assert!(
                error.to_string().starts_with("the batch could not be sent: HTTP 401"),
                "{error}"
            );
        }
        assert_eq!(store.states(), [BatchState::Failed]);
    }
}

#[tokio::test]
async fn a_process_that_died_after_the_submission_is_continued_without_another() {
    for provider in PROVIDERS {
        let simulator = with_batches(BatchConfig { delay_ms: 800, ..BatchConfig::default() });
        let config = config(&simulator, provider, "echo");
        let store = Arc::new(MemoryBatches::default());
        let first = session(&store, &config);
        let asking = ask(&first.model, 30);
        until_submitted(&store, 1).await;
        asking.abort();
        drop(first);
        let second = session(&store, &config);
        assert_eq!(second.batcher.progress()[0].requests, 30);
        let answers = ask(&second.model, 30).await.unwrap();
        assert_each_has_its_own(&answers);
        assert_eq!(simulator.stats().batches, 1, "{provider}");
        assert_eq!(store.states(), [BatchState::Done]);
        // Its results were fetched, but the process died before anything was recorded.
        let third = session(&store, &config);
        assert_each_has_its_own(&ask(&third.model, 30).await.unwrap());
        assert_eq!(simulator.stats().batches, 1, "{provider}");
    }
}

#[tokio::test]
async fn what_a_run_paid_for_and_did_not_record_is_not_free_when_it_goes_on() {
    let simulator = with_batches(BatchConfig::default());
    let mut config = config(&simulator, Provider::Openai, "echo");
    config.price = Some(Price { input: 1.0, output: 2.0, cached_input: None, cache_write: None });
    let (store, cache) = (Arc::new(MemoryBatches::default()), Arc::new(MemoryCache::default()));
    let process = |kept: bool| {
        let known = if kept { store.kept() } else { Vec::new() };
        let budget = Arc::new(Budget::new(None, NanoDollars::ZERO));
        let gateway = Gateway::new(GatewayOptions {
            keys: ProviderKeys::default(),
            organization: DEFAULT_ORGANIZATION,
            cache: Some(Arc::clone(&cache) as _),
            cache_mode: CacheMode::Use,
            budget: Arc::clone(&budget),
            stop: CancellationToken::new(),
            batch: Some(Arc::new(Batcher::new(Arc::clone(&store) as _, known, quick()))),
        });
        (gateway.model(&config, &Limits::default()).unwrap(), budget)
    };
    let (model, budget) = process(true);
    let paid = ask(&model, 10).await.unwrap();
    let spent = budget.spent();
    assert!(spent > NanoDollars::ZERO);
    // The process died before it recorded anything: the next one of the run books the same.
    let (model, budget) = process(true);
    let again = ask(&model, 10).await.unwrap();
    assert_eq!(budget.spent(), spent);
    for (again, paid) in again.iter().zip(&paid) {
        let (again, paid) = (again.as_ref().unwrap(), paid.as_ref().unwrap());
        assert_eq!((again.cost, again.cached), (paid.cost, false));
    }
    // Another run finds them in the cache, for nothing.
    let (model, budget) = process(false);
    let free = ask(&model, 10).await.unwrap();
    assert!(free.iter().all(|answer| answer.as_ref().unwrap().cached));
    assert_eq!(budget.spent(), NanoDollars::ZERO);
    assert_eq!(simulator.stats().batches, 1);
}

#[tokio::test]
async fn a_process_that_died_before_it_noted_the_submission_finds_the_batch() {
    for provider in PROVIDERS {
        let simulator = with_batches(BatchConfig { delay_ms: 500, ..BatchConfig::default() });
        let config = config(&simulator, provider, "echo");
        // Another batch of the same size, which is not ours.
        let other = Arc::new(MemoryBatches::default());
        let others = session(&other, &config);
        let others_asking = ask(&others.model, 30);
        let store = Arc::new(MemoryBatches::default());
        let first = session(&store, &config);
        let asking = ask(&first.model, 30);
        until_submitted(&store, 1).await;
        asking.abort();
        drop(first);
        store.forget_submissions();
        assert_eq!(store.states(), [BatchState::Submitting]);
        let second = session(&store, &config);
        assert_each_has_its_own(&ask(&second.model, 30).await.unwrap());
        assert_each_has_its_own(&others_asking.await.unwrap());
        assert_eq!(simulator.stats().batches, 2, "{provider}: one of each process");
        assert_eq!(store.states(), [BatchState::Done]);
    }
}

#[tokio::test]
async fn a_batch_that_never_arrived_is_sent_anew() {
    for provider in PROVIDERS {
        let simulator = with_batches(BatchConfig::default());
        let config = config(&simulator, provider, "echo");
        let store = Arc::new(MemoryBatches::default());
        let key = |number| {
            let model = handle(&config, &Limits::default());
            model.request(user(&question(number)), 0, 0).cache_key()
        };
        let noted = BatchRecord {
            id: ProviderBatchId::generate(),
            provider,
            base_url: config.effective_base_url().to_owned(),
            account: config.key_variable().map(str::to_owned),
            remote_id: None,
            state: BatchState::Submitting,
            keys: (0..10).map(key).collect(),
            created_at: jiff::Timestamp::now(),
        };
        store.add(&noted).await.unwrap();
        let session = session(&store, &config);
        assert_each_has_its_own(&ask(&session.model, 10).await.unwrap());
        assert_eq!(store.states(), [BatchState::Failed, BatchState::Done]);
        assert_eq!(simulator.stats().batches, 1, "{provider}");
    }
}

#[tokio::test]
async fn a_submission_whose_reply_is_lost_is_not_repeated() {
    for provider in PROVIDERS {
        let simulator =
            with_batches(BatchConfig { delay_ms: 200, lost_replies: 1, ..BatchConfig::default() });
        let store = Arc::new(MemoryBatches::default());
        let session = session(&store, &config(&simulator, provider, "echo"));
        assert_each_has_its_own(&ask(&session.model, 20).await.unwrap());
        assert_eq!(simulator.stats().batches, 1, "{provider}");
    }
}

#[tokio::test]
async fn a_stop_leaves_the_batch_at_the_provider() {
    for provider in PROVIDERS {
        let simulator = with_batches(BatchConfig { delay_ms: 600, ..BatchConfig::default() });
        let config = config(&simulator, provider, "echo");
        let store = Arc::new(MemoryBatches::default());
        let first = session(&store, &config);
        let asking = ask(&first.model, 10);
        until_submitted(&store, 1).await;
        first.stop.cancel();
        for answer in asking.await.unwrap() {
            assert_eq!(answer.unwrap_err(), GenerateError::Stopped);
        }
        first.batcher.finish().await;
        assert_eq!(store.states(), [BatchState::Submitted]);
        assert_eq!(first.budget.outstanding(), NanoDollars::ZERO);
        // Without the wish for batches those that are there are fetched, and the rest is called.
        let only_fetching = BatchOptions { submits: false, ..quick() };
        let second = session_with(&store, &config, only_fetching, None);
        assert_each_has_its_own(&ask(&second.model, 15).await.unwrap());
        let seen = simulator.stats();
        assert_eq!((seen.batches, seen.calls), (1, 5), "{provider}");
    }
}

#[tokio::test]
async fn requests_that_are_equal_have_an_answer_each() {
    for provider in PROVIDERS {
        let simulator = with_batches(BatchConfig::default());
        let store = Arc::new(MemoryBatches::default());
        let session = session(&store, &config(&simulator, provider, "echo"));
        let calls = (0..20).map(|_| session.model.generate(user("the same"), 0, 0));
        for answer in futures::future::join_all(calls).await {
            assert_eq!(answer.unwrap().text, "the same");
        }
        assert_eq!(simulator.stats().batched_requests, 20);
    }
}

#[tokio::test]
async fn full_batches_are_sent_at_once_and_a_provider_without_room_gets_smaller_ones() {
    let simulator = with_batches(BatchConfig {
        delay_ms: 50,
        most_waiting: Some(12),
        ..BatchConfig::default()
    });
    let store = Arc::new(MemoryBatches::default());
    let options = BatchOptions { max_requests: 40, ..quick() };
    let config = config(&simulator, Provider::Openai, "echo");
    let session = session_with(&store, &config, options, None);
    let answers = ask(&session.model, 100).await.unwrap();
    assert_each_has_its_own(&answers);
    for answer in answers {
        assert_eq!(answer.unwrap().attempts, 1, "a batch that was not taken is no attempt");
    }
    assert!(simulator.stats().batches >= 10);
    assert_eq!(simulator.stats().repeats_after_success, 0);
}

#[tokio::test]
async fn a_budget_holds_for_batches() {
    let simulator = with_batches(BatchConfig::default());
    let mut config = config(&simulator, Provider::Openai, "echo");
    config.max_tokens = Some(20);
    config.price = Some(Price { input: 0.0, output: 2.0, cached_input: None, cache_write: None });
    let store = Arc::new(MemoryBatches::default());
    // Each may cost 20 tokens at half of two dollars a million.
    let limit = NanoDollars(20_000 * 3);
    let session = session_with(&store, &config, quick(), Some(limit));
    let answers = ask(&session.model, 40).await.unwrap();
    let answered = answers.iter().filter(|answer| answer.is_ok()).count();
    let exhausted = answers
        .iter()
        .filter(|answer| matches!(answer, Err(GenerateError::BudgetExhausted(_))))
        .count();
    assert_eq!(answered + exhausted, 40);
    assert!(answered >= 3 && exhausted > 0, "{answered} answered");
    assert!(session.budget.spent() <= limit);
}

/// As the provider's own console would.
fn cancel(simulator: &Simulator, path: &str) {
    let mut stream = TcpStream::connect(("127.0.0.1", simulator.port())).unwrap();
    let head = "host: localhost\r\nconnection: close\r\ncontent-length: 0\r\n";
    write!(stream, "POST {path} HTTP/1.1\r\n{head}\r\n").unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    assert!(reply.starts_with("HTTP/1.1 200"), "{reply}");
}

#[tokio::test]
async fn a_batch_that_is_cancelled_at_the_provider_has_failed() {
    for (provider, path) in
        [(Provider::Openai, "batches"), (Provider::Anthropic, "messages/batches")]
    {
        let simulator = with_batches(BatchConfig { delay_ms: 60_000, ..BatchConfig::default() });
        let mut config = config(&simulator, provider, "echo");
        config.limits = Some(serde_json::from_str(r#"{"attempts": 1}"#).unwrap());
        let store = Arc::new(MemoryBatches::default());
        let session = session(&store, &config);
        let asking = ask(&session.model, 5);
        until_submitted(&store, 1).await;
        let id = store.kept()[0].remote_id.clone().unwrap();
        cancel(&simulator, &format!("/v1/{path}/{id}/cancel"));
        for answer in asking.await.unwrap() {
            let error = answer.unwrap_err();
            assert_eq!(error.to_string(), "the batch was cancelled at the provider", "{provider}");
        }
        assert_eq!(store.states(), [BatchState::Done]);
    }
}
