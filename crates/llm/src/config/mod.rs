//! How a model is configured: who serves it, its parameters, its price, its limits.

mod endpoints;
#[cfg(test)]
mod endpoints_tests;
mod limits;
mod provider;
mod validate;

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

pub use endpoints::{EndpointConfig, RoutePolicy};
pub use limits::{Limits, LimitsOverride};
pub use provider::Provider;

use crate::price::Price;
use crate::request::Parameters;

/// The local model that is meant where none is named.
pub const DEFAULT_LOCAL_MODEL: &str = "smollm2-135m-instruct";

/// Settings of a model run in this process that go into `extra`, all of them counts.
pub const LOCAL_SETTINGS: [&str; 2] = ["context_tokens", "threads"];

/// Calls in flight of a model run in this process.
const LOCAL_CONCURRENCY: u32 = 2;

/// A model to run: who serves it, its name there, and how it is asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModelConfig {
    /// What the model is called in tables and reports; `provider:model` unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Who serves the model.
    pub provider: Provider,
    /// The model's name at the provider; for `local` the path of a GGUF file, or a name, `smollm2-135m-instruct` unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Recorded answers only: the field of the case that has the answer, `output` unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// Where the provider is served, when not at its usual address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// Name of the environment variable that holds the key. With a `base_url` no key is sent unless this is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_key_env: Option<String>,
    /// Sampling temperature, 0 to 2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Nucleus sampling: the share of probability to sample from, above 0 and up to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
    /// Sample from this many of the most likely tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub top_k: Option<u32>,
    /// Penalty on tokens by how often they have appeared, -2 to 2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frequency_penalty: Option<f64>,
    /// Penalty on tokens that have appeared at all, -2 to 2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub presence_penalty: Option<f64>,
    /// Most tokens an answer may have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
    /// Texts at which the model stops: one or a list.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "one_or_many")]
    #[schemars(with = "OneOrMany")]
    pub stop: Vec<String>,
    /// Seed of the provider's sampling; repetition r is asked with seed + r, so that repetitions differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<i64>,
    /// Choices to ask for in one call; the first is scored, the others are kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n: Option<u32>,
    /// How much a reasoning model thinks: `minimal`, `low`, `medium`, `high` or what the provider knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_effort: Option<String>,
    /// Log-probabilities of this many alternatives per token; 0 gives those of the answer alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub top_logprobs: Option<u32>,
    /// Receive the answer as a stream, which measures the time to the first token.
    #[serde(default, skip_serializing_if = "is_false")]
    pub stream: bool,
    /// JSON Schema the answer must have (structured output).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub json_schema: Option<Value>,
    /// Answers to choose from: the most probable one is the answer, and the probability of each is kept. Only for `local`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<String>,
    /// Parameters of the provider that have no name here, passed on as they are.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub extra: Map<String, Value>,
    /// Price in dollars per million tokens, when the built-in table is wrong or has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// Limits of this model where they differ from those of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<LimitsOverride>,
    /// Equivalent deployments of the model: the same model at several addresses or with several keys. Calls go to these
    /// alone, each result names the one that answered, and the response cache does not tell them apart.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub endpoints: Vec<EndpointConfig>,
    /// Which of the `endpoints` with a free place gets a call: `latency`, `cost` or `priority` (their order).
    #[serde(default, skip_serializing_if = "RoutePolicy::is_default")]
    pub route: RoutePolicy,
}

impl ModelConfig {
    /// A model with nothing set but who serves it.
    #[must_use]
    pub fn new(provider: Provider, model: Option<String>) -> Self {
        Self {
            name: None,
            provider,
            model,
            field: None,
            base_url: None,
            api_key_env: None,
            temperature: None,
            top_p: None,
            top_k: None,
            frequency_penalty: None,
            presence_penalty: None,
            max_tokens: None,
            stop: Vec::new(),
            seed: None,
            n: None,
            reasoning_effort: None,
            top_logprobs: None,
            stream: false,
            json_schema: None,
            choices: Vec::new(),
            extra: Map::new(),
            price: None,
            limits: None,
            endpoints: Vec::new(),
            route: RoutePolicy::default(),
        }
    }

