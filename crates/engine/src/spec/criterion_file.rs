//! A file with one criterion.

use std::path::Path;

use fullbench_types::Criterion;

use super::decode::decode;
use super::load::{locate, read_text};
use super::yaml::parse;
use crate::{EngineError, InputProblem};

/// Reads a criterion from a YAML or JSON file and checks it.
pub fn load_criterion(path: &Path) -> Result<Criterion, EngineError> {
    let text = read_text(path).map_err(|problem| problem.in_file(path))?;
    let document = parse(&text).map_err(|problem| problem.in_file(path))?;
    let criterion: Criterion = decode(&document).map_err(|problem| problem.in_file(path))?;
    fullbench_judge::check(&criterion).map_err(|error| {
        let problem = InputProblem::new(error.message).hint(error.hint);
        locate(&document, path, &error.field, problem)
    })?;
    Ok(criterion)
}
