//! Scores of the answers of a window.

use fullbench_stats::Undefined;
use fullbench_stats::compare::welch_t;
use fullbench_types::RunId;
use futures::TryStreamExt;
use sea_orm::{ConnectionTrait, DbBackend, StreamTrait};
use uuid::Uuid;

use super::subjects::IN_SCOPE;
use super::{AlertScope, Measurement};
use crate::{ScopedStore, StoreError};

/// The most values of a window that are compared: the newest.
const MOST_VALUES: u64 = 1_000_000;
/// The most scorers of a window that are told apart.
const MOST_SCORERS: u64 = 1000;
/// How sure a fall has to be: one-sided, at 0.05.
const CONFIDENCE: f64 = 0.95;

/// The unit of a score is that of an answer.
const OF_UNIT: &str = "s.run_id = g.run_id AND s.case_index = g.case_index \
     AND s.model_index = g.model_index AND s.repetition = g.repetition \
     AND s.organization_id = g.organization_id";

impl ScopedStore {
    /// The scorers that scored answers of a window, by the first 16 bytes of their hashes, each with its newest run there.
    pub async fn scorers_in(
        &self,
        scope: &AlertScope<'_>,
    ) -> Result<Vec<([u8; 16], RunId)>, StoreError> {
        let mut values = self.scope_values(scope);
        let of_model = self.is_of_model(scope, &mut values);
        let newest = match self.backend() {
            DbBackend::Sqlite => "MAX(s.run_id)",
            _ => "MAX(s.run_id::text)::uuid",
        };
        let sql = format!(
            "SELECT s.scorer, {newest} FROM generations g JOIN scores s ON {OF_UNIT} \
             WHERE {IN_SCOPE}{of_model} GROUP BY s.scorer ORDER BY 2 DESC, 1 LIMIT {MOST_SCORERS}"
        );
        let rows = self.database.query_all_raw(self.statement(sql, values)).await?;
        let found = |row: &sea_orm::QueryResult| {
            let scorer: Uuid = row.try_get_by_index(0)?;
            Ok((scorer.into_bytes(), RunId(row.try_get_by_index(1)?)))
        };
        rows.iter().map(found).collect()
    }

    /// By how much the mean of a scorer's values fell from the window before to this one, and whether that is more than chance:
    /// Welch's test, one-sided. None where either window has fewer values than wanted.
    pub async fn measured_score_drop(
        &self,
        scope: &AlertScope<'_>,
        scorer: [u8; 16],
        minimum: u32,
    ) -> Result<Option<Measurement>, StoreError> {
        let now = self.score_values_in(scope, scorer).await?;
        let enough = (minimum as usize).max(2);
        if now.len() < enough {
            return Ok(None);
        }
        let before = self.score_values_in(&scope.before(), scorer).await?;
        if before.len() < enough {
            return Ok(None);
        }
        let is_certain = match welch_t(&before, &now, CONFIDENCE) {
            Ok(test) => test.upper_bound(CONFIDENCE).is_ok_and(|highest| highest < 0.0),
            // All values of each window are the same: if they are others, chance does not explain it.
            Err(Undefined::NoVariation { .. }) => true,
            Err(_) => return Ok(None),
        };
        let value = mean(&before) - mean(&now);
        Ok(Some(Measurement { is_certain, ..Measurement::new(value, now.len() as u64) }))
    }

    /// The values that count of a scorer, of the answers of a window.
    async fn score_values_in(
        &self,
        scope: &AlertScope<'_>,
        scorer: [u8; 16],
    ) -> Result<Vec<f64>, StoreError> {
        let mut values = self.scope_values(scope);
        let of_model = self.is_of_model(scope, &mut values);
        values.push(Uuid::from_bytes(scorer).into());
        let scorer = values.len();
        let sql = format!(
            "SELECT s.value FROM generations g JOIN scores s ON {OF_UNIT} AND s.scorer = ${scorer} \
             WHERE {IN_SCOPE}{of_model} AND s.value IS NOT NULL AND NOT EXISTS \
             (SELECT 1 FROM scores n WHERE n.run_id = s.run_id AND n.case_index = s.case_index \
             AND n.model_index = s.model_index AND n.repetition = s.repetition \
             AND n.scorer = s.scorer AND n.revision > s.revision) \
             ORDER BY g.recorded_at DESC LIMIT {MOST_VALUES}"
        );
        let mut rows = self.database.stream_raw(self.statement(sql, values)).await?;
        let mut values = Vec::new();
        while let Some(row) = rows.try_next().await? {
            values.push(row.try_get_by_index(0)?);
        }
        Ok(values)
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}
