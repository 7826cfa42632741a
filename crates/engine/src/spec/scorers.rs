//! Checks the scorers of an evaluation file, and reads in what they name.

use std::collections::HashMap;
use std::path::Path;

use fullbench_llm::{ModelConfig, Provider};
use fullbench_score::{ScorerConfig, descriptions};
use serde::Deserialize;
use serde_json::Value;

use super::Definitions;
use super::decode::decode;
use super::did_you_mean;
use super::file::ModelEntry;
use super::load::{Check, Trust, locate, named, read_text, resolve};
use super::yaml::parse;
use crate::{EngineError, InputProblem};

/// A file with scorers; everything else in it, as in an evaluation file, is for others.
#[derive(Deserialize)]
struct ScorersFile {
    scorers: Vec<ScorerConfig>,
}

/// Reads the scorers of a file, which may be an evaluation file, with every file they name.
pub fn load_scorers(
    path: &Path,
    definitions: &Definitions,
) -> Result<Vec<ScorerConfig>, EngineError> {
    let text = read_text(path).map_err(|problem| problem.in_file(path))?;
    let document = parse(&text).map_err(|problem| problem.in_file(path))?;
    let file: ScorersFile = decode(&document).map_err(|problem| problem.in_file(path))?;
    let problems = Vec::new();
    let mut check = Check { path, document: &document, definitions, problems, trust: Trust::User };
    let scorers = check.scorers(&file.scorers);
    if file.scorers.is_empty() {
        let problem = InputProblem::new("there are no scorers");
        check.refuse("scorers", problem.hint("add one, for example `- exact_match`"));
    }
    if check.problems.is_empty() { Ok(scorers) } else { Err(EngineError::Input(check.problems)) }
}

/// A stored judge as a scorer, with everything it names read in.
pub fn stored_judge(name: &str, definitions: &Definitions) -> Result<ScorerConfig, EngineError> {
    let mut entry = ScorerConfig::new("judge");
    entry.parameters.insert("judge".to_owned(), Value::String(name.to_owned()));
    let document = parse("{}")?;
    let (path, problems) = (Path::new(""), Vec::new());
    let mut check = Check { path, document: &document, definitions, problems, trust: Trust::User };
    let mut scorers = check.scorers(&[entry]);
    match scorers.pop().filter(|_| check.problems.is_empty()) {
        Some(judge) => Ok(judge),
        // There is no file to be corrected.
        None => Err(EngineError::Input(
            check
                .problems
                .into_iter()
                .map(|problem| InputProblem {
                    message: problem.message,
                    hint: problem.hint,
                    ..InputProblem::default()
                })
                .collect(),
        )),
    }
}

