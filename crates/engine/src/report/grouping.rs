//! Where a case belongs: the value it is listed under, and the cluster its scores are counted in.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use fullbench_store::{CaseReader, DatasetVersion, ScopedStore};
use fullbench_types::{ContentHash, TestCase, text_of};
use serde::{Deserialize, Serialize};

use super::Word;
use crate::spec::{DEFAULT_GROUP, GroupField, LoadedEvaluation, did_you_mean};
use crate::{EngineError, InputProblem, Plan};

/// With fewer groups than this, clustered intervals are rough.
pub(super) const FEW_GROUPS: u64 = 30;

/// What the intervals of a run are clustered by.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Clustering {
    /// `group`, or `case` where the repetitions of a case form a cluster.
    pub by: Word,
    /// The field whose values are the groups.
    pub field: Option<String>,
    /// Groups, or cases.
    pub clusters: u64,
    /// Cases without a group, each a cluster of its own; they are not among the groups.
    pub cases_without_group: u64,
    /// The same in words.
    pub sentence: String,
}

impl Clustering {
    /// By the cases of a run that asks each of them several times.
    pub(super) fn by_case(cases: u64, repetitions: u32) -> Self {
        let sentence = format!(
            "Intervals are clustered by case: {cases} cases, {repetitions} repetitions each."
        );
        Self { by: "case".into(), field: None, clusters: cases, cases_without_group: 0, sentence }
    }

    /// By the groups that the cases of a run turned out to have.
    pub(super) fn by_group(clusters: &Clusters) -> Self {
        let field = clusters.field.clone();
        let (groups, without) = (clusters.ids.len() as u64, u64::from(clusters.without));
        let mut sentence = format!("Intervals are clustered by `{field}`: {groups} groups");
        if without > 0 {
            sentence.push_str(&format!(", and {without} cases without one count each by itself"));
        }
        sentence.push_str(match groups + without {
            0..2 => ". A single group gives no interval.",
            2..FEW_GROUPS => ". With so few groups they are rough: some 30 are needed.",
            _ => ".",
        });
        Self {
            by: "group".into(),
            field: Some(field),
            clusters: groups,
            cases_without_group: without,
            sentence,
        }
    }
}

/// The field that groups the cases of an evaluation: the one it names, else `group` where the data has it.
pub(crate) fn group_field(
    evaluation: &LoadedEvaluation,
    dataset: &DatasetVersion,
) -> Result<Option<String>, EngineError> {
    match &evaluation.file.statistics.group {
        GroupField::Off => Ok(None),
        GroupField::Default => {
            Ok(has_field(DEFAULT_GROUP, dataset).then(|| DEFAULT_GROUP.to_owned()))
        }
        GroupField::Named(field) if has_field(field, dataset) => Ok(Some(field.clone())),
        GroupField::Named(field) => {
            Err(evaluation.problem("statistics.group", no_field(field, dataset)).into())
        }
    }
}

/// Refuses a field to list results by that no case has.
pub fn check_group_field(by: &str, dataset: &DatasetVersion) -> Result<(), EngineError> {
    if has_field(by, dataset) {
        return Ok(());
    }
    Err(no_field(by, dataset).in_field("--by").into())
}

fn has_field(path: &str, dataset: &DatasetVersion) -> bool {
    let top = path.split('.').next().unwrap_or(path);
    dataset.fields.iter().any(|field| field == path || field == top)
}

fn no_field(path: &str, dataset: &DatasetVersion) -> InputProblem {
    let hint = did_you_mean(path, dataset.fields.iter().map(String::as_str));
    InputProblem::new(format!("no case has the field `{path}`")).hint(hint)
}

/// Numbers the groups of a data set in order of appearance.
pub(super) struct Clusters {
    field: String,
    ids: HashMap<u128, u32>,
    without: u32,
}

impl Clusters {
    pub(super) fn new(field: String) -> Self {
        Self { field, ids: HashMap::new(), without: 0 }
    }

    /// The number of a case's group; a case without one gets a number of its own each time it is asked for.
    pub(super) fn of(&mut self, case: &TestCase) -> u32 {
        let next = self.ids.len() as u32 + self.without;
        let value = case.field(&self.field).filter(|value| !value.is_null()).map(text_of);
        match value.filter(|value| !value.is_empty()) {
            None => {
                self.without += 1;
                next
            }
            Some(value) => {
                let name = u128::from_le_bytes(ContentHash::of(value.as_bytes()).short());
                *self.ids.entry(name).or_insert(next)
            }
        }
    }
}

/// Where one case belongs.
#[derive(Debug, Clone, Default)]
pub(super) struct Place {
    /// The value it is listed under.
    pub(super) value: Option<String>,
    /// The number of its cluster.
    pub(super) cluster: Option<u32>,
}

/// Reads where cases belong; each is read once when they are asked for in order.
pub(super) struct Grouping {
    by: Option<String>,
    clusters: Option<Clusters>,
    cases: CaseReader,
    current: Option<(u64, Place)>,
}

impl Grouping {
    /// A reader of the values of `by`, and of the groups in `group`; none when neither is asked for.
    pub(super) async fn new(
        store: &ScopedStore,
        dataset: &Arc<DatasetVersion>,
        by: Option<&str>,
        group: Option<&str>,
    ) -> Result<Option<Self>, EngineError> {
        if let Some(by) = by {
            check_group_field(by, dataset)?;
        }
        if by.is_none() && group.is_none() {
            return Ok(None);
        }
        Ok(Some(Self {
            by: by.map(str::to_owned),
            clusters: group.map(|field| Clusters::new(field.to_owned())),
            cases: store.cases(dataset.clone()).await?,
            current: None,
        }))
    }

    /// How many planned cases each value has.
    pub(super) fn cases_of_value(
        &mut self,
        plan: &Plan,
    ) -> Result<BTreeMap<String, u64>, EngineError> {
        let mut counts = BTreeMap::new();
        let Some(by) = self.by.clone() else { return Ok(counts) };
        for position in 0..plan.cases.len() {
            if let Some(index) = plan.cases.case_index(position) {
                *counts.entry(value_of(&self.cases.case(index)?, &by)).or_default() += 1;
            }
        }
        Ok(counts)
    }

    /// Where a case belongs.
    pub(super) fn of(&mut self, case_index: u64) -> Result<&Place, EngineError> {
        if self.current.as_ref().is_none_or(|(index, _)| *index != case_index) {
            let case = self.cases.case(case_index)?;
            let place = Place {
                value: self.by.as_ref().map(|by| value_of(&case, by)),
                cluster: self.clusters.as_mut().map(|clusters| clusters.of(&case)),
            };
            self.current = Some((case_index, place));
        }
        Ok(&self.current.get_or_insert_default().1)
    }

    /// What was clustered, once every result is read.
    pub(super) fn clustering(&self) -> Option<Clustering> {
        self.clusters.as_ref().map(Clustering::by_group)
    }
}

fn value_of(case: &TestCase, field: &str) -> String {
    let value = case.field(field).filter(|value| !value.is_null());
    value.map_or_else(|| "(none)".to_owned(), |value| text_of(value).into_owned())
}
