//! What happens to one HTTP request.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::header::{HeaderMap, HeaderValue, RETRY_AFTER};
use hyper::{Method, StatusCode, Uri};
use serde_json::{Value, json};

use crate::answer::answer;
use crate::batches::{self, BatchReply, Batches};
use crate::clock::Clock;
use crate::config::SimulatorConfig;
use crate::dice::{Dice, PromptKey};
use crate::embeddings;
use crate::fate::{Fate, Fault};
use crate::gate::{Asked, Caller, Gate, Turned};
use crate::reply::{InFlight, Reply, TimedStream, reply, stream};
use crate::request::Request;
use crate::statistics::{Counted, Recorder};
use crate::wire::{Completion, Refusal, Wire};

const MODELS: [&str; 6] = ["sim-100", "sim-95", "sim-80", "sim-60", "echo", "text"];

/// What all connections share.
#[derive(Debug)]
pub(crate) struct Service {
    gate: Gate,
    batches: Batches,
}

/// The connection is closed with no reply.
#[derive(Debug, thiserror::Error)]
#[error("the connection is dropped on purpose")]
pub(crate) struct Dropped;

/// A call of a model as its path gives it; Gemini has the model and the wish to stream there.
enum Target<'path> {
    Generation { wire: Wire, model: Option<&'path str>, stream: bool },
    Embeddings,
}

impl Service {
    pub(crate) fn new(config: SimulatorConfig, recorder: Arc<Recorder>, clock: Clock) -> Self {
        Self { gate: Gate::new(config, recorder, clock), batches: Batches::default() }
    }

