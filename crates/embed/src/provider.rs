//! Embeddings of a provider, behind the same trait as those made in-process.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use async_trait::async_trait;
use fullbench_llm::{EmbeddingClient, EmbeddingConfig, EmbeddingError, FailureClass, LlmError};

use crate::{EmbedError, Embedder, Embedding};

/// A provider's model of embeddings. It sends an empty text as a single space, because providers refuse empty ones.
#[derive(Debug)]
pub struct ProviderEmbedder {
    client: EmbeddingClient,
    input_tokens: AtomicU64,
}

impl ProviderEmbedder {
    /// A model ready to be called; its key is read from the environment.
    ///
    /// # Errors
    /// When the configuration is wrong, or the key is missing or cannot be sent.
    pub fn new(config: &EmbeddingConfig) -> Result<Self, LlmError> {
        Ok(Self { client: EmbeddingClient::new(config)?, input_tokens: AtomicU64::new(0) })
    }

    /// Tokens of all texts so far, as far as the provider counted them.
    #[must_use]
    pub fn input_tokens(&self) -> u64 {
        self.input_tokens.load(Relaxed)
    }
}

#[async_trait]
impl Embedder for ProviderEmbedder {
    /// The vectors of texts as the provider gives them. None is marked as truncated: providers refuse what is too long,
    /// or cut it without a word.
    async fn embed(&self, texts: &[String]) -> Result<Vec<Embedding>, EmbedError> {
        let embeddings = self.client.embed(texts).await.map_err(failure)?;
        self.input_tokens.fetch_add(embeddings.input_tokens.unwrap_or_default(), Relaxed);
        let vectors = embeddings.vectors.into_iter();
        Ok(vectors.map(|vector| Embedding { vector, truncated: false }).collect())
    }

    fn signature(&self) -> String {
        let EmbeddingConfig { provider, model, dimensions, .. } = self.client.config();
        let dimensions = dimensions.map_or_else(|| "default".to_owned(), |count| count.to_string());
        let (host, version) = (self.client.host(), env!("CARGO_PKG_VERSION"));
        format!(
            "provider:{provider}|model:{model}|dimensions:{dimensions}|host:{host}|fullbench:{version}"
        )
    }
}

/// What the provider said, how often it was asked, and what to do about it.
fn failure(error: EmbeddingError) -> EmbedError {
    let attempts = (error.attempts > 1).then(|| format!("after {} attempts", error.attempts));
    let remarks: Vec<String> = attempts.into_iter().chain(error.hint).collect();
    let message = match remarks.is_empty() {
        true => error.message,
        false => format!("{} ({})", error.message, remarks.join("; ")),
    };
    match error.class {
        FailureClass::BadRequest | FailureClass::ContextTooLong | FailureClass::ContentFilter => {
            EmbedError::Refused(message)
        }
        _ => EmbedError::Provider(message),
    }
}
