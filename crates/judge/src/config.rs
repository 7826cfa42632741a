//! How a judge is configured: criterion, method, model, parameters.

use std::collections::BTreeMap;
use std::fmt;

use fullbench_llm::{ModelConfig, Provider};
use fullbench_types::Criterion;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::batch::MOST_ITEMS;
use crate::criteria::{builtin, builtin_criteria, check};
use crate::error::JudgeError;
use crate::prompts::{PromptKind, PromptOverride};

/// Most samples, so that samples and attempts are told apart.
const MOST_SAMPLES: u32 = 100;

/// Most times a reply is asked for again.
const MOST_RETRIES: u32 = 10;

/// Tokens of a reply unless the user says otherwise.
const REPLY_TOKENS: u32 = 2_048;

/// Temperature of several samples, which would be the same without.
const SAMPLING_TEMPERATURE: f64 = 0.7;

/// How a judge works.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// A number on the criterion's scale by evaluation steps, weighted by its probabilities where the model tells them.
    GEval,
    /// A number from 0 to 100 with feedback, strengths, weaknesses and evidence.
    Rubric,
    /// Pass, fail or unsure.
    Binary,
    /// A number on the criterion's scale against a reference.
    Reference,
    /// The share of the answer's claims that the context supports.
    Claims,
    /// The better of two answers, asked in both orders.
    Pairwise,
}

impl Method {
    /// The stored word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::GEval => "g_eval",
            Self::Rubric => "rubric",
            Self::Binary => "binary",
            Self::Reference => "reference",
            Self::Claims => "claims",
            Self::Pairwise => "pairwise",
        }
    }

    /// The criterion that is meant where none is named.
    #[must_use]
    pub fn default_criterion(self) -> Option<&'static str> {
        match self {
            Self::Reference => Some("accuracy"),
            Self::Claims => Some("faithfulness"),
            Self::GEval | Self::Rubric | Self::Binary | Self::Pairwise => None,
        }
    }

    /// The requests it makes, in their order.
    pub(crate) fn requests(self) -> &'static [PromptKind] {
        match self {
            Self::GEval => &[PromptKind::GEval, PromptKind::GEvalSteps],
            Self::Rubric => &[PromptKind::Rubric],
            Self::Binary => &[PromptKind::Binary],
            Self::Reference => &[PromptKind::Reference],
            Self::Claims => &[PromptKind::ClaimsSplit, PromptKind::ClaimsCheck],
            Self::Pairwise => &[PromptKind::Pairwise],
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// A built-in criterion's name, or a criterion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected the name of a criterion, or a criterion")]
pub enum CriterionChoice {
    /// A built-in criterion.
    Named(String),
    /// A criterion written in place.
    Written(Box<Criterion>),
}

/// How the reply's shape is brought about.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Structured {
    /// By the provider where it can, which all providers here do; `prompt` is for models that cannot.
    #[default]
    Auto,
    /// By the provider, which gets a JSON Schema.
    Schema,
    /// By the prompt, which shows the JSON Schema.
    Prompt,
}

/// Whether log-probabilities are asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Logprobs {
    /// Where the model is known to give them: OpenAI's format unless the model reasons, and local models.
    #[default]
    Auto,
    /// Always; a provider without them refuses.
    On,
    /// Never.
    Off,
}

/// A judge: what it judges, how, and who it asks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JudgeConfig {
    /// The judge's name where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// How it works.
    pub method: Method,
    /// What it judges: a built-in criterion's name or a criterion. `reference` judges `accuracy` and `claims` judges `faithfulness`
    /// unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub criterion: Option<CriterionChoice>,
    /// The model it asks: `openai:gpt-4o-mini`, or a model with its settings.
    #[serde(deserialize_with = "model")]
    #[schemars(with = "ModelChoice")]
    pub model: ModelConfig,
    /// `g_eval` only: the evaluation steps; written by the model once for each criterion unless given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<String>,
    /// How often the model is asked about one answer, 1 to 100.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub samples: u32,
    /// Sampling temperature; 0 for one sample and 0.7 for several unless given here or with the model. Not sent to models that
    /// reason unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Most tokens of a reply; 2048 unless given here or with the model. Not sent to models that reason unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
    /// How often a reply that is no judgement is asked for again, 0 to 10.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub retries: u32,
    /// How the reply's shape is brought about.
    #[serde(default)]
    pub structured: Structured,
    /// Whether log-probabilities of the score are asked for.
    #[serde(default)]
    pub logprobs: Logprobs,
    /// Least value from 0 to 1 that passes; without one there is a score and no verdict. `binary` needs none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f64>,
    /// How many answers are shown in one prompt, 1 to 100: cheaper, since what is common is sent once.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub batch: u32,
    /// Templates in the place of built-in ones, by request: `g_eval`, `g_eval_steps`, `rubric`, …
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub prompts: BTreeMap<PromptKind, PromptOverride>,
}

