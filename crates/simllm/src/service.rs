//! What happens to one HTTP request.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, HeaderMap, HeaderValue, RETRY_AFTER};
use hyper::{Method, StatusCode, Uri};
use serde_json::{Value, json};

use crate::answer::answer;
use crate::clock::Clock;
use crate::config::SimulatorConfig;
use crate::dice::{Dice, PromptKey};
use crate::fate::{Fate, Fault};
use crate::limiter::Limiter;
use crate::reply::{InFlight, Reply, TimedStream, reply, stream};
use crate::request::Request;
use crate::statistics::{Counted, Recorder};
use crate::wire::{Completion, Refusal, Wire};

/// A model that is never there.
const MISSING_MODEL: &str = "missing";
const MODELS: [&str; 6] = ["sim-100", "sim-95", "sim-80", "sim-60", "echo", "text"];

/// What all connections share.
#[derive(Debug)]
pub(crate) struct Service {
    config: SimulatorConfig,
    limiter: Option<Limiter>,
    recorder: Arc<Recorder>,
    clock: Clock,
}

/// The connection is closed with no reply.
#[derive(Debug, thiserror::Error)]
#[error("the connection is dropped on purpose")]
pub(crate) struct Dropped;

/// A call of a model as its path gives it.
struct Target<'path> {
    wire: Wire,
    model: Option<&'path str>,
    stream: bool,
}

impl Service {
    pub(crate) fn new(config: SimulatorConfig, recorder: Arc<Recorder>, clock: Clock) -> Self {
        let limiter =
            config.requests_per_minute.map(|limit| Limiter::per_minute(limit, Instant::now()));
        Self { config, limiter, recorder, clock }
    }

    /// Answers a request, or drops its connection.
    pub(crate) async fn answer(&self, request: hyper::Request<Incoming>) -> Result<Reply, Dropped> {
        let (head, body) = request.into_parts();
        let path = head.uri.path();
        if head.method == Method::POST
            && let Some(target) = target(path)
        {
            let in_flight = InFlight::enter(&self.recorder);
            let number = self.recorder.call();
            let Ok(body) = body.collect().await else { return Err(Dropped) };
            return self
                .call(&target, number, &head.headers, &head.uri, &body.to_bytes(), in_flight)
                .await;
        }
        Ok(match (&head.method, path) {
            (&Method::GET, "/stats") => {
                json_reply(StatusCode::OK, &json!(self.recorder.snapshot()))
            }
            (&Method::POST, "/reset") => {
                self.recorder.reset();
                json_reply(StatusCode::OK, &json!({"reset": true}))
            }
            (&Method::GET, "/v1/models") => self.models(Wire::OpenAi, &head.headers, &head.uri),
            (&Method::GET, "/v1beta/models") => self.models(Wire::Gemini, &head.headers, &head.uri),
            _ => json_reply(
                StatusCode::NOT_FOUND,
                &json!({"error": {"message": format!("there is no {path} here")}}),
            ),
        })
    }

    async fn call(
        &self,
        target: &Target<'_>,
        number: u64,
        headers: &HeaderMap,
        uri: &Uri,
        body: &[u8],
        in_flight: InFlight,
    ) -> Result<Reply, Dropped> {
        let start = Instant::now();
        let wire = target.wire;
        let spent = self.config.fail_after.is_some_and(|limit| number > limit);
        let request = match wire.parse(body, target.model, target.stream) {
            Ok(request) => request,
            Err(error) => {
                self.recorder.fault(Counted::Invalid);
                return Ok(refused(
                    wire,
                    &Refusal::Invalid(format!("invalid request body: {error}")),
                ));
            }
        };
        let key = request.attempt_key();
        self.recorder.asked(key);
        if spent || !self.has_key(headers, uri) {
            self.recorder.fault(Counted::Unauthorized);
            return Ok(refused(wire, &Refusal::Unauthorized));
        }
        if let Some(refusal) = self.refusal(&request) {
            return Ok(refused(wire, &refusal));
        }
        let attempt = self.recorder.attempt(key);
        let fate =
            Fate::of(&self.config, Dice::new(self.config.seed, key).with(u64::from(attempt)));
        if fate.fault == Some(Fault::RateLimit) {
            self.recorder.fault(Counted::RateLimited);
            let wait = Duration::from_millis(self.config.retry_after_ms);
            return Ok(refused(wire, &Refusal::RateLimited(wait)));
        }
        if fate.fault == Some(Fault::Stall) {
            self.recorder.fault(Counted::Stalled);
            let stall = Duration::from_millis(self.config.stall_ms);
            self.clock.wait_until(Instant::now() + stall).await;
        }
        let broken = matches!(fate.fault, Some(Fault::Error | Fault::Drop | Fault::Malform));
        let waited = if request.stream && !broken { Duration::ZERO } else { fate.latency };
        self.clock.wait_until(start + waited).await;
        self.outcome(&request, key, fate, in_flight)
    }

    /// What is wrong with a request, apart from chance.
    fn refusal(&self, request: &Request<'_>) -> Option<Refusal> {
        if request.model == MISSING_MODEL {
            self.recorder.fault(Counted::Invalid);
            return Some(Refusal::UnknownModel(request.model.to_string()));
        }
        if let Some(limit) = self.config.max_context_tokens {
            let tokens = request.input_tokens();
            if tokens > limit {
                self.recorder.fault(Counted::ContextTooLong);
                return Some(Refusal::ContextTooLong { tokens, limit });
            }
        }
        let wait = self.limiter.as_ref()?.admit(Instant::now()).err()?;
        self.recorder.fault(Counted::OverLimit);
        Some(Refusal::RateLimited(wait))
    }

