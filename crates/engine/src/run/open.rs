//! What of a lane is still open: the plan minus the records, read once, at the start.

use std::collections::{BTreeSet, HashSet};

use fullbench_store::{LaneProgress, ScopedStore, StoreError};
use fullbench_types::{RunId, UnitKey};

use super::Plan;

/// The open work of one lane.
#[derive(Debug, Clone, Default)]
pub(crate) struct OpenLane {
    /// How far the lane had come.
    pub(crate) progress: LaneProgress,
    /// Units whose last attempt failed.
    pub(crate) failed: HashSet<u64>,
    /// Those of them below the watermark, in order.
    pub(crate) retry: Vec<u64>,
    /// Units above the watermark that are recorded and need nothing.
    pub(crate) finished: HashSet<u64>,
    /// Units with an answer that lack a score, or for which the provider of a scorer failed.
    pub(crate) unscored: Vec<UnitKey>,
    /// Units of the lane.
    pub(crate) units: u64,
}

impl OpenLane {
    /// A lane nobody has worked on.
    pub(crate) fn untouched(model_index: u32, plan: &Plan) -> Self {
        let progress = LaneProgress { model_index, ..LaneProgress::default() };
        Self { progress, units: plan.lane_units(), ..Self::default() }
    }

    /// Reads what is open: failed units are tried again, answers without all scores are scored, also those for
    /// which the provider of a scorer failed.
    pub(crate) async fn read(
        store: &ScopedStore,
        run: RunId,
        plan: &Plan,
        progress: LaneProgress,
        scorers: &[[u8; 16]],
    ) -> Result<Self, StoreError> {
        let mut lane = Self { progress, units: plan.lane_units(), ..Self::default() };
        let model_index = progress.model_index;
        if progress.failed > 0 {
            let failed = store.failed_units(run, model_index).await?;
            let positions: Vec<u64> = failed.iter().filter_map(|key| plan.position(key)).collect();
            lane.retry = positions
                .iter()
                .copied()
                .filter(|position| *position < progress.watermark)
                .collect();
            lane.failed = positions.into_iter().collect();
        }
        lane.unscored = store.missing_scores(run, model_index).await?;
        let tried: HashSet<UnitKey> = lane.unscored.iter().copied().collect();
        let Some(first) = plan.unit(model_index, progress.watermark) else { return Ok(lane) };
        for unit in store.recorded_units(run, model_index, first.case_index).await? {
            let Some(position) = plan.position(&unit.key) else { continue };
            if position < progress.watermark || !unit.answered {
                continue;
            }
            lane.finished.insert(position);
            let has_all = scorers.iter().all(|scorer| unit.scored_by.contains(scorer));
            if !has_all && !tried.contains(&unit.key) {
                lane.unscored.push(unit.key);
            }
        }
        Ok(lane)
    }

    /// A lane whose answers get scores they lack, and whose model is not asked for anything.
    pub(crate) async fn to_score(
        store: &ScopedStore,
        run: RunId,
        plan: &Plan,
        progress: LaneProgress,
        scorers: &[[u8; 16]],
    ) -> Result<Self, StoreError> {
        let progress = LaneProgress { watermark: 0, ..progress };
        let mut lane = Self { progress, ..Self::default() };
        let missing = store.missing_scores(run, progress.model_index).await?;
        let missing: HashSet<UnitKey> = missing.into_iter().collect();
        for unit in store.recorded_units(run, progress.model_index, 0).await? {
            let Some(position) = plan.position(&unit.key) else { continue };
            lane.finished.insert(position);
            let has_all = scorers.iter().all(|scorer| unit.scored_by.contains(scorer));
            if unit.answered && (!has_all || missing.contains(&unit.key)) {
                lane.unscored.push(unit.key);
            }
        }
        Ok(lane)
    }

    /// Positions to ask the model for, in order.
    pub(crate) fn positions(&self) -> impl Iterator<Item = u64> + '_ {
        let rest = (self.progress.watermark..self.units)
            .filter(|position| !self.finished.contains(position));
        self.retry.iter().copied().chain(rest)
    }

    /// Positions above the watermark that are complete already.
    pub(crate) fn complete_above(&self, plan: &Plan) -> BTreeSet<u64> {
        let unscored: HashSet<u64> =
            self.unscored.iter().filter_map(|key| plan.position(key)).collect();
        self.finished.iter().copied().filter(|position| !unscored.contains(position)).collect()
    }
}