impl JudgeConfig {
    /// A judge with nothing set but how it works, what it judges and whom it asks.
    #[must_use]
    pub fn new(method: Method, criterion: &str, model: ModelConfig) -> Self {
        Self {
            name: None,
            method,
            criterion: Some(CriterionChoice::Named(criterion.to_owned())),
            model,
            steps: Vec::new(),
            samples: 1,
            temperature: None,
            max_tokens: None,
            retries: 1,
            structured: Structured::Auto,
            logprobs: Logprobs::Auto,
            threshold: None,
            batch: 1,
            prompts: BTreeMap::new(),
        }
    }

    /// The criterion, found and checked.
    pub(crate) fn found_criterion(&self) -> Result<Criterion, JudgeError> {
        let criterion = match (&self.criterion, self.method.default_criterion()) {
            (Some(CriterionChoice::Written(criterion)), _) => criterion.as_ref().clone(),
            (Some(CriterionChoice::Named(name)), _) => named(name)?,
            (None, Some(name)) => named(name)?,
            (None, None) => {
                let message = format!("`{}` needs a criterion", self.method);
                let hint = "name a built-in criterion such as `helpfulness`, or write one";
                return Err(JudgeError::setting("criterion", message, hint));
            }
        };
        check(&criterion).map_err(JudgeError::Criterion)?;
        Ok(criterion)
    }

    /// Refuses settings that cannot be.
    pub(crate) fn check(&self) -> Result<(), JudgeError> {
        let range = |field: &str, value: u32, low: u32, high: u32| {
            if (low..=high).contains(&value) {
                return Ok(());
            }
            let message = format!("{value} is not from {low} to {high}");
            Err(JudgeError::setting(field, message, format!("write a number up to {high}")))
        };
        range("samples", self.samples, 1, MOST_SAMPLES)?;
        range("retries", self.retries, 0, MOST_RETRIES)?;
        range("batch", self.batch, 1, MOST_ITEMS)?;
        self.check_batch()?;
        if let Some(threshold) = self.threshold.filter(|value| !(0.0..=1.0).contains(value)) {
            let message = format!("{threshold} is not from 0 to 1");
            let hint = "a threshold is on the value from 0 to 1, whatever the scale";
            return Err(JudgeError::setting("threshold", message, hint));
        }
        if self.threshold.is_some() && matches!(self.method, Method::Binary | Method::Pairwise) {
            let message = format!("`{}` gives a verdict by itself", self.method);
            return Err(JudgeError::setting("threshold", message, "remove `threshold`"));
        }
        if !self.steps.is_empty() && self.method != Method::GEval {
            let message = format!("`{}` has no steps", self.method);
            return Err(JudgeError::setting("steps", message, "remove them, or use `g_eval`"));
        }
        if self.steps.iter().any(|step| step.trim().is_empty()) {
            return Err(JudgeError::setting("steps", "a step is empty", "remove it"));
        }
        if self.samples > 1 && matches!(self.method, Method::Claims | Method::Pairwise) {
            let message = format!("`{}` asks once for each part", self.method);
            return Err(JudgeError::setting("samples", message, "remove `samples`"));
        }
        let used = self.method.requests();
        if let Some(kind) = self.prompts.keys().find(|kind| !used.contains(kind)) {
            let message = format!("`{}` makes no request `{kind}`", self.method);
            let names: Vec<&str> = used.iter().map(|kind| kind.as_str()).collect();
            return Err(JudgeError::setting(
                "prompts",
                message,
                format!("it makes {}", names.join(", ")),
            ));
        }
        self.check_model()
    }

