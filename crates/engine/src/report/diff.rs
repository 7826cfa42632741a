//! What changed between two runs, case by case: fixed, broken, same.

use std::collections::{BTreeMap, HashMap};

use fullbench_store::{RunRecord, ScopedStore, UnitResult};
use fullbench_types::UnitKey;
use serde::Serialize;

use super::summary::read_results;
use crate::EngineError;
use crate::spec::EvaluationSpec;

/// How a case changed under one scorer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// It failed before and passes now, or its value is higher.
    Fixed,
    /// It passed before and fails now, or its value is lower.
    Broken,
    /// Nothing changed.
    Same,
    /// It was scored before and is not now.
    LostScore,
    /// It is scored now and was not before.
    GainedScore,
}

/// One changed case.
#[derive(Debug, Clone, Serialize)]
pub struct CaseChange {
    /// The identity of the case.
    pub case: String,
    /// The model's name.
    pub model: String,
    /// The repetition.
    pub repetition: u32,
    /// The scorer's name.
    pub scorer: String,
    /// What changed.
    pub change: Change,
    /// The value in the first run.
    pub before: Option<f64>,
    /// The value in the second run.
    pub after: Option<f64>,
}

/// Two runs compared, paired by case, model and repetition.
#[derive(Debug, Clone, Serialize)]
pub struct DiffReport {
    /// The first run.
    pub before: String,
    /// The second run.
    pub after: String,
    /// Counts for each model and scorer.
    pub counts: Vec<DiffCounts>,
    /// The changed cases; those that stayed the same are only counted.
    pub changes: Vec<CaseChange>,
    /// Units only the first run has.
    pub only_before: u64,
    /// Units only the second run has.
    pub only_after: u64,
    /// Models and scorers that only one of the runs has, and scorers whose definition changed.
    pub notes: Vec<String>,
}

/// Counts of one model and scorer.
#[derive(Debug, Clone, Serialize)]
pub struct DiffCounts {
    /// The model's name.
    pub model: String,
    /// The scorer's name.
    pub scorer: String,
    /// Pairs with a value on both sides.
    pub pairs: u64,
    /// Mean of the pairs in the first run.
    pub before_mean: Option<f64>,
    /// Mean of the same pairs in the second run.
    pub after_mean: Option<f64>,
    /// How many of each change.
    pub changes: BTreeMap<Change, u64>,
}

type PairKey = (String, u32, u32);

/// A run as the comparison needs it.
struct Side {
    models: Vec<String>,
    scorers: Vec<(String, [u8; 16])>,
}

impl Side {
    fn read(run: &RunRecord) -> Result<Self, EngineError> {
        let spec: EvaluationSpec = serde_json::from_str(&run.spec)
            .map_err(|error| EngineError::StoredSpec(error.to_string()))?;
        let mut scorers = Vec::new();
        for config in &spec.scorers {
            let scorer = fullbench_score::build(config)
                .map_err(|error| EngineError::StoredSpec(error.message))?;
            scorers.push((scorer.name, scorer.hash.short()));
        }
        Ok(Self {
            models: spec.models.iter().map(fullbench_llm::ModelConfig::display_name).collect(),
            scorers,
        })
    }

    fn values(&self, unit: &UnitResult) -> Vec<Option<f64>> {
        let value = |hash: &[u8; 16]| {
            unit.scores
                .iter()
                .find(|entry| entry.scorer == *hash)
                .and_then(|entry| entry.score.value)
        };
        self.scorers.iter().map(|(_, hash)| value(hash)).collect()
    }
}

#[derive(Default)]
struct Tally {
    pairs: u64,
    before: f64,
    after: f64,
    changes: BTreeMap<Change, u64>,
}