    /// Reads the short form: `openai:gpt-4o-mini`, `local`, `recorded`, `recorded:answers.m2`.
    ///
    /// # Errors
    /// Tells which providers there are, or that the model is missing.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let (word, rest) = match text.split_once(':') {
            Some((word, rest)) => (word.trim(), Some(rest.trim())),
            None => (text.trim(), None),
        };
        let provider = Provider::from_str(word)?;
        let rest = rest.filter(|rest| !rest.is_empty()).map(str::to_owned);
        if provider == Provider::Recorded {
            return Ok(Self { field: rest, ..Self::new(provider, None) });
        }
        let config = Self::new(provider, rest);
        config.require_model()?;
        Ok(config)
    }

    /// What the model is called in tables: its name, or `provider:model`; `recorded` or `recorded:field`.
    #[must_use]
    pub fn display_name(&self) -> String {
        if let Some(name) = &self.name {
            return name.clone();
        }
        let detail = if self.provider == Provider::Recorded { &self.field } else { &self.model };
        match detail {
            Some(detail) => format!("{}:{detail}", self.provider),
            None => self.provider.to_string(),
        }
    }

    /// The generation parameters alone.
    #[must_use]
    pub fn parameters(&self) -> Parameters {
        Parameters {
            temperature: self.temperature,
            top_p: self.top_p,
            top_k: self.top_k,
            frequency_penalty: self.frequency_penalty,
            presence_penalty: self.presence_penalty,
            max_tokens: self.max_tokens,
            stop: self.stop.clone(),
            seed: self.seed,
            n: self.n,
            reasoning_effort: self.reasoning_effort.clone(),
            top_logprobs: self.top_logprobs,
            stream: self.stream,
            json_schema: self.json_schema.clone(),
            choices: self.choices.clone(),
            extra: self.extra.clone(),
        }
    }

    /// The limits that hold for the model: those of the run with its own put in their place. A model run in this
    /// process answers one call after another; the second one in flight is there so that it never waits for the next.
    /// Places and pace of several endpoints add up.
    #[must_use]
    pub fn effective_limits(&self, run: &Limits) -> Limits {
        let limits = self.limits.as_ref().map_or_else(|| run.clone(), |own| own.apply(run));
        if self.provider == Provider::Local {
            return Limits { concurrency: limits.concurrency.min(LOCAL_CONCURRENCY), ..limits };
        }
        if self.has_endpoints() {
            return self.limits_of_all_endpoints(run, limits);
        }
        limits
    }

    /// Where calls go, without a slash at the end; empty where nothing is served.
    #[must_use]
    pub fn effective_base_url(&self) -> &str {
        let url = self.base_url.as_deref().or(self.provider.default_base_url()).unwrap_or_default();
        url.trim_end_matches('/')
    }

    /// Whether calls go to the provider's own address.
    #[must_use]
    pub fn uses_default_base_url(&self) -> bool {
        let default = self.provider.default_base_url().unwrap_or_default();
        self.effective_base_url() == default
    }

    /// The variable a key is read from: the one named, or the provider's own when calls go to the provider's own address.
    #[must_use]
    pub fn key_variable(&self) -> Option<&str> {
        if let Some(variable) = &self.api_key_env {
            return Some(variable);
        }
        self.provider.default_key_variable().filter(|_| self.uses_default_base_url())
    }
}

impl FromStr for ModelConfig {
    type Err = ConfigError;

    fn from_str(text: &str) -> Result<Self, ConfigError> {
        Self::parse(text)
    }
}

/// A setting that cannot be, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError {
    /// The setting.
    pub field: String,
    /// What is wrong with it.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl ConfigError {
    pub(crate) fn new(field: &str, message: impl Into<String>) -> Self {
        Self { field: field.to_owned(), message: message.into(), hint: None }
    }

    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for ConfigError {}

#[derive(Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected a text or a list of texts")]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

fn one_or_many<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    Ok(match OneOrMany::deserialize(deserializer)? {
        OneOrMany::One(text) => vec![text],
        OneOrMany::Many(texts) => texts,
    })
}

