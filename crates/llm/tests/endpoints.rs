//! Several endpoints of one model over real HTTP: one goes down, one is slow, one limits the rate.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::collections::BTreeMap;
use std::sync::Arc;

use fullbench_llm::{
    BreakerState, EndpointConfig, EndpointSnapshot, FailureClass, GenerateError, Limits,
    LimitsOverride, ModelConfig, ModelHandle, Provider,
};
use fullbench_simllm::{Simulator, SimulatorConfig};
use fullbench_types::Generation;
use support::{config, handle, simulator, user};

const LATENCY_MS: f64 = 5.0;

fn sound() -> SimulatorConfig {
    SimulatorConfig { latency_ms: LATENCY_MS, ..SimulatorConfig::default() }
}

fn endpoint(name: &str, simulator: &Simulator) -> EndpointConfig {
    EndpointConfig {
        name: Some(name.to_owned()),
        base_url: Some(format!("{}/v1", simulator.url())),
        ..EndpointConfig::default()
    }
}

fn model_at(endpoints: Vec<EndpointConfig>) -> ModelConfig {
    let mut config = ModelConfig::new(Provider::Openai, Some("text".to_owned()));
    config.endpoints = endpoints;
    config
}

fn limits() -> Limits {
    Limits { concurrency: 8, ..Limits::default() }
}

/// Asks a range of questions at once; every one of them must be answered.
async fn ask(model: &Arc<ModelHandle>, questions: std::ops::Range<u32>) -> Vec<Generation> {
    let tasks: Vec<_> = questions
        .map(|number| {
            let model = Arc::clone(model);
            let question = user(&format!("question {number}"));
            tokio::spawn(async move { model.generate(question, 0, 0).await })
        })
        .collect();
    let mut answers = Vec::new();
    for task in tasks {
        answers.push(task.await.unwrap().expect("no unit fails while an endpoint is healthy"));
    }
    answers
}

fn counts(answers: &[Generation]) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    for answer in answers {
        *counts.entry(answer.endpoint.as_deref().expect("each names its endpoint")).or_default() +=
            1;
    }
    counts
}

fn snapshot(model: &ModelHandle, name: &str) -> EndpointSnapshot {
    let endpoints = model.snapshot().endpoints;
    endpoints.into_iter().find(|endpoint| endpoint.name == name).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_goes_down_and_comes_back_one_is_slow_and_one_limits_the_rate() {
    let reference = simulator(SimulatorConfig::default());
    let slow = simulator(SimulatorConfig { latency_ms: 10.0 * LATENCY_MS, ..sound() });
    let limited = simulator(SimulatorConfig { rate_limit: 0.2, retry_after_ms: 100, ..sound() });
    let mortal = simulator(sound());
    let port = mortal.port();
    let endpoints = [("mortal", &mortal), ("slow", &slow), ("limited", &limited)]
        .map(|(name, simulator)| endpoint(name, simulator));
    let model = handle(&model_at(endpoints.to_vec()), &limits());

    let all_up = ask(&model, 0..400).await;
    let by_endpoint = counts(&all_up);
    assert!(by_endpoint["mortal"] > by_endpoint["slow"], "{by_endpoint:?}");

    let seen = mortal.stop();
    assert_eq!(seen.repeats_after_success, 0);
    let before = snapshot(&model, "mortal");
    let down = ask(&model, 400..1_000).await;
    assert!(!counts(&down).contains_key("mortal"));
    let after = snapshot(&model, "mortal");
    assert_eq!(after.answers, before.answers);
    assert_ne!(after.breaker, BreakerState::Closed);
    // 20 failures in a row open the breaker, up to 8 are on their way, and then there are probes alone.
    assert!(after.failures - before.failures <= 40, "{after:?}");
    assert_eq!(model.snapshot().breaker, BreakerState::Closed, "the model is not down");

    let _back = simulator(SimulatorConfig { port, ..sound() });
    let mut asked = 1_000;
    while snapshot(&model, "mortal").answers < after.answers + 50 {
        assert!(asked < 40_000, "it never came back: {:?}", model.snapshot());
        ask(&model, asked..asked + 100).await;
        asked += 100;
    }
    assert_eq!(snapshot(&model, "mortal").breaker, BreakerState::Closed);

    let faults = limited.stats().faults.rate_limited;
    let refused = snapshot(&model, "limited").rate_limited;
    assert_eq!(refused, faults, "each refusal is known");
    assert!(refused > 0 && refused < limited.stats().calls / 3, "and it is not hammered");
    for stats in [slow.stats(), limited.stats()] {
        assert_eq!(stats.repeats_after_success, 0, "no answer was paid for twice");
    }

    let plain = handle(&config(&reference, Provider::Openai, "text"), &Limits::default());
    for (number, answer) in (0..).zip(all_up.iter().chain(&down)).step_by(37) {
        let expected = plain.generate(user(&format!("question {number}")), 0, 0).await.unwrap();
        assert_eq!(answer.text, expected.text, "the route changes no result");
        assert_eq!(expected.endpoint, None);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_endpoint_that_wants_another_key_is_set_aside() {
    let locked = || SimulatorConfig { require_key: Some("other".to_owned()), ..sound() };
    let (open, first, second) = (simulator(sound()), simulator(locked()), simulator(locked()));
    let endpoints = vec![endpoint("first", &first), endpoint("open", &open)];
    let model = handle(&model_at(endpoints), &limits());
    let answers = ask(&model, 0..100).await;
    assert_eq!(counts(&answers), BTreeMap::from([("open", 100)]));
    assert!(first.stats().calls <= 8, "those on their way, and no more");
    assert!(snapshot(&model, "first").set_aside.is_some());
    assert_eq!(snapshot(&model, "open").reported_models, ["text"]);

    let endpoints = vec![endpoint("first", &first), endpoint("second", &second)];
    let model = handle(&model_at(endpoints), &limits());
    match model.generate(user("hello"), 0, 0).await {
        Err(GenerateError::Failed { failure, class, hint }) => {
            assert_eq!((class, failure.attempts), (FailureClass::Auth, 2));
            assert!(failure.message.contains("first: ") && failure.message.contains("second: "));
            assert!(hint.unwrap().contains("api_key_env"));
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_endpoint_gets_more_calls_at_once_than_it_is_allowed() {
    let (one, two) = (simulator(sound()), simulator(sound()));
    let mut endpoints = vec![endpoint("one", &one), endpoint("two", &two)];
    endpoints[1].limits = Some(LimitsOverride { concurrency: Some(3), ..Default::default() });
    let model = handle(&model_at(endpoints), &limits());
    ask(&model, 0..200).await;
    assert_eq!((one.stats().peak_in_flight, two.stats().peak_in_flight), (8, 3));
    assert_eq!(model.limits().concurrency, 11);
}
