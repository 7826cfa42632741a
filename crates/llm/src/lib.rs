//! Language models behind one trait: wire adapters, retries, limits, prices, budget and response cache.
//!
//! A [`Gateway`] turns a [`ModelConfig`] into a [`ModelHandle`], and that turns messages into a
//! [`Generation`](fullbench_types::Generation): from the cache where it can, otherwise by calling the provider as
//! often as the limits allow until there is an answer. An [`EmbeddingClient`] does the same for vectors of texts. What
//! is stored and how is not decided here.

mod batch;
mod budget;
mod cache;
mod config;
mod embeddings;
mod error;
mod failure;
mod gateway;
mod http;
mod http_model;
mod keys;
mod limits;
mod model;
mod observed;
mod price;
mod rate;
mod request;
mod retry;
mod secret;
mod tokens;
mod traced;
mod wire;

pub use batch::{
    BatchOptions, BatchProgress, BatchRecord, BatchState, BatchStore, BatchStoreError, Batcher,
};
pub use budget::{Budget, BudgetExhausted, Reservation};
pub use cache::{CacheMode, ResponseCache};
pub use config::{
    ConfigError, DEFAULT_LOCAL_MODEL, EndpointConfig, LOCAL_SETTINGS, Limits, LimitsOverride,
    ModelConfig, Provider, RoutePolicy,
};
pub use embeddings::{EmbeddingClient, EmbeddingConfig, EmbeddingError, Embeddings};
pub use error::LlmError;
pub use gateway::{
    EndpointSnapshot, Gateway, GatewayOptions, GenerateError, ModelHandle, ModelSnapshot,
};
pub use http::Clients;
pub use keys::{ProviderKey, ProviderKeys};
pub use limits::BreakerState;
pub use model::{CallError, FailureClass, LanguageModel, Reply};
pub use observed::MeasuredNames;
pub use price::{Price, PriceEntry, PriceSource, PriceTable, cost, price_of, price_table};
pub use rate::RateHeaders;
pub use request::{GenerationRequest, Parameters};
pub use secret::Secret;
pub use tokens::{estimate_messages, estimate_tokens, upper_estimate_messages};
pub use traced::TRACES;
