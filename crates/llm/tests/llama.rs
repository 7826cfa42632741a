//! The OpenAI adapter against a real model behind a real llama.cpp server, in the clear and over TLS.
//!
//! `scripts/test-llama` starts the server; without it these tests say SKIPPED. The model is small and weak: what is
//! tested is the machinery, never the answers' sense.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]

mod support;

use fullbench_llm::{FailureClass, GenerateError, ModelConfig, Provider};
use fullbench_types::{FinishReason, Generation};
use serde_json::{Value, json};
use support::{handle, one_attempt, user};

/// The server's key, which `tests/llama/serve.py` knows too.
const API_KEY: &str = "sk-llama-test";
const KEY_VARIABLE: &str = "FULLBENCH_LLAMA_KEY";
const QUESTION: &str = "Tell me a long story about a cat and a dog.";

/// The model at the address in a variable; none where no server was started.
fn model(variable: &str) -> Option<ModelConfig> {
    let Ok(url) = std::env::var(variable) else {
        eprintln!("SKIPPED: {variable} is not set; scripts/test-llama starts the server");
        return None;
    };
    let mut config = ModelConfig::new(Provider::Openai, Some("smollm2".to_owned()));
    config.base_url = Some(format!("{url}/v1"));
    config.api_key_env = Some(KEY_VARIABLE.to_owned());
    config.temperature = Some(0.0);
    config.max_tokens = Some(24);
    Some(config)
}

async fn ask(config: &ModelConfig, question: &str) -> Result<Generation, GenerateError> {
    handle(config, &one_attempt()).generate(user(question), 0, 0).await
}

async fn answer(config: &ModelConfig) -> Generation {
    ask(config, QUESTION).await.expect("the model answers")
}

async fn failure_class(config: &ModelConfig, question: &str) -> (FailureClass, String) {
    match ask(config, question).await.expect_err("the server refuses") {
        GenerateError::Failed { class, failure, .. } => (class, failure.message),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn an_answer_has_its_text_tokens_and_reason_to_stop() {
    let Some(mut config) = model("FULLBENCH_LLAMA_URL") else { return };
    let cut = answer(&config).await;
    assert!(!cut.text.is_empty());
    assert_eq!(cut.finish_reason, FinishReason::Length);
    let usage = cut.usage.expect("the server counts tokens");
    assert_eq!(usage.output_tokens, 24);
    assert!(usage.input_tokens > 5);
    assert!(cut.latency_us > 0 && cut.time_to_first_token_us.is_none());

    let word = cut.text.split_whitespace().nth(2).expect("several words").to_owned();
    config.stop = vec![word.clone()];
    let stopped = answer(&config).await;
    assert_eq!(stopped.finish_reason, FinishReason::Stop);
    assert!(cut.text.starts_with(&stopped.text) && !stopped.text.contains(&word));
}

#[tokio::test]
async fn a_seed_gives_the_same_text_again_and_another_seed_another() {
    let Some(mut config) = model("FULLBENCH_LLAMA_URL") else { return };
    config.temperature = Some(1.0);
    config.seed = Some(7);
    let first = answer(&config).await.text;
    assert_eq!(answer(&config).await.text, first);
    let mut texts = Vec::new();
    for seed in 8..12 {
        config.seed = Some(seed);
        texts.push(answer(&config).await.text);
    }
    assert!(texts.iter().any(|text| *text != first));
}

#[tokio::test]
async fn log_probabilities_spell_the_answer() {
    let Some(mut config) = model("FULLBENCH_LLAMA_URL") else { return };
    config.top_logprobs = Some(4);
    let generation = answer(&config).await;
    let tokens = generation.logprobs.expect("the server gives log-probabilities");
    let spelled: String = tokens.iter().map(|token| token.token.as_str()).collect();
    assert_eq!(spelled, generation.text);
    for token in &tokens {
        assert_eq!(token.top.len(), 4);
        assert!(token.logprob <= 0.0);
        let mass: f64 = token.top.iter().map(|top| top.logprob.exp()).sum();
        assert!((0.0..=1.0 + 1e-6).contains(&mass), "{mass}");
        let best = token.top.iter().map(|top| top.logprob).fold(f64::MIN, f64::max);
        assert!((token.logprob - best).abs() < 1e-9, "at temperature 0 the likeliest is taken");
    }
}

#[tokio::test]
async fn a_schema_is_kept() {
    let Some(mut config) = model("FULLBENCH_LLAMA_URL") else { return };
    config.max_tokens = Some(80);
    config.json_schema = Some(json!({
        "type": "object",
        "properties": {
            "animal": {"enum": ["cat", "dog", "horse"]},
            "legs": {"type": "integer", "minimum": 0, "maximum": 9}
        },
        "required": ["animal", "legs"],
        "additionalProperties": false
    }));
    let value: Value = serde_json::from_str(&answer(&config).await.text).expect("JSON");
    assert!(["cat", "dog", "horse"].contains(&value["animal"].as_str().unwrap()));
    assert!(value["legs"].is_u64());
}

#[tokio::test]
async fn a_stream_gives_the_whole_answer_and_its_first_token_sooner() {
    let Some(mut config) = model("FULLBENCH_LLAMA_URL") else { return };
    let whole = answer(&config).await;
    config.stream = true;
    let streamed = answer(&config).await;
    assert_eq!(streamed.text, whole.text);
    assert_eq!(streamed.finish_reason, whole.finish_reason);
    let output = |generation: &Generation| generation.usage.map(|usage| usage.output_tokens);
    assert_eq!(output(&streamed), output(&whole));
    assert!(streamed.time_to_first_token_us.expect("a first token") < streamed.latency_us);
}

#[tokio::test]
async fn refusals_are_told_apart() {
    let Some(mut config) = model("FULLBENCH_LLAMA_URL") else { return };
    let (class, message) = failure_class(&config, &"animal ".repeat(6_000)).await;
    assert_eq!(class, FailureClass::ContextTooLong, "{message}");
    config.api_key_env = None;
    let (class, message) = failure_class(&config, QUESTION).await;
    assert_eq!(class, FailureClass::Auth, "{message}");
    assert!(!message.contains(API_KEY));
}

#[tokio::test]
async fn tls_gives_the_same_answer() {
    let (Some(clear), Some(secured)) =
        (model("FULLBENCH_LLAMA_URL"), model("FULLBENCH_LLAMA_TLS_URL"))
    else {
        return;
    };
    assert_eq!(answer(&secured).await.text, answer(&clear).await.text);
    let mut mistrusted = secured;
    mistrusted.base_url = mistrusted.base_url.map(|url| url.replace("localhost", "127.0.0.1"));
    let (class, message) = failure_class(&mistrusted, QUESTION).await;
    assert_eq!(class, FailureClass::Connection, "the certificate is for another name: {message}");
}
