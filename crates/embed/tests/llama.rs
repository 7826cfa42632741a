//! Embeddings of a real model behind a real llama.cpp server, in the clear and over TLS.
//!
//! `scripts/test-llama` starts the server; without it these tests say SKIPPED. The model is made for chats: what is
//! tested is the machinery, never the vectors' sense.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]

use fullbench_embed::{EmbedError, Embedder, Embedding, ProviderEmbedder, cosine};
use fullbench_llm::{EmbeddingConfig, Provider};

/// Texts of very different lengths, one of them twice and one empty.
const TEXTS: [&str; 7] = [
    "The cat sat on the mat.",
    "Inflation rose by two percent in the last quarter, the central bank said on Monday.",
    "",
    "int main(void) { return 0; }",
    "Größe und Ähnlichkeit 大きさ 😀",
    "The cat sat on the mat.",
    "no",
];

/// The model at the address in a variable; none where no server was started.
fn model(variable: &str) -> Option<EmbeddingConfig> {
    let Ok(url) = std::env::var(variable) else {
        eprintln!("SKIPPED: {variable} is not set; scripts/test-llama starts the server");
        return None;
    };
    Some(EmbeddingConfig {
        base_url: Some(format!("{url}/v1")),
        api_key_env: Some("FULLBENCH_LLAMA_KEY".to_owned()),
        batch_texts: 3,
        ..EmbeddingConfig::new(Provider::Openai, "smollm2")
    })
}

async fn embed(config: &EmbeddingConfig, texts: &[&str]) -> Result<Vec<Embedding>, EmbedError> {
    let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
    ProviderEmbedder::new(config).unwrap().embed(&texts).await
}

async fn failure(config: &EmbeddingConfig, text: &str) -> String {
    embed(config, &[text]).await.expect_err("the server refuses").to_string()
}

/// Nearly: what else is in the batch changes the last digits.
fn is_same(left: &Embedding, right: &Embedding) -> bool {
    cosine(&left.vector, &right.vector) > 0.999
}

#[tokio::test]
async fn every_text_has_its_own_vector_wherever_it_stands() {
    let Some(config) = model("FULLBENCH_LLAMA_URL") else { return };
    let embeddings = embed(&config, &TEXTS).await.unwrap();
    assert_eq!(embeddings.len(), TEXTS.len());
    for (text, embedding) in TEXTS.iter().zip(&embeddings) {
        assert_eq!(embedding.vector.len(), 576, "{text}");
        assert!(embedding.vector.iter().all(|value| value.is_finite()), "{text}");
        let alone = embed(&config, &[text]).await.unwrap();
        assert!(is_same(&alone[0], embedding), "{text}");
    }
    assert!(is_same(&embeddings[0], &embeddings[5]));
    assert!(!is_same(&embeddings[0], &embeddings[1]));
    assert!(!is_same(&embeddings[3], &embeddings[4]));
}

#[tokio::test]
async fn refusals_say_what_to_do() {
    let Some(mut config) = model("FULLBENCH_LLAMA_URL") else { return };
    let too_long = failure(&config, &"animal ".repeat(6_000)).await;
    assert!(too_long.contains("a text is longer than the model reads"), "{too_long}");
    assert!(!too_long.contains("attempts"), "{too_long}");
    config.dimensions = Some(64);
    let ignored = failure(&config, "text").await;
    assert!(ignored.contains("the vectors have 576 values, and 64 were asked for"), "{ignored}");
    config.api_key_env = None;
    let refused = failure(&config, "text").await;
    assert!(refused.contains("HTTP 401") && refused.contains("no key was sent"), "{refused}");
}

#[tokio::test]
async fn tls_gives_the_same_vectors() {
    let (Some(clear), Some(secured)) =
        (model("FULLBENCH_LLAMA_URL"), model("FULLBENCH_LLAMA_TLS_URL"))
    else {
        return;
    };
    let (clear, secured) =
        (embed(&clear, &TEXTS).await.unwrap(), embed(&secured, &TEXTS).await.unwrap());
    assert!(clear.iter().zip(&secured).all(|(clear, secured)| is_same(clear, secured)));
}