    /// Answers a request, or drops its connection.
    pub(crate) async fn answer(&self, request: hyper::Request<Incoming>) -> Result<Reply, Dropped> {
        let (head, body) = request.into_parts();
        let path = head.uri.path();
        let recorder = &self.gate.recorder;
        if head.method == Method::POST
            && let Some(target) = target(path)
        {
            let in_flight = InFlight::enter(recorder);
            let number = recorder.call();
            let Ok(body) = body.collect().await else { return Err(Dropped) };
            let body = body.to_bytes();
            let caller = Caller { number, headers: &head.headers, uri: &head.uri };
            return match target {
                Target::Generation { wire, model, stream } => {
                    let request = wire.parse(&body, model, stream);
                    self.generation(wire, request, &caller, in_flight).await
                }
                Target::Embeddings => self.embeddings(&body, &caller).await,
            };
        }
        if let Some(target) = batches::target(path) {
            let Ok(body) = body.collect().await else { return Err(Dropped) };
            let caller = Caller { number: 0, headers: &head.headers, uri: &head.uri };
            let body = body.to_bytes();
            return match self.batches.answer(&self.gate, &caller, &head.method, target, &body) {
                BatchReply::Json(status, body) => Ok(json_reply(status, &body)),
                BatchReply::Lines(lines) => Ok(reply(lines, "application/x-jsonl")),
                BatchReply::Dropped => Err(Dropped),
            };
        }
        Ok(match (&head.method, path) {
            (&Method::GET, "/stats") => json_reply(StatusCode::OK, &json!(recorder.snapshot())),
            (&Method::POST, "/reset") => {
                recorder.reset();
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

    async fn generation(
        &self,
        wire: Wire,
        request: Result<Request<'_>, serde_json::Error>,
        caller: &Caller<'_>,
        in_flight: InFlight,
    ) -> Result<Reply, Dropped> {
        let request = match request {
            Ok(request) => request,
            Err(error) => return Ok(self.invalid(wire, format!("invalid request body: {error}"))),
        };
        let key = request.attempt_key();
        let asked = Asked {
            model: &request.model,
            key,
            tokens: request.input_tokens(),
            stream: request.stream,
        };
        let fate = match self.gate.pass(caller, &asked).await {
            Ok(fate) => fate,
            Err(turned) => return turned_away(wire, turned),
        };
        let recorder = &self.gate.recorder;
        if fate.fault == Some(Fault::Malform) {
            recorder.fault(Counted::Malformed);
            let (content_type, body) = wire.malformed(fate.variant);
            return Ok(reply(body, content_type));
        }
        let answer_key = request.answer_key();
        let dice = Dice::new(self.gate.config.seed, answer_key);
        let answers = (0..request.choices)
            .map(|choice| answer(&request, dice, choice, self.gate.config.reply_words));
        let completion =
            Completion { request: &request, key: answer_key, answers: answers.collect(), dice };
        if request.stream {
            let truncated = fate.fault == Some(Fault::Truncate);
            if truncated {
                recorder.fault(Counted::Truncated);
            }
            return Ok(self.streamed(&completion, key, fate.latency, truncated, in_flight));
        }
        let Ok(body) = wire.reply(&completion) else { return Err(Dropped) };
        Ok(self.whole(body, key, fate))
    }

    async fn embeddings(&self, body: &[u8], caller: &Caller<'_>) -> Result<Reply, Dropped> {
        let wire = Wire::OpenAi;
        let request = match embeddings::parse(body) {
            Ok(request) => request,
            Err(message) => return Ok(self.invalid(wire, message)),
        };
        let key = request.attempt_key();
        let asked =
            Asked { model: &request.model, key, tokens: request.longest_tokens(), stream: false };
        let fate = match self.gate.pass(caller, &asked).await {
            Ok(fate) => fate,
            Err(turned) => return turned_away(wire, turned),
        };
        let seed = self.gate.config.seed;
        if fate.fault == Some(Fault::Malform) {
            self.gate.recorder.fault(Counted::Malformed);
            // Half of them no JSON of this kind at all, half of them of the right shape and wrong.
            if fate.variant & 1 == 0 {
                let (content_type, body) = wire.malformed(fate.variant / 2);
                return Ok(reply(body, content_type));
            }
            let wrong = request.wrong_reply(seed, fate.variant / 2);
            return wrong.map(|body| reply(body, "application/json")).map_err(|_| Dropped);
        }
        let Ok(body) = request.reply(seed) else { return Err(Dropped) };
        Ok(self.whole(body, key, fate))
    }

    /// A reply in one piece, or half of it.
    fn whole(&self, mut body: Vec<u8>, key: PromptKey, fate: Fate) -> Reply {
        if fate.fault == Some(Fault::Truncate) {
            self.gate.recorder.fault(Counted::Truncated);
            body.truncate(body.len() / 2);
        } else {
            self.gate.recorder.success(key);
        }
        reply(body, "application/json")
    }

    fn invalid(&self, wire: Wire, message: String) -> Reply {
        self.gate.recorder.fault(Counted::Invalid);
        refused(wire, &Refusal::Invalid(message))
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
        let recorder = Arc::clone(&self.gate.recorder);
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

    fn models(&self, wire: Wire, headers: &HeaderMap, uri: &Uri) -> Reply {
        if !self.gate.has_key(headers, uri) {
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

/// What a path asks for.
fn target(path: &str) -> Option<Target<'_>> {
    let whole = |wire| Some(Target::Generation { wire, model: None, stream: false });
    match path {
        "/v1/chat/completions" => return whole(Wire::OpenAi),
        "/v1/messages" => return whole(Wire::Anthropic),
        "/v1/embeddings" => return Some(Target::Embeddings),
        _ => {}
    }
    let (model, method) = path.strip_prefix("/v1beta/models/")?.rsplit_once(':')?;
    let stream = match method {
        "generateContent" => false,
        "streamGenerateContent" => true,
        _ => return None,
    };
    Some(Target::Generation { wire: Wire::Gemini, model: Some(model), stream })
}

fn turned_away(wire: Wire, turned: Turned) -> Result<Reply, Dropped> {
    match turned {
        Turned::Away(refusal) => Ok(refused(wire, &refusal)),
        Turned::Dropped => Err(Dropped),
    }
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
