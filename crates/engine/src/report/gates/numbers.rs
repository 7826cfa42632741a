//! The numbers that conditions may use.

use std::collections::BTreeMap;

use super::super::summary::{LatencySummary, ModelSummary, ScorerSummary};

/// Numbers each scorer offers.
pub(super) const OF_SCORER: [&str; 11] = [
    "mean",
    "low",
    "high",
    "p50",
    "p95",
    "count",
    "passed",
    "failed",
    "unscored",
    "worst_mean",
    "best_mean",
];
/// Numbers of the model itself.
pub(super) const OF_MODEL: [(&str, &[&str]); 6] = [
    ("unscored", &["share", "count"]),
    ("answered", &["share", "count"]),
    ("units", &["planned", "failed", "remaining"]),
    ("cost", &["usd", "per_answer"]),
    ("latency", &["mean", "p50", "p95", "max"]),
    ("tokens", &["input", "output"]),
];

/// Numbers by owner and name; none where a number does not exist.
pub(super) type Numbers = BTreeMap<String, BTreeMap<&'static str, Option<f64>>>;

/// Every number of a model.
pub(super) fn numbers_of(model: &ModelSummary) -> Numbers {
    let mut numbers: Numbers =
        model.scores.iter().map(|scores| (scores.scorer.clone(), of_scorer(scores))).collect();
    let unscored: u64 = model.scores.iter().map(ScorerSummary::unscored_count).sum();
    let wanted = model.planned * model.scores.len() as u64;
    let failed: u64 = model.failures.values().sum();
    let share = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
    let latency = |number: fn(&LatencySummary) -> f64| model.latency_ms.as_ref().map(number);
    let of_model: [(&str, BTreeMap<&'static str, Option<f64>>); 6] = [
        (
            "unscored",
            BTreeMap::from([("share", share(unscored, wanted)), ("count", Some(unscored as f64))]),
        ),
        (
            "answered",
            BTreeMap::from([
                ("share", share(model.answered, model.planned)),
                ("count", Some(model.answered as f64)),
            ]),
        ),
        (
            "units",
            BTreeMap::from([
                ("planned", Some(model.planned as f64)),
                ("failed", Some(failed as f64)),
                ("remaining", Some(model.remaining as f64)),
            ]),
        ),
        (
            "cost",
            BTreeMap::from([
                ("usd", model.cost_usd),
                (
                    "per_answer",
                    model
                        .cost_usd
                        .filter(|_| model.answered > 0)
                        .map(|usd| usd / model.answered as f64),
                ),
            ]),
        ),
        (
            "latency",
            BTreeMap::from([
                ("mean", latency(|latency| latency.mean)),
                ("p50", latency(|latency| latency.p50)),
                ("p95", latency(|latency| latency.p95)),
                ("max", latency(|latency| latency.max)),
            ]),
        ),
        (
            "tokens",
            BTreeMap::from([
                ("input", Some(model.input_tokens as f64)),
                ("output", Some(model.output_tokens as f64)),
            ]),
        ),
    ];
    numbers.extend(of_model.map(|(name, values)| (name.to_owned(), values)));
    numbers
}

fn of_scorer(scores: &ScorerSummary) -> BTreeMap<&'static str, Option<f64>> {
    let values = [
        scores.mean,
        scores.low,
        scores.high,
        scores.p50,
        scores.p95,
        Some(scores.count as f64),
        Some(scores.passed as f64),
        Some(scores.failed as f64),
        Some(scores.unscored_count() as f64),
        scores.worst_mean,
        scores.best_mean,
    ];
    OF_SCORER.into_iter().zip(values).collect()
}
