//! Reads an evaluation file, checks it whole, and freezes it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use fullbench_llm::{ConfigError, ModelConfig, Provider};
use fullbench_score::ScorerConfig;
use fullbench_store::DatasetVersion;
use serde_json::{Value, json};

use super::conditions::quoted;
use super::decode::{decode, path_text, problem_at, steps_of};
use super::file::{DatasetMap, EvaluationFile, SampleStrategy};
use super::yaml::{Node, Step, parse};
use super::{Definitions, EvaluationSpec, MessageTemplates};
use crate::prompt::PromptTemplates;
use crate::report::check_gate;
use crate::{EngineError, InputProblem};

/// Larger evaluation files are a mistake.
const MAX_FILE_BYTES: u64 = 16 * 1024 * 1024;

/// An evaluation file that holds together; its data set is not read yet.
#[derive(Debug, Clone)]
pub struct LoadedEvaluation {
    /// The file, as the user named it.
    pub path: PathBuf,
    /// The parsed file.
    pub file: EvaluationFile,
    /// The spec so far: the field mapping is completed when the data set is read.
    pub spec: EvaluationSpec,
    pub(super) document: Node,
    /// The cases, where they are frozen already.
    pub(crate) frozen: Option<DatasetVersion>,
}

/// Whose evaluation it is, and so what of this machine it may name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trust {
    /// The user's own.
    User,
    /// Somebody else's: nothing.
    Nobody,
}

impl LoadedEvaluation {
    /// A problem at a key of the file.
    #[must_use]
    pub fn problem(&self, field: &str, problem: InputProblem) -> InputProblem {
        locate(&self.document, &self.path, field, problem)
    }

    /// An evaluation without a file: answers that are there, from `source`, and scorers that are settled.
    pub(crate) fn of_cases(
        name: &str,
        source: &Path,
        cases: Vec<Value>,
        scorers: Vec<ScorerConfig>,
    ) -> Result<Self, EngineError> {
        let described = json!({ "name": name, "cases": cases, "models": ["recorded"] });
        let file: EvaluationFile = serde_json::from_value(described)
            .map_err(|error| EngineError::StoredSpec(error.to_string()))?;
        let models = file.models.iter().map(|entry| entry.0.clone()).collect();
        let prompt = PromptTemplates { required: false, ..PromptTemplates::default() };
        let mut spec = spec_of(&file, name.to_owned(), models, scorers, prompt);
        spec.dataset = source.display().to_string();
        let document = parse("{}")?;
        Ok(Self { path: source.to_owned(), file, spec, document, frozen: None })
    }

    /// The data set file, if the cases are not inline.
    #[must_use]
    pub fn dataset_file(&self) -> Option<(&DatasetMap, PathBuf)> {
        let dataset = &self.file.dataset.as_ref()?.0;
        Some((dataset, resolve(&self.path, &dataset.path)))
    }

    /// The line of an inline case.
    #[must_use]
    pub fn case_line(&self, index: usize) -> u64 {
        self.document.position_of(&[Step::Key("cases".to_owned()), Step::Index(index)]).line
    }
}

/// Reads and checks an evaluation file and every file it names except the data set; judges and criteria of the store are put in
/// the place of their names.
pub fn load_evaluation(
    path: &Path,
    definitions: &Definitions,
) -> Result<LoadedEvaluation, EngineError> {
    let in_file = |problem: InputProblem| problem.in_file(path);
    let text = read_text(path).map_err(|problem| {
        if path.exists() {
            return in_file(problem);
        }
        let hint = "name an evaluation file; `fullbench init` writes an example";
        in_file(InputProblem::new("there is no such file").hint(hint))
    })?;
    let document = parse(&quoted(&text)).or_else(|_| parse(&text)).map_err(in_file)?;
    let file: EvaluationFile = decode(&document).map_err(in_file)?;
    let problems = Vec::new();
    let mut check = Check { path, document: &document, definitions, problems, trust: Trust::User };
    check.cases(&file);
    check.numbers(&file);
    let models = check.models(&file);
    let scorers = check.scorers(&file.scorers);
    check.opponents(&models, &scorers);
    let prompt = check.prompt(&file, &models);
    check.gates(&file, &scorers);
    if !check.problems.is_empty() {
        return Err(EngineError::Input(check.problems));
    }
    let name = file.name.clone().unwrap_or_else(|| default_name(path));
    let spec = spec_of(&file, name, models, scorers, prompt);
    Ok(LoadedEvaluation { path: path.to_owned(), file, spec, document, frozen: None })
}

