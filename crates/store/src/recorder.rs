//! The one writer of a run's results: everything of a group is committed in one transaction.

#[cfg(test)]
mod tests;

use std::collections::HashMap;

use fullbench_types::{
    ErrorCode, EventKind, Generation, NanoDollars, RunId, Score, UnitFailure, UnitKey,
};
use sea_orm::{TransactionTrait, Value};
use serde_json::{Map, json};
use uuid::Uuid;

use crate::connection::{CommitMark, ScopedTransaction};
use crate::insert::InsertMany;
use crate::patience::Patience;
use crate::platform::{AddedEvents, refuse_erased};
use crate::runs::now_milliseconds;
use crate::sealed_text::{RowKey, TextKeeper, catalogue};
use crate::{LaneProgress, NewEvent, ScopedStore, StoreError};

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

/// What one commit holds.
#[derive(Debug, Clone, Copy)]
pub struct RecordedGroup<'group> {
    /// Answers and failures.
    pub generations: &'group [GenerationRecord<'group>],
    /// Scores.
    pub scores: &'group [&'group ScoreRecord],
    /// How far each lane has come.
    pub lanes: &'group [LaneProgress],
    /// What was paid for scores that are still open.
    pub spent_on_open: NanoDollars,
}

impl RecordedGroup<'_> {
    /// What all of it cost.
    fn spent(&self) -> NanoDollars {
        let answers = self.generations.iter().filter_map(|record| record.result.ok()?.cost);
        let scores = self.scores.iter().filter_map(|record| record.score.cost);
        answers.chain(scores).sum::<NanoDollars>() + self.spent_on_open
    }
}

/// Writes the results of one run.
#[derive(Debug)]
pub struct RunRecorder {
    store: ScopedStore,
    run: RunId,
    tells: Option<ToldNames>,
}

/// What events call the models and scorers of a run.
#[derive(Debug, Clone, Default)]
pub struct ToldNames {
    /// The models, by their position.
    pub models: Vec<String>,
    /// The scorers, by their hashes.
    pub scorers: HashMap<[u8; 16], String>,
}

const GENERATION_COLUMNS: &str = "run_id, case_index, model_index, repetition, organization_id, \
    case_key, status, text, finish_reason, input_tokens, output_tokens, cached_input_tokens, \
    cache_write_tokens, reasoning_tokens, latency_us, time_to_first_token_us, queue_us, \
    cost_nanodollars, attempts, cached, reported_model, details, raw, failure_code, recorded_at";

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
    failure_code = excluded.failure_code, recorded_at = excluded.recorded_at WHERE generations.status <> 'answered'";

/// A score never changes, but for one that is missing because the provider of its scorer failed.
const REPLACE_MISSING_SCORES: &str = "ON CONFLICT (run_id, case_index, model_index, repetition, scorer, \
    revision) DO UPDATE SET outcome = excluded.outcome, reason = excluded.reason, \
    raw = excluded.raw, value = excluded.value, reasoning = excluded.reasoning, \
    evidence = excluded.evidence, confidence = excluded.confidence, \
    cost_nanodollars = excluded.cost_nanodollars, cached = excluded.cached, \
    judgement = excluded.judgement, judge_id = excluded.judge_id, path = excluded.path, \
    recorded_at = excluded.recorded_at WHERE scores.reason = 'provider_error'";

const LANE_COLUMNS: &str = "run_id, model_index, organization_id, watermark, answered, failed, \
    spent_nanodollars";

/// Whoever works on a run knows how far its lanes have come.
pub(crate) const REPLACE_LANES: &str = "ON CONFLICT (run_id, model_index) DO UPDATE SET watermark = excluded.watermark, \
    answered = excluded.answered, failed = excluded.failed, \
    spent_nanodollars = excluded.spent_nanodollars";