    /// A batch is read by the built-in prompt, once.
    fn check_batch(&self) -> Result<(), JudgeError> {
        if self.batch == 1 {
            return Ok(());
        }
        let own = |kind: &PromptKind| *kind != PromptKind::GEvalSteps;
        let (message, hint) = if matches!(self.method, Method::Claims | Method::Pairwise) {
            (format!("`{}` looks at one answer at a time", self.method), "remove `batch`")
        } else if self.samples > 1 {
            (
                "several samples are asked for by themselves".to_owned(),
                "remove `batch` or `samples`",
            )
        } else if self.prompts.keys().any(own) {
            ("a template of one's own shows one answer".to_owned(), "remove `batch` or `prompts`")
        } else if self.logprobs == Logprobs::On {
            (
                "log-probabilities of several scores cannot be told apart".to_owned(),
                "remove `batch` or `logprobs`",
            )
        } else {
            return Ok(());
        };
        Err(JudgeError::setting("batch", message, hint))
    }

    fn check_model(&self) -> Result<(), JudgeError> {
        let model = &self.model;
        model.validate().map_err(JudgeError::Model)?;
        let own = [
            (
                "json_schema",
                model.json_schema.is_some(),
                "the judge's replies have a schema of their own",
            ),
            ("choices", !model.choices.is_empty(), "the judge chooses by itself"),
            ("stop", !model.stop.is_empty(), "a reply that is cut is no judgement"),
            ("n", model.n.is_some_and(|n| n > 1), "use `samples` of the judge"),
        ];
        if let Some((field, _, hint)) = own.into_iter().find(|(_, is_set, _)| *is_set) {
            let message = format!("`{field}` means nothing for a judge");
            return Err(JudgeError::setting(format!("model.{field}"), message, hint));
        }
        if model.seed.is_some() && self.samples > 1 {
            let message = "all samples would be the same";
            return Err(JudgeError::setting("model.seed", message, "remove `seed`, or ask once"));
        }
        Ok(())
    }

    /// Whether the provider is given the schema.
    pub(crate) fn enforces_schema(&self) -> bool {
        self.structured != Structured::Prompt
    }

    /// Whether log-probabilities are asked for.
    pub(crate) fn asks_logprobs(&self) -> bool {
        match self.logprobs {
            Logprobs::On => true,
            Logprobs::Off => false,
            Logprobs::Auto => match self.model.provider {
                Provider::Local => true,
                Provider::Openai => !self.reasons(),
                _ => false,
            },
        }
    }

    /// Whether the model thinks before it answers, by what is known of its name. Such models refuse a temperature and
    /// log-probabilities, and their thoughts count as tokens of the reply.
    pub(crate) fn reasons(&self) -> bool {
        let name = self.model.model.as_deref().unwrap_or_default();
        let name = name.rsplit('/').next().unwrap_or_default();
        let is_known = ["o1", "o3", "o4", "gpt-5"].iter().any(|prefix| name.starts_with(prefix));
        self.model.reasoning_effort.is_some() || is_known
    }

    /// The temperature that is sent.
    pub(crate) fn effective_temperature(&self) -> Option<f64> {
        let default = if self.samples > 1 { SAMPLING_TEMPERATURE } else { 0.0 };
        let default = (!self.reasons()).then_some(default);
        self.temperature.or(self.model.temperature).or(default)
    }

    /// The limit of tokens that is sent.
    pub(crate) fn effective_max_tokens(&self) -> Option<u32> {
        let default = (!self.reasons()).then_some(REPLY_TOKENS);
        self.max_tokens.or(self.model.max_tokens).or(default)
    }
}

fn named(name: &str) -> Result<Criterion, JudgeError> {
    let known = || builtin_criteria().iter().map(|one| one.name.as_str()).collect::<Vec<_>>();
    builtin(name).cloned().ok_or_else(|| JudgeError::UnknownCriterion {
        name: name.to_owned(),
        known: known().join(", "),
    })
}

