//! A file of answers with what people said of them, read for the check of a judge.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use fullbench_check::{Example, Rating};
use fullbench_types::text_of;
use serde_json::{Map, Value};

use super::labels::LabelScale;
use crate::dataset::{Row, read_rows};
use crate::spec::did_you_mean;
use crate::{EngineError, InputProblem};

/// How the file is to be read.
#[derive(Debug, Clone)]
pub(super) struct Reading<'check> {
    /// The column with what people said.
    pub(super) label: &'check str,
    /// The numbers they were asked to give.
    pub(super) scale: LabelScale,
    /// The field with the other answer, where two are compared.
    pub(super) against: Option<&'check str>,
}

/// The examples of a file, each with the fields of its row.
#[derive(Debug, Default)]
pub(super) struct Labelled {
    pub(super) examples: Vec<Example>,
    pub(super) rows: Vec<Map<String, Value>>,
    /// Every label is 0 or 1.
    pub(super) is_yes_or_no: bool,
    has_label_column: bool,
    positions: HashMap<String, usize>,
}

impl Labelled {
    /// Reads a file; rows of one id are one answer that several people rated.
    pub(super) fn read(path: &Path, reading: &Reading<'_>) -> Result<Self, EngineError> {
        let here = |problem: InputProblem| EngineError::from(problem.in_file(path));
        let mut labelled = Self { is_yes_or_no: true, ..Self::default() };
        read_rows(path, &mut |row| labelled.take(row, reading))?;
        if labelled.examples.is_empty() {
            return Err(here(InputProblem::new("there are no rows").hint("add labelled answers")));
        }
        if !labelled.has_label_column {
            let known = labelled.rows.first().into_iter().flat_map(Map::keys).map(String::as_str);
            let hint = did_you_mean(reading.label, known);
            let problem = InputProblem::new(format!("no row has the column `{}`", reading.label));
            return Err(here(
                problem.hint(format!("name the column with what people said by --label; {hint}")),
            ));
        }
        if labelled.examples.iter().all(|example| example.ratings.is_empty()) {
            let problem = InputProblem::new(format!("`{}` is empty in every row", reading.label));
            return Err(here(
                problem.hint("label some of the answers, best some dozens at random"),
            ));
        }
        Ok(labelled)
    }

    /// Refuses the name of a system that gave none of the answers.
    pub(super) fn check_system(&self, name: &str, path: &Path) -> Result<(), InputProblem> {
        let systems: BTreeSet<&str> =
            self.examples.iter().filter_map(|example| example.system.as_deref()).collect();
        if systems.contains(name) {
            return Ok(());
        }
        let problem = InputProblem::new(format!("no row has the system `{name}`")).in_file(path);
        Err(problem.in_field("system").hint(did_you_mean(name, systems)))
    }

    fn take(&mut self, row: Row, reading: &Reading<'_>) -> Result<(), InputProblem> {
        let fields = row.fields;
        let text = |name: &str| match fields.get(name) {
            None | Some(Value::Null) => None,
            Some(value) => Some(text_of(value).into_owned()).filter(|text| !text.is_empty()),
        };
        let required = |name: &str| {
            text(name).ok_or_else(|| match fields.contains_key(name) {
                true => InputProblem::new(format!("`{name}` is empty"))
                    .in_field(name)
                    .hint("leave out rows that have none"),
                false => InputProblem::new(format!("the row has no `{name}`"))
                    .in_field(name)
                    .hint(did_you_mean(name, fields.keys().map(String::as_str))),
            })
        };
        let input = required("input")?;
        let output = match fields.get("output") {
            Some(value) if !value.is_null() => text_of(value).into_owned(),
            _ => required("output")?,
        };
        let other = reading.against.map(required).transpose()?;
        self.has_label_column |= fields.contains_key(reading.label);
        let label = fields.get(reading.label).unwrap_or(&Value::Null);
        let value = reading.scale.value(label, reading.against.is_some());
        let value = value.map_err(|problem| problem.in_field(reading.label))?;
        self.is_yes_or_no &= value.is_none_or(|value| value == 0.0 || value == 1.0);
        let id = text("id").unwrap_or_else(|| row.number.to_string());
        let annotator = text("annotator").unwrap_or_else(|| "human".to_owned());
        let known = self.positions.get(&id).and_then(|position| self.examples.get_mut(*position));
        if let Some(example) = known {
            if text("annotator").is_none() || example.output != output || example.input != input {
                let problem = InputProblem::new(format!("two rows have the id `{id}`"));
                return Err(problem.in_field("id").hint(
                    "ids are unique; rows of one answer that several people rated name the `annotator`",
                ));
            }
            if example.ratings.iter().any(|rating| rating.annotator == annotator) {
                let message = format!("`{annotator}` rated `{id}` twice");
                return Err(InputProblem::new(message).in_field("annotator"));
            }
            example.ratings.extend(value.map(|value| Rating { annotator, value }));
            return Ok(());
        }
        let ratings = value.map(|value| Rating { annotator, value }).into_iter().collect();
        let (system, group) = (text("system"), text("group"));
        self.positions.insert(id.clone(), self.examples.len());
        self.examples.push(Example { id, input, output, other, system, group, ratings });
        self.rows.push(fields);
        Ok(())
    }
}
