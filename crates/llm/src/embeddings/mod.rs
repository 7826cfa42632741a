//! Embeddings of a provider: batches of texts, called with the retries, places and pauses of answers.
//!
//! The format of calls and replies is in `wire`, sending in `http`. What vectors are compared for is not decided here.

mod batch;
mod config;

use std::sync::OnceLock;

use futures::{StreamExt, TryStreamExt, stream};
use tokio::time::{Instant, sleep};
use tracing::Instrument;

pub use config::EmbeddingConfig;

use crate::config::{Limits, ModelConfig};
use crate::error::LlmError;
use crate::http::{Clients, Endpoint, read_text};
use crate::keys::ProviderKeys;
use crate::limits::Lane;
use crate::model::{CallError, FailureClass};
use crate::rate::RateHeaders;
use crate::retry::{call_in_time, pause_before_retry};
use crate::tokens::estimate_tokens;
use crate::traced::{self, Called, Operation};
use crate::wire::Wire;
use crate::wire::embeddings::{EmbeddingReply, body, parse};

/// Longest reply read: the largest batch of long vectors, written with all digits, is below it.
const MAX_REPLY_BYTES: usize = 256 * 1024 * 1024;

/// Batches on their way for each place in flight: one that waits to be tried again holds no other up.
const WINDOW: usize = 4;

/// A model of embeddings, called with everything its limits and its provider ask for.
///
/// An empty text is sent as a single space, because OpenAI and llama.cpp refuse empty ones.
#[derive(Debug)]
pub struct EmbeddingClient {
    config: EmbeddingConfig,
    model: ModelConfig,
    limits: Limits,
    endpoint: Endpoint,
    lane: Lane,
    /// Values of a vector, from the configuration or the first reply.
    length: OnceLock<usize>,
}

/// The vectors of texts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Embeddings {
    /// In the order of the texts, all of one length.
    pub vectors: Vec<Vec<f32>>,
    /// Tokens of all texts; none where a reply did not say.
    pub input_tokens: Option<u64>,
    /// Calls made, failed ones included.
    pub calls: u64,
}

/// Why there are no embeddings.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct EmbeddingError {
    /// What kind of failure the last one was.
    pub class: FailureClass,
    /// Its HTTP status, where there was one.
    pub status: Option<u16>,
    /// What the provider or the network said, free of secrets.
    pub message: String,
    /// Calls made for the texts that failed.
    pub attempts: u32,
    /// What to do about it.
    pub hint: Option<String>,
}

impl EmbeddingClient {
    /// A model ready to be called; its key is read from the environment.
    ///
    /// # Errors
    /// When the configuration is wrong, or the key is missing or cannot be sent.
    pub fn new(config: &EmbeddingConfig) -> Result<Self, LlmError> {
        config.validate()?;
        let model = config.as_model();
        let limits = config.effective_limits();
        let key = ProviderKeys::default().key_of(&model)?;
        let url = format!("{}/embeddings", model.effective_base_url());
        let client = Clients::default().client(model.effective_base_url())?;
        Ok(Self {
            config: config.clone(),
            endpoint: Endpoint::new(&model, Wire::OpenAi, &url, key, client)?,
            model,
            lane: Lane::new(&limits),
            limits,
            length: OnceLock::new(),
        })
    }

    /// The model's configuration.
    #[must_use]
    pub fn config(&self) -> &EmbeddingConfig {
        &self.config
    }

    /// The host that calls go to, and its port where that is not the usual one.
    #[must_use]
    pub fn host(&self) -> String {
        self.endpoint.host()
    }

    /// The vectors of texts, in their order; of no texts without any call. Deadline and attempts hold for each batch.
    ///
    /// # Errors
    /// When a batch has no vectors within the limits; the others are given up then.
    pub async fn embed(&self, texts: &[String]) -> Result<Embeddings, EmbeddingError> {
        let batches = batch::batches(texts, self.config.batch_texts as usize);
        let calls: Vec<_> = batches
            .iter()
            .enumerate()
            .map(|(place, batch)| async move { Ok((place, self.embed_batch(batch).await?)) })
            .collect();
        // Out of order, so that the first failure ends all, wherever it stands.
        let window = (self.limits.concurrency as usize).saturating_mul(WINDOW);
        let replies = stream::iter(calls).buffer_unordered(window);
        let mut replies: Vec<(usize, (EmbeddingReply, u32))> = replies.try_collect().await?;
        replies.sort_unstable_by_key(|(place, _)| *place);
        let mut whole = Embeddings { input_tokens: Some(0), ..Embeddings::default() };
        for (_, (reply, attempts)) in replies {
            whole.vectors.extend(reply.vectors);
            whole.calls += u64::from(attempts);
            let tokens = whole.input_tokens.zip(reply.input_tokens);
            whole.input_tokens = tokens.map(|(sum, tokens)| sum + tokens);
        }
        Ok(whole)
    }

