//! What changed between two runs: case by case, and what the changes show.

use std::collections::BTreeMap;

use fullbench_stats::sampling::{PairedWeightedSums, WeightedSums};
use fullbench_store::{RunRecord, ScopedStore};
use serde::{Deserialize, Serialize};

use super::conclusion::{conclusion, firmer};
use super::evidence::{Evidence, decide};
use super::pairs::{Paired, Series, Side, Units, WeightedSeries, pair};
use crate::EngineError;

/// How a case changed under one scorer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// It failed before and passes now, or its value is higher: `fixed` for graded values too.
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

impl Change {
    /// The change of a value; none where neither run has one.
    pub(super) fn between(before: Option<f64>, after: Option<f64>) -> Option<Self> {
        match (before, after) {
            (None, None) => None,
            (Some(_), None) => Some(Self::LostScore),
            (None, Some(_)) => Some(Self::GainedScore),
            (Some(before), Some(after)) if after > before => Some(Self::Fixed),
            (Some(before), Some(after)) if after < before => Some(Self::Broken),
            (Some(_), Some(_)) => Some(Self::Same),
        }
    }
}

/// One changed case.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CaseChange {
    /// The identity of the case.
    pub case: String,
    /// The model's name.
    pub model: String,
    /// The repetition.
    pub repetition: u32,
    /// The scorer's name.
    pub scorer: String,
    /// Its values are yes or no in both runs.
    pub binary: bool,
    /// What changed.
    pub change: Change,
    /// The value in the first run.
    pub before: Option<f64>,
    /// The value in the second run.
    pub after: Option<f64>,
}

/// Two runs compared, paired by case, model and repetition.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct DiffReport {
    /// The first run.
    pub before: String,
    /// The second run.
    pub after: String,
    /// A difference up to this size does not matter, where the user says so.
    pub margin: Option<f64>,
    /// Each model and scorer.
    pub counts: Vec<DiffCounts>,
    /// What it comes to, in sentences.
    pub conclusion: Vec<String>,
    /// What would make it firmer.
    pub firmer: Option<String>,
    /// How many units changed under a scorer.
    pub changed: u64,
    /// The first of them, as many as were asked for; those that stayed the same are only counted.
    pub changes: Vec<CaseChange>,
    /// Units only the first run has.
    pub only_before: u64,
    /// Units only the second run has.
    pub only_after: u64,
    /// The runs used different data.
    pub other_data: bool,
    /// Cases were asked several times, in one of the runs at least.
    pub repeated: bool,
    /// Models and scorers that only one of the runs has, and scorers whose definition changed.
    pub notes: Vec<String>,
}

/// One model and scorer in both runs.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct DiffCounts {
    /// The model's name.
    pub model: String,
    /// The scorer's name.
    pub scorer: String,
    /// Its values are yes or no in both runs: changes are called fixed and broken, where others are higher and lower.
    pub binary: bool,
    /// Units of the model in the first run, with or without a value.
    pub before_units: u64,
    /// Units of the model in the second run.
    pub after_units: u64,
    /// Pairs with a value on both sides.
    pub pairs: u64,
    /// Mean of the pairs in the first run.
    pub before_mean: Option<f64>,
    /// Mean of the same pairs in the second run.
    pub after_mean: Option<f64>,
    /// How many of each change.
    pub changes: BTreeMap<Change, u64>,
    /// The means are estimates of what a cascade's last tier would give on all outputs; changes are those of outputs judged in both runs.
    pub weighted: bool,
    /// Pairs that are left out: in one run the cheap judge gave the value, in the other the strong one.
    pub other_judge: u64,
    /// The scorer is defined differently in the two runs.
    pub redefined: bool,
    /// What the pairs show.
    pub evidence: Evidence,
}

/// How runs are compared.
#[derive(Debug, Clone, Copy)]
pub struct DiffOptions {
    /// A difference up to this size does not matter; with it, equivalence is tested.
    pub margin: Option<f64>,
    /// Changed units listed at most.
    pub changes: usize,
}

