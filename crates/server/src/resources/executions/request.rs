//! What an execution is asked for with.

use fullbench_store::{DatasetVersion, FieldMapping, InlineCase, RunOrder};
use fullbench_types::{ContentHash, Priority, RunId, RunKind, RunOrigin};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::access::Caller;
use crate::problem::Problem;
use crate::resources::evaluations::shapes::{Input, Model, OneOrMany};
use crate::work::Wanted;

/// A task for a model.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewExecution {
    /// The task itself; or `case`.
    #[serde(default)]
    task: Option<Task>,
    /// A case of a data set, instead of `task`.
    #[serde(default)]
    case: Option<CaseOfVersion>,
    /// The model: `provider:model`, or an object.
    #[schemars(with = "Model")]
    model: Value,
    /// Parameters of the call, where `model` is only a name.
    #[serde(default)]
    config: ExecutionConfig,
    #[serde(default)]
    priority: Option<Priority>,
    /// How long the call may take.
    #[serde(default)]
    #[schemars(range(min = 1, max = 3_600_000))]
    timeout_ms: Option<u64>,
    #[serde(default)]
    retry_policy: Option<RetryPolicy>,
    /// Anything to find the execution by.
    #[serde(default)]
    metadata: Map<String, Value>,
}

/// What is asked of the model.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Task {
    /// What is asked: text, an object, or a conversation as a list of messages.
    #[schemars(with = "Input")]
    input: Value,
    /// Instructions that stand above it.
    #[serde(default)]
    system_prompt: Option<String>,
    /// The accepted answer, or a list of them, for scoring.
    #[serde(default)]
    #[schemars(with = "Option<OneOrMany>")]
    expected_output: Option<Value>,
    /// What the answer should rest on, for scoring.
    #[serde(default)]
    #[schemars(with = "Option<OneOrMany>")]
    context: Option<Value>,
}

/// A case of a data set.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CaseOfVersion {
    dataset_version_id: Uuid,
    case_id: Uuid,
}

/// Parameters of a call.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ExecutionConfig {
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 2.0))]
    temperature: Option<f64>,
    #[serde(default)]
    #[schemars(range(min = 1))]
    max_tokens: Option<u32>,
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1.0))]
    top_p: Option<f64>,
    #[serde(default)]
    #[schemars(range(min = -2.0, max = 2.0))]
    frequency_penalty: Option<f64>,
    #[serde(default)]
    #[schemars(range(min = -2.0, max = 2.0))]
    presence_penalty: Option<f64>,
    /// Texts at which the model stops.
    #[serde(default)]
    #[schemars(with = "Option<OneOrMany>")]
    stop: Option<Value>,
    /// Receive the answer as a stream, which measures the time to the first token.
    #[serde(default)]
    stream: Option<bool>,
    /// Whether the reply may come from the response cache.
    #[serde(default)]
    #[schemars(extend("default" = true))]
    cache: Option<bool>,
}

/// How often a failed call is repeated.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RetryPolicy {
    /// Calls made before giving up.
    #[schemars(range(min = 1, max = 100))]
    max_attempts: u32,
}

impl NewExecution {
    /// The run that does the task.
    pub(super) async fn wanted(self, caller: &Caller, id: RunId) -> Result<Wanted, Problem> {
        self.check()?;
        let mut fields = Map::new();
        match (&self.task, &self.case) {
            (Some(task), None) => task.add_to(&mut fields)?,
            (None, Some(case)) => {
                let store = &caller.store;
                let case = store.case_record(case.dataset_version_id, case.case_id).await?;
                fields.extend(case.metadata);
                fields.insert("input".to_owned(), case.input);
                if let Some(expected) = case.expected_output {
                    fields.insert("reference".to_owned(), json!(expected));
                }
            }
            _ => return Err(Problem::field("task", "there must be either `task` or `case`")),
        }
        let has_system = fields.contains_key("system_prompt");
        let key = ContentHash::of(Value::Object(fields.clone()).to_string().as_bytes());
        let key = key.to_string()[..32].to_owned();
        let mapping = FieldMapping {
            input: Some("input".to_owned()),
            references: vec!["reference".to_owned()],
        };
        let case = InlineCase { key, fields };
        let dataset = DatasetVersion::of_cases("request".to_owned(), mapping, vec![case]);
        caller.store.save_dataset(&dataset, &dataset.hash).await?;
        let document = self.document(has_system)?;
        Ok(Wanted {
            id,
            kind: Some(RunKind::Single),
            document,
            dataset,
            order: RunOrder {
                origin: RunOrigin::Execution,
                priority: self.priority.unwrap_or(Priority::Normal),
                labels: self.metadata,
                created_by: Some(caller.name.clone()),
                ..RunOrder::default()
            },
        })
    }

