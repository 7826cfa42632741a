//! Embeddings of a provider over real HTTP: the same vectors through every fault, and failures that say what to do.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::slice::from_ref;

use fullbench_embed::{EmbedError, Embedder, Embedding, ProviderEmbedder, cosine};
use fullbench_llm::{EmbeddingConfig, LimitsOverride, LlmError, Provider};
use fullbench_simllm::{Simulator, SimulatorConfig};

/// Cargo sets these variables for tests, so that no test has to change the environment.
const KEY_VARIABLE: &str = "CARGO_PKG_NAME";
const WRONG_KEY_VARIABLE: &str = "CARGO_PKG_DESCRIPTION";

fn simulator(config: SimulatorConfig) -> Simulator {
    Simulator::start(config).expect("the simulator starts")
}

fn config(simulator: &Simulator) -> EmbeddingConfig {
    let mut config = EmbeddingConfig::new(Provider::Openai, "embedding");
    config.base_url = Some(format!("{}/v1", simulator.url()));
    config
}

fn attempts(count: u32) -> Option<LimitsOverride> {
    Some(LimitsOverride { attempts: Some(count), ..LimitsOverride::default() })
}

fn texts(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("text {number}")).collect()
}

async fn embed(config: &EmbeddingConfig, texts: &[String]) -> Vec<Embedding> {
    ProviderEmbedder::new(config).unwrap().embed(texts).await.unwrap()
}