/// The spec of a file whose parts are checked.
pub(super) fn spec_of(
    file: &EvaluationFile,
    name: String,
    models: Vec<ModelConfig>,
    scorers: Vec<ScorerConfig>,
    prompt: PromptTemplates,
) -> EvaluationSpec {
    let dataset =
        file.dataset.as_ref().map_or("cases of the evaluation file", |dataset| &dataset.0.path);
    EvaluationSpec {
        name,
        description: file.description.clone(),
        dataset: dataset.to_owned(),
        mapping: fullbench_store::FieldMapping::default(),
        metadata: file.metadata.clone(),
        prompt,
        models,
        repetitions: file.repetitions,
        scorers,
        sample: file.sample.clone(),
        limits: file.limits.clone(),
        cache: file.cache.clone(),
        budget: file.budget,
        gates: file.gates.clone(),
        group: None,
        baselines: std::collections::BTreeMap::new(),
        judge_check: None,
    }
}

/// The checks of an evaluation file, with the problems found so far.
pub(super) struct Check<'file> {
    pub(super) path: &'file Path,
    pub(super) document: &'file Node,
    pub(super) definitions: &'file Definitions,
    pub(super) problems: Vec<InputProblem>,
    pub(super) trust: Trust,
}

impl Check<'_> {
    /// The text of a file that the evaluation names.
    pub(super) fn read_text(&self, name: &str) -> Result<String, InputProblem> {
        match self.trust {
            Trust::User => read_text(&resolve(self.path, name)),
            Trust::Nobody => Err(InputProblem::new("the server reads no files for others")
                .hint("write here what is in the file")),
        }
    }

    /// Fills in which weights a model means that runs in this process.
    pub(super) fn settle_local(&self, model: &mut ModelConfig) -> Result<(), InputProblem> {
        let is_path = model.model.as_deref().is_some_and(fullbench_embed::is_path);
        if is_path && self.trust == Trust::Nobody {
            return Err(InputProblem::new("the server reads no files for others")
                .hint("name weights that the server has, for example `smollm2-135m-instruct`"));
        }
        let folder = self.path.parent().unwrap_or(Path::new(""));
        crate::local::settle(model, folder)
    }

    pub(super) fn refuse(&mut self, field: &str, problem: InputProblem) {
        self.problems.push(locate(self.document, self.path, field, problem));
    }

    fn cases(&mut self, file: &EvaluationFile) {
        match (&file.dataset, &file.cases) {
            (Some(_), Some(_)) => {
                let problem = InputProblem::new("there are both `dataset` and `cases`")
                    .hint("keep one of them");
                self.refuse("cases", problem);
            }
            (None, None) => {
                let problem = InputProblem::new("the key `dataset` is missing")
                    .hint("add `dataset: path/to/cases.jsonl`, or write the cases under `cases:`");
                self.refuse("", problem);
            }
            (None, Some(cases)) if cases.is_empty() => {
                self.refuse(
                    "cases",
                    InputProblem::new("there are no cases").hint("add at least one"),
                );
            }
            _ => {}
        }
    }

    pub(super) fn numbers(&mut self, file: &EvaluationFile) {
        if file.repetitions == 0 || file.repetitions > 10_000 {
            let problem = InputProblem::new(format!("{} is out of range", file.repetitions));
            self.refuse("repetitions", problem.hint("use 1 to 10000"));
        }
        if let Err(error) = file.limits.validate() {
            self.refuse_config("limits", error);
        }
        if let Some(sample) = &file.sample {
            if sample.size == 0 {
                self.refuse(
                    "sample.size",
                    InputProblem::new("a sample of 0 cases").hint("use 1 or more"),
                );
            }
            match (sample.strategy, &sample.by) {
                (SampleStrategy::Stratified, None) => {
                    let problem =
                        InputProblem::new("a stratified sample needs the field of its strata")
                            .hint("add `by: category`, with a field of your data");
                    self.refuse("sample", problem);
                }
                (SampleStrategy::First | SampleStrategy::Random, Some(_)) => {
                    let problem = InputProblem::new("`by` goes with `strategy: stratified`")
                        .hint("add `strategy: stratified`, or remove `by`");
                    self.refuse("sample.by", problem);
                }
                _ => {}
            }
        }
        if file.budget.is_some_and(|budget| !budget.usd.is_finite() || budget.usd < 0.0) {
            let problem = InputProblem::new("a budget cannot be negative")
                .hint("use dollars, for example `usd: 5.00`");
            self.refuse("budget.usd", problem);
        }
        if let Err(message) = file.cache.max_age() {
            self.refuse(
                "cache.max_age",
                InputProblem::new(message).hint("write it as `14d`, `12h` or `30m`"),
            );
        }
        if let Err(message) = file.cache.max_bytes() {
            self.refuse(
                "cache.max_size",
                InputProblem::new(message).hint("write it as `2GB` or `500MB`"),
            );
        }
    }

    pub(super) fn models(&mut self, file: &EvaluationFile) -> Vec<ModelConfig> {
        if file.models.is_empty() {
            let problem = InputProblem::new("there are no models")
                .hint("add one, for example `- openai:gpt-4o-mini`");
            self.refuse("models", problem);
        }
        let mut seen: HashMap<String, usize> = HashMap::new();
        let mut models = Vec::new();
        for (index, entry) in file.models.iter().enumerate() {
            let mut model = entry.0.clone();
            let field = format!("models[{index}]");
            let limits = model.limits.as_ref().map(|limits| limits.apply(&file.limits));
            if let Err(error) = model.validate() {
                self.refuse_config(&field, error);
            } else if file.limits.validate().is_ok()
                && let Some(Err(error)) = limits.map(|limits| limits.validate())
            {
                self.refuse_config(&format!("{field}.limits"), error);
            }
            let name = model.display_name();
            if model.provider == Provider::Local
                && model.validate().is_ok()
                && let Err(problem) = self.settle_local(&mut model)
            {
                self.refuse(&format!("{field}.model"), problem);
            }
            if let Some(first) = seen.insert(name.clone(), index) {
                let problem = InputProblem::new(format!(
                    "two models have the name `{name}` (the other is models[{first}])"
                ))
                .hint("give one of them another `name:`");
                self.refuse(&field, problem);
            }
            model.name = Some(name);
            models.push(model);
        }
        models
    }

    pub(super) fn prompt(
        &mut self,
        file: &EvaluationFile,
        models: &[ModelConfig],
    ) -> PromptTemplates {
        let templates = match (&file.prompt, &file.messages) {
            (Some(_), Some(_)) => {
                let problem = InputProblem::new("there are both `prompt` and `messages`")
                    .hint("keep one of them");
                self.refuse("messages", problem);
                return PromptTemplates::default();
            }
            (Some(prompt), None) => self.prompt_text(prompt),
            (None, Some(messages)) => PromptTemplates::of_messages(messages),
            (None, None) => PromptTemplates::default(),
        };
        if let Err(error) = templates.compile() {
            self.template_problem(file, &error);
        }
        let calls_a_model = models.iter().any(|model| model.provider != Provider::Recorded);
        if calls_a_model { templates } else { PromptTemplates { required: false, ..templates } }
    }

    fn prompt_text(&mut self, prompt: &str) -> PromptTemplates {
        if is_template(prompt) {
            return PromptTemplates::of_text("prompt", prompt);
        }
        match self.read_text(prompt) {
            Ok(text) => PromptTemplates::of_text(prompt, &text),
            Err(problem) => {
                let hint =
                    "give the path of a template file, or the template itself with `{{ input }}`";
                let problem = named(problem, prompt);
                let hint = problem.hint.clone().unwrap_or_else(|| hint.to_owned());
                self.refuse("prompt", problem.hint(hint));
                PromptTemplates::default()
            }
        }
    }

    fn template_problem(&mut self, file: &EvaluationFile, error: &crate::prompt::TemplateError) {
        let problem =
            InputProblem { hint: error.hint.clone(), ..InputProblem::new(error.message.clone()) };
        let is_file = file.prompt.as_deref() == Some(error.template.as_str());
        if is_file {
            let line = error.line.map(|line| line as u64);
            self.problems.push(InputProblem { line, ..problem.in_file(&error.template) });
        } else {
            self.refuse(&error.template, problem);
        }
    }

    pub(super) fn gates(&mut self, file: &EvaluationFile, scorers: &[ScorerConfig]) {
        let names: Vec<&str> = scorers.iter().map(ScorerConfig::name).collect();
        for (index, gate) in file.gates.iter().enumerate() {
            if let Err(problem) = check_gate(gate, &names) {
                self.refuse(&format!("gates[{index}]"), problem);
            }
        }
    }

    pub(super) fn refuse_config(&mut self, field: &str, error: ConfigError) {
        let inner = if error.field.is_empty() {
            field.to_owned()
        } else {
            format!("{field}.{}", error.field)
        };
        self.refuse(&inner, InputProblem { hint: error.hint, ..InputProblem::new(error.message) });
    }
}