impl Check<'_> {
    pub(super) fn scorers(&mut self, entries: &[ScorerConfig]) -> Vec<ScorerConfig> {
        let mut seen: HashMap<String, usize> = HashMap::new();
        let mut scorers = Vec::new();
        for (index, entry) in entries.iter().enumerate() {
            let mut scorer = entry.clone();
            let field = format!("scorers[{index}]");
            if !self.settle_scorer(&field, &mut scorer) {
                continue;
            }
            let built = fullbench_score::build(&scorer);
            if let Err(error) = built.and_then(|built| built.scorer.ready()) {
                let inner = error.field.map(|inner| format!("{field}.{inner}"));
                let problem = InputProblem { hint: error.hint, ..InputProblem::new(error.message) };
                self.refuse(inner.as_deref().unwrap_or(&field), problem);
            }
            let name = scorer.name().to_owned();
            if let Some(first) = seen.insert(name.clone(), index) {
                let problem = InputProblem::new(format!(
                    "two scorers have the name `{name}` (the other is scorers[{first}])"
                ))
                .hint("give one of them a `name:` of its own");
                self.refuse(&field, problem);
            }
            scorers.push(scorer);
        }
        scorers
    }

    /// Refuses comparisons with a model that does not answer.
    pub(super) fn opponents(&mut self, models: &[ModelConfig], scorers: &[ScorerConfig]) {
        for (index, scorer) in scorers.iter().enumerate() {
            if let Err(problem) = check_opponent(scorer, models) {
                self.refuse(&format!("scorers[{index}].opponent"), problem);
            }
        }
    }

    /// Reads in what a scorer names, and what the scorers inside it name; says whether all of it is right.
    fn settle_scorer(&mut self, field: &str, scorer: &mut ScorerConfig) -> bool {
        if let Err(problem) = self.definitions.resolve(scorer) {
            self.refuse(field, problem);
            return false;
        }
        if let Err(problem) = self.read_files(field, scorer) {
            self.problems.push(problem);
            return false;
        }
        let mut right = self.settle_models(field, scorer);
        let known = descriptions().into_iter().find(|description| description.kind == scorer.kind);
        for path in known.map_or(&[][..], |description| description.scorer_parameters) {
            let mut parameters = Value::Object(std::mem::take(&mut scorer.parameters));
            for (place, entry) in values_at(&mut parameters, path) {
                let Ok(mut inner) = serde_json::from_value::<ScorerConfig>(entry.clone()) else {
                    continue;
                };
                right &= self.settle_scorer(&format!("{field}.{place}"), &mut inner);
                *entry = serde_json::to_value(&inner).unwrap_or_default();
            }
            if let Value::Object(settled) = parameters {
                scorer.parameters = settled;
            }
        }
        right
    }

    /// Replaces the parameters that name a file by the file's content, and makes the paths of models absolute: the run
    /// may be resumed from another folder.
    fn read_files(&self, field: &str, scorer: &mut ScorerConfig) -> Result<(), InputProblem> {
        let known = descriptions().into_iter().find(|description| description.kind == scorer.kind);
        let Some(description) = known else { return Ok(()) };
        for path in description.model_parameters {
            let mut parameters = Value::Object(std::mem::take(&mut scorer.parameters));
            let settled = self.settle_folders(field, path, &mut parameters);
            if let Value::Object(filled) = parameters {
                scorer.parameters = filled;
            }
            settled?;
        }
        for parameter in description.file_parameters {
            let Some(Value::String(name)) = scorer.parameters.get(*parameter) else { continue };
            let place = format!("{field}.{parameter}");
            let here = |problem| locate(self.document, self.path, &place, problem);
            let text = self.read_text(name).map_err(|problem| here(named(problem, name)))?;
            let content: Value = serde_json::from_str(&text).map_err(|error| {
                InputProblem::new(format!("this is not valid JSON: {error}"))
                    .in_file(name)
                    .at_line(error.line() as u64)
                    .hint(format!("the file is named in {} by `{place}`", self.path.display()))
            })?;
            scorer.parameters.insert((*parameter).to_owned(), content);
        }
        for (file, content) in description.code_parameters {
            let Some(Value::String(name)) = scorer.parameters.get(*file) else { continue };
            let place = format!("{field}.{file}");
            if scorer.parameters.contains_key(*content) {
                let problem = InputProblem::new(format!("there are both `{file}` and `{content}`"));
                return Err(locate(
                    self.document,
                    self.path,
                    &place,
                    problem.hint("keep one of them"),
                ));
            }
            let text = self.read_text(name).map_err(|problem| {
                locate(self.document, self.path, &place, named(problem, name))
            })?;
            scorer.parameters.insert((*content).to_owned(), Value::String(text));
        }
        for path in description.lines_parameters {
            let mut parameters = Value::Object(std::mem::take(&mut scorer.parameters));
            let read = self.read_lines(field, path, &mut parameters);
            if let Value::Object(filled) = parameters {
                scorer.parameters = filled;
            }
            read?;
        }
        Ok(())
    }

    /// Makes the paths of models absolute, and refuses those of somebody else.
    fn settle_folders(
        &self,
        field: &str,
        path: &str,
        parameters: &mut Value,
    ) -> Result<(), InputProblem> {
        for (place, entry) in values_at(parameters, path) {
            let Value::String(name) = entry else { continue };
            if !fullbench_embed::is_path(name) {
                continue;
            }
            if self.trust == Trust::Nobody {
                let problem = InputProblem::new("the server reads no files for others")
                    .hint("name weights that the server has, for example `all-minilm-l6-v2`");
                let place = format!("{field}.{place}");
                return Err(locate(self.document, self.path, &place, problem));
            }
            let path = resolve(self.path, name);
            let path = std::path::absolute(&path).unwrap_or(path);
            *name = path.to_string_lossy().into_owned();
        }
        Ok(())
    }

    /// Replaces the paths of JSON Lines files by what is in them.
    fn read_lines(
        &self,
        field: &str,
        path: &str,
        parameters: &mut Value,
    ) -> Result<(), InputProblem> {
        for (place, entry) in values_at(parameters, path) {
            let Value::String(name) = &*entry else { continue };
            let place = format!("{field}.{place}");
            let text = self.read_text(name).map_err(|problem| {
                locate(self.document, self.path, &place, named(problem, name))
            })?;
            let mut rows = Vec::new();
            for (index, line) in text.lines().enumerate() {
                if line.trim().is_empty() {
                    continue;
                }
                rows.push(serde_json::from_str::<Value>(line).map_err(|error| {
                    InputProblem::new(format!("this is not valid JSON: {error}"))
                        .in_file(name)
                        .at_line(index as u64 + 1)
                        .hint(format!("the file is named in {} by `{place}`", self.path.display()))
                })?);
            }
            *entry = Value::Array(rows);
        }
        Ok(())
    }

    /// Checks the language models that a scorer asks, and fills in which weights those mean that run in this process. Says whether
    /// all are right; what has another shape is refused when the scorer is built.
    fn settle_models(&mut self, field: &str, scorer: &mut ScorerConfig) -> bool {
        let known = descriptions().into_iter().find(|description| description.kind == scorer.kind);
        let paths = known.map_or(&[][..], |description| description.language_model_parameters);
        let mut refused = Vec::new();
        for path in paths {
            let mut parameters = Value::Object(std::mem::take(&mut scorer.parameters));
            for (place, entry) in values_at(&mut parameters, path) {
                let field = format!("{field}.{place}");
                let Ok(ModelEntry(mut model)) = serde_json::from_value(entry.clone()) else {
                    continue;
                };
                if let Err(error) = model.validate() {
                    refused.push((field, Err(error)));
                } else if model.provider == Provider::Local {
                    match self.settle_local(&mut model) {
                        Ok(()) => *entry = serde_json::to_value(&model).unwrap_or_default(),
                        Err(problem) => refused.push((field, Ok(problem))),
                    }
                }
            }
            if let Value::Object(settled) = parameters {
                scorer.parameters = settled;
            }
        }
        let right = refused.is_empty();
        for (field, problem) in refused {
            match problem {
                Ok(problem) => self.refuse(&field, problem),
                Err(error) => self.refuse_config(&field, error),
            }
        }
        right
    }
}

