//! Each method against the simulated provider over HTTP, in every wire format.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::sync::Arc;

use fullbench_judge::{
    Combine, Judge, JudgeConfig, Logprobs, Method, Pair, PairJudge, Panel, PanelConfig, Structured,
};
use fullbench_llm::{Budget, CacheMode, GatewayOptions, Price, Provider};
use fullbench_simllm::{Simulator, SimulatorConfig};
use fullbench_types::{NanoDollars, Outcome, UnscoredReason};
use support::{MemoryCache, PROVIDERS, SUBJECT, connected, options, served};

fn simulator(config: SimulatorConfig) -> Simulator {
    Simulator::start(config).expect("the simulator starts")
}

fn config(simulator: &Simulator, provider: Provider, method: Method) -> JudgeConfig {
    JudgeConfig::new(method, "faithfulness", served(simulator, provider, "text"))
}

#[tokio::test]
async fn every_method_works_in_every_format() {
    let simulator = simulator(SimulatorConfig::default());
    for provider in PROVIDERS {
        for method in [Method::GEval, Method::Rubric, Method::Binary, Method::Reference] {
            let judge = Judge::new(config(&simulator, provider, method)).unwrap();
            let ask = connected(&judge.models(), options());
            let score = judge.judge(&ask, &SUBJECT).await;
            let judgement = score.judgement.clone().unwrap();
            let is_unsure = score.outcome.reason() == Some(UnscoredReason::PendingHuman);
            assert!(
                score.value.is_some() || (method == Method::Binary && is_unsure),
                "{provider} {method}: {score:?}"
            );
            assert!(judgement.input_tokens() > 100, "{provider} {method}");
            assert_eq!(judgement.method, method.as_str());
            let expected = if method == Method::GEval { 2 } else { 1 };
            assert_eq!(judgement.replies.len(), expected, "{provider} {method}");
        }
    }
}

#[tokio::test]
async fn log_probabilities_count_where_they_are_given() {
    let simulator = simulator(SimulatorConfig::default());
    for provider in PROVIDERS {
        for logprobs in [Logprobs::Auto, Logprobs::On, Logprobs::Off] {
            let mut config = config(&simulator, provider, Method::Reference);
            config.logprobs = logprobs;
            if provider == Provider::Anthropic && logprobs == Logprobs::On {
                // The provider has none, which is told before any call.
                assert_eq!(Judge::new(config).err().unwrap().field().as_deref(), Some("logprobs"));
                continue;
            }
            let judge = Judge::new(config).unwrap();
            let ask = connected(&judge.models(), options());
            let score = judge.judge(&ask, &SUBJECT).await;
            let is_expected = match logprobs {
                Logprobs::Auto => provider == Provider::Openai,
                Logprobs::On => true,
                Logprobs::Off => false,
            };
            let reply = &score.judgement.as_ref().unwrap().replies[0];
            assert_eq!(
                !reply.distribution.is_empty(),
                is_expected,
                "{provider} {logprobs:?}: {score:?}"
            );
            assert_eq!(score.confidence.is_some(), is_expected, "{provider} {logprobs:?}");
            let raw = score.raw.unwrap();
            assert!((1.0..=5.0).contains(&raw));
        }
    }
}

#[tokio::test]
async fn claims_and_pairs_work_in_every_format() {
    let simulator = simulator(SimulatorConfig::default());
    for provider in PROVIDERS {
        let judge = Judge::new(config(&simulator, provider, Method::Claims)).unwrap();
        let ask = connected(&judge.models(), options());
        let score = judge.judge(&ask, &SUBJECT).await;
        // The simulated model quotes words that are not in the context, unless it finds nothing.
        let unparseable = score.outcome.reason() == Some(UnscoredReason::UnparseableJudgement);
        assert!(unparseable || score.value == Some(0.0), "{provider}: {score:?}");
        let judge = PairJudge::new(config(&simulator, provider, Method::Pairwise)).unwrap();
        let ask = connected(&judge.models(), options());
        let pair = Pair {
            key: "k",
            input: "q",
            first: "one",
            second: "two",
            references: &[],
            context: &["c"],
            repetition: 0,
        };
        let found = judge.compare(&ask, &pair).await;
        assert!(found.preference.is_some(), "{provider}: {found:?}");
        assert_eq!(found.judgement.replies.len(), 2);
    }
}

