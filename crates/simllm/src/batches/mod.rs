//! The batch APIs of OpenAI and Anthropic: files, batches, lists and results.
//!
//! Every request of a batch is answered as a call of its own would be. Results come in another order than the requests.

mod anthropic;
mod config;
mod item;
mod multipart;
mod openai;

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use hyper::{Method, StatusCode};
use serde_json::{Value, json};

pub use config::BatchConfig;

use crate::dice::{Dice, Purpose};
use crate::gate::{Caller, Gate};
use crate::wire::{Refusal, Wire};
use item::{Outcome, Telling, outcome};

/// A reply: its status, its body, and whether the body is lines of JSON.
pub(crate) enum BatchReply {
    Json(StatusCode, Value),
    Lines(String),
    Dropped,
}

/// Everything that was submitted.
#[derive(Debug, Default)]
pub(crate) struct Batches(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    files: BTreeMap<String, Vec<u8>>,
    batches: Vec<Batch>,
    calls: u64,
}

/// One batch.
#[derive(Debug)]
struct Batch {
    wire: Wire,
    id: String,
    created: SystemTime,
    ends: Instant,
    metadata: Value,
    results: Vec<(String, Outcome)>,
    garbled: usize,
    requests: usize,
    /// Why it was not taken, where it was not.
    refused: Option<(&'static str, String)>,
    cancelled: bool,
}

impl Batch {
    fn is_ended(&self) -> bool {
        self.cancelled || self.refused.is_some() || Instant::now() >= self.ends
    }

