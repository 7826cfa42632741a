//! Results counted by the database: far faster than reading them, where their order does not matter.

use fullbench_types::{FailureReason, NanoDollars, Outcome, RunId};
use sea_orm::{ConnectionTrait, DbBackend, QueryResult};
use uuid::Uuid;

use crate::{ScopedStore, StoreError};

/// Cases whose times are read as one row.
const TIMES_PER_ROW: u32 = 8192;

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

/// How long a block of answers of one model took.
#[derive(Debug, Clone, Default)]
pub struct AnswerTimes {
    /// Position of the model in the spec.
    pub model_index: u32,
    /// Microseconds to the whole answer, for those that were measured.
    pub latencies: Vec<u64>,
    /// Microseconds to the first token, for those that were streamed.
    pub first_tokens: Vec<u64>,
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
             CAST(SUM(cost_nanodollars) AS BIGINT), CAST(SUM(input_tokens) AS BIGINT), \
             CAST(SUM(output_tokens) AS BIGINT), CAST(SUM(cached_input_tokens) AS BIGINT), \
             CAST(SUM(reasoning_tokens) AS BIGINT) FROM generations \
             WHERE run_id = $1 AND organization_id = $2 GROUP BY 1, 2, 3 \
             ORDER BY 1, 2, 3";
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

    /// How long answers took. Times hardly repeat, so they come as lists, many to a row: handing over a row each
    /// costs more than reading it.
    pub async fn answer_times(&self, run: RunId) -> Result<Vec<AnswerTimes>, StoreError> {
        let list = |column| match self.database.get_database_backend() {
            DbBackend::Sqlite => {
                format!("group_concat(CASE WHEN {column} > 0 THEN {column} END, ' ')")
            }
            _ => format!("string_agg({column}::text, ' ') FILTER (WHERE {column} > 0)"),
        };
        let (latencies, first_tokens) = (list("latency_us"), list("time_to_first_token_us"));
        let sql = format!(
            "SELECT model_index, {latencies}, {first_tokens} \
             FROM generations WHERE run_id = $1 AND organization_id = $2 \
             GROUP BY model_index, case_index / {TIMES_PER_ROW} \
             ORDER BY model_index, case_index / {TIMES_PER_ROW}"
        );
        let times = |row: &QueryResult| {
            Ok(AnswerTimes {
                model_index: row.try_get_by_index::<i32>(0)? as u32,
                latencies: numbers(row.try_get_by_index(1)?)?,
                first_tokens: numbers(row.try_get_by_index(2)?)?,
            })
        };
        self.rows(&sql, run).await?.iter().map(times).collect()
    }

    /// Scores by model, scorer, outcome and value; none when some were scored again, so that revisions must be compared.
    pub async fn score_counts(&self, run: RunId) -> Result<Option<Vec<ScoreCount>>, StoreError> {
        let sql = "SELECT model_index, scorer, outcome, reason, value, COUNT(*), MAX(revision) \
             FROM scores WHERE run_id = $1 AND organization_id = $2 GROUP BY 1, 2, 3, 4, 5 \
             ORDER BY 1, 2, 3, 4, 5";
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

fn numbers(list: Option<String>) -> Result<Vec<u64>, StoreError> {
    let damaged = |_| StoreError::Damaged("a time that is not a number".to_owned());
    let list = list.unwrap_or_default();
    list.split_ascii_whitespace().map(|number| number.parse().map_err(damaged)).collect()
}
