//! Samples of a version by themselves, drawn as runs draw theirs: the same seed gives the same cases.

use fullbench_store::CaseReader;
use serde::Serialize;

use crate::run::{Stratum, draw_some};
use crate::spec::{SampleConfig, SampleStrategy, did_you_mean};
use crate::{EngineError, InputProblem};

/// A sample of a version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CaseSample {
    /// The cases by their index, ascending.
    pub indexes: Vec<u64>,
    /// What each value of the field has in it; only where the sample is stratified.
    pub strata: Option<Vec<Stratum>>,
}

/// Draws a sample of the cases of a version; all of them where there are no more than its size. The field of a stratified sample is
/// looked for in the rows, and in their `metadata` where they have none of that name.
///
/// # Errors
/// When the size is 0, a stratified sample names no field or one that no case has, and when the cases cannot be read.
pub fn sample_cases(
    sample: &SampleConfig,
    cases: &mut CaseReader,
) -> Result<CaseSample, EngineError> {
    if sample.size == 0 {
        let problem = InputProblem::new("a sample has at least one case");
        return Err(problem.in_field("size").into());
    }
    if sample.strategy != SampleStrategy::Stratified {
        return Ok(CaseSample { indexes: draw_some(sample, cases)?.indexes, strata: None });
    }
    let Some(by) = sample.by.as_deref().filter(|by| !by.is_empty()) else {
        let problem =
            InputProblem::new("a stratified sample needs the field that makes the strata");
        return Err(problem.in_field("by").hint("name a field, for example `category`").into());
    };
    let version = cases.version().clone();
    let has = |name: &str| version.fields.iter().any(|field| field == name);
    let no_field = || {
        let names: Vec<&str> = version.fields.iter().map(String::as_str).collect();
        let problem = InputProblem::new(format!("no case has the field `{by}`")).in_field("by");
        EngineError::from(problem.hint(did_you_mean(by, names)))
    };
    let path = if has(by) || by.split_once('.').is_some_and(|(first, _)| has(first)) {
        by.to_owned()
    } else if has("metadata") {
        format!("metadata.{by}")
    } else {
        return Err(no_field());
    };
    let drawn = draw_some(&SampleConfig { by: Some(path), ..sample.clone() }, cases)?;
    if drawn.strata.iter().all(|stratum| stratum.value.is_empty()) {
        return Err(no_field());
    }
    Ok(CaseSample { indexes: drawn.indexes, strata: Some(drawn.strata) })
}
