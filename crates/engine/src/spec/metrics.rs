//! Metrics by their names alone: a scorer, a stored judge, or a criterion that a model judges by.

use fullbench_judge::{Method, builtin_criteria};
use fullbench_score::{ScorerConfig, descriptions};
use serde_json::{Map, Value, json};

use super::{Definitions, did_you_mean};
use crate::InputProblem;

/// The method of judging where a criterion has none of its own.
const USUAL_METHOD: &str = "g_eval";
/// The method of judging by levels that are described.
const BY_LEVELS: &str = "rubric";

/// How metrics that are only named are judged.
#[derive(Debug, Clone, Default)]
pub struct MetricRules {
    /// The model that judges.
    pub evaluator: Option<Value>,
    /// Criteria of the caller's own, by metric: a text, or an object with `description`, `scale` and `levels`.
    pub rubrics: Map<String, Value>,
}

impl MetricRules {
    /// The scorer that a metric means.
    pub fn scorer(
        &self,
        metric: &Value,
        definitions: &Definitions,
    ) -> Result<ScorerConfig, InputProblem> {
        if let Some(name) = metric.as_str() {
            return self.named(name, definitions);
        }
        let config: ScorerConfig = serde_json::from_value(metric.clone())
            .map_err(|error| InputProblem::new(error.to_string()))?;
        Ok(self.with_evaluator(config))
    }

    /// Whether the scorer can be known without asking what the organization has stored.
    #[must_use]
    pub fn is_built_in(&self, metric: &Value) -> bool {
        let kind = metric.as_str().or_else(|| metric.get("type")?.as_str()).unwrap_or_default();
        let known = descriptions().into_iter().find(|description| description.kind == kind);
        let plain = known.is_some_and(|description| {
            description.language_model_parameters.is_empty()
                && description.scorer_parameters.is_empty()
        });
        plain && kind != "judge" && !self.rubrics.contains_key(kind)
    }

    fn named(&self, name: &str, definitions: &Definitions) -> Result<ScorerConfig, InputProblem> {
        if let Some(rubric) = self.rubrics.get(name) {
            return self.by_rubric(name, rubric);
        }
        if definitions.has_judge(name) {
            let mut config = ScorerConfig::new("judge");
            config.parameters.insert("judge".to_owned(), json!(name));
            return Ok(config);
        }
        let descriptions = descriptions();
        let criteria: Vec<&str> = builtin_criteria()
            .iter()
            .map(|criterion| criterion.name.as_str())
            .chain(definitions.criterion_names())
            .collect();
        let is_scorer = descriptions.iter().any(|description| description.kind == name);
        if is_scorer && !criteria.contains(&name) {
            return Ok(self.with_evaluator(ScorerConfig::new(name)));
        }
        if criteria.contains(&name) {
            let method = method_of(name);
            let mut config = ScorerConfig::new(method);
            config.name = Some(name.to_owned());
            config.parameters.insert("criterion".to_owned(), json!(name));
            return Ok(self.with_evaluator(config));
        }
        let known = descriptions.iter().map(|description| description.kind).chain(criteria);
        let problem = InputProblem::new(format!("there is no metric `{name}`"));
        Err(problem.hint(did_you_mean(name, known)))
    }

    fn by_rubric(&self, name: &str, rubric: &Value) -> Result<ScorerConfig, InputProblem> {
        let mut criterion = match rubric {
            Value::String(text) => json!({ "evaluation_criteria": text }),
            Value::Object(_) => rubric.clone(),
            _ => {
                let problem = InputProblem::new("a rubric is a text, or an object");
                return Err(problem.in_field(format!("config.custom_rubrics.{name}")));
            }
        };
        let Some(fields) = criterion.as_object_mut() else { return Ok(ScorerConfig::new(name)) };
        if let Some(text) = fields.remove("description") {
            fields.insert("evaluation_criteria".to_owned(), text);
        }
        fields.entry("name").or_insert_with(|| json!(name));
        fields
            .entry("task_introduction")
            .or_insert_with(|| json!("You judge an answer that was given to an input."));
        fields.entry("scale").or_insert_with(|| json!({ "min": 1, "max": 5 }));
        let has_levels =
            fields.get("levels").and_then(Value::as_array).is_some_and(|levels| !levels.is_empty());
        let mut config = ScorerConfig::new(if has_levels { BY_LEVELS } else { USUAL_METHOD });
        config.name = Some(name.to_owned());
        config.parameters.insert("criterion".to_owned(), criterion);
        Ok(self.with_evaluator(config))
    }

    /// The model that judges, for scorers that ask one and do not say which.
    fn with_evaluator(&self, mut config: ScorerConfig) -> ScorerConfig {
        let known = descriptions().into_iter().find(|description| description.kind == config.kind);
        let asks = known
            .is_some_and(|description| description.language_model_parameters.contains(&"model"));
        if let (true, Some(model)) = (asks, &self.evaluator) {
            config.parameters.entry("model").or_insert_with(|| model.clone());
        }
        config
    }
}

/// The method that was made for a criterion, else the usual one.
fn method_of(criterion: &str) -> &'static str {
    let own = ["claims", "reference"].into_iter().find(|method| {
        let method = serde_json::from_value::<Method>(json!(method));
        method.is_ok_and(|method| method.default_criterion() == Some(criterion))
    });
    own.unwrap_or(USUAL_METHOD)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scorer(rules: &MetricRules, metric: Value) -> Result<ScorerConfig, InputProblem> {
        rules.scorer(&metric, &Definitions::default())
    }

    #[test]
    fn a_name_means_a_scorer_or_a_criterion_for_a_judge() {
        let rules =
            MetricRules { evaluator: Some(json!("openai:gpt-4o-mini")), rubrics: Map::new() };
        let plain = scorer(&rules, json!("exact_match")).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((plain.kind.as_str(), plain.parameters.len()), ("exact_match", 0));
        let judged = scorer(&rules, json!("coherence")).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((judged.kind.as_str(), judged.name()), ("g_eval", "coherence"));
        assert_eq!(judged.parameters["model"], json!("openai:gpt-4o-mini"));
        assert!(
            scorer(&rules, json!("coherance")).is_err_and(|problem| {
                problem.hint.is_some_and(|hint| hint.contains("coherence"))
            })
        );
        assert!(rules.is_built_in(&json!("exact_match")));
        assert!(!rules.is_built_in(&json!("coherence")));
        assert!(!rules.is_built_in(&json!({"type": "g_eval"})));
    }

    #[test]
    fn a_rubric_of_the_caller_wins() {
        let rubrics = json!({"tone": "Is it kind?", "exact_match":
            {"description": "d", "levels": [{"score": 1, "description": "bad"}]}});
        let rubrics = rubrics.as_object().cloned().unwrap_or_default();
        let rules = MetricRules { evaluator: None, rubrics };
        let tone = scorer(&rules, json!("tone")).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(tone.parameters["criterion"]["evaluation_criteria"], "Is it kind?");
        let levels = scorer(&rules, json!("exact_match")).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(levels.kind, "rubric");
        assert!(!rules.is_built_in(&json!("exact_match")));
    }
}
