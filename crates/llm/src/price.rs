//! What tokens cost: the built-in table, and exact arithmetic on it.

use std::sync::LazyLock;

use fullbench_types::{NanoDollars, Usage};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config::{ConfigError, ModelConfig, Provider};
use crate::http::is_loopback;

/// Price of a model in dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// A million tokens of the prompt.
    pub input: f64,
    /// A million tokens of the answer, reasoning included.
    pub output: f64,
    /// A million prompt tokens read from the provider's cache; `input` unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_input: Option<f64>,
    /// A million prompt tokens written to the provider's cache; `input` unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<f64>,
}

impl Price {
    /// Costs nothing.
    pub const FREE: Self = Self { input: 0.0, output: 0.0, cached_input: None, cache_write: None };

    /// The higher of two prices for every kind of token.
    fn or_dearer(&self, other: &Self) -> Self {
        let dearer = |own: Option<f64>, others: Option<f64>| {
            let dearer = own.unwrap_or(self.input).max(others.unwrap_or(other.input));
            own.or(others).map(|_| dearer)
        };
        Self {
            input: self.input.max(other.input),
            output: self.output.max(other.output),
            cached_input: dearer(self.cached_input, other.cached_input),
            cache_write: dearer(self.cache_write, other.cache_write),
        }
    }

    /// The price of a request in a provider batch: half of it, at OpenAI and at Anthropic.
    #[must_use]
    pub fn in_batch(self) -> Self {
        let Self { input, output, cached_input, cache_write } = self;
        Self {
            input: input / 2.0,
            output: output / 2.0,
            cached_input: cached_input.map(|price| price / 2.0),
            cache_write: cache_write.map(|price| price / 2.0),
        }
    }

    /// Refuses negative and non-finite prices.
    ///
    /// # Errors
    /// Names the price that cannot be.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let Self { input, output, cached_input, cache_write } = self;
        let prices = [
            ("input", Some(*input)),
            ("output", Some(*output)),
            ("cached_input", *cached_input),
            ("cache_write", *cache_write),
        ];
        for (field, price) in prices {
            if price.is_some_and(|price| !(0.0..=MAX_PRICE).contains(&price)) {
                let field = format!("price.{field}");
                let message = format!("`{field}` must be dollars per million tokens, 0 or more");
                return Err(ConfigError::new(&field, message));
            }
        }
        Ok(())
    }
}

/// A dollar a token: no model costs more.
const MAX_PRICE: f64 = 1e6;

/// What a call cost, rounded to the nearest nano-dollar (half up).
#[must_use]
pub fn cost(price: &Price, usage: &Usage) -> NanoDollars {
    let cached = usage.cached_input_tokens.min(usage.input_tokens);
    let written = usage.cache_write_tokens.min(usage.input_tokens - cached);
    let plain = usage.input_tokens - cached - written;
    let parts = [
        (plain, price.input),
        (cached, price.cached_input.unwrap_or(price.input)),
        (written, price.cache_write.unwrap_or(price.input)),
        (usage.output_tokens, price.output),
    ];
    // Dollars per million tokens are micro-dollars per token; prices are taken to a millionth of one.
    let picodollars: u128 = parts
        .iter()
        .map(|(tokens, price)| u128::from(*tokens) * u128::from(per_token(*price)))
        .sum();
    NanoDollars(i64::try_from((picodollars + 500) / 1_000).unwrap_or(i64::MAX))
}

/// Pico-dollars per token.
fn per_token(dollars_per_million: f64) -> u64 {
    (dollars_per_million * 1e6).round().max(0.0) as u64
}

/// The price of a model: its own, nothing for local models and servers, or the built-in table's; none when unknown.
/// Of several endpoints it is the dearest, and unknown when that of one of them is.
#[must_use]
pub fn price_of(config: &ModelConfig) -> Option<Price> {
    let mut deployments = config.deployments().into_iter().map(|(_, model)| price_of(&model));
    if let Some(first) = deployments.next() {
        return deployments.fold(first, |dearest, price| Some(dearest?.or_dearer(&price?)));
    }
    if let Some(price) = config.price {
        return Some(price);
    }
    let is_own = matches!(config.provider, Provider::Local | Provider::Ollama);
    if is_own || is_loopback(config.effective_base_url()) {
        return Some(Price::FREE);
    }
    if !config.uses_default_base_url() {
        return None;
    }
    PRICES.find(config.provider, config.model.as_deref()?)
}

/// The built-in table.
#[must_use]
pub fn price_table() -> &'static PriceTable {
    &PRICES
}

static PRICES: LazyLock<PriceTable> = LazyLock::new(|| {
    // A test reads the file, so that a broken one is never shipped.
    serde_json::from_str(include_str!("prices.json")).unwrap_or_default()
});

/// Prices by model, with the dates they were known to hold. Where a price grows with the prompt, it is the first step.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriceTable {
    /// The date of the oldest price, `YYYY-MM-DD`.
    pub as_of: String,
    /// One entry per provider.
    pub sources: Vec<PriceSource>,
    /// One entry per model.
    pub models: Vec<PriceEntry>,
}

/// Where a provider's prices come from.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriceSource {
    /// Whose prices.
    pub provider: Provider,
    /// The last day they were known to hold, `YYYY-MM-DD`.
    pub as_of: String,
    /// Where they were published.
    pub source: String,
}

/// The price of one model; dated names (`gpt-4o-mini-2024-07-18`) have the price of their base.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct PriceEntry {
    /// Who serves it.
    pub provider: Provider,
    /// Its name at the provider.
    pub model: String,
    /// Its price.
    #[serde(flatten)]
    pub price: Price,
}

