//! What every call meets before it is answered, whatever it asks for: key, limits, faults and latency.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hyper::Uri;
use hyper::header::{AUTHORIZATION, HeaderMap};

use crate::clock::Clock;
use crate::config::SimulatorConfig;
use crate::dice::{Dice, PromptKey};
use crate::fate::{Fate, Fault};
use crate::limiter::Limiter;
use crate::statistics::{Counted, Recorder};
use crate::wire::Refusal;

/// A model that is never there.
const MISSING_MODEL: &str = "missing";

/// Decides about calls, for all connections.
#[derive(Debug)]
pub(crate) struct Gate {
    pub(crate) config: SimulatorConfig,
    pub(crate) recorder: Arc<Recorder>,
    limiter: Option<Limiter>,
    clock: Clock,
}

/// Who calls, and the call's number.
pub(crate) struct Caller<'head> {
    pub(crate) number: u64,
    pub(crate) headers: &'head HeaderMap,
    pub(crate) uri: &'head Uri,
}

/// What of a call decides its fate.
pub(crate) struct Asked<'call> {
    pub(crate) model: &'call str,
    pub(crate) key: PromptKey,
    /// Tokens of the longest text, which must fit the context.
    pub(crate) tokens: u64,
    /// A stream spreads its latency over its pieces.
    pub(crate) stream: bool,
}

/// Why a call gets no answer.
pub(crate) enum Turned {
    Away(Refusal),
    Dropped,
}

impl Gate {
    pub(crate) fn new(config: SimulatorConfig, recorder: Arc<Recorder>, clock: Clock) -> Self {
        let limiter =
            config.requests_per_minute.map(|limit| Limiter::per_minute(limit, Instant::now()));
        Self { config, recorder, limiter, clock }
    }

    /// Lets a call through after its latency, with what is left of its fate: nothing, or a broken reply.
    pub(crate) async fn pass(
        &self,
        caller: &Caller<'_>,
        asked: &Asked<'_>,
    ) -> Result<Fate, Turned> {
        let start = Instant::now();
        self.recorder.asked(asked.key);
        let spent = self.config.fail_after.is_some_and(|limit| caller.number > limit);
        if spent || !self.has_key(caller.headers, caller.uri) {
            self.recorder.fault(Counted::Unauthorized);
            return Err(Turned::Away(Refusal::Unauthorized));
        }
        if let Some(refusal) = self.refusal(asked) {
            return Err(Turned::Away(refusal));
        }
        let attempt = self.recorder.attempt(asked.key);
        let dice = Dice::new(self.config.seed, asked.key).with(u64::from(attempt));
        let fate = Fate::of(&self.config, dice);
        if fate.fault == Some(Fault::RateLimit) {
            self.recorder.fault(Counted::RateLimited);
            let wait = Duration::from_millis(self.config.retry_after_ms);
            return Err(Turned::Away(Refusal::RateLimited(wait)));
        }
        if fate.fault == Some(Fault::Stall) {
            self.recorder.fault(Counted::Stalled);
            let stall = Duration::from_millis(self.config.stall_ms);
            self.clock.wait_until(Instant::now() + stall).await;
        }
        let broken = matches!(fate.fault, Some(Fault::Error | Fault::Drop | Fault::Malform));
        let waited = if asked.stream && !broken { Duration::ZERO } else { fate.latency };
        self.clock.wait_until(start + waited).await;
        match fate.fault {
            Some(Fault::Error) => {
                self.recorder.fault(Counted::Errors);
                Err(Turned::Away(Refusal::Failed { overloaded: fate.variant & 1 == 1 }))
            }
            Some(Fault::Drop) => {
                self.recorder.fault(Counted::Dropped);
                Err(Turned::Dropped)
            }
            _ => Ok(fate),
        }
    }

    /// What is wrong with a request, apart from chance.
    fn refusal(&self, asked: &Asked<'_>) -> Option<Refusal> {
        if let Some(refusal) = self.unfit(asked) {
            return Some(refusal);
        }
        let wait = self.limiter.as_ref()?.admit(Instant::now()).err()?;
        self.recorder.fault(Counted::OverLimit);
        Some(Refusal::RateLimited(wait))
    }

    /// What is wrong with a request whenever it comes.
    pub(crate) fn unfit(&self, asked: &Asked<'_>) -> Option<Refusal> {
        if asked.model == MISSING_MODEL {
            self.recorder.fault(Counted::Invalid);
            return Some(Refusal::UnknownModel(asked.model.to_owned()));
        }
        if let Some(limit) = self.config.max_context_tokens
            && asked.tokens > limit
        {
            self.recorder.fault(Counted::ContextTooLong);
            return Some(Refusal::ContextTooLong { tokens: asked.tokens, limit });
        }
        None
    }

    pub(crate) fn has_key(&self, headers: &HeaderMap, uri: &Uri) -> bool {
        let Some(required) = &self.config.require_key else { return true };
        let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let bearer = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        let bearer = bearer.and_then(|value| value.strip_prefix("Bearer "));
        let parameters = uri.query().unwrap_or_default().split('&');
        let parameter = parameters.filter_map(|pair| pair.strip_prefix("key=")).next();
        [bearer, header("x-api-key"), header("x-goog-api-key"), parameter]
            .contains(&Some(required.as_str()))
    }
}
