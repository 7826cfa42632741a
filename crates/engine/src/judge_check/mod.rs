//! The check of a judge: labelled answers and probes made of them become the cases of a run, and its scores a report card.
//!
//! A run like any other, so that the check is durable, cached, budgeted, and can be resumed; the card is read from its records.

mod data;
mod judge;
mod labels;
mod observed;
mod pass_labels;

use std::path::Path;

use fullbench_check::{Judged, Probe, ProbeCase, ProbeOptions, probes};
use fullbench_score::ScorerConfig;
use fullbench_store::ScopedStore;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::run::{PreparedRun, RunRequest, prepare_new};
use crate::spec::LoadedEvaluation;
use crate::{BudgetConfig, EngineError};

use data::{Labelled, Reading};
use judge::CheckedJudge;

pub use labels::LabelScale;
pub use observed::{CheckedRun, read_check};
pub use pass_labels::{PassLabels, read_pass_labels};

/// The field of a case that says which probe it is; the scorer `judge_check` looks at it too.
const FIELD: &str = "judge_check";

/// What a run keeps of the check it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JudgeCheck {
    /// The judge's name.
    pub judge: String,
    /// How it judges.
    pub method: String,
    /// What it judges.
    pub criterion: String,
    /// The model it asks.
    pub model: String,
    /// The members of a panel.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<String>,
    /// How many steps the scale of the labels has, where it has a few.
    pub levels: Option<u32>,
    /// The least value that passes, where the judge has a pass mark.
    pub mark: Option<f64>,
    /// The numbers people gave.
    pub scale: LabelScale,
    /// Systems of the judge's own family, as the user said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub own_systems: Vec<String>,
    /// How precise the corrected mean was wanted, where it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correct: Option<f64>,
}

/// What is to be checked, and how thoroughly.
#[derive(Debug, Clone)]
pub struct CheckRequest<'check> {
    /// The judge as a scorer, with everything it names read in.
    pub judge: ScorerConfig,
    /// The labelled answers.
    pub data: &'check Path,
    /// The column with what people said.
    pub label: &'check str,
    /// The numbers they were asked to give; those of the criterion unless said.
    pub scale: Option<LabelScale>,
    /// Which probes.
    pub probes: ProbeOptions,
    /// Systems of the judge's own family, where their names do not tell.
    pub own_systems: Vec<String>,
    /// How precise the corrected mean is wanted, where it is.
    pub correct: Option<f64>,
    /// What it may spend.
    pub budget: Option<BudgetConfig>,
}

/// Prepares the run of a check.
///
/// # Errors
/// When the judge cannot be checked, or the data is wrong; nothing is stored then.
pub async fn prepare_check(
    request: CheckRequest<'_>,
    store: &ScopedStore,
    needs_keys: bool,
    version: &str,
) -> Result<PreparedRun, EngineError> {
    let judge = CheckedJudge::of(&request.judge)?;
    let scale = request.scale.unwrap_or_else(|| judge.scale());
    let reading = Reading { label: request.label, scale, against: judge.against.as_deref() };
    let labelled = Labelled::read(request.data, &reading)?;
    for own in &request.own_systems {
        labelled.check_system(own, request.data)?;
    }
    let judged = if judge.against.is_some() { Judged::Pairs } else { Judged::Single };
    let options = ProbeOptions { mark: judge.mark, ..request.probes };
    let mut planned = probes(&labelled.examples, judged, &options);
    // Replies that were recorded belong to the answers they were given for.
    planned.retain(|case| match case.probe {
        Probe::Base => true,
        Probe::Compared => judge.pair().is_some(),
        _ => !judge.is_recorded,
    });
    let has_pairs = planned.iter().any(|case| case.probe == Probe::Compared);
    let against = judge.against.as_deref();
    let cases = planned.iter().map(|case| Value::Object(case_fields(&labelled, case, against)));
    let cases = cases.collect();
    let scorer = judge.scorer(has_pairs);
    let mut evaluation = LoadedEvaluation::of_cases(
        &format!("check of {}", judge.name),
        request.data,
        cases,
        vec![scorer],
    )?;
    evaluation.spec.budget = request.budget;
    evaluation.spec.judge_check = Some(JudgeCheck {
        judge: judge.name.clone(),
        method: judge.method.clone(),
        criterion: judge.criterion_name(),
        model: judge.model.clone(),
        members: judge.members(),
        levels: match judge.against {
            Some(_) => Some(3),
            None => scale.levels().or(labelled.is_yes_or_no.then_some(2)),
        },
        mark: judge.mark,
        scale,
        own_systems: request.own_systems,
        correct: request.correct,
    });
    prepare_new(evaluation, store, RunRequest::new(version, needs_keys)).await
}

/// A probe as a case: the row it is made of, with the answer that is put before the judge.
fn case_fields(labelled: &Labelled, case: &ProbeCase, against: Option<&str>) -> Map<String, Value> {
    let mut fields = labelled.rows.get(case.example).cloned().unwrap_or_default();
    let mut probe = json!({ "example": case.example, "probe": case.probe, "round": case.round,
        "with": case.with, "other": case.other });
    let mut id = &case.id;
    if let Some(example) = labelled.examples.get(case.example).filter(|_| case.probe == Probe::Base)
    {
        // The answer as it is keeps its name: recorded replies are found by it.
        id = &example.id;
        probe["of"] = json!(example);
    }
    fields.insert("id".to_owned(), json!(id));
    fields.insert("output".to_owned(), json!(case.output));
    if let (Some(against), Some(other)) = (against, &case.other) {
        fields.insert(against.to_owned(), json!(other));
    }
    fields.insert(FIELD.to_owned(), probe);
    fields
}