    fn check(&self) -> Result<(), Problem> {
        if self.timeout_ms.is_some_and(|time| !(1..=3_600_000).contains(&time)) {
            return Err(Problem::field("timeout_ms", "use 1 to 3600000 milliseconds"));
        }
        let attempts = self.retry_policy.as_ref().map(|policy| policy.max_attempts);
        if attempts.is_some_and(|attempts| !(1..=100).contains(&attempts)) {
            return Err(Problem::field("retry_policy.max_attempts", "use 1 to 100"));
        }
        Ok(())
    }

    fn document(&self, has_system: bool) -> Result<Value, Problem> {
        let mut limits = Map::new();
        if let Some(time) = self.timeout_ms {
            let seconds = time as f64 / 1000.0;
            limits.insert("timeout_seconds".to_owned(), json!(seconds));
            limits.insert("deadline_seconds".to_owned(), json!(seconds));
        }
        if let Some(policy) = &self.retry_policy {
            limits.insert("attempts".to_owned(), json!(policy.max_attempts));
        }
        let mut document = json!({
            "name": "execution",
            "models": [self.model()?],
            "limits": limits,
            "cache": self.config.cache.unwrap_or(true),
        });
        if has_system {
            // A text of the caller is a value of the template, never the template.
            document["messages"] = json!({ "system": "{{ system_prompt }}" });
        }
        Ok(document)
    }

    /// The model with the parameters of the call.
    fn model(&self) -> Result<Value, Problem> {
        let config = &self.config;
        let mut parameters = Map::new();
        for (name, value) in [
            ("temperature", config.temperature.map(|value| json!(value))),
            ("max_tokens", config.max_tokens.map(|value| json!(value))),
            ("top_p", config.top_p.map(|value| json!(value))),
            ("frequency_penalty", config.frequency_penalty.map(|value| json!(value))),
            ("presence_penalty", config.presence_penalty.map(|value| json!(value))),
            ("stop", config.stop.clone()),
            ("stream", config.stream.map(|value| json!(value))),
        ] {
            if let Some(value) = value {
                parameters.insert(name.to_owned(), value);
            }
        }
        match &self.model {
            Value::Object(model) => {
                let mut model = model.clone();
                model.extend(parameters);
                Ok(Value::Object(model))
            }
            Value::String(name) if parameters.is_empty() => Ok(json!(name)),
            Value::String(name) => {
                let Some((provider, model)) = name.split_once(':') else {
                    return Err(Problem::field("model", "expected `provider:model`"));
                };
                parameters.insert("provider".to_owned(), json!(provider));
                parameters.insert("model".to_owned(), json!(model));
                Ok(Value::Object(parameters))
            }
            _ => Err(Problem::field("model", "expected `provider:model`, or an object")),
        }
    }
}

impl Task {
    fn add_to(&self, fields: &mut Map<String, Value>) -> Result<(), Problem> {
        if !matches!(self.input, Value::String(_) | Value::Object(_) | Value::Array(_)) {
            let message = "expected text, an object or a list of messages";
            return Err(Problem::field("task.input", message));
        }
        fields.insert("input".to_owned(), self.input.clone());
        for (name, value) in [
            ("system_prompt", self.system_prompt.as_ref().map(|text| json!(text))),
            ("reference", self.expected_output.clone()),
            ("context", self.context.clone()),
        ] {
            if let Some(value) = value.filter(|value| !value.is_null()) {
                fields.insert(name.to_owned(), value);
            }
        }
        Ok(())
    }
}
