//! The results of two runs, paired by case, model and repetition.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use fullbench_llm::ModelConfig;
use fullbench_stats::sampling::{PairedWeightedCluster, PairedWeightedSums};
use fullbench_store::{RunRecord, ScopedStore, UnitResult};
use fullbench_types::{ContentHash, Route, ScorePath};

use super::diff::Change;
use super::grouping::Grouping;
use super::summary::read_results;
use crate::EngineError;
use crate::spec::stored_spec;

/// A run as the comparison needs it.
pub(super) struct Side {
    pub(super) models: Vec<String>,
    pub(super) scorers: Vec<SideScorer>,
    pub(super) group: Option<String>,
    pub(super) repetitions: u32,
}

/// A scorer of a run.
pub(super) struct SideScorer {
    pub(super) name: String,
    pub(super) hash: [u8; 16],
    pub(super) binary: bool,
    /// It is a cascade: values stand for as many outputs as their chances say.
    pub(super) weighted: bool,
}

impl Side {
    pub(super) async fn read(store: &ScopedStore, run: &RunRecord) -> Result<Self, EngineError> {
        let spec = stored_spec(store, run).await?;
        let mut scorers = Vec::new();
        for config in &spec.scorers {
            let scorer = fullbench_score::build(config)
                .map_err(|error| EngineError::StoredSpec(error.message))?;
            let hash = scorer.hash.short();
            let weighted = !scorer.scorer.tiers().is_empty();
            scorers.push(SideScorer { name: scorer.name, hash, binary: scorer.binary, weighted });
        }
        Ok(Self {
            models: spec.models.iter().map(ModelConfig::display_name).collect(),
            scorers,
            group: spec.group,
            repetitions: spec.repetitions,
        })
    }

    fn value(&self, scorer: usize, unit: &UnitResult) -> Option<Valued> {
        let hash = self.scorers.get(scorer)?.hash;
        let entry = unit.scores.iter().find(|entry| entry.scorer == hash)?;
        let value = entry.score.value.filter(|value| value.is_finite())?;
        let (mut probability, mut is_strong) = (1.0, false);
        match entry.score.path.as_deref() {
            Some(ScorePath::Cascade(path)) => {
                probability = path.tiers.last().map_or(1.0, |last| last.probability);
            }
            Some(ScorePath::Route(path)) => is_strong = path.route == Route::Strong,
            Some(ScorePath::Similar(_)) | None => {}
        }
        Some(Valued { value, probability, is_strong })
    }

    /// The model of the other run that a model of this one is paired with: the one of the same name, or the only one where
    /// both runs have one.
    pub(super) fn partner(&self, model: usize, other: &Self) -> Option<usize> {
        let name = self.models.get(model)?;
        let alone = self.models.len() == 1 && other.models.len() == 1;
        other.models.iter().position(|candidate| candidate == name).or(alone.then_some(0))
    }
}

/// A value with the way it came.
#[derive(Debug, Clone, Copy)]
struct Valued {
    value: f64,
    /// The chance it had of being given.
    probability: f64,
    /// It is of the strong one of two judges.
    is_strong: bool,
}

/// What one scorer gave the same units of one model in both runs.
#[derive(Debug, Default)]
pub(super) struct Series {
    /// Values in the first run.
    pub(super) before: Vec<f64>,
    /// Values of the same units in the second run.
    pub(super) after: Vec<f64>,
    /// The number of each pair's cluster; empty where every pair counts by itself.
    pub(super) clusters: Vec<u32>,
    /// How many of each change, also of those without a value on one side.
    pub(super) changes: BTreeMap<Change, u64>,
    /// The estimates of a cascade on both sides.
    pub(super) weighted: Option<WeightedSeries>,
    /// Pairs left out because another judge gave the value in the other run.
    pub(super) other_judge: u64,
}

/// Values that stand for others, on both sides.
#[derive(Debug, Default)]
pub(super) struct WeightedSeries {
    sums: PairedWeightedSums,
    clusters: BTreeMap<u32, PairedWeightedCluster>,
}

impl WeightedSeries {
    fn add(&mut self, was: Option<Valued>, is: Option<Valued>, cluster: Option<u32>) {
        let mut alone = PairedWeightedCluster::default();
        let sums = match cluster {
            Some(cluster) => self.clusters.entry(cluster).or_default(),
            None => &mut alone,
        };
        let pair = |one: Valued| (one.value, one.probability);
        // Values are finite and chances above 0: nothing is refused.
        let _ = match (was, is) {
            (Some(was), Some(is)) => {
                sums.add_both(pair(was), pair(is), was.probability.min(is.probability))
            }
            (Some(was), None) => sums.add_first(was.value, was.probability),
            (None, Some(is)) => sums.add_second(is.value, is.probability),
            (None, None) => Ok(()),
        };
        self.sums.add_cluster(&alone);
    }

    /// The sums with all clusters in them.
    pub(super) fn closed(&self) -> PairedWeightedSums {
        let mut sums = self.sums;
        self.clusters.values().for_each(|cluster| sums.add_cluster(cluster));
        sums
    }
}

/// A unit that changed under one scorer.
pub(super) struct ChangedUnit<'unit> {
    pub(super) unit: &'unit UnitResult,
    pub(super) scorer: usize,
    pub(super) change: Change,
    pub(super) before: Option<f64>,
    pub(super) after: Option<f64>,
}

