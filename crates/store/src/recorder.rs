//! The one writer of a run's results: everything of a group is committed in one transaction.

use std::task::Poll;

use fullbench_types::{Generation, RunId, Score, UnitFailure, UnitKey};
use sea_orm::{ConnectionTrait, DbBackend, TransactionTrait, Value};
use uuid::Uuid;

use crate::connection::ScopedTransaction;
use crate::runs::now_milliseconds;
use crate::{LaneProgress, ScopedStore, StoreError};

/// What a unit got from its model.
#[derive(Debug, Clone, Copy)]
pub struct GenerationRecord<'unit> {
    /// The unit.
    pub key: UnitKey,
    /// The identity of its case.
    pub case_key: &'unit str,
    /// The answer, or the failure of the last attempt.
    pub result: Result<&'unit Generation, &'unit UnitFailure>,
}

/// A score of a unit.
#[derive(Debug, Clone)]
pub struct ScoreRecord {
    /// The unit.
    pub key: UnitKey,
    /// The first 16 bytes of the scorer's hash.
    pub scorer: [u8; 16],
    /// 0 for the first scoring; the highest revision counts.
    pub revision: u32,
    /// The score.
    pub score: Score,
}

/// Writes the results of one run.
#[derive(Debug)]
pub struct RunRecorder {
    store: ScopedStore,
    run: RunId,
}

/// Rows of the prepared statements; what does not fill the larger goes into the smaller.
const ROWS_PER_STATEMENT: [usize; 4] = [256, 32, 4, 1];

const GENERATION_COLUMNS: &str = "run_id, case_index, model_index, repetition, organization_id, \
    case_key, status, text, finish_reason, input_tokens, output_tokens, cached_input_tokens, \
    cache_write_tokens, reasoning_tokens, latency_us, time_to_first_token_us, queue_us, \
    cost_nanodollars, attempts, cached, reported_model, details, raw, recorded_at";

const SCORE_COLUMNS: &str = "run_id, case_index, model_index, repetition, scorer, revision, \
    organization_id, outcome, reason, raw, value, reasoning, evidence, confidence, \
    cost_nanodollars, cached, judgement, judge_id, path, recorded_at";

/// A success never changes; a failure is replaced by what came after it, and its calls are added up.
const REPLACE_FAILURES: &str = "ON CONFLICT (run_id, case_index, model_index, repetition) DO UPDATE \
    SET status = excluded.status, text = excluded.text, finish_reason = excluded.finish_reason, \
    input_tokens = excluded.input_tokens, output_tokens = excluded.output_tokens, \
    cached_input_tokens = excluded.cached_input_tokens, \
    cache_write_tokens = excluded.cache_write_tokens, \
    reasoning_tokens = excluded.reasoning_tokens, latency_us = excluded.latency_us, \
    time_to_first_token_us = excluded.time_to_first_token_us, queue_us = excluded.queue_us, \
    cost_nanodollars = excluded.cost_nanodollars, \
    attempts = generations.attempts + excluded.attempts, cached = excluded.cached, \
    reported_model = excluded.reported_model, details = excluded.details, raw = excluded.raw, \
    recorded_at = excluded.recorded_at WHERE generations.status <> 'answered'";

/// A score never changes, but for one that is missing because the provider of its scorer failed.
const REPLACE_MISSING_SCORES: &str = "ON CONFLICT (run_id, case_index, model_index, repetition, scorer, \
    revision) DO UPDATE SET outcome = excluded.outcome, reason = excluded.reason, \
    raw = excluded.raw, value = excluded.value, reasoning = excluded.reasoning, \
    evidence = excluded.evidence, confidence = excluded.confidence, \
    cost_nanodollars = excluded.cost_nanodollars, cached = excluded.cached, \
    judgement = excluded.judgement, judge_id = excluded.judge_id, path = excluded.path, \
    recorded_at = excluded.recorded_at WHERE scores.reason = 'provider_error'";

