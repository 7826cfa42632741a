//! Results counted by the database: far faster than reading them, where their order does not matter.

use fullbench_types::{FailureReason, NanoDollars, Outcome, RunId};
use sea_orm::{ConnectionTrait, QueryResult};
use uuid::Uuid;

use crate::{ScopedStore, StoreError};

/// Units of one model that ended alike.
#[derive(Debug, Clone)]
pub struct GenerationCount {
    /// Position of the model in the spec.
    pub model_index: u32,
    /// The failure of their last attempt; none for answers.
    pub failure: Option<FailureReason>,
    /// The answers were already in the data.
    pub recorded: bool,
    /// How many.
    pub count: u64,
    /// Calls beyond the first of each.
    pub retries: u64,
    /// Served from the cache.
    pub cached: u64,
    /// Answers with a known cost.
    pub priced: u64,
    /// Their cost.
    pub cost: NanoDollars,
    /// Input, output, cached input and reasoning tokens.
    pub tokens: [u64; 4],
}

/// Answers of one model that took equally long.
#[derive(Debug, Clone, Copy)]
pub struct TimeCount {
    /// Position of the model in the spec.
    pub model_index: u32,
    /// Microseconds.
    pub microseconds: u64,
    /// How many.
    pub count: u64,
}

/// Scores of one model by one scorer that are alike.
#[derive(Debug, Clone)]
pub struct ScoreCount {
    /// Position of the model in the spec.
    pub model_index: u32,
    /// The first 16 bytes of the scorer's hash.
    pub scorer: [u8; 16],
    /// How scoring ended.
    pub outcome: Outcome,
    /// The value.
    pub value: Option<f64>,
    /// How many.
    pub count: u64,
}

impl ScopedStore {
    /// Units by model and how they ended.
    pub async fn generation_counts(&self, run: RunId) -> Result<Vec<GenerationCount>, StoreError> {
        let sql = "SELECT model_index, status, finish_reason = 'recorded', COUNT(*), \
             SUM(CASE WHEN attempts > 1 THEN attempts - 1 ELSE 0 END), \
             SUM(CASE WHEN cached THEN 1 ELSE 0 END), COUNT(cost_nanodollars), \
             SUM(cost_nanodollars), SUM(input_tokens), SUM(output_tokens), \
             SUM(cached_input_tokens), SUM(reasoning_tokens) FROM generations \
             WHERE run_id = $1 AND organization_id = $2 GROUP BY 1, 2, 3";
        let mut counts = Vec::new();
        for row in self.rows(sql, run).await? {
            let status: String = row.try_get_by_index(1)?;
            let sum = |index| -> Result<u64, StoreError> {
                Ok(row.try_get_by_index::<Option<i64>>(index)?.unwrap_or_default() as u64)
            };
            counts.push(GenerationCount {
                model_index: row.try_get_by_index::<i32>(0)? as u32,
                failure: FailureReason::from_word(&status),
                recorded: row.try_get_by_index::<Option<bool>>(2)?.unwrap_or_default(),
                count: sum(3)?,
                retries: sum(4)?,
                cached: sum(5)?,
                priced: sum(6)?,
                cost: NanoDollars(sum(7)? as i64),
                tokens: [sum(8)?, sum(9)?, sum(10)?, sum(11)?],
            });
        }
        Ok(counts)
    }

    /// How long answers took.
    pub async fn latency_counts(&self, run: RunId) -> Result<Vec<TimeCount>, StoreError> {
        self.time_counts(run, "latency_us").await
    }

    /// How long first tokens took.
    pub async fn first_token_counts(&self, run: RunId) -> Result<Vec<TimeCount>, StoreError> {
        self.time_counts(run, "time_to_first_token_us").await
    }

    async fn time_counts(
        &self,
        run: RunId,
        column: &'static str,
    ) -> Result<Vec<TimeCount>, StoreError> {
        let sql = format!(
            "SELECT model_index, {column}, COUNT(*) FROM generations WHERE run_id = $1 \
             AND organization_id = $2 AND {column} > 0 GROUP BY 1, 2"
        );
        let count = |row: &QueryResult| {
            Ok(TimeCount {
                model_index: row.try_get_by_index::<i32>(0)? as u32,
                microseconds: row.try_get_by_index::<i64>(1)? as u64,
                count: row.try_get_by_index::<i64>(2)? as u64,
            })
        };
        self.rows(&sql, run).await?.iter().map(count).collect()
    }

    /// Scores by model, scorer, outcome and value; none when some were scored again, so that revisions must be compared.
    pub async fn score_counts(&self, run: RunId) -> Result<Option<Vec<ScoreCount>>, StoreError> {
        let sql = "SELECT model_index, scorer, outcome, reason, value, COUNT(*), MAX(revision) \
             FROM scores WHERE run_id = $1 AND organization_id = $2 GROUP BY 1, 2, 3, 4, 5";
        let mut counts = Vec::new();
        for row in self.rows(sql, run).await? {
            if row.try_get_by_index::<i32>(6)? > 0 {
                return Ok(None);
            }
            let outcome: String = row.try_get_by_index(2)?;
            let reason: Option<String> = row.try_get_by_index(3)?;
            counts.push(ScoreCount {
                model_index: row.try_get_by_index::<i32>(0)? as u32,
                scorer: row.try_get_by_index::<Uuid>(1)?.into_bytes(),
                outcome: Outcome::from_words(&outcome, reason.as_deref()).ok_or_else(|| {
                    StoreError::Damaged(format!("an unknown outcome `{outcome}`"))
                })?,
                value: row.try_get_by_index(4)?,
                count: row.try_get_by_index::<i64>(5)? as u64,
            });
        }
        Ok(Some(counts))
    }

    async fn rows(&self, sql: &str, run: RunId) -> Result<Vec<QueryResult>, StoreError> {
        let values = vec![run.0.into(), self.organization.0.into()];
        Ok(self.database.query_all_raw(self.statement(sql, values)).await?)
    }
}