/// Refuses a comparison with a model that is not among those that answer.
pub(crate) fn check_opponent(
    scorer: &ScorerConfig,
    models: &[ModelConfig],
) -> Result<(), InputProblem> {
    let Ok(built) = fullbench_score::build(scorer) else { return Ok(()) };
    let Some(opponent) = built.scorer.opponent() else { return Ok(()) };
    let names: Vec<String> = models.iter().map(ModelConfig::display_name).collect();
    if names.iter().any(|name| name == opponent) {
        return Ok(());
    }
    let problem = InputProblem::new(format!("there is no model `{opponent}` to compare with"));
    Err(problem.hint(did_you_mean(opponent, names.iter().map(String::as_str))))
}

/// The values at a dotted path, through every element of the lists on its way, each with its place.
pub(super) fn values_at<'value>(
    value: &'value mut Value,
    path: &str,
) -> Vec<(String, &'value mut Value)> {
    let mut found = vec![(String::new(), value)];
    for name in path.split('.') {
        let mut next = Vec::new();
        for (place, value) in found {
            let inner = value.as_object_mut().and_then(|fields| fields.get_mut(name));
            let place = if place.is_empty() { name.to_owned() } else { format!("{place}.{name}") };
            match inner {
                Some(Value::Array(items)) => next.extend(
                    items.iter_mut().enumerate().map(|(at, item)| (format!("{place}[{at}]"), item)),
                ),
                Some(value) => next.push((place, value)),
                None => {}
            }
        }
        found = next;
    }
    found
}