    /// Calls the provider until there are vectors or no further attempt is allowed; tells how many it took.
    async fn embed_batch(&self, texts: &[&str]) -> Result<(EmbeddingReply, u32), EmbeddingError> {
        let mut deadline = Instant::now() + self.limits.deadline();
        let tokens = self.expected_tokens(texts);
        let mut attempts = 0;
        loop {
            let permit = self.lane.place(&mut deadline).await;
            self.lane.slot(tokens, &mut deadline).await;
            if let Err(error) = self.lane.released(deadline).await {
                return Err(self.failure(error, attempts));
            }
            attempts += 1;
            let span = traced::call(Operation::Embeddings, &self.called(), attempts);
            let call = call_in_time(&self.limits, deadline, self.call(texts));
            let error = match call.instrument(span.clone()).await {
                Ok((reply, rate)) => {
                    traced::embedded(&span, reply.input_tokens);
                    let used = reply.input_tokens.unwrap_or(tokens);
                    self.lane.succeeded(&permit, tokens, used, &rate);
                    return Ok((reply, attempts));
                }
                Err(error) => error,
            };
            traced::failed(&span, &error);
            drop(span);
            self.lane.failed(&permit, tokens, &error);
            drop(permit);
            let Some(pause) = pause_before_retry(&error, attempts, &self.limits, deadline) else {
                return Err(self.failure(error, attempts));
            };
            tracing::debug!(model = %self.config.model, class = %error.class, attempts, ?pause, "embedding failed, trying again");
            sleep(pause).await;
        }
    }

    /// Whom calls go to, as traces have it.
    fn called(&self) -> Called<'_> {
        Called {
            provider: self.model.provider,
            model: &self.config.model,
            base_url: self.model.effective_base_url(),
            endpoint: None,
        }
    }

    /// Calls once.
    async fn call(&self, texts: &[&str]) -> Result<(EmbeddingReply, RateHeaders), CallError> {
        let body = body(&self.config.model, texts, self.config.dimensions)?;
        let mut response = self.endpoint.post(body).await?;
        let (status, rate) = (response.status(), RateHeaders::read(response.headers()));
        let reply = match read_text(&mut response, MAX_REPLY_BYTES).await {
            Ok(text) => parse(&text, texts.len()).and_then(|reply| self.of_one_length(reply)),
            Err(error) => Err(error),
        };
        match reply {
            Ok(reply) => Ok((reply, rate)),
            Err(error) => Err(self.endpoint.unreadable(status, rate, error)),
        }
    }

    /// Refuses vectors that cannot be compared with those before, or are not what was asked for.
    fn of_one_length(&self, reply: EmbeddingReply) -> Result<EmbeddingReply, CallError> {
        let found = reply.vectors.first().map_or(0, Vec::len);
        if let Some(asked) = self.config.dimensions {
            if found == asked as usize {
                return Ok(reply);
            }
            // The server knows no `dimensions`, and will not know them the next time either.
            let message = format!("the vectors have {found} values, and {asked} were asked for");
            return Err(CallError::new(FailureClass::BadRequest, message));
        }
        let expected = *self.length.get_or_init(|| found);
        if found == expected {
            return Ok(reply);
        }
        Err(CallError::malformed(format!(
            "the vectors have {found} values, those before {expected}"
        )))
    }

    /// About how many tokens a batch has, where that is limited.
    fn expected_tokens(&self, texts: &[&str]) -> u64 {
        match self.limits.tokens_per_minute {
            Some(_) => texts.iter().map(|text| estimate_tokens(text)).sum(),
            None => 0,
        }
    }

    fn failure(&self, error: CallError, attempts: u32) -> EmbeddingError {
        let hint = match error.class {
            FailureClass::ContextTooLong => Some(
                "a text is longer than the model reads: shorten it, or use a model that reads more"
                    .to_owned(),
            ),
            FailureClass::BadRequest if self.config.dimensions.is_some() => Some(
                "check `model` and `dimensions`: not every model has shorter vectors".to_owned(),
            ),
            FailureClass::BadRequest => {
                Some("check that `model` is a model of embeddings".to_owned())
            }
            class => class.hint(self.model.key_variable()),
        };
        EmbeddingError {
            class: error.class,
            status: error.status,
            message: error.message,
            attempts,
            hint,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;
    use crate::config::Provider;

    #[test]
    fn vectors_that_cannot_be_compared_with_those_before_are_malformed() {
        let mut config = EmbeddingConfig::new(Provider::Openai, "m");
        config.base_url = Some("http://127.0.0.1:1/v1".to_owned());
        let client = EmbeddingClient::new(&config).unwrap();
        let reply =
            |length| EmbeddingReply { vectors: vec![vec![1.0; length]], input_tokens: None };
        assert!(client.of_one_length(reply(3)).is_ok());
        assert!(client.of_one_length(reply(3)).is_ok());
        let error = client.of_one_length(reply(4)).unwrap_err();
        assert_eq!(error.class, FailureClass::Malformed);
        assert_eq!(error.message, "the vectors have 4 values, those before 3");
    }
}
