//! A version with other references: the answers that people agreed on.

use std::collections::BTreeMap;

use fullbench_store::{CaseReader, DatasetVersion, DatasetWriter, FieldMapping, ObjectStore};
use serde_json::{Map, Value};

use crate::{EngineError, InputProblem};

/// The same cases with the references of some replaced; cases that are not named stay as they are. `answers` has the accepted answers
/// by the index of the case; an empty list takes the references away.
///
/// The result has a hash of its own, which is that of the version where nothing differs. A case keeps its key.
///
/// # Errors
/// When a case is named that there is not, and when cases cannot be read or written.
pub fn with_ground_truth(
    cases: &mut CaseReader,
    objects: ObjectStore,
    answers: &BTreeMap<u64, Vec<Value>>,
) -> Result<DatasetVersion, EngineError> {
    let version = cases.version().clone();
    if let Some((index, _)) = answers.range(version.cases..).next() {
        let count = version.cases;
        let problem =
            InputProblem::new(format!("there is no case {index}: the version has {count}"));
        return Err(problem.hint("cases are counted from 0").into());
    }
    let (mut mapping, mut fields) = (version.mapping.clone(), version.fields.clone());
    if mapping.references.is_empty() && !answers.is_empty() {
        mapping.references.push(unused_name(&fields));
    }
    let mut writer = DatasetWriter::new(objects);
    for index in 0..version.cases {
        let mut case = cases.case(index)?;
        if let Some(agreed) = answers.get(&index) {
            replace_references(&mut case.fields, &mapping, agreed);
            let is_new = |name: &&String| case.fields.contains_key(*name) && !fields.contains(name);
            let added = mapping.references.first().filter(is_new).cloned();
            fields.extend(added);
        }
        writer.push(&case.key, &case.fields)?;
    }
    Ok(writer.finish(version.source.clone(), fields, mapping)?)
}

/// A name for references that no case has a field of.
fn unused_name(fields: &[String]) -> String {
    let is_free = |name: &String| !fields.contains(name);
    let usual = super::parts::USUAL_REFERENCES.iter().map(|name| (*name).to_owned());
    let numbered = (2..).map(|number| format!("expected_output_{number}"));
    usual.chain(numbered).find(is_free).unwrap_or_default()
}

/// Puts the answers where the mapping looks first, and nothing where it looks next.
fn replace_references(fields: &mut Map<String, Value>, mapping: &FieldMapping, answers: &[Value]) {
    let value = match answers {
        [] => Value::Null,
        // A list would be read as several answers, and null as none.
        [one] if !one.is_array() && !one.is_null() => one.clone(),
        several => Value::Array(several.to_vec()),
    };
    for (position, path) in mapping.references.iter().enumerate().rev() {
        match (find(fields, path), position) {
            (Some(place), 0) => *place = value.clone(),
            (Some(place), _) => *place = Value::Null,
            (None, 0) => {
                fields.insert(path.clone(), value.clone());
            }
            (None, _) => {}
        }
    }
}

/// The value at a path, as [`fullbench_types::lookup`] finds it.
fn find<'row>(fields: &'row mut Map<String, Value>, path: &str) -> Option<&'row mut Value> {
    if fields.contains_key(path) {
        return fields.get_mut(path);
    }
    let (first, rest) = path.split_once('.')?;
    rest.split('.').try_fold(fields.get_mut(first)?, |value, part| match value {
        Value::Object(map) => map.get_mut(part),
        Value::Array(items) => items.get_mut(part.parse::<usize>().ok()?),
        _ => None,
    })
}
