//! Conditions on what the tiers said, in the expression language of gates and templates.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use fullbench_types::{Outcome, Score};
use minijinja::value::Serde;
use minijinja::{Environment, Expression, UndefinedBehavior, Value};
use serde_json::{Map, json};

use crate::registry::{ScorerConfigError, suggestion};
use crate::scorer::Item;

/// What a condition may ask of a scorer.
const OF_SCORER: [&str; 6] = ["value", "raw", "confidence", "passed", "failed", "unscored"];
/// What a condition may ask of a tier.
const OF_TIER: [&str; 5] = ["value", "confidence", "passed", "failed", "doubt"];
/// What a condition may ask of the output.
const OF_OUTPUT: [&str; 2] = ["characters", "words"];
/// The case's fields, any of which may be asked for.
const CASE: &str = "case";
/// The output.
const OUTPUT: &str = "output";

/// The names that conditions of a cascade may use.
#[derive(Default)]
pub(super) struct Names {
    scorers: BTreeSet<String>,
    tiers: BTreeSet<String>,
}

impl Names {
    /// Adds a tier and its scorers: from here on conditions may use them.
    pub(super) fn add<'name>(
        &mut self,
        tier: &str,
        scorers: impl Iterator<Item = &'name str>,
    ) -> Result<(), ScorerConfigError> {
        let scorers: Vec<&str> = scorers.collect();
        let taken = |names: &Names, name: &str| {
            names.scorers.contains(name)
                || names.tiers.contains(name)
                || [CASE, OUTPUT].contains(&name)
        };
        let again = |name: &str| {
            ScorerConfigError::at("name", format!("`{name}` stands for something else already"))
                .hint("give every tier and every scorer of a cascade a `name:` of its own")
        };
        // A tier of one scorer may be called like it: they say the same.
        if taken(self, tier) {
            return Err(again(tier));
        }
        for name in &scorers {
            if taken(self, name) || (*name == tier && scorers.len() > 1) {
                return Err(again(name));
            }
            if *name != tier && !self.scorers.insert((*name).to_owned()) {
                return Err(again(name));
            }
        }
        self.tiers.insert(tier.to_owned());
        Ok(())
    }

    fn known(&self, owner: &str) -> Option<&'static [&'static str]> {
        match owner {
            OUTPUT => Some(&OF_OUTPUT),
            _ if self.tiers.contains(owner) => Some(&OF_TIER),
            _ if self.scorers.contains(owner) => Some(&OF_SCORER),
            _ => None,
        }
    }

    fn all(&self) -> Vec<&str> {
        let own = self.tiers.iter().chain(&self.scorers).map(String::as_str);
        own.chain([OUTPUT, CASE]).collect()
    }
}

/// A condition that can be read, and the numbers it needs.
pub(super) struct Condition {
    source: String,
    expression: Expression<'static, 'static>,
    needs: Vec<String>,
}

impl Condition {
    /// Reads a condition; an error is without its place.
    pub(super) fn read(source: &str, names: &Names) -> Result<Self, ScorerConfigError> {
        let expression =
            ENVIRONMENT.compile_expression_owned(source.to_owned()).map_err(|error| {
                let detail = error.detail().unwrap_or("it cannot be read");
                ScorerConfigError::new(format!("the condition `{source}` is wrong: {detail}"))
                    .hint("write it like `fast.failed or fast.doubt` or `token_f1.value < 0.3`")
            })?;
        let mut needs: Vec<String> = expression.undeclared_variables(true).into_iter().collect();
        needs.sort_unstable();
        for name in &needs {
            let (owner, number) = name.split_once('.').unwrap_or((name, ""));
            if owner == CASE {
                continue;
            }
            let Some(known) = names.known(owner) else {
                return Err(ScorerConfigError::new(format!(
                    "the condition `{source}` uses `{owner}`, which no tier before has"
                ))
                .hint(suggestion(owner, "names", names.all().into_iter())));
            };
            if !known.contains(&number) {
                return Err(ScorerConfigError::new(format!(
                    "the condition `{source}` uses `{name}`, which there is not"
                ))
                .hint(format!("`{owner}` has {}", known.join(", "))));
            }
        }
        if let Some(problem) = never_decided(&expression, &needs) {
            return Err(ScorerConfigError::new(format!(
                "the condition `{source}` is wrong: {problem}"
            ))
            .hint("compare numbers with numbers; filters and tests are those of templates"));
        }
        needs.retain(|name| !name.starts_with("case.") && name != CASE);
        Ok(Self { source: source.to_owned(), expression, needs })
    }

    /// What it gives; none where a number it needs does not exist for this output.
    fn evaluate(&self, known: &Known) -> Option<Value> {
        let exists = |name: &String| {
            let (owner, number) = name.split_once('.').unwrap_or((name, ""));
            known.values.get(owner).is_some_and(|value| !value[number].is_null())
        };
        if !self.needs.iter().all(exists) {
            return None;
        }
        self.expression.eval(Value::from(Serde(&known.values))).ok()
    }

