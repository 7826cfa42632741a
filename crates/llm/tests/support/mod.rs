//! A gateway in front of a simulated provider, over real HTTP.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, unreachable_pub)]

use std::sync::Arc;

use fullbench_llm::{
    Budget, CacheMode, Gateway, GatewayOptions, Limits, ModelConfig, ModelHandle, Provider,
};
use fullbench_simllm::{Simulator, SimulatorConfig};
use fullbench_types::{DEFAULT_ORGANIZATION, Message, NanoDollars, Role};
use tokio_util::sync::CancellationToken;

/// The three wire formats.
pub const PROVIDERS: [Provider; 3] = [Provider::Openai, Provider::Anthropic, Provider::Gemini];

pub fn simulator(config: SimulatorConfig) -> Simulator {
    Simulator::start(config).expect("the simulator starts")
}

pub fn gateway() -> Gateway {
    Gateway::new(GatewayOptions {
        organization: DEFAULT_ORGANIZATION,
        cache: None,
        cache_mode: CacheMode::Off,
        budget: Arc::new(Budget::new(None, NanoDollars::ZERO)),
        stop: CancellationToken::new(),
    })
}

pub fn config(simulator: &Simulator, provider: Provider, model: &str) -> ModelConfig {
    let path = if provider == Provider::Gemini { "v1beta" } else { "v1" };
    let mut config = ModelConfig::new(provider, Some(model.to_owned()));
    config.base_url = Some(format!("{}/{path}", simulator.url()));
    config
}

pub fn handle(config: &ModelConfig, limits: &Limits) -> Arc<ModelHandle> {
    gateway().model(config, limits).expect("the model can be called")
}

/// One attempt, so that the first failure is the one seen.
pub fn one_attempt() -> Limits {
    Limits { attempts: 1, timeout_seconds: 20.0, ..Limits::default() }
}

/// One attempt that does not wait for a server that never answers.
pub fn one_short_attempt() -> Limits {
    Limits { timeout_seconds: 0.2, ..one_attempt() }
}

pub fn user(text: &str) -> Vec<Message> {
    vec![Message::new(Role::User, text)]
}