fn is_false(value: &bool) -> bool {
    !value
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;
    use serde_json::json;

    #[test]
    fn the_short_form_names_provider_and_model() {
        let config = ModelConfig::parse("openai:gpt-4o-mini").unwrap();
        assert_eq!(config.provider, Provider::Openai);
        assert_eq!(config.model.as_deref(), Some("gpt-4o-mini"));
        assert_eq!(config.display_name(), "openai:gpt-4o-mini");
        let tagged = ModelConfig::parse("ollama:llama3:8b").unwrap();
        assert_eq!(tagged.model.as_deref(), Some("llama3:8b"));
        assert_eq!(ModelConfig::parse("recorded").unwrap().display_name(), "recorded");
        let field = ModelConfig::parse("recorded:answers.m2").unwrap();
        assert_eq!(field.field.as_deref(), Some("answers.m2"));
        assert_eq!(field.display_name(), "recorded:answers.m2");
        assert_eq!(ModelConfig::parse("local").unwrap().display_name(), "local");
        let path = ModelConfig::parse("local:models/tiny.gguf").unwrap();
        assert_eq!(path.model.as_deref(), Some("models/tiny.gguf"));
    }

    #[test]
    fn a_misspelt_provider_is_answered_with_the_nearest_one() {
        let error = ModelConfig::parse("opneai:gpt-4o").unwrap_err();
        assert!(error.message.contains("openai, anthropic, gemini, xai, ollama, local, recorded"));
        assert_eq!(error.hint.as_deref(), Some("did you mean `openai`?"));
        assert_eq!(ModelConfig::parse("zzz:m").unwrap_err().hint, None);
        assert_eq!(ModelConfig::parse("openai").unwrap_err().field, "model");
        assert_eq!(ModelConfig::parse("openai:").unwrap_err().field, "model");
    }

    #[test]
    fn stop_is_one_text_or_a_list_and_unknown_keys_are_refused() {
        let read = |value| serde_json::from_value::<ModelConfig>(value);
        let one = read(json!({"provider": "openai", "model": "m", "stop": "END"})).unwrap();
        assert_eq!(one.stop, ["END"]);
        let many = read(json!({"provider": "openai", "model": "m", "stop": ["a", "b"]})).unwrap();
        assert_eq!(many.stop, ["a", "b"]);
        assert!(read(json!({"provider": "openai", "model": "m", "temprature": 1})).is_err());
        assert!(read(json!({"provider": "openai", "model": "m", "stop": 3})).is_err());
    }

    #[test]
    fn a_configuration_reads_back_from_its_json() {
        let mut config = ModelConfig::parse("openai:m").unwrap();
        config.stop = vec!["x".to_owned()];
        config.seed = Some(7);
        config.limits = Some(LimitsOverride { concurrency: Some(3), ..LimitsOverride::default() });
        let text = serde_json::to_string(&config).unwrap();
        assert_eq!(serde_json::from_str::<ModelConfig>(&text).unwrap(), config);
    }

    fn missing(config: &ModelConfig) -> Option<String> {
        crate::keys::ProviderKeys::default().missing_variable(config)
    }

    #[test]
    fn a_providers_own_key_never_goes_to_another_address() {
        let mut config = ModelConfig::parse("openai:m").unwrap();
        assert_eq!(config.key_variable(), Some("OPENAI_API_KEY"));
        config.base_url = Some("https://api.openai.com/v1/".to_owned());
        assert_eq!(config.key_variable(), Some("OPENAI_API_KEY"));
        config.base_url = Some("http://127.0.0.1:8000/v1".to_owned());
        assert_eq!(config.key_variable(), None);
        assert_eq!(missing(&config), None);
        config.api_key_env = Some("FULLBENCH_TEST_KEY_THAT_IS_NOT_SET".to_owned());
        assert_eq!(missing(&config).as_deref(), Some("FULLBENCH_TEST_KEY_THAT_IS_NOT_SET"));
        assert_eq!(missing(&ModelConfig::parse("ollama:m").unwrap()), None);
    }

    #[test]
    fn the_schema_describes_every_field() {
        let schema = serde_json::to_value(schemars::schema_for!(ModelConfig)).unwrap();
        for (field, shape) in schema["properties"].as_object().unwrap() {
            assert!(shape.get("description").is_some(), "`{field}` has no description");
        }
    }
}
