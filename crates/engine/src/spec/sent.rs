//! Evaluations that somebody else sends. They name no file, no environment variable and no program of this machine, and reach
//! only the providers' own addresses and those that are allowed.

use std::path::{Path, PathBuf};

use fullbench_llm::{ModelConfig, Provider};
use fullbench_score::ScorerConfig;
use fullbench_store::DatasetVersion;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use url::Url;

use super::decode::decode;
use super::file::{EvaluationFile, ModelEntry};
use super::load::{Check, LoadedEvaluation, Trust, spec_of};
use super::yaml::{Content, Node, Position};
use super::{Definitions, did_you_mean};
use crate::{EngineError, InputProblem};

/// The scorer that starts programs.
const STARTS_PROGRAMS: &str = "command";

/// An address, beside those of the providers, that evaluations may reach.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowedAddress {
    /// What the address begins with.
    pub url: String,
    /// Name of the environment variable with the key that is sent there.
    pub key_env: Option<String>,
}

/// What evaluations of others may do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SentRules {
    /// Addresses they may reach.
    pub addresses: Vec<AllowedAddress>,
}

impl std::str::FromStr for AllowedAddress {
    type Err = String;

    /// `URL`, or `URL=VARIABLE` with the environment variable that has the key.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (url, key_env) = match text.rsplit_once('=') {
            Some((url, variable)) if !variable.contains('/') => (url, Some(variable.to_owned())),
            _ => (text, None),
        };
        if !url.starts_with("http://") && !url.starts_with("https://") {
            return Err(format!("`{url}` does not begin with http:// or https://"));
        }
        Ok(Self { url: url.trim_end_matches('/').to_owned(), key_env })
    }
}

/// A model by itself.
#[derive(Deserialize)]
struct SentModel {
    model: ModelEntry,
}

impl SentRules {
    /// Checks a model that somebody sent, as `provider:model` or as an object; a problem is in the field `model`.
    pub fn check_model(&self, sent: Value) -> Result<ModelConfig, EngineError> {
        let mut document = json!({ "model": sent });
        let mut problems = Vec::new();
        self.apply(&mut document, "", &mut problems);
        let node = Node::of_value(document);
        let SentModel { model: ModelEntry(model) } = decode(&node).map_err(without_place)?;
        let (path, definitions, trust) = (Path::new(""), &Definitions::default(), Trust::Nobody);
        let mut check = Check { path, document: &node, definitions, problems, trust };
        if let Err(error) = model.validate() {
            check.refuse_config("model", error);
        } else if let Err(problem) = self.own_address(&model) {
            check.refuse("model", problem);
        } else if model.provider == Provider::Recorded {
            let problem = InputProblem::new("recorded answers are no model that can be asked");
            check.refuse("model.provider", problem.hint("name who serves the model"));
        } else if model.provider == Provider::Local
            && let Err(problem) = check.settle_local(&mut model.clone())
        {
            check.refuse("model.model", problem);
        }
        match check.problems {
            problems if problems.is_empty() => Ok(model),
            problems => Err(EngineError::Input(problems.into_iter().map(without_place).collect())),
        }
    }

    /// Whether an address, beside those of the providers, may be reached.
    #[must_use]
    pub fn allows(&self, url: &str) -> bool {
        self.address(url.trim_end_matches('/')).is_some()
    }

    /// Refuses a model whose provider's own address is on this machine, unless that is allowed.
    fn own_address(&self, model: &ModelConfig) -> Result<(), InputProblem> {
        let mut deployments: Vec<ModelConfig> =
            model.deployments().into_iter().map(|(_, model)| model).collect();
        if deployments.is_empty() {
            deployments.push(model.clone());
        }
        for model in deployments {
            let url = model.effective_base_url();
            if model.provider == Provider::Ollama && !self.allows(url) {
                let message = format!("the server may not reach {url}, where this model is");
                let hint = "who runs the server can allow it with `--allow-model-url`";
                return Err(InputProblem::new(message).hint(hint));
            }
        }
        Ok(())
    }

    /// The allowed address that a URL belongs to: equal, or longer by a path that leads nowhere else.
    fn address(&self, url: &str) -> Option<&AllowedAddress> {
        if climbs(url) {
            return None;
        }
        self.addresses.iter().find(|allowed| {
            url.strip_prefix(&allowed.url)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
                && is_below(url, &allowed.url)
        })
    }

