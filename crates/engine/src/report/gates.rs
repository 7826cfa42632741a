//! Gates: conditions on a model's numbers, in the expression language of the templates.

use std::collections::BTreeMap;

use minijinja::value::Serde;
use minijinja::{Environment, UndefinedBehavior, Value};
use serde::Serialize;

use super::summary::{ModelSummary, ScorerSummary};
use crate::InputProblem;
use crate::spec::did_you_mean;

/// Numbers each scorer offers.
const OF_SCORER: [&str; 11] = [
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
const OF_MODEL: [(&str, &[&str]); 6] = [
    ("unscored", &["share", "count"]),
    ("answered", &["share", "count"]),
    ("units", &["planned", "failed", "remaining"]),
    ("cost", &["usd", "per_answer"]),
    ("latency", &["mean", "p50", "p95", "max"]),
    ("tokens", &["input", "output"]),
];

/// One gate on one model.
#[derive(Debug, Clone, Serialize)]
pub struct GateResult {
    /// The condition.
    pub expression: String,
    /// The model.
    pub model: String,
    /// It holds.
    pub passed: bool,
    /// The numbers it rests on, or why it cannot be judged.
    pub detail: String,
}

/// Refuses a gate that cannot be read or that uses a name nobody knows.
pub(crate) fn check_gate(gate: &str, scorers: &[&str]) -> Result<(), InputProblem> {
    let environment = environment();
    let expression = environment.compile_expression(gate).map_err(|error| {
        let detail = error.detail().unwrap_or("it cannot be read");
        InputProblem::new(format!("the condition `{gate}` is wrong: {detail}")).hint(
            "write it like `exact_match.mean >= 0.8` or `unscored.share <= 0.02 and cost.usd < 5`",
        )
    })?;
    let mut used: Vec<String> = expression.undeclared_variables(true).into_iter().collect();
    used.sort_unstable();
    if used.is_empty() {
        return Err(InputProblem::new(format!("the condition `{gate}` uses no number of the run"))
            .hint("write it like `exact_match.mean >= 0.8`"));
    }
    for name in used {
        let (owner, number) = name.split_once('.').unwrap_or((&name, ""));
        let of_model =
            OF_MODEL.iter().find(|(name, _)| *name == owner).map(|(_, numbers)| *numbers);
        let known = match of_model {
            Some(numbers) => numbers,
            None if scorers.contains(&owner) => &OF_SCORER[..],
            None => {
                let names = scorers.iter().copied().chain(OF_MODEL.iter().map(|(name, _)| *name));
                let names: Vec<&str> = names.collect();
                return Err(InputProblem::new(format!(
                    "the condition `{gate}` uses `{owner}`, which is no scorer of this evaluation"
                ))
                .hint(did_you_mean(owner, names)));
            }
        };
        if !known.contains(&number) {
            let hint = if number.is_empty() {
                format!("say which number of it: `{owner}.{}`", known[0])
            } else {
                did_you_mean(number, known.iter().copied())
            };
            return Err(InputProblem::new(format!(
                "the condition `{gate}` uses `{name}`, which is no number"
            ))
            .hint(hint));
        }
    }
    Ok(())
}

/// Judges every gate on every model. What cannot be judged does not hold.
#[must_use]
pub fn judge_gates(gates: &[String], models: &[ModelSummary]) -> Vec<GateResult> {
    let environment = environment();
    let mut results = Vec::new();
    for gate in gates {
        for model in models {
            let (passed, detail) = judge(&environment, gate, model);
            results.push(GateResult {
                expression: gate.clone(),
                model: model.model.clone(),
                passed,
                detail,
            });
        }
    }
    results
}

fn judge(environment: &Environment<'_>, gate: &str, model: &ModelSummary) -> (bool, String) {
    let numbers = numbers_of(model);
    let expression = match environment.compile_expression(gate) {
        Ok(expression) => expression,
        Err(error) => return (false, format!("cannot be read: {error}")),
    };
    let mut used: Vec<String> = expression.undeclared_variables(true).into_iter().collect();
    used.sort_unstable();
    let mut shown = Vec::new();
    for name in used {
        let (owner, number) = name.split_once('.').unwrap_or((&name, ""));
        match numbers.get(owner).and_then(|numbers| numbers.get(number)) {
            Some(Some(value)) => shown.push(format!("{name} = {}", rounded(*value))),
            _ => {
                return (
                    false,
                    format!(
                        "{name} is not defined here: there are no values, or no variation among them"
                    ),
                );
            }
        }
    }
    match expression.eval(Value::from(Serde(&numbers))) {
        Ok(value) => (value.is_true(), shown.join(", ")),
        Err(error) => (false, format!("cannot be judged: {error}")),
    }
}

type Numbers = BTreeMap<String, BTreeMap<&'static str, Option<f64>>>;

fn numbers_of(model: &ModelSummary) -> Numbers {
    let mut numbers: Numbers =
        model.scores.iter().map(|scores| (scores.scorer.clone(), of_scorer(scores))).collect();
    let unscored: u64 = model.scores.iter().map(ScorerSummary::unscored_count).sum();
    let wanted = model.planned * model.scores.len() as u64;
    let failed: u64 = model.failures.values().sum();
    let share = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
    let latency = |number: fn(&super::LatencySummary) -> f64| model.latency_ms.as_ref().map(number);
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

fn rounded(value: f64) -> String {
    let text = format!("{value:.4}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    text.to_owned()
}

fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_names_are_refused_with_a_suggestion() {
        assert!(
            check_gate("exact_match.mean >= 0.8 and unscored.share <= 0.02", &["exact_match"])
                .is_ok()
        );
        let problem =
            check_gate("exact_mach.mean >= 0.8", &["exact_match"]).err().unwrap_or_default();
        assert_eq!(problem.hint.as_deref(), Some("did you mean `exact_match`?"));
        let problem =
            check_gate("exact_match.men >= 0.8", &["exact_match"]).err().unwrap_or_default();
        assert_eq!(problem.hint.as_deref(), Some("did you mean `mean`?"));
        assert!(check_gate("exact_match >= 0.8", &["exact_match"]).is_err());
        assert!(check_gate("1 < 2", &[]).is_err());
        assert!(check_gate("exact_match.mean >=", &["exact_match"]).is_err());
    }
}
