//! An evaluation file as it is sent to a server: its cases apart, and the prompt read in. The server checks the rest.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::conditions::quoted;
use super::decode::decode;
use super::file::EvaluationFile;
use super::load::{default_name, is_template, locate, read_text, resolve};
use super::yaml::{Node, parse};
use crate::{EngineError, InputProblem};

/// Keys that say where the cases are and how they are read.
const OF_CASES: [&str; 5] = ["dataset", "cases", "id", "input", "reference"];

/// An evaluation that can be sent.
#[derive(Debug, Clone)]
pub struct SendableEvaluation {
    /// What it is called.
    pub name: String,
    /// The evaluation without its cases.
    pub evaluation: Map<String, Value>,
    /// The cases.
    pub cases: SendableCases,
    /// The field with the id of a case.
    pub id: Option<String>,
    /// The field with the input.
    pub input: Option<String>,
    /// The fields with accepted answers.
    pub reference: Vec<String>,
    path: PathBuf,
    document: Node,
}

/// Where the cases of an evaluation are.
#[derive(Debug, Clone)]
pub enum SendableCases {
    /// In a file.
    File(PathBuf),
    /// In the evaluation file.
    Inline(Vec<Value>),
}

impl SendableEvaluation {
    /// Reads an evaluation file.
    pub fn read(path: &Path) -> Result<Self, EngineError> {
        let in_file = |problem: InputProblem| problem.in_file(path);
        let text = read_text(path).map_err(in_file)?;
        let document = parse(&quoted(&text)).or_else(|_| parse(&text)).map_err(in_file)?;
        let file: EvaluationFile = decode(&document).map_err(in_file)?;
        let refused = |field: &str, problem: InputProblem| {
            EngineError::from(locate(&document, path, field, problem))
        };
        let cases = match (&file.dataset, &file.cases) {
            (Some(dataset), None) => {
                if dataset.0.columns.is_some() {
                    let problem = InputProblem::new("a server reads CSV with a header line alone");
                    return Err(refused("dataset", problem.hint("add a header line to the file")));
                }
                SendableCases::File(resolve(path, &dataset.0.path))
            }
            (None, Some(cases)) => SendableCases::Inline(cases.clone()),
            (Some(_), Some(_)) => {
                let problem = InputProblem::new("there are both `dataset` and `cases`");
                return Err(refused("cases", problem.hint("keep one of them")));
            }
            (None, None) => {
                let problem = InputProblem::new("there are no cases");
                return Err(refused("dataset", problem.hint("add `dataset: FILE`, or `cases:`")));
            }
        };
        let mut evaluation = match document.value() {
            Value::Object(fields) => fields,
            _ => Map::new(),
        };
        evaluation.retain(|name, _| !OF_CASES.contains(&name.as_str()));
        let name = file.name.clone().unwrap_or_else(|| default_name(path));
        evaluation.insert("name".to_owned(), json!(name));
        if let Some(prompt) = &file.prompt
            && !is_template(prompt)
        {
            let text = read_text(&resolve(path, prompt));
            let text = text.map_err(|problem| refused("prompt", problem))?;
            // Only a template has a line end: it is not taken for the name of a file.
            let text = if is_template(&text) { text } else { format!("{text}\n") };
            evaluation.insert("prompt".to_owned(), json!(text));
        }
        let reference = file.reference.clone().unwrap_or_default();
        let (id, input, path) = (file.id.clone(), file.input.clone(), path.to_owned());
        Ok(Self { name, evaluation, cases, id, input, reference, path, document })
    }

    /// A problem at a key of the file.
    #[must_use]
    pub fn problem(&self, field: &str, problem: InputProblem) -> InputProblem {
        locate(&self.document, &self.path, field, problem)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn the_cases_are_told_apart_and_the_prompt_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sums.yaml");
        std::fs::write(folder.path().join("ask.txt"), "What is {{ input }}?").unwrap();
        let text = "dataset: data.csv\ninput: question\nprompt: ask.txt\nmodels: [openai:m]\n";
        std::fs::write(&path, format!("{text}scorers: [exact_match]\n")).unwrap();
        let read = SendableEvaluation::read(&path).unwrap();
        assert_eq!(read.name, "sums");
        assert_eq!(read.evaluation["prompt"], "What is {{ input }}?");
        assert!(!read.evaluation.contains_key("dataset") && !read.evaluation.contains_key("input"));
        assert_eq!(read.input.as_deref(), Some("question"));
        assert!(matches!(read.cases, SendableCases::File(file) if file.ends_with("data.csv")));
        let there = read_problem(&path, "models[0]");
        assert_eq!(there.line, Some(4));
        std::fs::write(&path, "scorers: [exact_match]\nmodels: [recorded]\n").unwrap();
        assert!(SendableEvaluation::read(&path).unwrap_err().to_string().contains("no cases"));
    }

    fn read_problem(path: &Path, field: &str) -> InputProblem {
        SendableEvaluation::read(path).unwrap().problem(field, InputProblem::new("wrong"))
    }
}
