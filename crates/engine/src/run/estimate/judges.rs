//! What scorers would ask, and what that would take.

use std::sync::Arc;

use fullbench_llm::{
    ModelConfig, Provider, estimate_messages, estimate_tokens, upper_estimate_messages,
};
use fullbench_score::{AskedCall, Item, NamedScorer, Opposed};
use fullbench_store::{DatasetVersion, ScopedStore};
use fullbench_types::{Generation, TestCase, text_of};
use serde::Serialize;

use super::super::plan::Plan;
use super::{LONG_ANSWER, SHORT_ANSWER, taken};
use crate::EngineError;
use crate::spec::EvaluationSpec;

/// Cases whose prompts are looked at; the others are taken to be like them.
const LOOKED_AT: u64 = 5_000;

/// What a model that a scorer asks would take.
#[derive(Debug, Clone, Serialize)]
pub struct JudgeEstimate {
    /// The scorer.
    pub scorer: String,
    /// The model it asks.
    pub model: String,
    /// Calls without any retry or cache hit, from and to.
    pub calls: (u64, u64),
    /// Tokens of all prompts, from and to.
    pub input_tokens: (u64, u64),
    /// Tokens of all replies, from and to.
    pub output_tokens: (u64, u64),
    /// Dollars, from and to; none where no price is known.
    pub usd: Option<(f64, f64)>,
    /// Seconds, from and to.
    pub seconds: (f64, f64),
}

/// Sums of what one scorer asks one model about the cases that are looked at.
struct Asked {
    model: ModelConfig,
    calls: (f64, f64),
    input_tokens: (f64, f64),
    output_tokens: (f64, f64),
}

/// What an estimate looks at.
pub(super) struct Looked<'run> {
    pub(super) store: &'run ScopedStore,
    pub(super) spec: &'run EvaluationSpec,
    pub(super) dataset: &'run Arc<DatasetVersion>,
    pub(super) plan: &'run Plan,
}

/// What the scorers' models would take, as they are or if they judged everything by their dearest part.
pub(super) async fn estimate(
    looked: &Looked<'_>,
    scorers: &[NamedScorer],
    everything: bool,
    provider_batch: bool,
) -> Result<Vec<JudgeEstimate>, EngineError> {
    let Looked { store, spec, dataset, plan } = looked;
    let cases = plan.cases.len();
    let repetitions = plan.repetitions.max(1);
    let looked_at = cases.min((LOOKED_AT / u64::from(repetitions)).max(1));
    let mut estimates = Vec::new();
    for NamedScorer { name, scorer, .. } in scorers {
        if scorer.models().is_empty() {
            continue;
        }
        let mut asked: Vec<Asked> = Vec::new();
        let mut reader = store.cases(Arc::clone(dataset)).await?;
        for step in 0..looked_at {
            let Some(index) = plan.cases.case_index(step * cases / looked_at) else { continue };
            let case = reader.case(index)?;
            for model in &spec.models {
                let (generation, missing) = answer(&case, model);
                let is_opponent = scorer.opponent() == Some(model.display_name().as_str());
                let other = is_opponent.then_some(Opposed::Itself);
                for repetition in 0..repetitions {
                    let item = Item { other, repetition, ..Item::new(&case, &generation) };
                    let calls = match everything {
                        true => scorer.calls_for_all(&item),
                        false => scorer.calls(&item),
                    };
                    for call in calls {
                        add(&mut asked, call, missing);
                    }
                }
            }
        }
        let share = cases as f64 / looked_at.max(1) as f64;
        let whole =
            |(from, to): (f64, f64)| ((from * share).round() as u64, (to * share).round() as u64);
        for Asked { model, calls, input_tokens, output_tokens } in asked {
            let limits = model.effective_limits(&spec.limits);
            let calls = whole(calls);
            let (input_tokens, output_tokens) = (whole(input_tokens), whole(output_tokens));
            let (usd, seconds) =
                taken(&model, &limits, provider_batch, calls, input_tokens, output_tokens);
            estimates.push(JudgeEstimate {
                scorer: name.clone(),
                model: model.display_name(),
                calls,
                input_tokens,
                output_tokens,
                usd,
                seconds,
            });
        }
    }
    Ok(estimates)
}

/// What the ranges rest on.
pub(super) fn assumptions() -> Vec<String> {
    vec![format!(
        "judges are asked about answers of {SHORT_ANSWER} to {LONG_ANSWER} tokens, or the recorded ones, and use up to their `max_tokens`; evaluation steps, written once, are not counted"
    )]
}

/// The answer of a model where it is recorded, and the tokens that another would add to a prompt.
fn answer(case: &TestCase, model: &ModelConfig) -> (Generation, (u64, u64)) {
    let field = model.field.as_deref().unwrap_or("output");
    match case.field(field).filter(|_| model.provider == Provider::Recorded) {
        Some(text) => (Generation::recorded(text_of(text).into_owned()), (0, 0)),
        None => {
            let longest = model.max_tokens.map_or(LONG_ANSWER, u64::from);
            (Generation::recorded(String::new()), (SHORT_ANSWER, longest))
        }
    }
}

fn add(asked: &mut Vec<Asked>, call: AskedCall, missing: (u64, u64)) {
    let (least, most) = (f64::from(call.times.0), f64::from(call.times.1));
    let together = f64::from(call.together.max(1));
    let own = estimate_tokens(&call.own) as f64 + missing.0 as f64;
    let whole = estimate_messages(&call.messages) as f64 + missing.0 as f64;
    // What is common to a batch is shared by its outputs; at worst every one of them is asked about once more by itself.
    let again = if together > 1.0 { 1.0 } else { 0.0 };
    let likely = (own + (whole - own).max(0.0) / together) * 4.0 / 5.0;
    let upper = (upper_estimate_messages(&call.messages) + missing.1) as f64 * (1.0 + again);
    let longest = call.model.max_tokens.map_or(LONG_ANSWER, u64::from) as f64 * (1.0 + again);
    let name = call.model.display_name();
    let position = asked.iter().position(|one| one.model.display_name() == name);
    let position = position.unwrap_or_else(|| {
        let none = (0.0, 0.0);
        asked.push(Asked {
            model: call.model,
            calls: none,
            input_tokens: none,
            output_tokens: none,
        });
        asked.len() - 1
    });
    let Some(one) = asked.get_mut(position) else { return };
    let sum = |sum: &mut (f64, f64), from: f64, to: f64| {
        sum.0 += from;
        sum.1 += to;
    };
    sum(&mut one.calls, least / together, most * (1.0 / together + again));
    sum(&mut one.input_tokens, least * likely, most * upper.max(likely));
    sum(&mut one.output_tokens, least * SHORT_ANSWER as f64, most * longest);
}
