//! Every fault of a provider over real HTTP, alone and all together.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::collections::BTreeMap;
use std::sync::Arc;

use fullbench_llm::{BreakerState, FailureClass, GenerateError, Limits, ModelHandle, Provider};
use fullbench_simllm::{Simulator, SimulatorConfig};
use fullbench_types::FailureReason;
use support::{PROVIDERS, config, handle, one_attempt, one_short_attempt, simulator, user};

async fn first_failure(
    simulator: &Simulator,
    provider: Provider,
    stream: bool,
    limits: &Limits,
) -> (FailureClass, FailureReason) {
    let mut config = config(simulator, provider, "text");
    config.stream = stream;
    let error = handle(&config, limits).generate(user("hello"), 0, 0).await.unwrap_err();
    match error {
        GenerateError::Failed { class, failure, .. } => (class, failure.reason),
        other => panic!("{provider}: {other:?}"),
    }
}

#[tokio::test]
async fn each_fault_has_its_class_in_every_format_whole_and_streamed() {
    let off = SimulatorConfig::default;
    let faults = [
        (SimulatorConfig { rate_limit: 1.0, ..off() }, &[FailureClass::RateLimit][..]),
        (SimulatorConfig { error: 1.0, ..off() }, &[FailureClass::Server]),
        (SimulatorConfig { drop: 1.0, ..off() }, &[FailureClass::Connection]),
        (SimulatorConfig { stall: 1.0, ..off() }, &[FailureClass::Timeout]),
        // A reply that is cut off may come with its connection closed, or as half of the JSON.
        (
            SimulatorConfig { truncate: 1.0, ..off() },
            &[FailureClass::Malformed, FailureClass::Connection],
        ),
        (SimulatorConfig { malform: 1.0, ..off() }, &[FailureClass::Malformed]),
    ];
    for (fault, expected) in faults {
        let simulator = simulator(fault.clone());
        let limits = if fault.stall > 0.0 { one_short_attempt() } else { one_attempt() };
        for provider in PROVIDERS {
            for stream in [false, true] {
                let (class, reason) = first_failure(&simulator, provider, stream, &limits).await;
                assert!(expected.contains(&class), "{provider} stream {stream} {fault:?}: {class}");
                assert_eq!(reason, class.reason());
                assert!(class.is_retryable());
            }
        }
    }
}

#[tokio::test]
async fn a_rate_limit_is_waited_out_as_long_as_asked() {
    let simulator = simulator(SimulatorConfig {
        rate_limit: 0.5,
        retry_after_ms: 300,
        ..SimulatorConfig::default()
    });
    let model = handle(&config(&simulator, Provider::Openai, "text"), &Limits::default());
    for number in 0..20 {
        let generation = model.generate(user(&format!("question {number}")), 0, 0).await.unwrap();
        let waits = u64::from(generation.attempts - 1);
        assert!(generation.queue_us >= waits * 300_000, "{} µs", generation.queue_us);
        if waits > 0 {
            return;
        }
    }
    panic!("no call was refused");
}

async fn ask_all(model: &Arc<ModelHandle>, count: u32) -> BTreeMap<u32, String> {
    let mut tasks = Vec::new();
    for number in 0..count {
        let model = Arc::clone(model);
        tasks.push(tokio::spawn(async move {
            model.generate(user(&format!("question {number}")), 0, 0).await.unwrap().text
        }));
    }
    let mut texts = BTreeMap::new();
    for (number, task) in (0..).zip(tasks) {
        texts.insert(number, task.await.unwrap());
    }
    texts
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_faulty_provider_gives_every_answer_of_a_sound_one() {
    let sound = simulator(SimulatorConfig::default());
    let faulty = simulator(SimulatorConfig {
        rate_limit: 0.10,
        retry_after_ms: 10,
        error: 0.05,
        drop: 0.02,
        malform: 0.01,
        truncate: 0.01,
        ..SimulatorConfig::default()
    });
    for (provider, stream) in
        [(Provider::Openai, false), (Provider::Anthropic, true), (Provider::Gemini, true)]
    {
        let mut sound_config = config(&sound, provider, "text");
        let mut faulty_config = config(&faulty, provider, "text");
        (sound_config.stream, faulty_config.stream) = (stream, stream);
        let expected = ask_all(&handle(&sound_config, &Limits::default()), 300).await;
        let model = handle(&faulty_config, &Limits::default());
        assert_eq!(ask_all(&model, 300).await, expected, "{provider}");
        let snapshot = model.snapshot();
        assert_eq!((snapshot.breaker, snapshot.breaker_opened_times), (BreakerState::Closed, 0));
        let retries: u64 = snapshot.retries_by_class.values().sum();
        assert_eq!(snapshot.calls, 300 + retries, "{provider}");
        assert!(retries > 20, "{provider}: {retries}");
    }
    assert_eq!(faulty.stats().repeats_after_success, 0, "no answer was paid for twice");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_more_calls_are_in_flight_than_the_user_allows() {
    let simulator = simulator(SimulatorConfig { latency_ms: 10.0, ..SimulatorConfig::default() });
    let limits = Limits { concurrency: 7, ..Limits::default() };
    let model = handle(&config(&simulator, Provider::Openai, "text"), &limits);
    ask_all(&model, 100).await;
    assert_eq!(simulator.stats().peak_in_flight, 7);
}
