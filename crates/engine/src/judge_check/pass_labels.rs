//! A file with what people passed and failed, for a pass mark.

use std::collections::BTreeMap;
use std::path::Path;

use fullbench_types::text_of;
use serde_json::{Map, Value};

use super::labels::LabelScale;
use crate::dataset::read_rows;
use crate::spec::did_you_mean;
use crate::{EngineError, InputProblem};

/// What people passed and failed.
#[derive(Debug)]
pub enum PassLabels {
    /// Beside scores from 0 to 1.
    WithScores(Vec<(f64, bool)>),
    /// By the ids of cases.
    ById(BTreeMap<String, bool>),
}

/// Reads labels: rows with `label` and either `score` or `id`.
///
/// # Errors
/// Names the row that is neither.
pub fn read_pass_labels(path: &Path) -> Result<PassLabels, EngineError> {
    let mut scored = Vec::new();
    let mut by_id = BTreeMap::new();
    read_rows(path, &mut |row| {
        let passed = label(&row.fields)?;
        if let Some(score) = row.fields.get("score") {
            let value = LabelScale::UNIT.value(score, false).map_err(|problem| {
                InputProblem { hint: None, ..problem.in_field("score") }
                    .hint("a score is a number from 0 to 1")
            })?;
            scored.extend(value.zip(passed));
            return Ok(());
        }
        let Some(id) = row.fields.get("id").filter(|id| !id.is_null()) else {
            let problem = InputProblem::new("the row has neither `id` nor `score`");
            return Err(problem.hint("labels belong to cases by `id`, or stand beside a `score`"));
        };
        let id = text_of(id).into_owned();
        if let Some(passed) = passed
            && by_id.insert(id.clone(), passed).is_some()
        {
            let problem = InputProblem::new(format!("two rows have the id `{id}`"));
            return Err(problem.in_field("id").hint("one label for each case"));
        }
        Ok(())
    })?;
    if scored.is_empty() { Ok(PassLabels::ById(by_id)) } else { Ok(PassLabels::WithScores(scored)) }
}

/// Passed or failed; none where nobody said.
fn label(fields: &Map<String, Value>) -> Result<Option<bool>, InputProblem> {
    let Some(label) = fields.get("label") else {
        let hint = did_you_mean("label", fields.keys().map(String::as_str));
        let problem = InputProblem::new("the row has no `label`").in_field("label");
        return Err(problem.hint(hint));
    };
    match LabelScale::UNIT.value(label, false) {
        Ok(None) => Ok(None),
        Ok(Some(1.0)) => Ok(Some(true)),
        Ok(Some(0.0)) => Ok(Some(false)),
        _ => {
            let problem = InputProblem::new(format!("{label} is neither pass nor fail"));
            Err(problem.in_field("label").hint("write pass or fail, or 1 or 0"))
        }
    }
}
