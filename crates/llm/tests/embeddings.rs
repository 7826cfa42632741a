//! The client of embeddings against servers that behave as no provider should, and what it counts.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use fullbench_llm::{
    EmbeddingClient, EmbeddingConfig, EmbeddingError, FailureClass, LimitsOverride, Provider,
};
use fullbench_simllm::SimulatorConfig;
use support::{reply, server, simulator};

const ONE_VECTOR: &str = r#"{"data":[{"index":0,"embedding":[0.6,0.8]}]}"#;

fn config(base_url: String) -> EmbeddingConfig {
    let limits = LimitsOverride {
        attempts: Some(2),
        timeout_seconds: Some(5.0),
        ..LimitsOverride::default()
    };
    EmbeddingConfig {
        base_url: Some(base_url),
        limits: Some(limits),
        ..EmbeddingConfig::new(Provider::Openai, "m")
    }
}

async fn failure(config: &EmbeddingConfig, texts: &[&str]) -> EmbeddingError {
    let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
    EmbeddingClient::new(config).unwrap().embed(&texts).await.unwrap_err()
}

#[tokio::test]
async fn calls_and_tokens_are_counted() {
    let simulator = simulator(SimulatorConfig::default());
    let mut config = config(format!("{}/v1", simulator.url()));
    config.batch_texts = 2;
    let client = EmbeddingClient::new(&config).unwrap();
    let nothing = client.embed(&[]).await.unwrap();
    assert_eq!((nothing.vectors.len(), nothing.calls), (0, 0));
    let texts = ["one", "four", "seventeen"].map(str::to_owned);
    let embeddings = client.embed(&texts).await.unwrap();
    assert_eq!((embeddings.calls, embeddings.input_tokens), (2, Some(1 + 1 + 3)));
    let silent = config_of(ONE_VECTOR).await;
    let client = EmbeddingClient::new(&silent).unwrap();
    let embeddings = client.embed(&["a".to_owned()]).await.unwrap();
    assert_eq!((embeddings.vectors, embeddings.input_tokens), (vec![vec![0.6, 0.8]], None));
}

/// A server that gives one body to everything.
async fn config_of(body: &str) -> EmbeddingConfig {
    config(server(reply("200 OK", "connection: close\r\n", body)).await)
}

#[tokio::test]
async fn vectors_of_another_length_than_asked_for_are_refused_at_once() {
    let mut config = config_of(ONE_VECTOR).await;
    config.dimensions = Some(3);
    let error = failure(&config, &["a"]).await;
    assert_eq!((error.class, error.attempts), (FailureClass::BadRequest, 1));
    assert_eq!(error.message, "the vectors have 2 values, and 3 were asked for");
    assert!(error.hint.unwrap().contains("`dimensions`"));
}

#[tokio::test]
async fn a_reply_that_is_not_valid_is_asked_for_again() {
    let error = failure(&config_of(ONE_VECTOR).await, &["a", "b"]).await;
    assert_eq!((error.class, error.attempts), (FailureClass::Malformed, 2));
    assert_eq!(error.message, "the reply has 1 vectors for 2 texts");
    assert_eq!(error.status, Some(200));
}

#[tokio::test]
async fn a_key_that_the_server_repeats_is_not_shown() {
    let key = env!("CARGO_PKG_NAME");
    let body = format!(r#"{{"error": {{"message": "wrong key {key}"}}}}"#);
    for status in ["401 Unauthorized", "200 OK"] {
        let mut config = config(server(reply(status, "connection: close\r\n", &body)).await);
        config.api_key_env = Some("CARGO_PKG_NAME".to_owned());
        let error = failure(&config, &["a"]).await;
        assert!(error.message.ends_with("wrong key ***"), "{error:?}");
    }
}

#[tokio::test]
async fn a_redirect_does_not_carry_the_key_elsewhere() {
    let redirect = reply("307 Temporary Redirect", "location: http://127.0.0.1:9/\r\n", "");
    let error = failure(&config(server(redirect).await), &["a"]).await;
    assert_eq!((error.class, error.attempts), (FailureClass::NotFound, 1));
}
