//! One request of a batch: what comes of it, and what of that is told.

use serde_json::Value;
use serde_json::value::RawValue;

use super::config::BatchConfig;
use crate::answer::answer;
use crate::dice::{Dice, Purpose};
use crate::gate::{Asked, Gate};
use crate::wire::{Completion, Refusal, Wire};

/// What came of a request.
#[derive(Debug, Clone)]
pub(super) enum Outcome {
    Answered(Box<RawValue>),
    Refused(u16, Value),
    Expired,
}

/// How the result of a request is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Telling {
    Once,
    Never,
    Twice { the_same: bool },
    WithAnother,
    Garbled,
}

/// Answers a request as a call of its own would be answered, but for the faults of batches.
pub(super) fn outcome(gate: &Gate, wire: Wire, body: &[u8]) -> (Outcome, Telling) {
    let refused = |refusal: &Refusal| {
        let (status, body) = wire.refusal(refusal);
        (Outcome::Refused(status.as_u16(), body), Telling::Once)
    };
    let request = match wire.parse(body, None, false) {
        Ok(request) => request,
        Err(error) => return refused(&Refusal::Invalid(format!("invalid request: {error}"))),
    };
    if request.stream {
        return refused(&Refusal::Invalid("batches do not stream".to_owned()));
    }
    let key = request.attempt_key();
    let asked = Asked { model: &request.model, key, tokens: request.input_tokens(), stream: false };
    gate.recorder.asked(key);
    if let Some(refusal) = gate.unfit(&asked) {
        return refused(&refusal);
    }
    let attempt = gate.recorder.attempt(key);
    let dice = Dice::new(gate.config.seed, key).with(u64::from(attempt));
    let (fails, telling) = fate(&gate.config.batch, dice);
    if let Some(failure) = fails {
        return match failure {
            Failure::Errored => refused(&Refusal::Failed { overloaded: false }),
            Failure::Expired => (Outcome::Expired, Telling::Once),
        };
    }
    let answer_key = request.answer_key();
    let dice = Dice::new(gate.config.seed, answer_key);
    let answers = (0..request.choices)
        .map(|choice| answer(&request, dice, choice, gate.config.reply_words))
        .collect();
    let completion = Completion { request: &request, key: answer_key, answers, dice };
    let reply = wire.reply(&completion).ok().and_then(|reply| String::from_utf8(reply).ok());
    match reply.and_then(|reply| RawValue::from_string(reply).ok()) {
        Some(reply) => {
            if matches!(telling, Telling::Once | Telling::WithAnother) {
                gate.recorder.success(key);
            }
            (Outcome::Answered(reply), telling)
        }
        None => refused(&Refusal::Failed { overloaded: false }),
    }
}

enum Failure {
    Errored,
    Expired,
}

fn fate(config: &BatchConfig, dice: Dice) -> (Option<Failure>, Telling) {
    let the_same = dice.bits(Purpose::FaultVariant) & 1 == 0;
    let fates = [
        (config.missing, None, Telling::Never),
        (config.doubled, None, Telling::Twice { the_same }),
        (config.unknown, None, Telling::WithAnother),
        (config.garbled, None, Telling::Garbled),
        (config.errored, Some(Failure::Errored), Telling::Once),
        (config.expired, Some(Failure::Expired), Telling::Once),
    ];
    let share = dice.share(Purpose::Fault);
    let mut bound = 0.0;
    for (rate, failure, telling) in fates {
        bound += rate;
        if share < bound {
            return (failure, telling);
        }
    }
    (None, Telling::Once)
}