    /// Whether it holds; none where that cannot be said.
    pub(super) fn holds(&self, known: &Known) -> Option<bool> {
        self.evaluate(known).map(|value| value.is_true())
    }

    /// The number it gives; none where it gives none.
    pub(super) fn number(&self, known: &Known) -> Option<f64> {
        self.evaluate(known).and_then(|value| f64::try_from(value).ok())
    }

    pub(super) fn source(&self) -> &str {
        &self.source
    }
}

/// Why a condition cannot be decided for any output; it is tried with numbers that every output might have.
fn never_decided(expression: &Expression<'static, 'static>, needs: &[String]) -> Option<String> {
    let mut values: BTreeMap<String, serde_json::Value> = BTreeMap::new();
    for name in needs.iter().filter(|name| !name.starts_with("case.") && *name != CASE) {
        let (owner, number) = name.split_once('.').unwrap_or((name, ""));
        let verdict = ["passed", "failed", "doubt", "unscored"].contains(&number);
        let value = if verdict { json!(false) } else { json!(0.5) };
        let owner = values.entry(owner.to_owned()).or_insert_with(|| json!({}));
        owner[number] = value;
    }
    // Fields of cases may be anything.
    if needs.iter().any(|name| name.starts_with(CASE)) {
        return None;
    }
    let error = expression.eval(Value::from(Serde(&values))).err()?;
    Some(error.detail().map_or_else(|| error.to_string(), str::to_owned))
}

/// What is known of an output after some tiers.
pub(super) struct Known {
    values: BTreeMap<String, serde_json::Value>,
}

impl Known {
    pub(super) fn of(item: &Item<'_>) -> Self {
        let text = &item.generation.text;
        let output = json!({
            "characters": text.chars().count(),
            "words": text.split_whitespace().count(),
        });
        let case = serde_json::Value::Object(item.case.fields.clone());
        let values = [(OUTPUT.to_owned(), output), (CASE.to_owned(), case)];
        Self { values: BTreeMap::from(values) }
    }

    /// The confidence that the scorers of a tier measured.
    pub(super) fn confidence(&self, tier: &str) -> Option<f64> {
        self.values.get(tier)?.get("confidence")?.as_f64()
    }

    /// Takes in what a tier said: as a whole, and each of its scorers.
    pub(super) fn add<'score>(
        &mut self,
        tier: &str,
        whole: &Whole,
        scores: impl Iterator<Item = (&'score str, &'score Score)>,
    ) {
        for (name, score) in scores {
            let said = json!({
                "value": score.value,
                "raw": score.raw,
                "confidence": score.confidence,
                "passed": score.outcome == Outcome::Passed,
                "failed": score.outcome == Outcome::Failed,
                "unscored": matches!(score.outcome, Outcome::Unscored(_)),
            });
            self.values.insert(name.to_owned(), said);
        }
        let said = json!({
            "value": whole.value,
            "confidence": whole.confidence,
            "passed": whole.outcome == Outcome::Passed,
            "failed": whole.outcome == Outcome::Failed,
            "doubt": matches!(whole.outcome, Outcome::Unscored(_)),
        });
        let entry = self.values.entry(tier.to_owned()).or_insert_with(|| Map::new().into());
        if let (Some(entry), serde_json::Value::Object(said)) = (entry.as_object_mut(), said) {
            entry.extend(said);
        }
    }
}

/// What a tier said as a whole: failed where one of its scorers fails, in doubt where one has no score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Whole {
    pub(super) outcome: Outcome,
    pub(super) value: Option<f64>,
    pub(super) confidence: Option<f64>,
}

impl Whole {
    pub(super) fn of(scores: &[Score]) -> Self {
        let outcomes = || scores.iter().map(|score| score.outcome);
        let unscored = outcomes().find(|outcome| matches!(outcome, Outcome::Unscored(_)));
        let outcome = if outcomes().any(|outcome| outcome == Outcome::Failed) {
            Outcome::Failed
        } else if let Some(unscored) = unscored {
            unscored
        } else if outcomes().all(|outcome| outcome == Outcome::Passed) {
            Outcome::Passed
        } else {
            Outcome::Scored
        };
        let lowest = |of: fn(&Score) -> Option<f64>| {
            let all: Option<Vec<f64>> = scores.iter().map(of).collect();
            all.and_then(|all| all.into_iter().reduce(f64::min))
        };
        Self {
            outcome,
            value: lowest(|score| score.value),
            confidence: lowest(|score| score.confidence),
        }
    }
}

/// The language of conditions, the same as that of gates.
static ENVIRONMENT: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment
});