/// How many units a model has.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Units {
    pub(super) before: u64,
    pub(super) after: u64,
}

/// Two runs, paired.
pub(super) struct Paired {
    /// By model and scorer of the second run.
    pub(super) series: BTreeMap<(usize, usize), Series>,
    /// How many units each model of the second run, or its partner in the first, has in either run.
    pub(super) units: BTreeMap<usize, Units>,
    /// Units only the first run has.
    pub(super) only_before: u64,
    /// Units only the second run has.
    pub(super) only_after: u64,
}

/// Values of the first run: one row for each unit, found by a hash of what identifies it in both runs.
struct Earlier {
    rows: HashMap<u128, u32>,
    values: Vec<Option<Valued>>,
    width: usize,
}

impl Earlier {
    fn insert(&mut self, identity: u128, values: impl Iterator<Item = Option<Valued>>) {
        let row = self.rows.len() as u32;
        self.rows.insert(identity, row);
        self.values.extend(values);
    }

    /// The values of a unit; each is given out once.
    fn take(&mut self, identity: u128) -> Option<&[Option<Valued>]> {
        let start = self.rows.remove(&identity)? as usize * self.width;
        self.values.get(start..start + self.width)
    }
}

fn identity(unit: &UnitResult, model: usize) -> u128 {
    let place = [(model as u32).to_le_bytes(), unit.key.repetition.to_le_bytes()].concat();
    u128::from_le_bytes(ContentHash::of_parts(&[unit.case_key.as_bytes(), &place]).short())
}

/// Pairs the results of two runs; every change is shown to `changed` as it is found.
pub(super) async fn pair(
    store: &ScopedStore,
    (before, left): (&RunRecord, &Side),
    (after, right): (&RunRecord, &Side),
    mut changed: impl FnMut(ChangedUnit<'_>),
) -> Result<Paired, EngineError> {
    // The shared scorers, as they are numbered in either run.
    let shared: Vec<(usize, usize)> = (right.scorers.iter().enumerate())
        .filter_map(|(index, scorer)| {
            let same = |other: &SideScorer| other.name == scorer.name;
            Some((left.scorers.iter().position(same)?, index))
        })
        .collect();
    let mut paired =
        Paired { series: BTreeMap::new(), units: BTreeMap::new(), only_before: 0, only_after: 0 };
    let mut earlier = Earlier { rows: HashMap::new(), values: Vec::new(), width: shared.len() };
    read_results(store, before, |unit| {
        match left.partner(unit.key.model_index as usize, right) {
            Some(model) => {
                paired.units.entry(model).or_default().before += 1;
                earlier.insert(
                    identity(unit, model),
                    shared.iter().map(|(scorer, _)| left.value(*scorer, unit)),
                );
            }
            None => paired.only_before += 1,
        }
        Ok(())
    })
    .await?;
    let dataset = Arc::new(store.dataset(&after.dataset).await?);
    let mut grouping = Grouping::new(store, &dataset, None, right.group.as_deref()).await?;
    let repeated = left.repetitions > 1 && right.repetitions > 1;
    let mut case = CaseNumber::default();
    read_results(store, after, |unit| {
        let model = unit.key.model_index as usize;
        paired.units.entry(model).or_default().after += 1;
        let Some(values) = earlier.take(identity(unit, model)) else {
            paired.only_after += 1;
            return Ok(());
        };
        let cluster = match &mut grouping {
            Some(grouping) => grouping.of(unit.key.case_index)?.cluster,
            None => repeated.then(|| case.of(unit.key.case_index)),
        };
        for (was, (before, scorer)) in values.iter().zip(&shared) {
            let (was, is) = (*was, right.value(*scorer, unit));
            let series = paired.series.entry((model, *scorer)).or_default();
            let weighted = left.scorers.get(*before).is_some_and(|scorer| scorer.weighted)
                || right.scorers.get(*scorer).is_some_and(|scorer| scorer.weighted);
            if weighted {
                series.weighted.get_or_insert_default().add(was, is, cluster);
            }
            if let (Some(was), Some(is)) = (was, is)
                && was.is_strong != is.is_strong
            {
                series.other_judge += 1;
                continue;
            }
            let value = |one: Option<Valued>| one.map(|one| one.value);
            let (was, is) = (value(was), value(is));
            let Some(change) = Change::between(was, is) else { continue };
            // That a cascade draws other outputs changes nothing about them.
            let drawn = matches!(change, Change::LostScore | Change::GainedScore);
            if weighted && drawn {
                continue;
            }
            *series.changes.entry(change).or_default() += 1;
            if let (Some(was), Some(is)) = (was, is) {
                series.before.push(was);
                series.after.push(is);
                series.clusters.extend(cluster);
            }
            if change != Change::Same {
                changed(ChangedUnit { unit, scorer: *scorer, change, before: was, after: is });
            }
        }
        Ok(())
    })
    .await?;
    paired.only_before += earlier.rows.len() as u64;
    Ok(paired)
}

/// Numbers cases that come one after the other.
#[derive(Default)]
struct CaseNumber(Option<(u64, u32)>);

impl CaseNumber {
    fn of(&mut self, case_index: u64) -> u32 {
        let number = match self.0 {
            Some((index, number)) if index == case_index => number,
            Some((_, number)) => number + 1,
            None => 0,
        };
        self.0 = Some((case_index, number));
        number
    }
}