/// Compares two runs: the second against the first.
pub async fn compare_runs(
    store: &ScopedStore,
    before: &RunRecord,
    after: &RunRecord,
    options: DiffOptions,
) -> Result<DiffReport, EngineError> {
    let left = Side::read(store, before).await?;
    let right = Side::read(store, after).await?;
    let mut changed = 0;
    let mut changes = Vec::new();
    let paired = pair(store, (before, &left), (after, &right), |found| {
        changed += 1;
        if changes.len() < options.changes {
            changes.push(CaseChange {
                case: found.unit.case_key.clone(),
                model: right.models[found.unit.key.model_index as usize].clone(),
                repetition: found.unit.key.repetition,
                scorer: right.scorers[found.scorer].name.clone(),
                binary: is_binary(&left, &right, found.scorer),
                change: found.change,
                before: found.before,
                after: found.after,
            });
        }
    })
    .await?;
    let Paired { series, units, only_before, only_after } = paired;
    let mut counts = Vec::new();
    for ((model, scorer), series) in series {
        let units = units.get(&model).copied().unwrap_or_default();
        counts.push(row(&left, &right, (model, scorer), (series, units), options.margin));
    }
    decide(&mut counts.iter_mut().map(|row| &mut row.evidence).collect::<Vec<_>>());
    let other_data = before.dataset != after.dataset;
    let mut notes = differences(&left, &right, other_data);
    notes.extend(counts.iter().filter_map(ways));
    Ok(DiffReport {
        before: before.id.to_string(),
        after: after.id.to_string(),
        margin: options.margin,
        conclusion: conclusion(&counts, options.margin),
        firmer: firmer(&counts, options.margin),
        counts,
        changed,
        changes,
        only_before,
        only_after,
        other_data,
        repeated: left.repetitions > 1 || right.repetitions > 1,
        notes,
    })
}

/// What to know of values that came by different ways.
fn ways(row: &DiffCounts) -> Option<String> {
    let DiffCounts { model, scorer, .. } = row;
    if row.weighted {
        return Some(format!(
            "`{scorer}` is a cascade: its means for `{model}` are estimates of what the last tier would give on all outputs"
        ));
    }
    (row.other_judge > 0).then(|| {
        format!("{} pairs of `{scorer}` for `{model}` are left out: the cheap judge gave one value, the strong one the other", row.other_judge)
    })
}

fn row(
    left: &Side,
    right: &Side,
    (model, scorer): (usize, usize),
    (series, units): (Series, Units),
    margin: Option<f64>,
) -> DiffCounts {
    let after = &right.scorers[scorer];
    let before = left.scorers.iter().find(|before| before.name == after.name);
    let binary = is_binary(left, right, scorer);
    let pairs = series.before.len() as u64;
    let weighted = series.weighted.as_ref().map(WeightedSeries::closed);
    let mean = |values: &[f64], side: Option<&WeightedSums>| match side {
        Some(side) => side.mean().ok(),
        None => (pairs > 0).then(|| values.iter().sum::<f64>() / values.len() as f64),
    };
    DiffCounts {
        model: right.models[model].clone(),
        scorer: after.name.clone(),
        binary,
        before_units: units.before,
        after_units: units.after,
        pairs,
        before_mean: mean(&series.before, weighted.as_ref().map(PairedWeightedSums::first)),
        after_mean: mean(&series.after, weighted.as_ref().map(PairedWeightedSums::second)),
        weighted: weighted.is_some(),
        other_judge: series.other_judge,
        redefined: before.is_none_or(|before| before.hash != after.hash),
        evidence: match &weighted {
            Some(sums) => Evidence::of_weighted(sums, margin),
            None => Evidence::of(&series, binary, right.group.is_some(), margin),
        },
        changes: series.changes,
    }
}

/// Whether a scorer of the second run gives yes or no in both runs.
fn is_binary(left: &Side, right: &Side, scorer: usize) -> bool {
    let Some(after) = right.scorers.get(scorer) else { return false };
    let before = left.scorers.iter().find(|before| before.name == after.name);
    after.binary && before.is_some_and(|before| before.binary)
}

fn differences(left: &Side, right: &Side, other_data: bool) -> Vec<String> {
    let mut notes = Vec::new();
    if other_data {
        notes.push("the runs used different data: cases are paired by their id, and one may ask something else now".to_owned());
    }
    if let ([before], [after]) = (left.models.as_slice(), right.models.as_slice())
        && before != after
    {
        notes.push(format!("the model `{before}` of the first run is compared with `{after}` of the second: each run has one model"));
    }
    for (mine, theirs, which) in [(left, right, "first"), (right, left, "second")] {
        for (index, model) in mine.models.iter().enumerate() {
            if mine.partner(index, theirs).is_none() {
                notes.push(format!("only the {which} run has the model `{model}`"));
            }
        }
        for scorer in &mine.scorers {
            if !theirs.scorers.iter().any(|other| other.name == scorer.name) {
                notes.push(format!("only the {which} run has the scorer `{}`", scorer.name));
            }
        }
    }
    for scorer in &left.scorers {
        let redefined = right
            .scorers
            .iter()
            .any(|other| other.name == scorer.name && other.hash != scorer.hash);
        if redefined {
            let name = &scorer.name;
            notes.push(format!("the scorer `{name}` is defined differently in the two runs: a difference may come from that"));
        }
    }
    notes
}