#[tokio::test]
async fn a_panel_asks_a_member_of_each_format() {
    let simulator = simulator(SimulatorConfig::default());
    let judges = PROVIDERS.map(|provider| config(&simulator, provider, Method::Reference));
    let panel = Panel::new(PanelConfig {
        name: Some("three".to_owned()),
        judges: judges.to_vec(),
        combine: Combine::Median,
        weights: Vec::new(),
        threshold: Some(0.5),
    });
    let panel = panel.unwrap();
    let ask = connected(&panel.models(), options());
    let score = panel.judge(&ask, &SUBJECT).await;
    let members = score.evidence.as_ref().unwrap()["members"].as_array().unwrap().clone();
    let mut values: Vec<f64> = members.iter().map(|one| one["value"].as_f64().unwrap()).collect();
    values.sort_by(f64::total_cmp);
    assert_eq!(score.value, Some(values[1]), "{members:?}");
    let judgement = score.judgement.unwrap();
    assert_eq!(judgement.replies.len(), 3);
    assert!(judgement.model.contains("anthropic:text"), "{}", judgement.model);
}

#[tokio::test]
async fn a_reply_that_is_not_enforced_and_not_given_leaves_no_score() {
    let simulator = simulator(SimulatorConfig::default());
    for provider in PROVIDERS {
        let mut config = config(&simulator, provider, Method::Reference);
        config.structured = Structured::Prompt;
        let judge = Judge::new(config).unwrap();
        assert_eq!(judge.models()[0].json_schema, None);
        let ask = connected(&judge.models(), options());
        let score = judge.judge(&ask, &SUBJECT).await;
        assert_eq!(
            score.outcome,
            Outcome::Unscored(UnscoredReason::UnparseableJudgement),
            "{provider}"
        );
        let judgement = score.judgement.unwrap();
        assert_eq!(judgement.replies.len(), 2, "{provider}");
        assert!(judgement.prompt.contains("JSON Schema"));
    }
}

#[tokio::test]
async fn samples_are_cached_one_by_one_and_served_again() {
    let simulator = simulator(SimulatorConfig::default());
    let mut config = config(&simulator, Provider::Openai, Method::GEval);
    config.samples = 3;
    let cache = Arc::new(MemoryCache::default());
    let cached = || GatewayOptions {
        cache: Some(Arc::clone(&cache) as _),
        cache_mode: CacheMode::Use,
        ..options()
    };
    let judge = Judge::new(config.clone()).unwrap();
    let first = judge.judge(&connected(&judge.models(), cached()), &SUBJECT).await;
    assert_eq!(cache.kept.lock().unwrap().len(), 4, "steps and three samples");
    let judge = Judge::new(config).unwrap();
    let only = GatewayOptions { cache_mode: CacheMode::Only, ..cached() };
    let second = judge.judge(&connected(&judge.models(), only), &SUBJECT).await;
    assert_eq!((first.raw, first.cached, second.cached), (second.raw, false, true));
    assert!(second.judgement.unwrap().replies.iter().all(|reply| reply.cached));
}

#[tokio::test]
async fn failures_budget_and_stop_leave_the_score_open() {
    let broken = simulator(SimulatorConfig { error: 1.0, ..SimulatorConfig::default() });
    let judge = Judge::new(config(&broken, Provider::Openai, Method::Reference)).unwrap();
    let score = judge.judge(&connected(&judge.models(), options()), &SUBJECT).await;
    assert_eq!(score.outcome, Outcome::Unscored(UnscoredReason::ProviderError));
    assert!(score.judgement.unwrap().replies.is_empty());

    let simulator = simulator(SimulatorConfig::default());
    let mut config = config(&simulator, Provider::Openai, Method::Reference);
    config.model.price =
        Some(Price { input: 1.0, output: 1.0, cached_input: None, cache_write: None });
    let judge = Judge::new(config).unwrap();
    let budget = Arc::new(Budget::new(Some(NanoDollars(1)), NanoDollars::ZERO));
    let poor = GatewayOptions { budget, ..options() };
    let score = judge.judge(&connected(&judge.models(), poor), &SUBJECT).await;
    assert_eq!(score.outcome, Outcome::Unscored(UnscoredReason::BudgetExhausted));

    let stopped = options();
    stopped.stop.cancel();
    let score = judge.judge(&connected(&judge.models(), stopped), &SUBJECT).await;
    assert_eq!(score.outcome, Outcome::Unscored(UnscoredReason::Cancelled));

    let score = judge.judge(&connected(&judge.models(), options()), &SUBJECT).await;
    assert!(score.cost.unwrap() > NanoDollars::ZERO, "what was paid is told");
}
