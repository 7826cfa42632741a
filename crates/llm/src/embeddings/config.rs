//! How a model of embeddings is configured.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config::{ConfigError, Limits, LimitsOverride, ModelConfig, Provider};

/// Texts of one call unless told otherwise; servers take from 32 (text-embeddings-inference) to 2,048 (OpenAI).
const DEFAULT_BATCH_TEXTS: u32 = 128;
const MAX_BATCH_TEXTS: u32 = 2_048;

/// More values than any model's vectors have.
const MAX_DIMENSIONS: u32 = 65_536;

/// Calls in flight unless told otherwise: each of them carries many texts.
const DEFAULT_CONCURRENCY: u32 = 4;

/// A model of embeddings behind an `/embeddings` endpoint in OpenAI's format.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EmbeddingConfig {
    /// Who serves the model: `openai`, `xai`, `ollama`, or `openai` with the `base_url` of a compatible server.
    pub provider: Provider,
    /// The model's name at the provider.
    pub model: String,
    /// Where the provider is served, when not at its usual address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// Name of the environment variable that holds the key. With a `base_url` no key is sent unless this is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_key_env: Option<String>,
    /// Values of each vector, for models that can shorten them; what the model has unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dimensions: Option<u32>,
    /// Texts sent in one call, at most.
    #[serde(default = "default_batch_texts")]
    pub batch_texts: u32,
    /// Limits where they differ from the defaults, which allow 4 calls in flight; those of one answer hold for one call's
    /// texts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<LimitsOverride>,
}

fn default_batch_texts() -> u32 {
    DEFAULT_BATCH_TEXTS
}

impl EmbeddingConfig {
    /// A model with nothing set but who serves it.
    #[must_use]
    pub fn new(provider: Provider, model: impl Into<String>) -> Self {
        Self {
            provider,
            model: model.into(),
            base_url: None,
            api_key_env: None,
            dimensions: None,
            batch_texts: DEFAULT_BATCH_TEXTS,
            limits: None,
        }
    }

    /// Refuses what no provider could accept, before any call is made.
    ///
    /// # Errors
    /// Names the first setting that cannot be, and what to do about it.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.validate_provider()?;
        within("dimensions", self.dimensions, MAX_DIMENSIONS)?;
        within("batch_texts", Some(self.batch_texts), MAX_BATCH_TEXTS)?;
        self.as_model().validate()
    }

    fn validate_provider(&self) -> Result<(), ConfigError> {
        let hint = match self.provider {
            Provider::Openai | Provider::Xai | Provider::Ollama => return Ok(()),
            Provider::Anthropic => {
                "use `openai`, `ollama`, or `openai` with the `base_url` of a compatible server"
            }
            Provider::Gemini => {
                "use `provider: openai` with \
                 `base_url: https://generativelanguage.googleapis.com/v1beta/openai` and `api_key_env: GEMINI_API_KEY`"
            }
            Provider::Local | Provider::Recorded => {
                "use a provider such as `openai` or `ollama`; models of embeddings in this process are named without one"
            }
        };
        let title = self.provider.title();
        let message = format!("`{}` ({title}) has no embeddings in OpenAI's format", self.provider);
        Err(ConfigError::new("provider", message).hint(hint))
    }

    /// The same as a language model: address, key and limits are found and checked in the same way.
    #[must_use]
    pub fn as_model(&self) -> ModelConfig {
        ModelConfig {
            base_url: self.base_url.clone(),
            api_key_env: self.api_key_env.clone(),
            limits: self.limits.clone(),
            ..ModelConfig::new(self.provider, Some(self.model.clone()))
        }
    }

    /// The limits that hold.
    #[must_use]
    pub fn effective_limits(&self) -> Limits {
        let defaults = Limits { concurrency: DEFAULT_CONCURRENCY, ..Limits::default() };
        self.as_model().effective_limits(&defaults)
    }
}

fn within(field: &str, value: Option<u32>, most: u32) -> Result<(), ConfigError> {
    match value {
        Some(value) if !(1..=most).contains(&value) => {
            let message = format!("`{field}` must be from 1 to {most}, and is {value}");
            Err(ConfigError::new(field, message))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;
    use serde_json::json;

    #[test]
    fn providers_without_such_an_endpoint_are_refused_with_a_way_out() {
        for provider in Provider::ALL {
            let result = EmbeddingConfig::new(provider, "m").validate();
            if matches!(provider, Provider::Openai | Provider::Xai | Provider::Ollama) {
                assert_eq!(result, Ok(()));
                continue;
            }
            let error = result.expect_err(provider.as_str());
            assert_eq!(error.field, "provider");
            assert!(error.message.contains(provider.as_str()), "{}", error.message);
            assert!(error.hint.expect("a hint").contains("openai"), "{provider}");
        }
    }

    #[test]
    fn settings_that_cannot_be_are_refused_by_name() {
        let config = || EmbeddingConfig::new(Provider::Openai, "m");
        let limits = LimitsOverride { attempts: Some(0), ..LimitsOverride::default() };
        let wrong = [
            ("model", EmbeddingConfig { model: " ".to_owned(), ..config() }),
            ("dimensions", EmbeddingConfig { dimensions: Some(0), ..config() }),
            ("batch_texts", EmbeddingConfig { batch_texts: 0, ..config() }),
            ("batch_texts", EmbeddingConfig { batch_texts: 2_049, ..config() }),
            ("base_url", EmbeddingConfig { base_url: Some("ftp://x".to_owned()), ..config() }),
            ("api_key_env", EmbeddingConfig { api_key_env: Some("sk-1".to_owned()), ..config() }),
            ("limits.attempts", EmbeddingConfig { limits: Some(limits), ..config() }),
        ];
        for (field, config) in wrong {
            assert_eq!(config.validate().expect_err(field).field, field);
        }
    }

    #[test]
    fn what_is_not_named_has_its_default() {
        let read = |value| serde_json::from_value::<EmbeddingConfig>(value);
        let config = read(json!({"provider": "openai", "model": "m"})).unwrap();
        assert_eq!(config, EmbeddingConfig::new(Provider::Openai, "m"));
        assert_eq!((config.batch_texts, config.effective_limits().concurrency), (128, 4));
        let limited = json!({"provider": "openai", "model": "m", "limits": {"attempts": 2}});
        let limits = read(limited).unwrap().effective_limits();
        assert_eq!((limits.attempts, limits.concurrency), (2, 4));
        assert!(read(json!({"provider": "openai", "model": "m", "dimension": 3})).is_err());
    }
}