impl PriceTable {
    /// Where a provider's prices come from.
    #[must_use]
    pub fn source(&self, provider: Provider) -> Option<&PriceSource> {
        self.sources.iter().find(|source| source.provider == provider)
    }

    /// The price of a model by its exact name, or by its name without a date, `-latest` or `-preview` at the end.
    #[must_use]
    pub fn find(&self, provider: Provider, model: &str) -> Option<Price> {
        let model = model.strip_prefix("models/").unwrap_or(model);
        self.models
            .iter()
            .filter(|entry| entry.provider == provider)
            .filter(|entry| model.strip_prefix(entry.model.as_str()).is_some_and(is_version_suffix))
            .max_by_key(|entry| entry.model.len())
            .map(|entry| entry.price)
    }
}

/// Whether the rest of a name only tells which version of the same model it is.
fn is_version_suffix(rest: &str) -> bool {
    let Some(rest) = rest.strip_prefix(['-', '@']) else { return rest.is_empty() };
    rest.split('-').all(|part| {
        matches!(part, "latest" | "preview" | "exp")
            || (!part.is_empty()
                && part.len() != 1
                && part.bytes().all(|byte| byte.is_ascii_digit()))
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;

    fn price(model: &str) -> Option<Price> {
        price_of(&ModelConfig::parse(model).unwrap())
    }

    fn usage(input_tokens: u64, output_tokens: u64) -> Usage {
        Usage { input_tokens, output_tokens, ..Usage::default() }
    }

    #[test]
    fn the_cost_of_a_call_is_exact() {
        let mini = price("openai:gpt-4o-mini").unwrap();
        assert_eq!(cost(&mini, &usage(1_000, 50)), NanoDollars(180_000));
        assert_eq!(cost(&mini, &usage(1, 0)), NanoDollars(150));
        assert_eq!(cost(&mini, &usage(0, 0)), NanoDollars::ZERO);
        let million: NanoDollars = (0..1_000).map(|_| cost(&mini, &usage(1_000, 1_000))).sum();
        assert_eq!(
            million,
            NanoDollars::from_dollars(0.75),
            "many small costs add up without drift"
        );
        let tiny = Price { input: 0.000_4, ..Price::FREE };
        assert_eq!(cost(&tiny, &usage(1, 0)), NanoDollars(0));
        assert_eq!(cost(&tiny, &usage(2, 0)), NanoDollars(1));
    }

    #[test]
    fn cached_tokens_have_their_own_price() {
        let haiku = price("anthropic:claude-haiku-4-5").unwrap();
        let usage = Usage {
            input_tokens: 1_000,
            output_tokens: 0,
            cached_input_tokens: 500,
            cache_write_tokens: 300,
            reasoning_tokens: 0,
        };
        // 200 × $1 + 500 × $0.10 + 300 × $1.25 per million.
        assert_eq!(cost(&haiku, &usage), NanoDollars(200_000 + 50_000 + 375_000));
    }

    #[test]
    fn dated_names_have_the_price_of_their_base_and_no_other() {
        assert_eq!(price("openai:gpt-4o-mini-2024-07-18"), price("openai:gpt-4o-mini"));
        assert_ne!(price("openai:gpt-4o-mini"), price("openai:gpt-4o"));
        assert_eq!(price("openai:gpt-4o-2024-08-06"), price("openai:gpt-4o"));
        assert_eq!(
            price("anthropic:claude-haiku-4-5-20251001"),
            price("anthropic:claude-haiku-4-5")
        );
        assert_ne!(price("anthropic:claude-opus-4-5"), price("anthropic:claude-opus-4"));
        assert_eq!(price("gemini:models/gemini-2.5-flash"), price("gemini:gemini-2.5-flash"));
        assert_eq!(
            price("gemini:gemini-2.5-flash-preview-05-20"),
            price("gemini:gemini-2.5-flash")
        );
        assert_eq!(price("xai:grok-4-0709"), price("xai:grok-4"));
        for unknown in [
            "openai:gpt-4o-audio",
            "openai:gpt-4.1-huge",
            "openai:gpt-45",
            "anthropic:claude-opus-4-9",
        ] {
            assert_eq!(price(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn local_servers_are_free_and_other_addresses_have_no_known_price() {
        assert_eq!(price("ollama:llama3"), Some(Price::FREE));
        let mut config = ModelConfig::parse("openai:gpt-4o").unwrap();
        config.base_url = Some("http://localhost:8000/v1".to_owned());
        assert_eq!(price_of(&config), Some(Price::FREE));
        config.base_url = Some("https://proxy.example.com/v1".to_owned());
        assert_eq!(price_of(&config), None);
        let own = Price { input: 1.0, output: 2.0, cached_input: None, cache_write: None };
        config.price = Some(own);
        assert_eq!(price_of(&config), Some(own));
    }

    #[test]
    fn the_table_is_sound() {
        let table: PriceTable = serde_json::from_str(include_str!("prices.json")).unwrap();
        assert!(table.models.len() > 50);
        assert_eq!(table.sources.iter().map(|source| &source.as_of).min(), Some(&table.as_of));
        for entry in &table.models {
            assert_eq!(entry.price.validate(), Ok(()), "{}", entry.model);
            assert!(entry.price.output >= entry.price.input, "{}", entry.model);
            assert!(entry.price.cached_input.is_none_or(|cached| cached < entry.price.input));
            assert!(table.source(entry.provider).is_some());
        }
    }
}