#[derive(Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "expected a model such as `openai:gpt-4o-mini`, or a model with its settings"
)]
enum ModelChoice {
    Short(String),
    Long(Box<ModelConfig>),
}

fn model<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ModelConfig, D::Error> {
    match ModelChoice::deserialize(deserializer)? {
        ModelChoice::Short(text) => ModelConfig::parse(&text).map_err(serde::de::Error::custom),
        ModelChoice::Long(config) => Ok(*config),
    }
}

fn one() -> u32 {
    1
}

fn is_one(number: &u32) -> bool {
    *number == 1
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::{Value, json};

    use super::*;

    fn config(settings: Value) -> JudgeConfig {
        let mut value =
            json!({"method": "g_eval", "criterion": "clarity", "model": "openai:gpt-4o-mini"});
        for (key, setting) in settings.as_object().unwrap() {
            value[key] = setting.clone();
        }
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn settings_that_cannot_be_name_their_field() {
        let long = |setting: Value| {
            let mut model = json!({"provider": "openai", "model": "m"});
            for (key, setting) in setting.as_object().unwrap() {
                model[key] = setting.clone();
            }
            json!({"model": model, "samples": 2})
        };
        for (settings, field) in [
            (json!({"samples": 0}), "samples"),
            (json!({"samples": 101}), "samples"),
            (json!({"retries": 11}), "retries"),
            (json!({"threshold": 1.5}), "threshold"),
            (json!({"method": "binary", "threshold": 0.5}), "threshold"),
            (json!({"method": "rubric", "steps": ["a"]}), "steps"),
            (json!({"steps": [" "]}), "steps"),
            (json!({"method": "claims", "samples": 2}), "samples"),
            (json!({"prompts": {"rubric": {}}}), "prompts"),
            (long(json!({"seed": 1})), "model.seed"),
            (long(json!({"n": 2})), "model.n"),
            (long(json!({"stop": "x"})), "model.stop"),
            (long(json!({"json_schema": {}})), "model.json_schema"),
            (long(json!({"temperature": 9})), "model.temperature"),
        ] {
            let error = config(settings.clone()).check().unwrap_err();
            assert_eq!(error.field().as_deref(), Some(field), "{settings}: {error}");
        }
    }

    #[test]
    fn a_criterion_is_named_written_or_the_methods_own() {
        assert_eq!(config(json!({})).found_criterion().unwrap().name, "clarity");
        let own = config(json!({"method": "claims", "criterion": null}));
        assert_eq!(own.found_criterion().unwrap().name, "faithfulness");
        assert!(config(json!({"criterion": null})).found_criterion().is_err());
        let unknown = config(json!({"criterion": "tone"})).found_criterion().unwrap_err();
        assert!(unknown.to_string().contains("clarity"), "{unknown}");
        let written = config(json!({"criterion": {
            "name": "tone", "task_introduction": "Letters.", "evaluation_criteria": "Friendly.",
            "scale": {"min": 3, "max": 1}}}));
        let error = written.found_criterion().unwrap_err();
        assert_eq!(error.field().as_deref(), Some("criterion.scale"));
    }

    #[test]
    fn what_is_sent_depends_on_samples_and_model() {
        let plain = config(json!({}));
        assert_eq!(
            (plain.effective_temperature(), plain.effective_max_tokens()),
            (Some(0.0), Some(2_048))
        );
        assert!(plain.asks_logprobs());
        assert_eq!(config(json!({"samples": 5})).effective_temperature(), Some(0.7));
        assert_eq!(
            config(json!({"samples": 5, "temperature": 1})).effective_temperature(),
            Some(1.0)
        );
        let reasons = config(json!({"model": "openai:o3-mini"}));
        assert_eq!((reasons.effective_temperature(), reasons.effective_max_tokens()), (None, None));
        assert!(!reasons.asks_logprobs());
        assert!(!config(json!({"model": "anthropic:m"})).asks_logprobs());
        let text = serde_json::to_string(&plain).unwrap();
        assert_eq!(serde_json::from_str::<JudgeConfig>(&text).unwrap(), plain);
    }
}
