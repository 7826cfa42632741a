//! Each wire format over real HTTP, in one piece and as a stream.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use fullbench_llm::{FailureClass, GenerateError, Limits, Provider};
use fullbench_simllm::SimulatorConfig;
use fullbench_types::{FinishReason, Message, NanoDollars, Role};
use serde_json::json;
use support::{PROVIDERS, config, gateway, handle, one_attempt, simulator, user};

#[tokio::test]
async fn every_format_gives_the_same_text_whole_and_streamed() {
    let simulator = simulator(SimulatorConfig { latency_ms: 20.0, ..SimulatorConfig::default() });
    for provider in PROVIDERS {
        let mut config = config(&simulator, provider, "text");
        let conversation = vec![
            Message::new(Role::System, "Be brief."),
            Message::new(Role::User, "Größe? 大きさ"),
        ];
        let whole = handle(&config, &Limits::default());
        let whole = whole.generate(conversation.clone(), 0, 0).await.unwrap();
        config.stream = true;
        let streamed = handle(&config, &Limits::default());
        let streamed = streamed.generate(conversation, 0, 0).await.unwrap();
        assert!(!whole.text.is_empty(), "{provider}");
        assert_eq!(whole.text, streamed.text, "{provider}");
        assert_eq!(whole.finish_reason, FinishReason::Stop, "{provider}");
        assert_eq!(streamed.finish_reason, FinishReason::Stop, "{provider}");
        assert!(whole.usage.unwrap().input_tokens > 0, "{provider}");
        assert_eq!(whole.usage, streamed.usage, "{provider}");
        assert_eq!(whole.time_to_first_token_us, None);
        let first = streamed.time_to_first_token_us.expect("a stream has a first token");
        assert!(first <= streamed.latency_us, "{provider}");
        assert!(whole.latency_us >= 20_000, "{provider}: {}", whole.latency_us);
        assert!(whole.raw.unwrap().contains('{'), "{provider}");
        assert!(whole.reported_model.is_some(), "{provider}");
        assert_eq!(whole.cost, Some(NanoDollars::ZERO), "a server on this machine costs nothing");
    }
}

#[tokio::test]
async fn log_probabilities_and_choices_arrive_where_they_are_given() {
    let simulator = simulator(SimulatorConfig::default());
    for provider in [Provider::Openai, Provider::Gemini] {
        for stream in [false, true] {
            let mut config = config(&simulator, provider, "text");
            config.top_logprobs = Some(3);
            config.stream = stream;
            let generation =
                handle(&config, &Limits::default()).generate(user("hello"), 0, 0).await.unwrap();
            let logprobs = generation.logprobs.expect("log-probabilities were asked for");
            let joined: String = logprobs.iter().map(|token| token.token.as_str()).collect();
            assert_eq!(joined, generation.text, "{provider} {stream}");
            assert!(logprobs.iter().all(|token| token.logprob <= 0.0 && token.top.len() == 3));
        }
    }
}

#[tokio::test]
async fn structured_output_is_asked_for_in_every_format() {
    let simulator = simulator(SimulatorConfig::default());
    for provider in PROVIDERS {
        let mut config = config(&simulator, provider, "text");
        config.json_schema = Some(json!({
            "type": "object",
            "properties": {"answer": {"type": "string"}},
            "required": ["answer"],
            "additionalProperties": false,
        }));
        let generation =
            handle(&config, &Limits::default()).generate(user("hello"), 0, 0).await.unwrap();
        let answer: serde_json::Value = serde_json::from_str(&generation.text).expect("JSON");
        assert!(answer["answer"].is_string(), "{provider}: {}", generation.text);
    }
}

#[tokio::test]
async fn an_answer_that_is_cut_off_says_so() {
    let simulator = simulator(SimulatorConfig { reply_words: 50, ..SimulatorConfig::default() });
    for provider in PROVIDERS {
        let mut config = config(&simulator, provider, "text");
        config.max_tokens = Some(3);
        let generation =
            handle(&config, &Limits::default()).generate(user("hello"), 0, 0).await.unwrap();
        assert_eq!(generation.finish_reason, FinishReason::Length, "{provider}");
    }
}

/// Cargo sets this variable for tests, so that no test has to change the environment.
const KEY_VARIABLE: &str = "CARGO_PKG_NAME";
const KEY: &str = "fullbench-llm";

#[tokio::test]
async fn keys_are_sent_in_each_formats_header_and_never_shown() {
    let locked = simulator(SimulatorConfig {
        require_key: Some(KEY.to_owned()),
        ..SimulatorConfig::default()
    });
    for provider in PROVIDERS {
        let mut config = config(&locked, provider, "text");
        let without =
            handle(&config, &one_attempt()).generate(user("hello"), 0, 0).await.unwrap_err();
        let GenerateError::Failed { class, hint, .. } = without else { panic!("{without:?}") };
        assert_eq!(class, FailureClass::Auth, "{provider}");
        assert!(hint.unwrap().contains("api_key_env"));
        config.api_key_env = Some(KEY_VARIABLE.to_owned());
        let generation =
            handle(&config, &one_attempt()).generate(user("hello"), 0, 0).await.unwrap();
        assert!(!generation.raw.unwrap().contains(KEY), "{provider}");
        config.api_key_env = Some("CARGO_PKG_VERSION".to_owned());
        let wrong =
            handle(&config, &one_attempt()).generate(user("hello"), 0, 0).await.unwrap_err();
        assert!(!format!("{wrong:?}").contains(env!("CARGO_PKG_VERSION")), "{wrong:?}");
    }
}

#[tokio::test]
async fn deterministic_refusals_are_told_apart() {
    let simulator =
        simulator(SimulatorConfig { max_context_tokens: Some(50), ..SimulatorConfig::default() });
    for provider in PROVIDERS {
        let long = "word ".repeat(500);
        let model = handle(&config(&simulator, provider, "text"), &Limits::default());
        let error = model.generate(user(&long), 0, 0).await.unwrap_err();
        let GenerateError::Failed { class, failure, hint } = error else { panic!("{error:?}") };
        assert_eq!((class, failure.attempts), (FailureClass::ContextTooLong, 1), "{provider}");
        assert!(hint.is_some());
        let model = handle(&config(&simulator, provider, "missing"), &Limits::default());
        let error = model.generate(user("hello"), 0, 0).await.unwrap_err();
        let GenerateError::Failed { class, failure, .. } = error else { panic!("{error:?}") };
        assert_eq!((class, failure.attempts), (FailureClass::NotFound, 1), "{provider}");
        assert!(failure.message.starts_with("HTTP 404: "), "{}", failure.message);
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_a_broken_connection() {
    let gone = simulator(SimulatorConfig::default());
    let config = config(&gone, Provider::Openai, "text");
    gone.stop();
    let model = gateway().model(&config, &one_attempt()).unwrap();
    let error = model.generate(user("hello"), 0, 0).await.unwrap_err();
    let GenerateError::Failed { class, failure, .. } = error else { panic!("{error:?}") };
    assert_eq!(class, FailureClass::Connection);
    assert!(failure.message.starts_with("cannot connect: "), "{}", failure.message);
}
