//! How far a run has come, and which of its units are still open.

use std::collections::{HashMap, HashSet};

use fullbench_types::{NanoDollars, RunId, UnitKey};
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder, QueryResult};
use uuid::Uuid;

use crate::entity::run_progress;
use crate::sealed_text::RowKey;
use crate::sealed_text::catalogue::SCORE_REASONING;
use crate::{ScopedStore, StoreError};

/// How far the units of one model have come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LaneProgress {
    /// Position of the model in the spec.
    pub model_index: u32,
    /// Every unit of the lane before this position is recorded: answered and scored, or failed.
    pub watermark: u64,
    /// Units with an answer.
    pub answered: u64,
    /// Units whose last attempt failed.
    pub failed: u64,
    /// Money spent on answers.
    pub spent: NanoDollars,
}

/// A unit with a record, as resuming needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedUnit {
    /// The unit.
    pub key: UnitKey,
    /// It has an answer; otherwise its last attempt failed.
    pub answered: bool,
    /// Scorers that have scored it.
    pub scored_by: HashSet<[u8; 16]>,
}

impl ScopedStore {
    /// How far each lane of the run has come; lanes without any record are left out.
    pub async fn lane_progress(&self, run: RunId) -> Result<Vec<LaneProgress>, StoreError> {
        let rows = run_progress::Entity::find()
            .filter(run_progress::Column::RunId.eq(run.0))
            .filter(run_progress::Column::OrganizationId.eq(self.organization.0))
            .order_by_asc(run_progress::Column::ModelIndex)
            .all(&self.database)
            .await?;
        let lanes = rows.into_iter().map(|row| LaneProgress {
            model_index: row.model_index as u32,
            watermark: row.watermark as u64,
            answered: row.answered as u64,
            failed: row.failed as u64,
            spent: NanoDollars(row.spent_nanodollars),
        });
        Ok(lanes.collect())
    }

    /// How far runs have come, all their lanes together; runs without any record are left out.
    pub async fn progress_of(
        &self,
        runs: &[RunId],
    ) -> Result<HashMap<RunId, LaneProgress>, StoreError> {
        let rows = run_progress::Entity::find()
            .filter(run_progress::Column::RunId.is_in(runs.iter().map(|run| run.0)))
            .filter(run_progress::Column::OrganizationId.eq(self.organization.0))
            .all(&self.database)
            .await?;
        let mut sums: HashMap<RunId, LaneProgress> = HashMap::new();
        for row in rows {
            let sum = sums.entry(RunId(row.run_id)).or_default();
            sum.watermark += row.watermark as u64;
            sum.answered += row.answered as u64;
            sum.failed += row.failed as u64;
            sum.spent += NanoDollars(row.spent_nanodollars);
        }
        Ok(sums)
    }

    /// Units of a lane whose last attempt failed, in order.
    pub async fn failed_units(
        &self,
        run: RunId,
        model_index: u32,
    ) -> Result<Vec<UnitKey>, StoreError> {
        let sql = "SELECT case_index, repetition FROM generations WHERE run_id = $1 \
             AND model_index = $2 AND organization_id = $3 AND status <> 'answered' \
             ORDER BY case_index, repetition";
        let values = vec![run.0.into(), (model_index as i32).into(), self.organization.0.into()];
        let rows = self.database.query_all_raw(self.statement(sql, values)).await?;
        rows.iter().map(|row| unit_key(row, model_index)).collect()
    }

    /// Answered units of a lane that lack a score because the provider of a scorer failed, in order.
    pub async fn missing_scores(
        &self,
        run: RunId,
        model_index: u32,
    ) -> Result<Vec<UnitKey>, StoreError> {
        let sql = "SELECT DISTINCT case_index, repetition FROM scores WHERE run_id = $1 \
             AND model_index = $2 AND organization_id = $3 AND reason = 'provider_error' \
             ORDER BY case_index, repetition";
        let values = vec![run.0.into(), (model_index as i32).into(), self.organization.0.into()];
        let rows = self.database.query_all_raw(self.statement(sql, values)).await?;
        rows.iter().map(|row| unit_key(row, model_index)).collect()
    }

    /// What the provider of a scorer said when it failed, where one did.
    pub async fn missing_score_reason(&self, run: RunId) -> Result<Option<String>, StoreError> {
        let sql = "SELECT reasoning, case_index, model_index, repetition, scorer, revision FROM scores \
             WHERE run_id = $1 AND organization_id = $2 \
             AND reason = 'provider_error' ORDER BY model_index, case_index LIMIT 1";
        let values = vec![run.0.into(), self.organization.0.into()];
        let row = self.database.query_one_raw(self.statement(sql, values)).await?;
        let Some(row) = row else { return Ok(None) };
        let reasoning: Option<String> = row.try_get_by_index(0)?;
        let opener = self.opener(reasoning.as_deref()).await?;
        let (case_index, model_index) =
            (row.try_get_by_index::<i64>(1)?, row.try_get_by_index::<i32>(2)?);
        let (repetition, scorer) =
            (row.try_get_by_index::<i32>(3)?, row.try_get_by_index::<Uuid>(4)?);
        let revision = row.try_get_by_index::<i32>(5)?;
        let key: RowKey<'_> = &[&run.0, &case_index, &model_index, &repetition, &scorer, &revision];
        let opened = opener.open_some(&SCORE_REASONING, key, reasoning)?;
        Ok(opened.map(|opened| opened.text))
    }

    /// Units of a lane that have a record, from a case on, in order.
    pub async fn recorded_units(
        &self,
        run: RunId,
        model_index: u32,
        from_case: u64,
    ) -> Result<Vec<RecordedUnit>, StoreError> {
        let sql = "SELECT g.case_index, g.repetition, g.status, s.scorer FROM generations g \
             LEFT JOIN scores s ON s.run_id = g.run_id AND s.case_index = g.case_index \
             AND s.model_index = g.model_index AND s.repetition = g.repetition \
             WHERE g.run_id = $1 AND g.model_index = $2 AND g.case_index >= $3 \
             AND g.organization_id = $4 ORDER BY g.case_index, g.repetition";
        let values = vec![
            run.0.into(),
            (model_index as i32).into(),
            (from_case as i64).into(),
            self.organization.0.into(),
        ];
        let mut units: Vec<RecordedUnit> = Vec::new();
        for row in self.database.query_all_raw(self.statement(sql, values)).await? {
            let key = unit_key(&row, model_index)?;
            if units.last().is_none_or(|last| last.key != key) {
                let status: String = row.try_get_by_index(2)?;
                let answered = status == "answered";
                units.push(RecordedUnit { key, answered, scored_by: HashSet::new() });
            }
            let scorer: Option<Uuid> = row.try_get_by_index(3)?;
            if let (Some(unit), Some(scorer)) = (units.last_mut(), scorer) {
                unit.scored_by.insert(scorer.into_bytes());
            }
        }
        Ok(units)
    }
}

fn unit_key(row: &QueryResult, model_index: u32) -> Result<UnitKey, StoreError> {
    let case_index: i64 = row.try_get_by_index(0)?;
    let repetition: i32 = row.try_get_by_index(1)?;
    Ok(UnitKey { case_index: case_index as u64, model_index, repetition: repetition as u32 })
}
