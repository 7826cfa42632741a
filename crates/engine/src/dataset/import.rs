//! Freezes the cases of an evaluation into a dataset version, refusing bad rows.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use fullbench_llm::Provider;
use fullbench_store::{DatasetVersion, DatasetWriter, FieldMapping, ScopedStore};
use fullbench_types::{ContentHash, lookup};
use serde_json::{Map, Value};

use super::file::FileFormat;
use super::keys::CaseKeys;
use super::parts::check_input;
use super::rows::{Row, RowSink, kind};
use super::schema::SchemaBuilder;
use crate::prompt::PromptTemplates;
use crate::spec::{LoadedEvaluation, did_you_mean, unreadable_file};
use crate::{EngineError, InputProblem};

/// Changes when the same file would be frozen differently.
const FORMAT_VERSION: &[u8] = b"dataset/3";

/// Reads the cases of an evaluation, checks every row, and freezes them into blocks. The same unchanged
/// source is frozen once. Also completes the spec's field mapping.
pub async fn import_dataset(
    evaluation: &mut LoadedEvaluation,
    store: &ScopedStore,
) -> Result<DatasetVersion, EngineError> {
    let source_hash = source_hash(evaluation)?;
    if let Some(version) = store.dataset_of_source(&source_hash).await? {
        evaluation.spec.mapping = version.mapping.clone();
        return Ok(DatasetVersion { source: evaluation.spec.dataset.clone(), ..version });
    }
    let mut import = Import::new(evaluation, DatasetWriter::new(store.objects().await?));
    read_rows(evaluation, &mut |row| import.take(row?))?;
    let version = import.finish()?;
    store.save_dataset(&version, &source_hash).await?;
    evaluation.spec.mapping = version.mapping.clone();
    Ok(version)
}

/// Hash of everything the frozen version depends on.
fn source_hash(evaluation: &LoadedEvaluation) -> Result<ContentHash, EngineError> {
    let file = &evaluation.file;
    let content = match evaluation.dataset_file() {
        Some((_, path)) => {
            hash_file(&path).map_err(|problem| dataset_problem(evaluation, problem))?
        }
        None => ContentHash::of(
            Value::from(file.cases.clone().unwrap_or_default()).to_string().as_bytes(),
        ),
    };
    let recorded: Vec<_> = evaluation
        .spec
        .models
        .iter()
        .filter(|model| model.provider == Provider::Recorded)
        .collect();
    let reading = serde_json::json!({
        "dataset": file.dataset.as_ref().map(|dataset| (&dataset.0.path, &dataset.0.format, &dataset.0.columns)),
        "mapping": (&file.id, &file.input, &file.reference),
        "prompt": evaluation.spec.prompt,
        "checked": (&evaluation.spec.sample, &evaluation.spec.metadata),
        "recorded": recorded.iter().map(|model| &model.field).collect::<Vec<_>>(),
    });
    Ok(ContentHash::of_parts(&[FORMAT_VERSION, &content.0, reading.to_string().as_bytes()]))
}

fn hash_file(path: &Path) -> Result<ContentHash, InputProblem> {
    let metadata = std::fs::metadata(path).map_err(|error| unreadable_file(&error))?;
    if metadata.is_dir() {
        let problem = InputProblem::new("this is a folder, not a file");
        return Err(problem.hint("name the file in it"));
    }
    let mut hasher = blake3::Hasher::new();
    let mut file = File::open(path).map_err(|error| unreadable_file(&error))?;
    let mut buffer = vec![0; 1 << 18];
    loop {
        let read = file.read(&mut buffer).map_err(|error| unreadable_file(&error))?;
        if read == 0 {
            return Ok(ContentHash(*hasher.finalize().as_bytes()));
        }
        hasher.update(&buffer[..read]);
    }
}

/// A problem with the data set file itself, told at the key that names it.
fn dataset_problem(evaluation: &LoadedEvaluation, problem: InputProblem) -> InputProblem {
    let message = format!("`{}`: {}", evaluation.spec.dataset, problem.message);
    evaluation.problem("dataset", InputProblem { message, ..problem })
}

