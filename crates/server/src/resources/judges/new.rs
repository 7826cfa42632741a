//! A judge that is to be made: everything about it is checked before it is kept.

use fullbench_engine::{Definitions, EngineError, InputProblem, load_sent_scorers};
use fullbench_score::ScorerConfig;
use fullbench_store::{ModelRecord, NewJudge, ScopedStore, StoreError};
use fullbench_types::JudgeId;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::app::App;
use crate::problem::Problem;
use crate::resources::criteria::{known_criterion, stored_criterion};
use crate::resources::evaluations::shapes::Model;
use crate::resources::methods::Method;
use crate::resources::models::{NamedModel, checked, without_keys};

/// Letters of a description, at most.
const MAX_DESCRIPTION: usize = 10_000;

/// What has a field of its own, or is filled in.
const NO_PARAMETERS: [&str; 6] = ["model", "criterion", "method", "stored", "replies", "judge"];

/// A judge to be made.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "NewJudge")]
pub(super) struct WantedJudge {
    /// Lower-case letters, digits, `_`, `-` and `.`, a letter or digit first.
    #[schemars(length(min = 1, max = 100), regex(pattern = "^[a-z0-9][a-z0-9_.-]*$"))]
    name: String,
    /// The name of the criterion it judges by, in its newest revision.
    #[schemars(length(min = 1, max = 100))]
    criterion: String,
    method: Method,
    /// The model it asks: the id of a stored one, `provider:model`, or an object.
    #[schemars(with = "Model")]
    model: Value,
    /// Temperature, samples and whatever else is the judge's own, as in an evaluation file.
    #[serde(default)]
    parameters: Map<String, Value>,
    /// What it is for.
    #[serde(default)]
    #[schemars(length(max = 10_000))]
    description: Option<String>,
    /// The id of the newest judge of this name, whose place it takes.
    #[serde(default)]
    pub(super) successor_of: Option<Uuid>,
}

impl WantedJudge {
    /// The judge, if it can be asked.
    pub(super) async fn checked(self, app: &App, store: &ScopedStore) -> Result<NewJudge, Problem> {
        self.check_fields(store).await?;
        let named = model_of(app, store, &self.model).await?;
        let known = known_criterion(store, &self.criterion).await;
        let known = known.map_err(|problem| problem.in_field("criterion"))?;
        let mut parameters = self.parameters.clone();
        parameters.insert("criterion".to_owned(), json!(known.criterion));
        parameters.insert("model".to_owned(), without_keys(named.config.clone()));
        let kind = self.method.as_str().to_owned();
        let scorer = ScorerConfig { kind, name: None, parameters };
        load_sent_scorers(&[scorer], &Definitions::default(), &app.config().rules)
            .map_err(in_request)?;
        stored_criterion(store, &self.criterion).await?;
        Ok(NewJudge {
            name: self.name,
            criterion: self.criterion,
            method: self.method.as_str().to_owned(),
            provider: named.provider,
            model: named.name,
            model_config: named.config,
            parameters: Value::Object(self.parameters),
            description: self.description,
        })
    }

    async fn check_fields(&self, store: &ScopedStore) -> Result<(), Problem> {
        if let Some(name) = NO_PARAMETERS.iter().find(|name| self.parameters.contains_key(**name)) {
            let field = format!("parameters.{name}");
            let problem = Problem::field(field, format!("`{name}` is no parameter of a judge"));
            let hint = "the criterion, the method and the model have fields of their own";
            return Err(problem.hint(hint));
        }
        let length = self.description.as_ref().map_or(0, |text| text.chars().count());
        if length > MAX_DESCRIPTION {
            let message = format!("use at most {MAX_DESCRIPTION} letters");
            return Err(Problem::field("description", message));
        }
        let Some(before) = self.successor_of else { return Ok(()) };
        let before = store.judge_of_id(JudgeId(before)).await;
        let before = before.map_err(|error| Problem::from(error).in_field("successor_of"))?;
        if before.name != self.name {
            let message = format!("that judge is called `{}`", before.name);
            return Err(Problem::field("successor_of", message)
                .hint("a successor has the name of the judge whose place it takes"));
        }
        Ok(())
    }
}

/// The model that is meant: a stored one by its id or as `provider:name`, else what was sent.
async fn model_of(app: &App, store: &ScopedStore, sent: &Value) -> Result<NamedModel, Problem> {
    let text = sent.as_str().unwrap_or_default();
    let stored = if let Ok(id) = Uuid::parse_str(text) {
        let model = store.model_of_id(id).await;
        Some(model.map_err(|error| Problem::from(error).in_field("model"))?)
    } else if let Some((provider, name)) = text.split_once(':') {
        match store.model(provider.trim(), name.trim()).await {
            Err(StoreError::NameNotFound { .. }) => None,
            other => Some(other?),
        }
    } else {
        None
    };
    match stored {
        Some(ModelRecord { provider, name, config, .. }) => {
            Ok(NamedModel { provider, name, config })
        }
        None => checked(app, sent.clone()),
    }
}

/// The problems of a scorer as those of the request.
fn in_request(error: EngineError) -> Problem {
    let EngineError::Input(problems) = error else { return error.into() };
    let renamed = |problem: InputProblem| {
        let field = problem.field.as_deref().map(|field| {
            match field.strip_prefix("scorers[0]").map(|rest| rest.trim_start_matches('.')) {
                None => field.to_owned(),
                Some("") => "method".to_owned(),
                Some(rest) if rest.starts_with("model") || rest.starts_with("criterion") => {
                    rest.to_owned()
                }
                Some(rest) => format!("parameters.{rest}"),
            }
        });
        InputProblem { field, ..problem }
    };
    problems.into_iter().map(renamed).collect::<Vec<_>>().into()
}
