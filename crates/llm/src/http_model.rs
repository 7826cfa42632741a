//! A language model behind HTTP: one call, whole or as a stream.

use std::time::Duration;

use async_trait::async_trait;
use reqwest::header::CONTENT_TYPE;
use reqwest::{Client, Response};
use tokio::time::Instant;

use crate::config::ModelConfig;
use crate::error::LlmError;
use crate::http::{Endpoint, network_failure, read_text, too_long};
use crate::model::{CallError, LanguageModel, Reply};
use crate::rate::RateHeaders;
use crate::request::GenerationRequest;
use crate::secret::Secret;
use crate::wire::Wire;
use crate::wire::sse::EventReader;

/// Longest reply read; no answer is near it.
const MAX_REPLY_BYTES: usize = 32 * 1024 * 1024;

/// How long the end of a stream may take after its end marker.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(20);

/// A model behind HTTP.
#[derive(Debug)]
pub(crate) struct HttpModel {
    wire: Wire,
    endpoint: Endpoint,
}

impl HttpModel {
    /// Makes everything of a call that does not change from one to the next.
    pub(crate) fn new(
        config: &ModelConfig,
        key: Option<Secret>,
        client: Client,
    ) -> Result<Self, LlmError> {
        let Some(wire) = Wire::of(config.provider) else {
            return Err(LlmError::Recorded { model: config.display_name() });
        };
        let endpoint = Endpoint::new(config, wire, &wire.endpoint(config), key, client)?;
        Ok(Self { wire, endpoint })
    }

    async fn whole_reply(
        &self,
        mut response: Response,
        started: Instant,
    ) -> Result<Reply, CallError> {
        let rate = RateHeaders::read(response.headers());
        let body = read_text(&mut response, MAX_REPLY_BYTES).await?;
        let latency_us = microseconds(started.elapsed());
        let answer = self.wire.parse(&body)?;
        let raw = self.endpoint.redact(body);
        Ok(Reply { generation: answer.into_generation(latency_us, None, Some(raw)), rate })
    }

    async fn streamed_reply(
        &self,
        mut response: Response,
        started: Instant,
    ) -> Result<Reply, CallError> {
        let rate = RateHeaders::read(response.headers());
        let mut reader = EventReader::default();
        let mut parser = self.wire.stream();
        let mut first_token_us = None;
        let mut received = 0;
        while !parser.is_done() {
            let Some(bytes) = response.chunk().await.map_err(network_failure)? else { break };
            received += bytes.len();
            if received > MAX_REPLY_BYTES {
                return Err(too_long(MAX_REPLY_BYTES));
            }
            reader.push(&bytes);
            while let Some(event) = reader.next_event()? {
                if parser.event(&event.data)? && first_token_us.is_none() {
                    first_token_us = Some(microseconds(started.elapsed()));
                }
            }
        }
        let latency_us = microseconds(started.elapsed());
        if parser.is_done() {
            // The connection can be used again once its body is read; an answer does not wait for that.
            let rest = async { while let Ok(Some(_)) = response.chunk().await {} };
            let _ = tokio::time::timeout(DRAIN_TIMEOUT, rest).await;
        }
        let answer = parser.finish()?;
        Ok(Reply { generation: answer.into_generation(latency_us, first_token_us, None), rate })
    }
}

#[async_trait]
impl LanguageModel for HttpModel {
    async fn generate(&self, request: &GenerationRequest) -> Result<Reply, CallError> {
        let body = self.wire.body(request)?;
        let started = Instant::now();
        let response = self.endpoint.post(body).await?;
        let status = response.status();
        let rate = RateHeaders::read(response.headers());
        let is_stream = response
            .headers()
            .get(CONTENT_TYPE)
            .is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
        let reply = if is_stream {
            self.streamed_reply(response, started).await
        } else {
            self.whole_reply(response, started).await
        };
        reply.map_err(|error| self.endpoint.unreadable(status, rate, error))
    }
}

fn microseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;
    use crate::http::Clients;

    #[test]
    fn a_key_that_no_header_can_carry_is_not_shown() {
        let config = ModelConfig::parse("openai:m").unwrap();
        let client = Clients::default().client("http://127.0.0.1:1").unwrap();
        let key = Some(Secret::new("sk-\nsecret"));
        let error = HttpModel::new(&config, key.clone(), client.clone()).unwrap_err();
        assert_eq!(error, LlmError::UnusableKey { variable: "OPENAI_API_KEY".to_owned() });
        let key = Some(Secret::new("sk-secret"));
        let model = HttpModel::new(&config, key, client).unwrap();
        assert!(!format!("{model:?}").contains("sk-secret"));
    }
}