    fn count(&self, wanted: impl Fn(&Outcome) -> bool) -> usize {
        self.results.iter().filter(|(_, outcome)| wanted(outcome)).count()
    }
}

/// A call about batches, by what its path names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target<'path> {
    Upload,
    File(&'path str),
    Batches(Wire),
    Batch(Wire, &'path str),
    Results(&'path str),
    Cancel(Wire, &'path str),
}

/// What a path asks for, where it is about batches.
pub(crate) fn target(path: &str) -> Option<Target<'_>> {
    if let Some(rest) = path.strip_prefix("/v1/messages/batches") {
        return match rest.strip_prefix('/') {
            None => rest.is_empty().then_some(Target::Batches(Wire::Anthropic)),
            Some(rest) => Some(match rest.split_once('/') {
                None => Target::Batch(Wire::Anthropic, rest),
                Some((id, "results")) => Target::Results(id),
                Some((id, "cancel")) => Target::Cancel(Wire::Anthropic, id),
                Some(_) => return None,
            }),
        };
    }
    if let Some(rest) = path.strip_prefix("/v1/files") {
        let id = rest.strip_prefix('/').and_then(|rest| rest.strip_suffix("/content"));
        return if rest.is_empty() { Some(Target::Upload) } else { id.map(Target::File) };
    }
    let rest = path.strip_prefix("/v1/batches")?;
    match rest.strip_prefix('/') {
        None => rest.is_empty().then_some(Target::Batches(Wire::OpenAi)),
        Some(rest) => match rest.split_once('/') {
            None => Some(Target::Batch(Wire::OpenAi, rest)),
            Some((id, "cancel")) => Some(Target::Cancel(Wire::OpenAi, id)),
            Some(_) => None,
        },
    }
}

impl Batches {
    /// Answers a call about batches.
    pub(crate) fn answer(
        &self,
        gate: &Gate,
        caller: &Caller<'_>,
        method: &Method,
        target: Target<'_>,
        body: &[u8],
    ) -> BatchReply {
        let wire = match target {
            Target::Batches(wire) | Target::Batch(wire, _) | Target::Cancel(wire, _) => wire,
            Target::Results(_) => Wire::Anthropic,
            Target::Upload | Target::File(_) => Wire::OpenAi,
        };
        if !gate.has_key(caller.headers, caller.uri) {
            return refused(wire, &Refusal::Unauthorized);
        }
        let mut kept = self.lock();
        kept.calls += 1;
        let dice = Dice::new(gate.config.seed, u128::from(kept.calls));
        if dice.share(Purpose::Fault) < gate.config.batch.trouble {
            return refused(wire, &Refusal::Failed { overloaded: false });
        }
        match (method.as_str(), target) {
            ("POST", Target::Upload) => openai::upload(&mut kept, caller, body),
            ("GET", Target::File(id)) => openai::file(&kept, id),
            ("POST", Target::Batches(Wire::OpenAi)) => openai::create(&mut kept, gate, body),
            ("POST", Target::Batches(_)) => anthropic::create(&mut kept, gate, body),
            ("GET", Target::Batches(wire)) => list(&kept, wire, caller),
            ("GET", Target::Batch(wire, id)) => match kept.find(wire, id) {
                Some(batch) => BatchReply::Json(StatusCode::OK, written(batch)),
                None => missing(wire, id),
            },
            ("GET", Target::Results(id)) => anthropic::results(&kept, id),
            ("POST", Target::Cancel(wire, id)) => {
                let found = kept.batches.iter_mut().find(|batch| batch.id == id);
                match found {
                    Some(batch) => {
                        batch.cancelled |= !batch.is_ended();
                        BatchReply::Json(StatusCode::OK, written(batch))
                    }
                    None => missing(wire, id),
                }
            }
            _ => refused(wire, &Refusal::Invalid("there is no such call".to_owned())),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn find(&self, wire: Wire, id: &str) -> Option<&Batch> {
        self.batches.iter().find(|batch| batch.wire == wire && batch.id == id)
    }

    /// Takes a batch and works on all of its requests at once; they are told of when its time is over.
    fn take(
        &mut self,
        gate: &Gate,
        wire: Wire,
        requests: &[(String, Vec<u8>)],
        metadata: Value,
    ) -> BatchReply {
        let number = self.batches.len() + 1;
        let prefix = if wire == Wire::Anthropic { "msgbatch" } else { "batch" };
        let delay = Duration::from_millis(gate.config.batch.delay_ms);
        let mut batch = Batch {
            wire,
            id: format!("{prefix}_{number:05}"),
            created: SystemTime::now(),
            ends: Instant::now() + delay,
            metadata,
            results: Vec::new(),
            garbled: 0,
            requests: requests.len(),
            refused: None,
            cancelled: false,
        };
        let waiting: usize =
            self.batches.iter().filter(|other| !other.is_ended()).map(|other| other.requests).sum();
        let most = gate.config.batch.most_waiting.filter(|_| wire == Wire::OpenAi);
        if most.is_some_and(|most| waiting + requests.len() > most) {
            let message = "Enqueued token limit reached for this model.".to_owned();
            batch.refused = Some(("token_limit_exceeded", message));
        } else {
            work(gate, wire, requests, &mut batch);
        }
        gate.recorder.batch(requests.len());
        let reply = written(&batch);
        self.batches.push(batch);
        if number as u64 <= gate.config.batch.lost_replies {
            return BatchReply::Dropped;
        }
        BatchReply::Json(StatusCode::OK, reply)
    }
}

fn work(gate: &Gate, wire: Wire, requests: &[(String, Vec<u8>)], batch: &mut Batch) {
    for (id, body) in requests.iter().rev() {
        let (outcome, telling) = outcome(gate, wire, body);
        let mut tell = |id: &str, outcome: Outcome| batch.results.push((id.to_owned(), outcome));
        let failed = || {
            let (status, body) = wire.refusal(&Refusal::Failed { overloaded: true });
            Outcome::Refused(status.as_u16(), body)
        };
        match telling {
            Telling::Never => {}
            Telling::Garbled => batch.garbled += 1,
            Telling::Once => tell(id, outcome),
            Telling::Twice { the_same } => {
                let second = if the_same { outcome.clone() } else { failed() };
                tell(id, outcome);
                tell(id, second);
            }
            Telling::WithAnother => {
                tell(&format!("nobody-{id}"), outcome.clone());
                tell(id, outcome);
            }
        }
    }
}

fn written(batch: &Batch) -> Value {
    match batch.wire {
        Wire::Anthropic => anthropic::written(batch),
        _ => openai::written(batch),
    }
}

/// Batches, newest first, page by page.
fn list(kept: &Kept, wire: Wire, caller: &Caller<'_>) -> BatchReply {
    let query = caller.uri.query().unwrap_or_default();
    let parameter = |name: &str| {
        let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        pairs.find(|(key, _)| *key == name).map(|(_, value)| value)
    };
    let limit = parameter("limit").and_then(|limit| limit.parse().ok()).unwrap_or(20);
    let after = parameter(if wire == Wire::Anthropic { "after_id" } else { "after" });
    let newest_first = kept.batches.iter().rev().filter(|batch| batch.wire == wire);
    let mut rest = newest_first
        .skip_while(|batch| after.is_some_and(|after| batch.id != after))
        .skip(usize::from(after.is_some()));
    let page: Vec<&Batch> = rest.by_ref().take(limit).collect();
    let data: Vec<Value> = page.iter().map(|batch| written(batch)).collect();
    let edge = |batch: Option<&&Batch>| batch.map(|batch| batch.id.clone());
    let body = json!({"object": "list", "data": data, "has_more": rest.next().is_some(),
                      "first_id": edge(page.first()), "last_id": edge(page.last())});
    BatchReply::Json(StatusCode::OK, body)
}

fn missing(wire: Wire, id: &str) -> BatchReply {
    let (_, body) = wire.refusal(&Refusal::Invalid(format!("there is no {id}")));
    BatchReply::Json(StatusCode::NOT_FOUND, body)
}

fn refused(wire: Wire, refusal: &Refusal) -> BatchReply {
    let (status, body) = wire.refusal(refusal);
    BatchReply::Json(status, body)
}

fn invalid(wire: Wire, message: &str) -> BatchReply {
    refused(wire, &Refusal::Invalid(message.to_owned()))
}