fn read_rows(evaluation: &LoadedEvaluation, sink: RowSink<'_>) -> Result<(), EngineError> {
    let Some((dataset, path)) = evaluation.dataset_file() else {
        return read_inline(evaluation, sink);
    };
    let format = FileFormat::of(&dataset.path, dataset.format.as_deref())
        .map_err(|problem| evaluation.problem("dataset", problem))?;
    let file =
        File::open(&path).map_err(|error| dataset_problem(evaluation, unreadable_file(&error)))?;
    let columns = dataset.columns.as_deref();
    if columns.is_some() && !format.has_columns() {
        let problem = InputProblem::new(format!("a {} file names its own fields", format.word()))
            .hint("remove `columns`");
        return Err(evaluation.problem("dataset.columns", problem).into());
    }
    format.read(file, columns, sink).map_err(|problem| problem.in_file(&dataset.path).into())
}

fn read_inline(evaluation: &LoadedEvaluation, sink: RowSink<'_>) -> Result<(), EngineError> {
    for (index, case) in evaluation.file.cases.iter().flatten().enumerate() {
        let line = Some(evaluation.case_line(index));
        let place =
            |problem: InputProblem| InputProblem { line, ..problem }.in_file(&evaluation.path);
        let fields = match case {
            Value::Object(fields) => fields.clone(),
            Value::String(_) | Value::Number(_) | Value::Array(_) => {
                Map::from_iter([("input".to_owned(), case.clone())])
            }
            other => {
                let problem = InputProblem::new(format!("a case cannot be {}", kind(other)))
                    .in_field(format!("cases[{index}]"))
                    .hint("write a mapping of fields, or just the input");
                return Err(place(problem).into());
            }
        };
        sink(Ok(Row { line, number: index as u64 + 1, fields })).map_err(place)?;
    }
    Ok(())
}

/// Takes rows, decides what is input, reference and key, and writes them.
struct Import<'evaluation> {
    evaluation: &'evaluation LoadedEvaluation,
    writer: DatasetWriter,
    mapping: Option<Mapping>,
    columns: SchemaBuilder,
    keys: CaseKeys,
}

#[derive(Clone)]
struct Mapping {
    id: Option<String>,
    fields: FieldMapping,
}

impl<'evaluation> Import<'evaluation> {
    fn new(evaluation: &'evaluation LoadedEvaluation, writer: DatasetWriter) -> Self {
        let (columns, keys) = (SchemaBuilder::default(), CaseKeys::default());
        Self { evaluation, writer, mapping: None, columns, keys }
    }

    fn take(&mut self, row: Row) -> Result<(), InputProblem> {
        let place = |problem: InputProblem| {
            let line = row.line.or(problem.line);
            let message = if line.is_some() {
                problem.message
            } else {
                format!("case {}: {}", row.number, problem.message)
            };
            InputProblem { line, message, ..problem }
        };
        self.columns.see(&row.fields);
        let mapping = match &self.mapping {
            Some(mapping) => mapping.clone(),
            None => {
                let mapping = self.decide_mapping(&row.fields).map_err(place)?;
                self.mapping.insert(mapping).clone()
            }
        };
        let (id, input) = (mapping.id.as_deref(), mapping.fields.input.as_deref());
        let prompt = &self.evaluation.spec.prompt;
        let is_sent = prompt.then_input && prompt.required;
        let checked = input.map_or(Ok(()), |name| check_input(name, &row.fields, is_sent));
        let key = checked.and_then(|()| self.keys.key(id, input, &row.fields));
        let key = key.map_err(|bad| place(bad.problem))?;
        self.writer.push(&key, &row.fields).map_err(|error| InputProblem::new(error.to_string()))
    }

    /// The mapping by what the evaluation says and what the first row has.
    fn decide_mapping(&self, first: &Map<String, Value>) -> Result<Mapping, InputProblem> {
        let file = &self.evaluation.file;
        let has = |name: &str| lookup(first, name).is_some();
        let named = |key: &str, name: &Option<String>, default: &str| match name {
            Some(name) if !has(name) => Err(self.no_field(key, name, first)),
            Some(name) => Ok(Some(name.clone())),
            None => Ok(has(default).then(|| default.to_owned())),
        };
        let id = named("id", &file.id, "id")?;
        let input = named("input", &file.input, "input")?;
        let references = match &file.reference {
            Some(names) => names.clone(),
            // Not every case need have a reference: which of these there are is known at the end.
            None => Vec::new(),
        };
        let prompt = &self.evaluation.spec.prompt;
        if input.is_none() && prompt.required && prompt.then_input {
            let problem = InputProblem::new("the data has no field `input`");
            let names: Vec<&str> = first.keys().map(String::as_str).collect();
            let hint = format!(
                "say which field it is, for example `input: {}`, or write a `prompt:`",
                names.first().unwrap_or(&"question")
            );
            return Err(problem.hint(hint));
        }
        Ok(Mapping { id, fields: FieldMapping { input, references } })
    }

