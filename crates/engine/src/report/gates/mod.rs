//! Gates: conditions on a model's numbers, in the expression language of the templates.

mod call;
mod numbers;
mod regression;

use std::collections::BTreeMap;

use minijinja::value::Serde;
use minijinja::{Environment, UndefinedBehavior, Value};
use serde::{Deserialize, Serialize};

use self::call::{Call, Condition, placeholder};
use self::numbers::{OF_MODEL, OF_SCORER, numbers_of};
pub(crate) use self::regression::Comparison;
pub use self::regression::GateEvidence;
use self::regression::Judgement;
use super::summary::ModelSummary;
use crate::InputProblem;
use crate::spec::did_you_mean;

/// One gate on one model.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct GateResult {
    /// The condition.
    pub expression: String,
    /// The model.
    pub model: String,
    /// It holds.
    pub passed: bool,
    /// It holds only because the data do not show the opposite: what they leave open.
    pub warning: Option<String>,
    /// The numbers it rests on, or why it cannot be judged.
    pub detail: String,
    /// The comparisons with baselines it rests on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<GateEvidence>,
}

/// The baselines that a gate names.
pub(crate) fn baselines_of(gate: &str) -> Vec<String> {
    let calls = call::parse(gate).map(|condition| condition.calls).unwrap_or_default();
    calls.into_iter().map(|call| call.baseline).collect()
}

/// Refuses a gate that cannot be read or that uses a name nobody knows.
pub(crate) fn check_gate(gate: &str, scorers: &[&str]) -> Result<(), InputProblem> {
    let Condition { expression, calls } = call::parse(gate)?;
    for Call { scorer, negated, .. } in &calls {
        if *negated {
            return Err(InputProblem::new(format!(
                "the condition `{gate}` negates `no_regression`, which also holds where the data cannot tell"
            ))
            .hint("leave out `not`: a regression fails the gate by itself, and a condition on `mean` or `low` can ask for more"));
        }
        if !scorers.contains(&scorer.as_str()) {
            return Err(InputProblem::new(format!(
                "the condition `{gate}` uses `{scorer}`, which is no scorer of this evaluation"
            ))
            .hint(did_you_mean(scorer, scorers.iter().copied())));
        }
    }
    let environment = environment();
    let expression = environment.compile_expression(&expression).map_err(|error| {
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
    let stands_for_call = |name: &String| (0..calls.len()).any(|index| placeholder(index) == *name);
    for name in used.into_iter().filter(|name| !stands_for_call(name)) {
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

/// Judges every gate on every model; `baselines` are the comparisons with the runs that baselines stand for. What cannot
/// be judged does not hold.
pub(crate) fn judge_gates(
    gates: &[String],
    models: &[ModelSummary],
    baselines: &BTreeMap<String, Comparison>,
) -> Vec<GateResult> {
    let environment = environment();
    let mut results = Vec::new();
    for gate in gates {
        for model in models {
            let judged = judge(&environment, gate, model, baselines);
            results.push(GateResult {
                expression: gate.clone(),
                model: model.model.clone(),
                ..judged
            });
        }
    }
    results
}

fn judge(
    environment: &Environment<'_>,
    gate: &str,
    model: &ModelSummary,
    baselines: &BTreeMap<String, Comparison>,
) -> GateResult {
    let mut result = GateResult {
        expression: String::new(),
        model: String::new(),
        passed: false,
        warning: None,
        detail: String::new(),
        evidence: Vec::new(),
    };
    let Condition { expression, calls } = match call::parse(gate) {
        Ok(condition) => condition,
        Err(problem) => return GateResult { detail: problem.message, ..result },
    };
    let expression = match environment.compile_expression(&expression) {
        Ok(expression) => expression,
        Err(error) => return GateResult { detail: format!("cannot be read: {error}"), ..result },
    };
    let numbers = numbers_of(model);
    let mut shown = Vec::new();
    let mut used: Vec<String> = expression.undeclared_variables(true).into_iter().collect();
    used.sort_unstable();
    for name in used.iter().filter(|name| !name.starts_with("__")) {
        let (owner, number) = name.split_once('.').unwrap_or((name, ""));
        let Some(Some(value)) = numbers.get(owner).and_then(|numbers| numbers.get(number)) else {
            let detail = format!(
                "{name} is not defined here: there are no values, or no variation among them"
            );
            return GateResult { detail, ..result };
        };
        shown.push(format!("{name} = {}", rounded(*value)));
    }
    let mut judgements = Vec::new();
    for call in &calls {
        let baseline = baselines.get(&call.baseline);
        let (judgement, evidence) = regression::judge(call, &model.model, baseline);
        shown.extend(evidence.as_ref().map(regression::shown));
        result.evidence.extend(evidence);
        if let Judgement::Unjudged(reason) = judgement {
            return GateResult { detail: format!("cannot be judged: {reason}"), ..result };
        }
        judgements.push(judgement);
    }
    // Whether it holds, given what to make of the calls that the data leave open.
    let holds = |open: bool| {
        let mut context: BTreeMap<String, Value> = numbers
            .iter()
            .map(|(name, values)| (name.clone(), Value::from(Serde(values))))
            .collect();
        for (index, judgement) in judgements.iter().enumerate() {
            let value = match judgement {
                Judgement::Shown => true,
                Judgement::TooSmall(_) => open,
                Judgement::Regression | Judgement::Unjudged(_) => false,
            };
            context.insert(placeholder(index), Value::from(value));
        }
        expression.eval(Value::from(context)).map(|value| value.is_true())
    };
    match (holds(true), holds(false)) {
        (Ok(passed), Ok(surely)) => {
            result.passed = passed;
            if passed != surely {
                let open = judgements.into_iter().filter_map(|judgement| match judgement {
                    Judgement::TooSmall(reason) => Some(reason),
                    _ => None,
                });
                let open = open.collect::<Vec<_>>().join("; ");
                if passed {
                    result.warning = Some(open);
                } else {
                    // The condition asks for a regression, and none is shown.
                    shown.push(open);
                }
            }
            result.detail = shown.join(", ");
            result
        }
        (Err(error), _) | (_, Err(error)) => {
            GateResult { detail: format!("cannot be judged: {error}"), ..result }
        }
    }
}

fn rounded(value: f64) -> String {
    let text = format!("{value:.4}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
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
    fn a_call_names_a_scorer_and_stands_among_numbers() {
        let known = ["exact_match"];
        let call = "no_regression(exact_match, baseline: \"main\", margin: 0.02)";
        assert!(check_gate(call, &known).is_ok());
        assert!(check_gate(&format!("{call} and exact_match.mean > 0.5"), &known).is_ok());
        for negated in [format!("not {call}"), format!("exact_match.mean > 1 or not ( {call})")] {
            let problem = check_gate(&negated, &known).err().unwrap_or_default();
            assert!(problem.message.contains("negates `no_regression`"), "{negated}");
        }
        assert!(check_gate(&format!("not (exact_match.mean < 0.5) and {call}"), &known).is_ok());
        let wrong = call.replace("exact_match", "exact_mach");
        let problem = check_gate(&wrong, &known).err().unwrap_or_default();
        assert_eq!(problem.hint.as_deref(), Some("did you mean `exact_match`?"));
        assert_eq!(baselines_of(&format!("{call} or {call}")), ["main", "main"]);
    }

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