/// Compares two runs: the second against the first.
pub async fn compare_runs(
    store: &ScopedStore,
    before: &RunRecord,
    after: &RunRecord,
) -> Result<DiffReport, EngineError> {
    let (left, right) = (Side::read(before)?, Side::read(after)?);
    let shared: Vec<(usize, usize)> = (left.scorers.iter().enumerate())
        .filter_map(|(index, (name, _))| {
            Some((index, right.scorers.iter().position(|(other, _)| other == name)?))
        })
        .collect();
    let mut unpaired = 0;
    let mut earlier: HashMap<PairKey, Vec<Option<f64>>> = HashMap::new();
    read_results(store, before, |unit| {
        let model = left.models.get(unit.key.model_index as usize);
        let model = model.and_then(|name| right.models.iter().position(|other| other == name));
        let Some(model) = model else {
            unpaired += 1;
            return Ok(());
        };
        let values = left.values(unit);
        earlier.insert((unit.case_key.clone(), model as u32, unit.key.repetition), values);
        Ok(())
    })
    .await?;
    let mut tallies: BTreeMap<(u32, usize), Tally> = BTreeMap::new();
    let mut changes = Vec::new();
    let mut only_after = 0;
    read_results(store, after, |unit| {
        let values = right.values(unit);
        let UnitKey { model_index, repetition, .. } = unit.key;
        let Some(old) = earlier.remove(&(unit.case_key.clone(), model_index, repetition)) else {
            only_after += 1;
            return Ok(());
        };
        for &(left_index, right_index) in &shared {
            let (was, is) = (old[left_index], values[right_index]);
            let Some(change) = change(was, is) else { continue };
            let tally = tallies.entry((model_index, right_index)).or_default();
            *tally.changes.entry(change).or_default() += 1;
            if let (Some(was), Some(is)) = (was, is) {
                tally.pairs += 1;
                tally.before += was;
                tally.after += is;
            }
            if change != Change::Same {
                changes.push(CaseChange {
                    case: unit.case_key.clone(),
                    model: right.models[model_index as usize].clone(),
                    repetition,
                    scorer: right.scorers[right_index].0.clone(),
                    change,
                    before: was,
                    after: is,
                });
            }
        }
        Ok(())
    })
    .await?;
    let mean = |sum: f64, pairs: u64| (pairs > 0).then(|| sum / pairs as f64);
    let counts = tallies.into_iter().map(|((model, scorer), tally)| DiffCounts {
        model: right.models[model as usize].clone(),
        scorer: right.scorers[scorer].0.clone(),
        pairs: tally.pairs,
        before_mean: mean(tally.before, tally.pairs),
        after_mean: mean(tally.after, tally.pairs),
        changes: tally.changes,
    });
    Ok(DiffReport {
        before: before.id.to_string(),
        after: after.id.to_string(),
        counts: counts.collect(),
        changes,
        only_before: unpaired + earlier.len() as u64,
        only_after,
        notes: differences(&left, &right, before.dataset != after.dataset),
    })
}

/// The change of a value; none where neither run has one.
fn change(before: Option<f64>, after: Option<f64>) -> Option<Change> {
    match (before, after) {
        (None, None) => None,
        (Some(_), None) => Some(Change::LostScore),
        (None, Some(_)) => Some(Change::GainedScore),
        (Some(before), Some(after)) if after > before => Some(Change::Fixed),
        (Some(before), Some(after)) if after < before => Some(Change::Broken),
        (Some(_), Some(_)) => Some(Change::Same),
    }
}

fn differences(left: &Side, right: &Side, other_data: bool) -> Vec<String> {
    let mut notes = Vec::new();
    if other_data {
        notes.push("the runs used different data: cases are paired by their id, and one may ask something else now".to_owned());
    }
    for (mine, theirs, which) in [(left, right, "first"), (right, left, "second")] {
        for model in mine.models.iter().filter(|model| !theirs.models.contains(model)) {
            notes.push(format!("only the {which} run has the model `{model}`"));
        }
        for (name, _) in mine
            .scorers
            .iter()
            .filter(|(name, _)| !theirs.scorers.iter().any(|(other, _)| other == name))
        {
            notes.push(format!("only the {which} run has the scorer `{name}`"));
        }
    }
    for (name, hash) in &left.scorers {
        if right.scorers.iter().any(|(other, other_hash)| other == name && other_hash != hash) {
            notes.push(format!("the scorer `{name}` is defined differently in the two runs"));
        }
    }
    notes
}