    fn no_field(&self, key: &str, name: &str, row: &Map<String, Value>) -> InputProblem {
        let problem =
            InputProblem::new(format!("`{key}: {name}` names a field that the data does not have"));
        problem.in_field(name).hint(did_you_mean(name, row.keys().map(String::as_str)))
    }

    fn finish(self) -> Result<DatasetVersion, EngineError> {
        let evaluation = self.evaluation;
        if self.writer.cases() == 0 {
            let problem = InputProblem::new("the data set has no cases").hint("add at least one");
            return Err(dataset_problem(evaluation, problem).into());
        }
        self.check_fields()?;
        let mut mapping = self.mapping.map(|mapping| mapping.fields).unwrap_or_default();
        if evaluation.file.reference.is_none() {
            let usual = ["reference", "references"].into_iter();
            mapping.references =
                usual.filter(|name| self.columns.has(name)).map(str::to_owned).collect();
        }
        let fields = self.columns.names().map(str::to_owned).collect();
        Ok(self.writer.finish(evaluation.spec.dataset.clone(), fields, mapping)?)
    }

    /// Refuses names in the evaluation file that no case has.
    fn check_fields(&self) -> Result<(), EngineError> {
        let evaluation = self.evaluation;
        let known: Vec<&str> = self.columns.names().collect();
        let has = |path: &str| {
            known.contains(&path) || known.contains(&path.split('.').next().unwrap_or(path))
        };
        let mut problems = Vec::new();
        let mut refuse = |key: String, name: &str| {
            let problem = InputProblem::new(format!("no case has the field `{name}`"));
            problems.push(
                evaluation.problem(&key, problem.hint(did_you_mean(name, known.iter().copied()))),
            );
        };
        for name in evaluation.file.reference.iter().flat_map(|names| names.iter()) {
            if !has(name) {
                refuse("reference".to_owned(), name);
            }
        }
        if let Some(by) = evaluation.spec.sample.as_ref().and_then(|sample| sample.by.as_ref())
            && !has(by)
        {
            refuse("sample.by".to_owned(), by);
        }
        for (index, name) in evaluation.spec.metadata.iter().flatten().enumerate() {
            if !has(name) {
                refuse(format!("metadata[{index}]"), name);
            }
        }
        for (index, model) in evaluation.spec.models.iter().enumerate() {
            let field = model.field.as_deref().unwrap_or("output");
            if model.provider == Provider::Recorded && !has(field) {
                refuse(format!("models[{index}]"), field);
            }
        }
        problems.extend(self.check_variables(&known));
        if problems.is_empty() { Ok(()) } else { Err(EngineError::Input(problems)) }
    }

    fn check_variables(&self, known: &[&str]) -> Vec<InputProblem> {
        let evaluation = self.evaluation;
        let templates = &evaluation.spec.prompt;
        let Ok(prompts) = templates.compile() else { return Vec::new() };
        let mut problems = Vec::new();
        for (template, name) in prompts.variables() {
            if known.contains(&name.as_str()) || crate::Prompts::GIVEN.contains(&name.as_str()) {
                continue;
            }
            let candidates = known.iter().copied().chain(crate::Prompts::GIVEN);
            let hint = did_you_mean(&name, candidates.collect::<Vec<_>>());
            let problem =
                InputProblem::new(format!("no case has the field `{name}` that the template uses"))
                    .hint(hint);
            let line = template_line(templates, &template, &name);
            problems.push(if evaluation.file.prompt.as_deref() == Some(template.as_str()) {
                InputProblem { line, ..problem.in_file(&template).in_field(&name) }
            } else {
                evaluation.problem(&template, problem)
            });
        }
        problems
    }
}

fn template_line(templates: &PromptTemplates, template: &str, name: &str) -> Option<u64> {
    let text = &templates.messages.iter().find(|message| message.name == template)?.text;
    let line = text.lines().position(|line| line.contains(name))?;
    Some(line as u64 + 1)
}
