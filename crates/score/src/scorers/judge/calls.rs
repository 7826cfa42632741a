//! What judges would ask about an output, for estimates.

use fullbench_judge::{Judge, Subject};

use crate::scorer::AskedCall;

/// Claims an answer is assumed to have at most.
const MANY_CLAIMS: u32 = 20;

/// What a prompt holds of this output alone.
fn own_text(subject: &Subject<'_>) -> String {
    let texts = [subject.input, subject.output].into_iter();
    let texts =
        texts.chain(subject.context.iter().copied()).chain(subject.references.iter().copied());
    texts.collect::<Vec<_>>().join("\n")
}

/// The calls of a judge for one output; the steps it writes once are not among them.
pub(super) fn of(judge: &Judge, subject: &Subject<'_>) -> Vec<AskedCall> {
    if judge.models().is_empty() {
        return Vec::new();
    }
    let samples = judge.config().samples;
    let prompts = judge.prompts(subject).unwrap_or_default();
    let calls = prompts.into_iter().filter_map(|prompt| {
        let times = match prompt.name {
            "g_eval_steps" => return None,
            "claims_split" => (1, 1),
            "claims_check" => (1, MANY_CLAIMS),
            _ => (samples, samples),
        };
        let together = judge.config().batch;
        let own = if together > 1 { own_text(subject) } else { String::new() };
        Some(AskedCall { model: prompt.model, messages: prompt.messages, times, together, own })
    });
    calls.collect()
}