const UPSERT_LANE: &str = "INSERT INTO run_progress (run_id, model_index, organization_id, \
    watermark, answered, failed, spent_nanodollars) VALUES ($1, $2, $3, $4, $5, $6, $7) \
    ON CONFLICT (run_id, model_index) DO UPDATE SET watermark = excluded.watermark, \
    answered = excluded.answered, failed = excluded.failed, \
    spent_nanodollars = excluded.spent_nanodollars";

impl ScopedStore {
    /// The writer of a run's results.
    #[must_use]
    pub fn recorder(&self, run: RunId) -> RunRecorder {
        RunRecorder { store: self.clone(), run }
    }
}

impl RunRecorder {
    /// Commits a group: answers and failures, scores, and how far each lane has come. Recording a key twice changes nothing.
    pub async fn commit(
        &self,
        generations: &[GenerationRecord<'_>],
        scores: &[&ScoreRecord],
        lanes: &[LaneProgress],
    ) -> Result<(), StoreError> {
        let now = now_milliseconds();
        let transaction = self.store.database.begin().await?;
        let insert = InsertMany {
            table: "generations",
            columns: GENERATION_COLUMNS,
            conflict: REPLACE_FAILURES,
        };
        insert
            .run(&self.store, &transaction, generations, |record, values| {
                self.generation_values(record, now, values);
            })
            .await?;
        let insert = InsertMany {
            table: "scores",
            columns: SCORE_COLUMNS,
            conflict: REPLACE_MISSING_SCORES,
        };
        insert
            .run(&self.store, &transaction, scores, |record, values| {
                self.score_values(record, now, values);
            })
            .await?;
        for lane in lanes {
            let values = vec![
                self.run.0.into(),
                (lane.model_index as i32).into(),
                self.store.organization.0.into(),
                (lane.watermark as i64).into(),
                (lane.answered as i64).into(),
                (lane.failed as i64).into(),
                lane.spent.0.into(),
            ];
            transaction.execute_raw(self.store.statement(UPSERT_LANE, values)).await?;
        }
        Ok(transaction.commit().await?)
    }

    fn generation_values(&self, record: &GenerationRecord<'_>, now: i64, values: &mut Vec<Value>) {
        self.unit_values(&record.key, values);
        values.extend([self.store.organization.0.into(), record.case_key.into()]);
        match record.result {
            Ok(generation) => answered_values(generation, values),
            Err(failure) => failed_values(failure, values),
        }
        values.push(now.into());
    }

    fn score_values(&self, record: &ScoreRecord, now: i64, values: &mut Vec<Value>) {
        let score = &record.score;
        let judge = score.judgement.as_ref().and_then(|judgement| judgement.judge.as_ref());
        self.unit_values(&record.key, values);
        values.extend([
            Uuid::from_bytes(record.scorer).into(),
            (record.revision as i32).into(),
            self.store.organization.0.into(),
            score.outcome.as_str().into(),
            score.outcome.reason().map(|reason| reason.as_str()).into(),
            score.raw.into(),
            score.value.into(),
            score.reasoning.clone().into(),
            score.evidence.as_ref().map(ToString::to_string).into(),
            score.confidence.into(),
            score.cost.map(|cost| cost.0).into(),
            score.cached.into(),
            score
                .judgement
                .as_ref()
                .and_then(|judgement| serde_json::to_string(judgement).ok())
                .into(),
            judge.map(|judge| judge.id.0).into(),
            score.path.as_ref().and_then(|path| serde_json::to_string(path).ok()).into(),
            now.into(),
        ]);
    }

    fn unit_values(&self, key: &UnitKey, values: &mut Vec<Value>) {
        values.extend([
            self.run.0.into(),
            (key.case_index as i64).into(),
            (key.model_index as i32).into(),
            (key.repetition as i32).into(),
        ]);
    }
}

fn answered_values(generation: &Generation, values: &mut Vec<Value>) {
    let usage = generation.usage.as_ref();
    let tokens = |count: fn(&fullbench_types::Usage) -> u64| -> Value {
        usage.map(|usage| count(usage) as i64).into()
    };
    let has_details = !generation.alternatives.is_empty()
        || generation.logprobs.is_some()
        || generation.choices.is_some()
        || generation.endpoint.is_some();
    let details = has_details.then(|| {
        serde_json::json!({
            "alternatives": generation.alternatives,
            "logprobs": generation.logprobs,
            "choices": generation.choices,
            "endpoint": generation.endpoint,
        })
        .to_string()
    });
    values.extend([
        "answered".into(),
        generation.text.clone().into(),
        generation.finish_reason.as_str().into(),
        tokens(|usage| usage.input_tokens),
        tokens(|usage| usage.output_tokens),
        tokens(|usage| usage.cached_input_tokens),
        tokens(|usage| usage.cache_write_tokens),
        tokens(|usage| usage.reasoning_tokens),
        (generation.latency_us as i64).into(),
        generation.time_to_first_token_us.map(|time| time as i64).into(),
        (generation.queue_us as i64).into(),
        generation.cost.map(|cost| cost.0).into(),
        (generation.attempts as i32).into(),
        generation.cached.into(),
        generation.reported_model.clone().into(),
        details.into(),
        generation.raw.clone().into(),
    ]);
}

fn failed_values(failure: &UnitFailure, values: &mut Vec<Value>) {
    let nothing = || Value::String(None);
    let no_number = || Value::BigInt(None);
    values.extend([failure.reason.as_str().into(), nothing(), nothing()]);
    values.extend(std::iter::repeat_with(no_number).take(9));
    values.extend([
        (failure.attempts as i32).into(),
        false.into(),
        nothing(),
        nothing(),
        failure.message.clone().into(),
    ]);
}

/// An insert of many rows, in statements of a few fixed sizes, so that each is prepared once.
struct InsertMany {
    table: &'static str,
    columns: &'static str,
    conflict: &'static str,
}

impl InsertMany {
    /// Inserts the records: while the database works on one statement, the values of the next are put together.
    async fn run<T>(
        &self,
        store: &ScopedStore,
        transaction: &ScopedTransaction,
        records: &[T],
        values_of: impl Fn(&T, &mut Vec<Value>),
    ) -> Result<(), StoreError> {
        let width = self.columns.split(',').count();
        let mut rest = records;
        let mut running = None;
        for rows in ROWS_PER_STATEMENT {
            let whole = rest.len() / rows * rows;
            if whole == 0 {
                continue;
            }
            let sql = self.sql(rows, width, transaction.get_database_backend());
            let (groups, left) = rest.split_at(whole);
            for group in groups.chunks(rows) {
                let mut values = Vec::with_capacity(rows * width);
                for record in group {
                    values_of(record, &mut values);
                }
                let statement = store.statement(sql.clone(), values);
                if let Some(before) = running.take() {
                    before.await?;
                }
                let mut insert = Box::pin(transaction.execute_raw(statement));
                match futures::poll!(&mut insert) {
                    Poll::Ready(result) => {
                        result?;
                    }
                    Poll::Pending => running = Some(insert),
                }
            }
            rest = left;
        }
        if let Some(last) = running {
            last.await?;
        }
        Ok(())
    }

    /// SQLite looks a numbered placeholder up by its name, all others before it first: plain ones are much faster.
    fn sql(&self, rows: usize, width: usize, backend: DbBackend) -> String {
        let Self { table, columns, conflict } = self;
        let numbered = backend != DbBackend::Sqlite;
        let mut sql = format!("INSERT INTO {table} ({columns}) VALUES ");
        for row in 0..rows {
            sql.push_str(if row == 0 { "(" } else { ", (" });
            for column in 0..width {
                if column > 0 {
                    sql.push(',');
                }
                if numbered {
                    sql.push_str(&format!("${}", row * width + column + 1));
                } else {
                    sql.push('?');
                }
            }
            sql.push(')');
        }
        sql.push(' ');
        sql.push_str(conflict);
        sql
    }
}