impl ScopedStore {
    /// Whether the transaction of this mark was committed, which is used up then; not, where there is none.
    pub(crate) async fn was_committed(
        &self,
        mark: &mut Option<CommitMark>,
    ) -> Result<bool, StoreError> {
        let was_committed = match &mark {
            Some(mark) => self.database.was_committed(mark).await?,
            None => false,
        };
        *mark = None;
        Ok(was_committed)
    }

    /// The writer of a run's results.
    #[must_use]
    pub fn recorder(&self, run: RunId) -> RunRecorder {
        RunRecorder { store: self.clone(), run, tells: None }
    }
}

impl RunRecorder {
    /// The same, also telling of every group as an event.
    #[must_use]
    pub fn telling(self, names: ToldNames) -> Self {
        Self { tells: Some(names), ..self }
    }

    /// Commits a group: answers and failures, scores, and how far each lane has come. Recording a key twice changes nothing.
    pub async fn commit(
        &self,
        generations: &[GenerationRecord<'_>],
        scores: &[&ScoreRecord],
        lanes: &[LaneProgress],
    ) -> Result<(), StoreError> {
        let spent_on_open = NanoDollars::ZERO;
        let group = RecordedGroup { generations, scores, lanes, spent_on_open };
        self.commit_group(group, &mut None).await
    }

    /// The same again and again while the store cannot be used, so that nothing is lost that was paid for; until it is told to
    /// give up.
    pub async fn commit_insisting(
        &self,
        group: RecordedGroup<'_>,
        give_up: impl Future<Output = ()>,
    ) -> Result<(), StoreError> {
        let mut patience = Patience::new(self.run, give_up);
        let mut mark = None;
        loop {
            match self.commit_again(group, &mut mark).await {
                Err(error) => patience.wait(error).await?,
                Ok(()) => return Ok(()),
            }
        }
    }

    /// Commits a group, unless the last try was committed and only the word of it got lost: nothing is added up twice.
    pub(crate) async fn commit_again(
        &self,
        group: RecordedGroup<'_>,
        mark: &mut Option<CommitMark>,
    ) -> Result<(), StoreError> {
        if self.store.was_committed(mark).await? {
            self.store.spending_was_kept_unheard(group.spent()).await;
            return Ok(());
        }
        self.commit_group(group, mark).await
    }

    /// Commits a group once, and gives what to ask by later whether it was.
    async fn commit_group(
        &self,
        group: RecordedGroup<'_>,
        mark: &mut Option<CommitMark>,
    ) -> Result<(), StoreError> {
        let RecordedGroup { generations, scores, lanes, .. } = group;
        let keeper = self.store.text_keeper().await?;
        let transaction = self.store.database.begin().await?;
        let run = self.run;
        self.store
            .insert_generations(&transaction, &keeper, generations, |record| (run, *record))
            .await?;
        self.store.insert_scores(&transaction, &keeper, scores, |record| (run, record)).await?;
        let lane_of = |lane: &LaneProgress| (run, *lane);
        self.store.insert_lanes(&transaction, lanes, REPLACE_LANES, lane_of).await?;
        let booked = self.store.add_spending_in(&transaction, group.spent()).await?;
        refuse_erased(&transaction, self.store.organization).await?;
        let told = match &self.tells {
            Some(names) => {
                let event = results_event(run, names, generations, scores, lanes);
                self.store.add_events_in(&transaction, event.as_slice()).await?
            }
            None => AddedEvents::default(),
        };
        *mark = transaction.mark().await?;
        transaction.commit().await?;
        self.store.events.tell(told);
        self.store.spending_was_kept(booked).await;
        Ok(())
    }
}

/// What a group means for whoever watches the run: units that got scores or failed, and how far each model has come.
fn results_event(
    run: RunId,
    names: &ToldNames,
    generations: &[GenerationRecord<'_>],
    scores: &[&ScoreRecord],
    lanes: &[LaneProgress],
) -> Option<NewEvent> {
    let unit = |key: &UnitKey| {
        let model = names.models.get(key.model_index as usize);
        let mut unit = Map::new();
        unit.insert("case_index".to_owned(), json!(key.case_index));
        unit.insert("model".to_owned(), json!(model));
        unit.insert("repetition".to_owned(), json!(key.repetition));
        unit
    };
    let mut results: Vec<Map<String, serde_json::Value>> = Vec::new();
    for record in generations {
        match record.result {
            Ok(_) if names.scorers.is_empty() => results.push(unit(&record.key)),
            Ok(_) => {}
            Err(failure) => {
                let mut failed = unit(&record.key);
                failed.insert("error".to_owned(), json!(failure.reason));
                results.push(failed);
            }
        }
    }
    let mut before = None;
    for record in scores {
        if before.replace(record.key) != Some(record.key) {
            let mut scored = unit(&record.key);
            scored.insert("scores".to_owned(), json!({}));
            results.push(scored);
        }
        let name = names.scorers.get(&record.scorer).map_or("", String::as_str);
        let scores = results.last_mut().and_then(|unit| unit["scores"].as_object_mut());
        scores.map(|scores| scores.insert(name.to_owned(), json!(record.score.value)));
    }
    if results.is_empty() {
        return None;
    }
    let progress = lanes.iter().map(|lane| {
        json!({ "model": names.models.get(lane.model_index as usize), "completed": lane.watermark,
            "answered": lane.answered, "failed": lane.failed, "cost_usd": lane.spent.dollars() })
    });
    let progress: Vec<_> = progress.collect();
    let data = json!({ "results": results, "progress": progress });
    Some(NewEvent { run: Some(run), kind: EventKind::RunResults, data })
}

impl ScopedStore {
    /// Adds answers and failures of runs.
    pub(crate) async fn insert_generations<T>(
        &self,
        transaction: &ScopedTransaction,
        keeper: &TextKeeper,
        records: &[T],
        record_of: impl for<'record> Fn(&'record T) -> (RunId, GenerationRecord<'record>),
    ) -> Result<(), StoreError> {
        let insert = InsertMany {
            table: "generations",
            columns: GENERATION_COLUMNS,
            conflict: REPLACE_FAILURES,
        };
        let now = now_milliseconds();
        let values = |record: &T, values: &mut Vec<Value>| {
            let (run, record) = record_of(record);
            self.generation_values(run, &record, keeper, now, values)
        };
        insert.run(transaction, records, values).await
    }

    /// Adds scores of runs.
    pub(crate) async fn insert_scores<T>(
        &self,
        transaction: &ScopedTransaction,
        keeper: &TextKeeper,
        records: &[T],
        record_of: impl for<'record> Fn(&'record T) -> (RunId, &'record ScoreRecord),
    ) -> Result<(), StoreError> {
        let insert = InsertMany {
            table: "scores",
            columns: SCORE_COLUMNS,
            conflict: REPLACE_MISSING_SCORES,
        };
        let now = now_milliseconds();
        let values = |record: &T, values: &mut Vec<Value>| {
            let (run, record) = record_of(record);
            self.score_values(run, record, keeper, now, values)
        };
        insert.run(transaction, records, values).await
    }

    /// Sets how far lanes of runs have come.
    pub(crate) async fn insert_lanes<T>(
        &self,
        transaction: &ScopedTransaction,
        lanes: &[T],
        conflict: &'static str,
        lane_of: impl Fn(&T) -> (RunId, LaneProgress),
    ) -> Result<(), StoreError> {
        let insert = InsertMany { table: "run_progress", columns: LANE_COLUMNS, conflict };
        let values = |lane: &T, values: &mut Vec<Value>| {
            let (run, lane) = lane_of(lane);
            values.extend([
                run.0.into(),
                (lane.model_index as i32).into(),
                self.organization.0.into(),
                (lane.watermark as i64).into(),
                (lane.answered as i64).into(),
                (lane.failed as i64).into(),
                lane.spent.0.into(),
            ]);
            Ok(())
        };
        insert.run(transaction, lanes, values).await
    }

    fn generation_values(
        &self,
        run: RunId,
        record: &GenerationRecord<'_>,
        keeper: &TextKeeper,
        now: i64,
        values: &mut Vec<Value>,
    ) -> Result<(), StoreError> {
        unit_values(run, &record.key, values);
        values.extend([self.organization.0.into(), record.case_key.into()]);
        let UnitKey { case_index, model_index, repetition } = &record.key;
        let row: RowKey<'_> = &[&run.0, case_index, model_index, repetition];
        match record.result {
            Ok(generation) => answered_values(generation, keeper, row, values)?,
            Err(failure) => failed_values(failure, keeper, row, values)?,
        }
        values.push(now.into());
        Ok(())
    }

    fn score_values(
        &self,
        run: RunId,
        record: &ScoreRecord,
        keeper: &TextKeeper,
        now: i64,
        values: &mut Vec<Value>,
    ) -> Result<(), StoreError> {
        let score: &Score = &keeper.scrubber.score(&record.score);
        let UnitKey { case_index, model_index, repetition } = &record.key;
        let scorer = Uuid::from_bytes(record.scorer);
        let row: RowKey<'_> =
            &[&run.0, case_index, model_index, repetition, &scorer, &record.revision];
        let kept = |column, text| keeper.kept_some(column, row, text);
        let judgement = score.judgement.as_ref();
        let judgement = judgement.and_then(|judgement| serde_json::to_string(judgement).ok());
        let judge = score.judgement.as_ref().and_then(|judgement| judgement.judge.as_ref());
        unit_values(run, &record.key, values);
        values.extend([
            scorer.into(),
            (record.revision as i32).into(),
            self.organization.0.into(),
            score.outcome.as_str().into(),
            score.outcome.reason().map(|reason| reason.as_str()).into(),
            score.raw.into(),
            score.value.into(),
            kept(&catalogue::SCORE_REASONING, score.reasoning.clone())?.into(),
            kept(&catalogue::SCORE_EVIDENCE, score.evidence.as_ref().map(ToString::to_string))?
                .into(),
            score.confidence.into(),
            score.cost.map(|cost| cost.0).into(),
            score.cached.into(),
            kept(&catalogue::SCORE_JUDGEMENT, judgement)?.into(),
            judge.map(|judge| judge.id.0).into(),
            score.path.as_ref().and_then(|path| serde_json::to_string(path).ok()).into(),
            now.into(),
        ]);
        Ok(())
    }
}

fn unit_values(run: RunId, key: &UnitKey, values: &mut Vec<Value>) {
    values.extend([
        run.0.into(),
        (key.case_index as i64).into(),
        (key.model_index as i32).into(),
        (key.repetition as i32).into(),
    ]);
}

fn answered_values(
    generation: &Generation,
    keeper: &TextKeeper,
    row: RowKey<'_>,
    values: &mut Vec<Value>,
) -> Result<(), StoreError> {
    let generation: &Generation = &keeper.scrubber.generation(generation);
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
        keeper.kept(&catalogue::GENERATION_TEXT, row, generation.text.clone())?.into(),
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
        keeper.kept_some(&catalogue::GENERATION_DETAILS, row, details)?.into(),
        keeper.kept_some(&catalogue::GENERATION_RAW, row, generation.raw.clone())?.into(),
        Value::String(None),
    ]);
    Ok(())
}

fn failed_values(
    failure: &UnitFailure,
    keeper: &TextKeeper,
    row: RowKey<'_>,
    values: &mut Vec<Value>,
) -> Result<(), StoreError> {
    let failure: &UnitFailure = &keeper.scrubber.failure(failure);
    let nothing = || Value::String(None);
    let no_number = || Value::BigInt(None);
    values.extend([failure.reason.as_str().into(), nothing(), nothing()]);
    values.extend(std::iter::repeat_with(no_number).take(9));
    values.extend([
        (failure.attempts as i32).into(),
        false.into(),
        nothing(),
        nothing(),
        keeper.kept(&catalogue::GENERATION_RAW, row, failure.message.clone())?.into(),
        failure.code.map(ErrorCode::as_str).into(),
    ]);
    Ok(())
}
