//! What a run would take, before anything is spent.

mod judges;

use fullbench_embed::is_of_provider;
use fullbench_llm::{Batcher, Limits, ModelConfig, Price, Provider, cost, price_of};
use fullbench_score::ScorerConfig;
use fullbench_store::ScopedStore;
use fullbench_types::{NanoDollars, Usage};
use serde::Serialize;
use serde_json::Value;

use super::prepare::{Checked, baselines, check};
use crate::EngineError;
use crate::spec::LoadedEvaluation;
use judges::Looked;

pub use judges::JudgeEstimate;

/// Tokens an answer is assumed to have at least.
const SHORT_ANSWER: u64 = 1;
/// Tokens an answer is assumed to have at most where `max_tokens` does not say.
const LONG_ANSWER: u64 = 1024;
/// Seconds a call is assumed to take, short and long.
const CALL_SECONDS: (f64, f64) = (0.5, 10.0);
/// Seconds a provider takes for a batch: as long as it promises at most.
const BATCH_SECONDS: (f64, f64) = (60.0, 86_400.0);

/// What a run would take.
#[derive(Debug, Clone, Serialize)]
pub struct Estimate {
    /// The evaluation's name.
    pub name: String,
    /// Cases in the plan.
    pub cases: u64,
    /// Units in the plan.
    pub units: u64,
    /// The models.
    pub models: Vec<ModelEstimate>,
    /// The models that scorers ask.
    pub judges: Vec<JudgeEstimate>,
    /// Dollars for all models, judging ones too, from and to; none where a price is missing.
    pub usd: Option<(f64, f64)>,
    /// The same if every output were judged by the last tier of a cascade, or the strong one of two judges; none where that is so anyway.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usd_judging_everything: Option<(f64, f64)>,
    /// Seconds, from and to: models run side by side.
    pub seconds: (f64, f64),
    /// What the ranges rest on.
    pub assumptions: Vec<String>,
}

/// What one model would take.
#[derive(Debug, Clone, Serialize)]
pub struct ModelEstimate {
    /// The model's name.
    pub model: String,
    /// Calls without any retry or cache hit.
    pub calls: u64,
    /// Tokens of all prompts, from and to.
    pub input_tokens: (u64, u64),
    /// Tokens of all answers, from and to.
    pub output_tokens: (u64, u64),
    /// Dollars, from and to; none where no price is known.
    pub usd: Option<(f64, f64)>,
    /// Seconds, from and to.
    pub seconds: (f64, f64),
}