impl PromptTemplates {
    /// The messages as they are written under `messages` of an evaluation file.
    #[must_use]
    pub fn of_messages(messages: &MessageTemplates) -> Self {
        let mut templates = Self { explicit: true, ..Self::default() };
        if let Some(system) = &messages.system {
            templates.push("messages.system", fullbench_types::Role::System, system);
        }
        for (index, example) in messages.examples.iter().enumerate() {
            let user = format!("messages.examples[{index}].user");
            templates.push(&user, fullbench_types::Role::User, &example.user);
            let assistant = format!("messages.examples[{index}].assistant");
            templates.push(&assistant, fullbench_types::Role::Assistant, &example.assistant);
        }
        if let Some(user) = &messages.user {
            templates.push("messages.user", fullbench_types::Role::User, user);
            templates.then_input = false;
        }
        templates
    }
}

pub(super) fn locate(
    document: &Node,
    path: &Path,
    field: &str,
    problem: InputProblem,
) -> InputProblem {
    let steps = steps_of(field);
    let position = document.position_of(&steps);
    let located = problem_at(document, steps.clone(), "");
    InputProblem {
        file: Some(path.to_owned()),
        line: Some(position.line),
        column: located.column,
        field: (!steps.is_empty()).then(|| path_text(&steps)),
        ..problem
    }
}