    fn outcome(
        &self,
        request: &Request<'_>,
        key: PromptKey,
        fate: Fate,
        in_flight: InFlight,
    ) -> Result<Reply, Dropped> {
        let wire = request.wire;
        match fate.fault {
            Some(Fault::Error) => {
                self.recorder.fault(Counted::Errors);
                return Ok(refused(wire, &Refusal::Failed { overloaded: fate.variant & 1 == 1 }));
            }
            Some(Fault::Drop) => {
                self.recorder.fault(Counted::Dropped);
                return Err(Dropped);
            }
            Some(Fault::Malform) => {
                self.recorder.fault(Counted::Malformed);
                let (content_type, body) = wire.malformed(fate.variant);
                return Ok(reply(body, content_type));
            }
            _ => {}
        }
        let answer_key = request.answer_key();
        let dice = Dice::new(self.config.seed, answer_key);
        let answers = (0..request.choices)
            .map(|choice| answer(request, dice, choice, self.config.reply_words));
        let completion = Completion { request, key: answer_key, answers: answers.collect(), dice };
        let truncated = fate.fault == Some(Fault::Truncate);
        if truncated {
            self.recorder.fault(Counted::Truncated);
        }
        if request.stream {
            return Ok(self.streamed(&completion, key, fate.latency, truncated, in_flight));
        }
        let Ok(mut body) = wire.reply(&completion) else { return Err(Dropped) };
        if truncated {
            body.truncate(body.len() / 2);
        } else {
            self.recorder.success(key);
        }
        Ok(reply(body, "application/json"))
    }

    fn streamed(
        &self,
        completion: &Completion<'_>,
        key: PromptKey,
        latency: Duration,
        truncated: bool,
        in_flight: InFlight,
    ) -> Reply {
        let request = completion.request;
        let mut events = request.wire.events(completion);
        let recorder = Arc::clone(&self.recorder);
        if truncated {
            events.truncate(events.len() / 2 + 1);
            if let Some(last) = events.last_mut() {
                last.truncate(last.len() / 2);
            }
        }
        let on_end = move || {
            if !truncated {
                recorder.success(key);
            }
        };
        stream(TimedStream::new(
            events,
            tokio::time::Instant::now(),
            latency,
            Box::new(on_end),
            in_flight,
        ))
    }

    fn has_key(&self, headers: &HeaderMap, uri: &Uri) -> bool {
        let Some(required) = &self.config.require_key else { return true };
        let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let bearer = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        let bearer = bearer.and_then(|value| value.strip_prefix("Bearer "));
        let parameters = uri.query().unwrap_or_default().split('&');
        let parameter = parameters.filter_map(|pair| pair.strip_prefix("key=")).next();
        [bearer, header("x-api-key"), header("x-goog-api-key"), parameter]
            .contains(&Some(required.as_str()))
    }

    fn models(&self, wire: Wire, headers: &HeaderMap, uri: &Uri) -> Reply {
        if !self.has_key(headers, uri) {
            return refused(wire, &Refusal::Unauthorized);
        }
        if wire == Wire::Gemini {
            let models =
                MODELS.map(|id| json!({"name": format!("models/{id}"), "displayName": id}));
            return json_reply(StatusCode::OK, &json!({ "models": models }));
        }
        let models = MODELS.map(|id| {
            json!({"id": id, "object": "model", "created": 1_700_000_000, "owned_by": "simllm",
                   "type": "model", "display_name": id, "created_at": "2023-11-14T22:13:20Z"})
        });
        json_reply(StatusCode::OK, &json!({"object": "list", "data": models, "has_more": false}))
    }
}

/// Which wire format a path belongs to.
fn target(path: &str) -> Option<Target<'_>> {
    match path {
        "/v1/chat/completions" => {
            return Some(Target { wire: Wire::OpenAi, model: None, stream: false });
        }
        "/v1/messages" => {
            return Some(Target { wire: Wire::Anthropic, model: None, stream: false });
        }
        _ => {}
    }
    let (model, method) = path.strip_prefix("/v1beta/models/")?.rsplit_once(':')?;
    let stream = match method {
        "generateContent" => false,
        "streamGenerateContent" => true,
        _ => return None,
    };
    Some(Target { wire: Wire::Gemini, model: Some(model), stream })
}

fn json_reply(status: StatusCode, body: &Value) -> Reply {
    let mut reply = reply(Bytes::from(body.to_string()), "application/json");
    *reply.status_mut() = status;
    reply
}

fn refused(wire: Wire, refusal: &Refusal) -> Reply {
    let (status, body) = wire.refusal(refusal);
    let mut reply = json_reply(status, &body);
    if let Refusal::RateLimited(wait) = refusal {
        let milliseconds = u64::try_from(wait.as_micros().div_ceil(1_000)).unwrap_or(u64::MAX);
        let headers = reply.headers_mut();
        headers.insert(RETRY_AFTER, HeaderValue::from(milliseconds.div_ceil(1_000)));
        headers.insert("retry-after-ms", HeaderValue::from(milliseconds));
    }
    reply
}