/// Reads and checks everything a run would, and adds up what it would take.
pub async fn estimate(
    evaluation: LoadedEvaluation,
    store: &ScopedStore,
    provider_batch: bool,
) -> Result<Estimate, EngineError> {
    let (_, without_baseline) = baselines(&evaluation, store).await?;
    let Checked { spec, dataset, plan, tokens, scorers, .. } = check(evaluation, store).await?;
    let units = plan.lane_units();
    let repetitions = u64::from(plan.repetitions);
    let mut models = Vec::new();
    let mut assumed_length = false;
    for model in &spec.models {
        if model.provider == Provider::Recorded {
            models.push(ModelEstimate {
                model: model.display_name(),
                calls: 0,
                input_tokens: (0, 0),
                output_tokens: (0, 0),
                usd: Some((0.0, 0.0)),
                seconds: (0.0, 0.0),
            });
            continue;
        }
        let limits = model.effective_limits(&spec.limits);
        assumed_length |= model.max_tokens.is_none();
        let longest = model.max_tokens.map_or(LONG_ANSWER, u64::from);
        let choices = u64::from(model.n.unwrap_or(1));
        let input_tokens =
            (tokens.likely * repetitions * 4 / 5, tokens.upper.max(tokens.likely) * repetitions);
        let output_tokens =
            (units * choices * SHORT_ANSWER.min(longest), units * choices * longest);
        let (usd, seconds) =
            taken(model, &limits, provider_batch, (units, units), input_tokens, output_tokens);
        models.push(ModelEstimate {
            model: model.display_name(),
            calls: units,
            input_tokens,
            output_tokens,
            usd,
            seconds,
        });
    }
    let of_judges = async |everything| {
        let looked = Looked { store, spec: &spec, dataset: &dataset, plan: &plan };
        judges::estimate(&looked, &scorers, everything, provider_batch).await
    };
    let judges = of_judges(false).await?;
    let usd_with = |judges: &[JudgeEstimate]| {
        let dollars = models.iter().map(|model| model.usd);
        dollars
            .chain(judges.iter().map(|judge| judge.usd))
            .try_fold((0.0, 0.0), |sum, usd| usd.map(|usd| (sum.0 + usd.0, sum.1 + usd.1)))
    };
    let usd = usd_with(&judges);
    let saves = scorers.iter().any(|scorer| scorer.scorer.has_paths());
    let everything = if saves { usd_with(&of_judges(true).await?) } else { None };
    let usd_judging_everything = everything.filter(|_| everything != usd);
    let longest = |which: fn(&(f64, f64)) -> f64| {
        let seconds = models.iter().map(|model| &model.seconds);
        seconds.chain(judges.iter().map(|judge| &judge.seconds)).map(which).fold(0.0, f64::max)
    };
    let mut assumptions = vec![
        "no call is repeated and none is answered by the cache".to_owned(),
        format!("a call takes {} to {} seconds", CALL_SECONDS.0, CALL_SECONDS.1),
        "tokens are estimated from the length of the text".to_owned(),
    ];
    if assumed_length {
        assumptions.push(format!(
            "an answer has {SHORT_ANSWER} to {LONG_ANSWER} tokens where `max_tokens` is not set"
        ));
    }
    let asks_provider = |scorer: &ScorerConfig| {
        let model = scorer.parameters.get("model").and_then(Value::as_str);
        scorer.kind == "semantic_similarity" && model.is_some_and(is_of_provider)
    };
    if spec.scorers.iter().any(asks_provider) {
        assumptions.push(
            "embeddings that a provider makes for `semantic_similarity` are not counted".to_owned(),
        );
    }
    if provider_batch {
        assumptions.push("batches of a provider cost half, and take up to 24 hours".to_owned());
    }
    if !judges.is_empty() {
        assumptions.extend(judges::assumptions());
    }
    if let (Some((_, most)), Some(budget)) = (usd, spec.budget)
        && most > budget.usd
    {
        assumptions.push(format!(
            "the run may stop at its budget of {}",
            NanoDollars::from_dollars(budget.usd)
        ));
    }
    for problem in without_baseline {
        assumptions.push(format!("before the run: {}", problem.message));
    }
    let prices = fullbench_llm::price_table();
    assumptions.push(format!(
        "built-in prices are of about {} and partly from secondary listings: set `price:` to be sure",
        prices.as_of
    ));
    Ok(Estimate {
        name: spec.name.clone(),
        cases: plan.cases.len(),
        units: plan.units(),
        usd,
        usd_judging_everything,
        seconds: (longest(|seconds| seconds.0), longest(|seconds| seconds.1)),
        models,
        judges,
        assumptions,
    })
}

/// Dollars and seconds of so many calls, each from and to.
fn taken(
    model: &ModelConfig,
    limits: &Limits,
    provider_batch: bool,
    calls: (u64, u64),
    input_tokens: (u64, u64),
    output_tokens: (u64, u64),
) -> (Option<(f64, f64)>, (f64, f64)) {
    let batched = provider_batch && Batcher::serves(model);
    let price = price_of(model).map(|price| if batched { price.in_batch() } else { price });
    let dollars = |input, output| {
        price.map(|price: Price| {
            let usage = Usage { input_tokens: input, output_tokens: output, ..Usage::default() };
            cost(&price, &usage).dollars()
        })
    };
    let usd =
        dollars(input_tokens.0, output_tokens.0).zip(dollars(input_tokens.1, output_tokens.1));
    let seconds = |calls: u64, call_seconds: f64, all_tokens: u64| {
        let by_concurrency = calls as f64 * call_seconds / f64::from(limits.concurrency);
        let per_minute = |limit: Option<u32>, amount: u64| {
            limit.map_or(0.0, |limit| amount as f64 / f64::from(limit) * 60.0)
        };
        let by_requests = per_minute(limits.requests_per_minute, calls);
        by_concurrency.max(by_requests).max(per_minute(limits.tokens_per_minute, all_tokens))
    };
    if batched {
        return (usd, BATCH_SECONDS);
    }
    let shortest = seconds(calls.0, CALL_SECONDS.0, input_tokens.0 + output_tokens.0);
    let longest = seconds(calls.1, CALL_SECONDS.1, input_tokens.1 + output_tokens.1);
    (usd, (shortest, longest))
}