async fn failure(config: &EmbeddingConfig, texts: &[String]) -> String {
    match ProviderEmbedder::new(config).unwrap().embed(texts).await.unwrap_err() {
        EmbedError::Provider(message) | EmbedError::Refused(message) => message,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_faulty_provider_gives_every_vector_of_a_sound_one() {
    let sound = simulator(SimulatorConfig::default());
    let faulty = simulator(SimulatorConfig {
        rate_limit: 0.10,
        retry_after_ms: 10,
        error: 0.05,
        drop: 0.02,
        malform: 0.02,
        truncate: 0.01,
        ..SimulatorConfig::default()
    });
    let texts = texts(2_000);
    let expected = embed(&config(&sound), &texts).await;
    let mut faulty_config = config(&faulty);
    faulty_config.batch_texts = 10;
    assert_eq!(embed(&faulty_config, &texts).await, expected);
    let seen = faulty.stop();
    let faults = seen.faults;
    for count in [faults.rate_limited, faults.errors, faults.dropped, faults.malformed] {
        assert!(count > 0, "{faults:?}");
    }
    assert_eq!((seen.successes, seen.repeats_after_success), (200, 0), "no text is paid for twice");
    assert!(seen.calls > 220, "{seen:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn batches_are_sent_side_by_side_and_keep_the_order() {
    let simulator = simulator(SimulatorConfig { latency_ms: 20.0, ..SimulatorConfig::default() });
    let texts = texts(300);
    let whole = embed(&config(&simulator), &texts).await;
    assert_eq!(simulator.stats().calls, 3, "128 texts in a batch");
    let mut single = config(&simulator);
    single.batch_texts = 1;
    for (text, expected) in texts.iter().zip(&whole).step_by(97) {
        assert_eq!(embed(&single, from_ref(text)).await, from_ref(expected));
    }
    assert_eq!(embed(&single, &texts).await, whole);
    assert_eq!(simulator.stats().peak_in_flight, 4);
    assert!(whole.iter().all(|embedding| !embedding.truncated));
    assert!((cosine(&whole[0].vector, &whole[0].vector) - 1.0).abs() < 1e-6);
    assert!(cosine(&whole[0].vector, &whole[1].vector).abs() < 0.3);
}

#[tokio::test]
async fn no_texts_make_no_call_and_an_empty_text_has_a_vector() {
    let simulator = simulator(SimulatorConfig::default());
    let embedder = ProviderEmbedder::new(&config(&simulator)).unwrap();
    assert_eq!(embedder.embed(&[]).await.unwrap(), []);
    assert_eq!(simulator.stats().calls, 0);
    let both = embedder.embed(&[String::new(), " ".to_owned()]).await.unwrap();
    assert_eq!(both[0], both[1]);
    assert_eq!(embedder.input_tokens(), 2);
}

#[tokio::test]
async fn vectors_are_as_long_as_asked() {
    let simulator = simulator(SimulatorConfig::default());
    let mut config = config(&simulator);
    assert_eq!(embed(&config, &texts(1)).await[0].vector.len(), 384);
    config.dimensions = Some(64);
    assert_eq!(embed(&config, &texts(1)).await[0].vector.len(), 64);
}

#[tokio::test]
async fn a_refused_key_stops_at_once_and_is_never_shown() {
    let key = std::env::var(KEY_VARIABLE).unwrap();
    let locked =
        simulator(SimulatorConfig { require_key: Some(key.clone()), ..SimulatorConfig::default() });
    let mut config = config(&locked);
    config.batch_texts = 10;
    config.api_key_env = Some(WRONG_KEY_VARIABLE.to_owned());
    let message = failure(&config, &texts(1_000)).await;
    assert!(message.starts_with("HTTP 401: "), "{message}");
    assert!(
        message.contains("check the key in CARGO_PKG_DESCRIPTION: it was refused"),
        "{message}"
    );
    assert!(locked.stats().calls <= 4, "only what was in flight");

    config.api_key_env = None;
    let message = failure(&config, &texts(1)).await;
    assert!(message.contains("no key was sent") && message.contains("api_key_env"), "{message}");

    config.api_key_env = Some(KEY_VARIABLE.to_owned());
    let embedder = ProviderEmbedder::new(&config).unwrap();
    assert_eq!(embedder.embed(&texts(1)).await.unwrap().len(), 1);
    assert!(!format!("{embedder:?} {}", embedder.signature()).contains(&key));

    config.api_key_env = Some("FULLBENCH_TEST_KEY_THAT_IS_NOT_SET".to_owned());
    let missing = ProviderEmbedder::new(&config).unwrap_err();
    assert!(matches!(missing, LlmError::MissingKey { .. }), "{missing:?}");
}

#[tokio::test]
async fn refusals_are_not_tried_again_and_say_what_to_do() {
    let simulator =
        simulator(SimulatorConfig { max_context_tokens: Some(10), ..SimulatorConfig::default() });
    let long = vec!["word ".repeat(100)];
    let message = failure(&config(&simulator), &long).await;
    assert!(message.starts_with("HTTP 400: "), "{message}");
    assert!(message.contains("longer than the model reads"), "{message}");

    let unknown = EmbeddingConfig { model: "missing".to_owned(), ..config(&simulator) };
    let message = failure(&unknown, &texts(1)).await;
    assert!(message.starts_with("HTTP 404: "), "{message}");
    assert!(message.contains("check the model's name and `base_url`"), "{message}");
    assert_eq!(simulator.stats().calls, 2);
}

#[tokio::test]
async fn the_last_failure_says_how_often_it_was_tried() {
    let failing = simulator(SimulatorConfig { error: 1.0, ..SimulatorConfig::default() });
    let mut config = config(&failing);
    config.limits = attempts(2);
    let message = failure(&config, &texts(1)).await;
    assert!(message.starts_with("HTTP 500: "), "{message}");
    assert!(message.ends_with("(after 2 attempts)"), "{message}");
    assert_eq!(failing.stats().calls, 2);
}

#[tokio::test]
async fn a_rate_limit_is_waited_out_as_long_as_asked() {
    let limited = simulator(SimulatorConfig {
        rate_limit: 1.0,
        retry_after_ms: 300,
        ..SimulatorConfig::default()
    });
    let mut config = config(&limited);
    config.limits = attempts(2);
    let started = std::time::Instant::now();
    let message = failure(&config, &texts(1)).await;
    assert!(started.elapsed() >= std::time::Duration::from_millis(300));
    assert!(message.starts_with("HTTP 429: "), "{message}");
}

#[tokio::test]
async fn stalled_and_absent_servers_are_told_apart() {
    let stalled = simulator(SimulatorConfig { stall: 1.0, ..SimulatorConfig::default() });
    let mut slow = config(&stalled);
    slow.limits = Some(LimitsOverride {
        timeout_seconds: Some(0.2),
        attempts: Some(1),
        ..LimitsOverride::default()
    });
    assert_eq!(failure(&slow, &texts(1)).await, "no complete reply within 0.2 s");

    let gone = simulator(SimulatorConfig::default());
    let mut absent = config(&gone);
    absent.limits = attempts(1);
    gone.stop();
    let message = failure(&absent, &texts(1)).await;
    assert!(message.starts_with("cannot connect: "), "{message}");
}

#[test]
fn the_signature_names_the_model_and_where_it_is_served() {
    let mut config = EmbeddingConfig::new(Provider::Openai, "text-embedding-3-small");
    config.api_key_env = Some(KEY_VARIABLE.to_owned());
    config.dimensions = Some(256);
    let version = env!("CARGO_PKG_VERSION");
    let signature = |config: &EmbeddingConfig| ProviderEmbedder::new(config).unwrap().signature();
    assert_eq!(
        signature(&config),
        format!(
            "provider:openai|model:text-embedding-3-small|dimensions:256|host:api.openai.com|fullbench:{version}"
        )
    );
    let mut local = EmbeddingConfig::new(Provider::Ollama, "nomic-embed-text");
    local.base_url = Some("http://127.0.0.1:8080/v1/".to_owned());
    assert_eq!(
        signature(&local),
        format!(
            "provider:ollama|model:nomic-embed-text|dimensions:default|host:127.0.0.1:8080|fullbench:{version}"
        )
    );
}
