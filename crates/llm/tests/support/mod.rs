//! A gateway in front of a simulated provider, over real HTTP.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, unreachable_pub)]

pub mod batches;

use std::sync::Arc;
use std::time::Duration;

use fullbench_llm::{
    Budget, CacheMode, Gateway, GatewayOptions, Limits, ModelConfig, ModelHandle, Provider,
    ProviderKeys,
};
use fullbench_simllm::{Simulator, SimulatorConfig};
use fullbench_types::{DEFAULT_ORGANIZATION, Message, NanoDollars, Role};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// The three wire formats.
pub const PROVIDERS: [Provider; 3] = [Provider::Openai, Provider::Anthropic, Provider::Gemini];

pub fn simulator(config: SimulatorConfig) -> Simulator {
    Simulator::start(config).expect("the simulator starts")
}

pub fn gateway() -> Gateway {
    Gateway::new(GatewayOptions {
        keys: ProviderKeys::default(),
        organization: DEFAULT_ORGANIZATION,
        cache: None,
        cache_mode: CacheMode::Off,
        budget: Arc::new(Budget::new(None, NanoDollars::ZERO)),
        stop: CancellationToken::new(),
        batch: None,
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

/// Answers every connection with the same bytes, and then leaves it open.
pub async fn server(reply: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let reply = reply.clone();
            tokio::spawn(async move {
                let mut request = vec![0; 16 * 1024];
                let _ = stream.read(&mut request).await;
                let _ = stream.write_all(reply.as_bytes()).await;
                tokio::time::sleep(Duration::from_secs(60)).await;
            });
        }
    });
    format!("http://{address}/v1")
}

/// A reply in HTTP, byte for byte.
pub fn reply(status: &str, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\n{headers}content-length: {}\r\n\r\n{body}", body.len())
}