/// Whether a prompt is the template itself, not the name of its file.
pub(super) fn is_template(prompt: &str) -> bool {
    prompt.contains("{{") || prompt.contains("{%") || prompt.contains('\n')
}

pub(super) fn named(problem: InputProblem, name: &str) -> InputProblem {
    InputProblem { message: format!("`{name}`: {}", problem.message), ..problem }
}

/// A path as the evaluation file means it: seen from its folder.
pub(super) fn resolve(evaluation: &Path, name: &str) -> PathBuf {
    evaluation.parent().unwrap_or(Path::new("")).join(name)
}

pub(super) fn default_name(path: &Path) -> String {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    if stem != "fullbench" && !stem.is_empty() {
        return stem;
    }
    let folder = std::path::absolute(path).ok();
    let folder = folder.as_deref().and_then(Path::parent).and_then(Path::file_name);
    folder.map_or_else(|| "evaluation".to_owned(), |name| name.to_string_lossy().into_owned())
}

/// Reads a small text file.
pub(super) fn read_text(path: &Path) -> Result<String, InputProblem> {
    let metadata = std::fs::metadata(path).map_err(|error| unreadable(&error))?;
    if metadata.is_dir() {
        return Err(InputProblem::new("this is a folder, not a file").hint("name the file in it"));
    }
    if metadata.len() > MAX_FILE_BYTES {
        return Err(InputProblem::new(format!("the file is larger than {MAX_FILE_BYTES} bytes"))
            .hint("data belongs into `dataset`, not into the evaluation file"));
    }
    let bytes = std::fs::read(path).map_err(|error| unreadable(&error))?;
    String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = valid.iter().filter(|byte| **byte == b'\n').count() as u64 + 1;
        InputProblem::new("the file is not valid UTF-8")
            .at_line(line)
            .hint("save the file as UTF-8")
    })
}

/// Why a file cannot be read, for people.
pub(crate) fn unreadable(error: &std::io::Error) -> InputProblem {
    match error.kind() {
        std::io::ErrorKind::NotFound => InputProblem::new("there is no such file")
            .hint("paths are seen from the folder of the evaluation file"),
        std::io::ErrorKind::PermissionDenied => {
            InputProblem::new("the file may not be read").hint("check its permissions")
        }
        _ => InputProblem::new(format!("the file cannot be read: {error}")),
    }
}
