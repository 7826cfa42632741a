//! The judge that is checked, as its scorer describes it.

use fullbench_judge::builtin;
use fullbench_llm::ModelConfig;
use fullbench_score::ScorerConfig;
use fullbench_types::Criterion;
use serde_json::{Map, Value, json};

use super::{FIELD, LabelScale};
use crate::spec::{ModelEntry, default_criterion};
use crate::{EngineError, InputProblem};

/// Judges of single answers.
const SINGLE: [&str; 5] = ["g_eval", "rubric", "binary", "reference", "claims"];

/// A judge, taken apart as far as the check needs it.
pub(super) struct CheckedJudge {
    pub(super) name: String,
    pub(super) method: String,
    pub(super) model: String,
    pub(super) mark: Option<f64>,
    /// The field with the other answer, where two are compared.
    pub(super) against: Option<String>,
    /// Its replies were given before.
    pub(super) is_recorded: bool,
    criterion: Option<Criterion>,
    config: ScorerConfig,
}

impl CheckedJudge {
    pub(super) fn of(config: &ScorerConfig) -> Result<Self, EngineError> {
        let built = fullbench_score::build(config).map_err(|error| InputProblem {
            hint: error.hint.clone(),
            ..InputProblem::new(format!("the judge: {error}"))
        })?;
        let parameters = &config.parameters;
        let method = config.kind.clone();
        let is_pairwise = method == "pairwise";
        let own = if is_pairwise {
            parameters.get("judge").and_then(Value::as_object).unwrap_or(parameters)
        } else {
            parameters
        };
        let is_recorded = own.get("replies").is_some_and(|replies| !replies.is_null());
        if built.scorer.models().is_empty() && !is_recorded {
            let problem = InputProblem::new(format!("`{method}` asks no model: it is no judge"));
            let hint = "check a scorer such as `g_eval`, `binary`, `pairwise` or `panel`";
            return Err(problem.hint(hint).into());
        }
        let against = parameters.get("against").and_then(Value::as_str);
        if is_pairwise && against.is_none() {
            let problem = InputProblem::new("the check of `pairwise` compares with a column");
            return Err(problem.hint("add `against: other`, with the column's name").into());
        }
        let models = built.scorer.models();
        let mut names: Vec<String> = models.iter().map(ModelConfig::display_name).collect();
        names.dedup();
        Ok(Self {
            name: config.name().to_owned(),
            model: match is_recorded {
                true => "recorded replies".to_owned(),
                false => names.join(", "),
            },
            mark: parameters.get("threshold").and_then(Value::as_f64),
            against: against.filter(|_| is_pairwise).map(str::to_owned),
            is_recorded,
            criterion: match method.as_str() {
                "panel" => common_criterion(parameters),
                _ => criterion(own.get("criterion"), &method),
            },
            config: config.clone(),
            method,
        })
    }

    pub(super) fn criterion_name(&self) -> String {
        self.criterion.as_ref().map_or_else(|| self.method.clone(), |one| one.name.clone())
    }

    /// The members of a panel, by number, method and model.
    pub(super) fn members(&self) -> Vec<String> {
        let members = self.config.parameters.get("members").and_then(Value::as_array);
        let members = members.filter(|_| self.method == "panel").into_iter().flatten();
        let name = |(index, member): (usize, &Value)| {
            let method = member.get("method").and_then(Value::as_str).unwrap_or_default();
            let model = member.pointer("/judge/model").cloned().unwrap_or_default();
            let model = serde_json::from_value::<ModelEntry>(model)
                .map(|entry| entry.0.display_name())
                .unwrap_or_default();
            format!("{}. {method} {model}", index + 1)
        };
        members.enumerate().map(name).collect()
    }

    /// The numbers people give unless said otherwise: those of the criterion, where the judge gives them too.
    pub(super) fn scale(&self) -> LabelScale {
        let rates = matches!(self.method.as_str(), "g_eval" | "rubric" | "reference" | "panel");
        match &self.criterion {
            Some(criterion) if rates => LabelScale {
                min: f64::from(criterion.scale.min),
                max: f64::from(criterion.scale.max),
            },
            _ => LabelScale::UNIT,
        }
    }

    /// The scorer of the run.
    pub(super) fn scorer(&self, has_pairs: bool) -> ScorerConfig {
        let mut parameters = Map::new();
        let mut judge = self.config.clone();
        // Probes differ in what the judge is to notice: none may take the score of another.
        judge.parameters.remove("similar");
        parameters.insert("judge".to_owned(), json!(judge));
        if let Some(pair) = self.pair().filter(|_| has_pairs) {
            parameters.insert("pair".to_owned(), pair);
        }
        ScorerConfig {
            kind: FIELD.to_owned(),
            name: Some(self.config.name().to_owned()),
            parameters,
        }
    }

    /// How the judge's model compares two answers by its criterion; none for panels, which have no such prompt.
    pub(super) fn pair(&self) -> Option<Value> {
        if !SINGLE.contains(&self.method.as_str()) || self.is_recorded {
            return None;
        }
        let mut judge = Map::new();
        judge.insert("criterion".to_owned(), json!(self.criterion.as_ref()?));
        for name in ["model", "context", "structured"] {
            if let Some(value) = self.config.parameters.get(name) {
                judge.insert(name.to_owned(), value.clone());
            }
        }
        Some(json!({ "type": "pairwise", "against": format!("{FIELD}.other"), "judge": judge }))
    }
}

/// The criterion of a panel, where all members judge by the same.
fn common_criterion(parameters: &Map<String, Value>) -> Option<Criterion> {
    let members = parameters.get("members").and_then(Value::as_array)?;
    let mut criteria = members.iter().map(|member| {
        let method = member.get("method").and_then(Value::as_str).unwrap_or_default();
        criterion(member.pointer("/judge/criterion"), method)
    });
    let first = criteria.next()??;
    criteria.all(|other| other.as_ref() == Some(&first)).then_some(first)
}

fn criterion(given: Option<&Value>, method: &str) -> Option<Criterion> {
    match given {
        Some(Value::String(name)) => builtin(name).cloned(),
        Some(written @ Value::Object(_)) => serde_json::from_value(written.clone()).ok(),
        _ => builtin(default_criterion(method)?).cloned(),
    }
}