    /// Refuses what would reach out of the evaluation, and adds the keys of allowed addresses.
    fn apply(&self, value: &mut Value, place: &str, problems: &mut Vec<InputProblem>) {
        match value {
            Value::Array(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    self.apply(item, &format!("{place}[{index}]"), problems);
                }
            }
            Value::Object(fields) => {
                self.apply_to_fields(fields, place, problems);
                for (name, inner) in fields.iter_mut() {
                    self.apply(inner, &join(place, name), problems);
                }
            }
            _ => {}
        }
    }

    fn apply_to_fields(
        &self,
        fields: &mut Map<String, Value>,
        place: &str,
        problems: &mut Vec<InputProblem>,
    ) {
        let mut refuse = |name: &str, message: &str, hint: &str| {
            problems.push(InputProblem::new(message).in_field(join(place, name)).hint(hint));
        };
        if fields.get("type").is_some_and(|kind| kind == STARTS_PROGRAMS) {
            let hint = "use `javascript`, which runs in a sandbox";
            refuse("type", "the server starts no programs of others", hint);
        }
        if fields.get("stored").is_some_and(|stored| stored.get("id").is_some()) {
            let hint = "name a stored judge: `{ \"type\": \"judge\", \"judge\": \"strict\" }`";
            refuse("stored", "nobody can pass for a stored judge", hint);
        }
        if fields.contains_key("api_key_env") {
            let hint = "leave it out: keys of providers are set up by who runs the server";
            refuse("api_key_env", "the server reads no environment variables for others", hint);
            return;
        }
        let Some(url) = fields.get("base_url").filter(|url| !url.is_null()) else { return };
        match url.as_str().and_then(|url| self.address(url)) {
            Some(AllowedAddress { key_env: Some(variable), .. }) => {
                fields.insert("api_key_env".to_owned(), json!(variable));
            }
            Some(_) => {}
            None => refuse(
                "base_url",
                "the server may not reach this address",
                "who runs the server can allow it with `--allow-model-url`",
            ),
        }
    }
}

/// Checks an evaluation that was sent, on cases that are frozen already.
pub fn load_sent(
    mut document: Value,
    dataset: DatasetVersion,
    definitions: &Definitions,
    rules: &SentRules,
) -> Result<LoadedEvaluation, EngineError> {
    let mut problems = Vec::new();
    rules.apply(&mut document, "", &mut problems);
    let node = Node::of_value(document);
    let file: EvaluationFile = decode(&node).map_err(without_place)?;
    let mut check =
        Check { path: Path::new(""), document: &node, definitions, problems, trust: Trust::Nobody };
    for (name, given) in [("dataset", file.dataset.is_some()), ("cases", file.cases.is_some())] {
        if given {
            check.refuse(name, InputProblem::new("the cases are given apart"));
        }
    }
    check.numbers(&file);
    let models = check.models(&file);
    let scorers = check.scorers(&file.scorers);
    check.opponents(&models, &scorers);
    check.own_addresses(&models, &scorers, rules);
    let prompt = check.prompt(&file, &models);
    check.gates(&file, &scorers);
    check.fields(&file, &dataset);
    let problems = check.problems;
    if !problems.is_empty() {
        return Err(EngineError::Input(problems.into_iter().map(without_place).collect()));
    }
    let name = file.name.clone().unwrap_or_else(|| dataset.source.clone());
    let mut spec = spec_of(&file, name, models, scorers, prompt);
    spec.dataset = dataset.source.clone();
    spec.mapping = dataset.mapping.clone();
    let path = PathBuf::from("request");
    Ok(LoadedEvaluation { path, file, spec, document: node, frozen: Some(dataset) })
}

/// Checks scorers that were sent; `field` is where they stand in what was sent.
pub fn load_sent_scorers(
    entries: &[ScorerConfig],
    definitions: &Definitions,
    rules: &SentRules,
) -> Result<Vec<ScorerConfig>, EngineError> {
    let mut document = json!({ "scorers": entries });
    let mut problems = Vec::new();
    rules.apply(&mut document, "", &mut problems);
    let entries: Vec<ScorerConfig> = serde_json::from_value(document["scorers"].take())
        .map_err(|error| InputProblem::new(error.to_string()).in_field("scorers"))?;
    let node = Node::of_value(json!({ "scorers": entries }));
    let mut check =
        Check { path: Path::new(""), document: &node, definitions, problems, trust: Trust::Nobody };
    let scorers = check.scorers(&entries);
    check.own_addresses(&[], &scorers, rules);
    match check.problems {
        problems if problems.is_empty() => Ok(scorers),
        problems => Err(EngineError::Input(problems.into_iter().map(without_place).collect())),
    }
}

impl Check<'_> {
    /// Refuses models whose provider's own address is on this machine, unless that is allowed.
    fn own_addresses(
        &mut self,
        models: &[ModelConfig],
        scorers: &[ScorerConfig],
        rules: &SentRules,
    ) {
        let models = models.iter().enumerate();
        let mut asked: Vec<(String, ModelConfig)> =
            models.map(|(index, model)| (format!("models[{index}]"), model.clone())).collect();
        for (index, scorer) in scorers.iter().enumerate() {
            let Ok(built) = fullbench_score::build(scorer) else { continue };
            let models = [built.scorer.models(), built.scorer.embedders()].concat();
            asked.extend(models.into_iter().map(|model| (format!("scorers[{index}]"), model)));
        }
        for (field, model) in asked {
            if let Err(problem) = rules.own_address(&model) {
                self.refuse(&field, problem);
            }
        }
    }

    /// Refuses names of fields that the frozen cases do not have.
    fn fields(&mut self, file: &EvaluationFile, dataset: &DatasetVersion) {
        let known: Vec<&str> = dataset.fields.iter().map(String::as_str).collect();
        let mut named: Vec<(String, &str)> = Vec::new();
        if let Some(by) = file.sample.as_ref().and_then(|sample| sample.by.as_deref()) {
            named.push(("sample.by".to_owned(), by));
        }
        for (index, name) in file.metadata.iter().flatten().enumerate() {
            named.push((format!("metadata[{index}]"), name));
        }
        for (index, model) in file.models.iter().enumerate() {
            if model.0.provider == Provider::Recorded {
                let field = model.0.field.as_deref().unwrap_or("output");
                named.push((format!("models[{index}]"), field));
            }
        }
        for (place, name) in named {
            let first = name.split('.').next().unwrap_or(name);
            if !known.contains(&name) && !known.contains(&first) {
                let problem = InputProblem::new(format!("no case has the field `{name}`"));
                self.refuse(&place, problem.hint(did_you_mean(name, known.iter().copied())));
            }
        }
    }
}

impl Node {
    /// A value that stands in no file.
    fn of_value(value: Value) -> Self {
        let content = match value {
            Value::Array(items) => {
                Content::Sequence(items.into_iter().map(Self::of_value).collect())
            }
            Value::Object(fields) => {
                let entry = |(name, inner)| (name, Position::default(), Self::of_value(inner));
                Content::Mapping(fields.into_iter().map(entry).collect())
            }
            scalar => Content::Scalar(scalar),
        };
        Self { position: Position::default(), content }
    }
}

fn join(place: &str, name: &str) -> String {
    if place.is_empty() { name.to_owned() } else { format!("{place}.{name}") }
}

/// There is no file whose lines could be named.
fn without_place(problem: InputProblem) -> InputProblem {
    InputProblem { file: None, line: None, column: None, ..problem }
}

/// Whether a part of the path leads upwards, in any of the ways in which it can be written.
fn climbs(url: &str) -> bool {
    let path = url.to_ascii_lowercase().replace("%2e", ".").replace('\\', "/");
    path.split('/').any(|part| part == ".." || part == ".")
}

/// Whether a URL, as it is reached, is at an address or below it: tabs and line breaks are not in it any more, and what climbs
/// has climbed.
fn is_below(url: &str, address: &str) -> bool {
    let (Ok(url), Ok(address)) = (Url::parse(url), Url::parse(address)) else { return false };
    let rest = url.path().strip_prefix(address.path().trim_end_matches('/'));
    url.origin() == address.origin()
        && url.username() == address.username()
        && url.password() == address.password()
        && (url.query(), url.fragment()) == (address.query(), address.fragment())
        && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests;
