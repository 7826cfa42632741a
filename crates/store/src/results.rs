//! Results read back in the order of their keys, page by page.

use fullbench_types::{
    ChoiceProbability, ErrorCode, FailureReason, FinishReason, Generation, NanoDollars, Outcome,
    RunId, Score, TokenLogprob, UnitFailure, UnitKey, Usage,
};
use sea_orm::{ConnectionTrait, QueryResult, Value};
use serde::Deserialize;
use uuid::Uuid;

use crate::sealed_text::{RowKey, TextOpener, catalogue};
use crate::{ScopedStore, StoreError};

/// How much of each result to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResultDetail {
    /// Numbers only: no texts, no reasons. For summaries.
    Numbers,
    /// Everything but the provider's raw reply and what judges were asked and said.
    Texts,
    /// Everything.
    Full,
}

/// One unit of a run with what is recorded of it.
#[derive(Debug, Clone)]
pub struct UnitResult {
    /// The unit.
    pub key: UnitKey,
    /// The identity of its case.
    pub case_key: String,
    /// The answer, or the failure of the last attempt.
    pub result: Result<Generation, UnitFailure>,
    /// The counting (highest) revision of each score.
    pub scores: Vec<ScoreEntry>,
    /// Texts of it are gone with the key that they were sealed with: those that are asked for are empty.
    pub texts_deleted: bool,
}

/// A score with the scorer that gave it.
#[derive(Debug, Clone)]
pub struct ScoreEntry {
    /// The first 16 bytes of the scorer's hash.
    pub scorer: [u8; 16],
    /// 0 for the first scoring.
    pub revision: u32,
    /// The score.
    pub score: Score,
}

#[derive(Default, Deserialize)]
struct Details {
    #[serde(default)]
    alternatives: Vec<String>,
    #[serde(default)]
    logprobs: Option<Vec<TokenLogprob>>,
    #[serde(default)]
    choices: Option<Vec<ChoiceProbability>>,
    #[serde(default)]
    endpoint: Option<String>,
}

impl ScopedStore {
    /// The next page of results after a unit, ordered by case, model and repetition. Refused where a text that is asked for is
    /// gone with its key: nothing is ever made of what stands in its place.
    pub async fn results_after(
        &self,
        run: RunId,
        after: Option<UnitKey>,
        limit: u64,
        detail: ResultDetail,
    ) -> Result<Vec<UnitResult>, StoreError> {
        let units = self.results_to_show(run, after, limit, detail).await?;
        match units.iter().any(|unit| unit.texts_deleted) {
            true => Err(StoreError::TextsDeleted),
            false => Ok(units),
        }
    }

    /// The same to be looked at: units whose texts are gone say so, and have their numbers.
    pub async fn results_to_show(
        &self,
        run: RunId,
        after: Option<UnitKey>,
        limit: u64,
        detail: ResultDetail,
    ) -> Result<Vec<UnitResult>, StoreError> {
        let mut units = self.generations_after(run, after, limit, detail).await?;
        let (Some(first), Some(last)) = (units.first(), units.last()) else {
            return Ok(units);
        };
        let scores = self.scores_between(run, first.key, last.key, detail).await?;
        let mut position = 0;
        for (key, entry, is_deleted) in scores {
            while units.get(position).is_some_and(|unit| unit.key < key) {
                position += 1;
            }
            let Some(unit) = units.get_mut(position).filter(|unit| unit.key == key) else {
                continue;
            };
            unit.texts_deleted |= is_deleted;
            match unit.scores.last_mut() {
                Some(before) if before.scorer == entry.scorer => *before = entry,
                _ => unit.scores.push(entry),
            }
        }
        Ok(units)
    }

    async fn generations_after(
        &self,
        run: RunId,
        after: Option<UnitKey>,
        limit: u64,
        detail: ResultDetail,
    ) -> Result<Vec<UnitResult>, StoreError> {
        let (text, details, raw) = match detail {
            ResultDetail::Numbers => ("NULL", "NULL", "NULL"),
            ResultDetail::Texts => {
                ("text", "details", "CASE status WHEN 'answered' THEN NULL ELSE raw END")
            }
            ResultDetail::Full => ("text", "details", "raw"),
        };
        let mut values: Vec<Value> =
            vec![run.0.into(), self.organization.0.into(), (limit as i64).into()];
        let mut condition = "";
        if let Some(key) = after {
            condition = "AND (case_index, model_index, repetition) > ($4, $5, $6)";
            push_key(&mut values, key);
        }
        let sql = format!(
            "SELECT case_index, model_index, repetition, case_key, status, finish_reason, \
             input_tokens, output_tokens, cached_input_tokens, cache_write_tokens, \
             reasoning_tokens, latency_us, time_to_first_token_us, queue_us, cost_nanodollars, \
             attempts, cached, reported_model, {text}, {details}, {raw}, failure_code FROM generations \
             WHERE run_id = $1 AND organization_id = $2 {condition} \
             ORDER BY case_index, model_index, repetition LIMIT $3"
        );
        let rows = self.database.query_all_raw(self.statement(sql, values)).await?;
        let columns = [18, 19, 20];
        let texts: Vec<RowTexts> =
            rows.iter().map(|row| row_texts(row, columns)).collect::<Result<_, _>>()?;
        let opener = self.opener(texts.iter().flatten().flatten().map(String::as_str)).await?;
        let units = rows.iter().zip(texts);
        units.map(|(row, texts)| unit_result(run, row, texts, &opener)).collect()
    }

    async fn scores_between(
        &self,
        run: RunId,
        first: UnitKey,
        last: UnitKey,
        detail: ResultDetail,
    ) -> Result<Vec<(UnitKey, ScoreEntry, bool)>, StoreError> {
        let texts = match detail {
            ResultDetail::Numbers => "NULL, NULL, NULL",
            ResultDetail::Texts => "reasoning, evidence, NULL",
            ResultDetail::Full => "reasoning, evidence, judgement",
        };
        let sql = format!(
            "SELECT case_index, model_index, repetition, scorer, revision, outcome, reason, raw, \
             value, confidence, cost_nanodollars, cached, {texts}, path FROM scores WHERE run_id = $1 \
             AND (case_index, model_index, repetition) >= ($2, $3, $4) \
             AND (case_index, model_index, repetition) <= ($5, $6, $7) AND organization_id = $8 \
             ORDER BY case_index, model_index, repetition, scorer, revision"
        );
        let mut values: Vec<Value> = vec![run.0.into()];
        push_key(&mut values, first);
        push_key(&mut values, last);
        values.push(self.organization.0.into());
        let rows = self.database.query_all_raw(self.statement(sql, values)).await?;
        let columns = [12, 13, 14];
        let texts: Vec<RowTexts> =
            rows.iter().map(|row| row_texts(row, columns)).collect::<Result<_, _>>()?;
        let opener = self.opener(texts.iter().flatten().flatten().map(String::as_str)).await?;
        let scores = rows.iter().zip(texts);
        scores.map(|(row, texts)| score_entry(run, row, texts, &opener)).collect()
    }
}

/// The three texts of a row, as they are kept.
type RowTexts = [Option<String>; 3];

fn row_texts(
    row: &QueryResult,
    [first, second, third]: [usize; 3],
) -> Result<RowTexts, StoreError> {
    Ok([row.try_get_by_index(first)?, row.try_get_by_index(second)?, row.try_get_by_index(third)?])
}

fn push_key(values: &mut Vec<Value>, key: UnitKey) {
    values.extend([
        (key.case_index as i64).into(),
        (key.model_index as i32).into(),
        (key.repetition as i32).into(),
    ]);
}

fn key_of(row: &QueryResult) -> Result<UnitKey, StoreError> {
    Ok(UnitKey {
        case_index: row.try_get_by_index::<i64>(0)? as u64,
        model_index: row.try_get_by_index::<i32>(1)? as u32,
        repetition: row.try_get_by_index::<i32>(2)? as u32,
    })
}

fn unit_result(
    run: RunId,
    row: &QueryResult,
    [text, details, raw]: RowTexts,
    opener: &TextOpener,
) -> Result<UnitResult, StoreError> {
    let key = key_of(row)?;
    let UnitKey { case_index, model_index, repetition } = &key;
    let place: RowKey<'_> = &[&run.0, case_index, model_index, repetition];
    let mut texts_deleted = false;
    let mut opened = |column, text| -> Result<Option<String>, StoreError> {
        let opened = opener.open_some(column, place, text)?;
        texts_deleted |= opened.as_ref().is_some_and(|opened| opened.is_deleted);
        Ok(opened.filter(|opened| !opened.is_deleted).map(|opened| opened.text))
    };
    let text = opened(&catalogue::GENERATION_TEXT, text)?;
    let details = opened(&catalogue::GENERATION_DETAILS, details)?;
    let raw = opened(&catalogue::GENERATION_RAW, raw)?;
    let status: String = row.try_get_by_index(4)?;
    let attempts = row.try_get_by_index::<i32>(15)? as u32;
    let case_key = row.try_get_by_index(3)?;
    if status != "answered" {
        let reason = FailureReason::from_word(&status)
            .ok_or_else(|| StoreError::Damaged(format!("an unknown status `{status}`")))?;
        let code: Option<String> = row.try_get_by_index(21)?;
        let code = code.as_deref().and_then(ErrorCode::from_word);
        let failure = UnitFailure { reason, message: raw.unwrap_or_default(), attempts, code };
        let (result, scores) = (Err(failure), Vec::new());
        return Ok(UnitResult { key, case_key, result, scores, texts_deleted });
    }
    let number = |index| -> Result<Option<u64>, StoreError> {
        Ok(row.try_get_by_index::<Option<i64>>(index)?.map(|number| number as u64))
    };
    let usage = match (number(6)?, number(7)?) {
        (Some(input_tokens), Some(output_tokens)) => Some(Usage {
            input_tokens,
            output_tokens,
            cached_input_tokens: number(8)?.unwrap_or_default(),
            cache_write_tokens: number(9)?.unwrap_or_default(),
            reasoning_tokens: number(10)?.unwrap_or_default(),
        }),
        _ => None,
    };
    let details = match details {
        Some(json) => serde_json::from_str(&json)
            .map_err(|error| StoreError::Damaged(format!("details of a result: {error}")))?,
        None => Details::default(),
    };
    let finish: Option<String> = row.try_get_by_index(5)?;
    let generation = Generation {
        text: text.unwrap_or_default(),
        alternatives: details.alternatives,
        finish_reason: FinishReason::from_word(finish.as_deref().unwrap_or_default()),
        usage,
        latency_us: number(11)?.unwrap_or_default(),
        time_to_first_token_us: number(12)?,
        queue_us: number(13)?.unwrap_or_default(),
        cost: row.try_get_by_index::<Option<i64>>(14)?.map(NanoDollars),
        attempts,
        cached: row.try_get_by_index(16)?,
        saved: None,
        endpoint: details.endpoint,
        logprobs: details.logprobs,
        choices: details.choices,
        reported_model: row.try_get_by_index(17)?,
        raw,
    };
    Ok(UnitResult { key, case_key, result: Ok(generation), scores: Vec::new(), texts_deleted })
}

/// A score, the unit it is of, and whether texts of it are gone.
fn score_entry(
    run: RunId,
    row: &QueryResult,
    [reasoning, evidence, judgement]: RowTexts,
    opener: &TextOpener,
) -> Result<(UnitKey, ScoreEntry, bool), StoreError> {
    let key = key_of(row)?;
    let scorer: Uuid = row.try_get_by_index(3)?;
    let revision = row.try_get_by_index::<i32>(4)? as u32;
    let UnitKey { case_index, model_index, repetition } = &key;
    let place: RowKey<'_> = &[&run.0, case_index, model_index, repetition, &scorer, &revision];
    let mut texts_deleted = false;
    let mut opened = |column, text| -> Result<Option<String>, StoreError> {
        let opened = opener.open_some(column, place, text)?;
        texts_deleted |= opened.as_ref().is_some_and(|opened| opened.is_deleted);
        Ok(opened.map(|opened| opened.text))
    };
    let reasoning = opened(&catalogue::SCORE_REASONING, reasoning)?;
    let evidence = opened(&catalogue::SCORE_EVIDENCE, evidence)?;
    let judgement = opened(&catalogue::SCORE_JUDGEMENT, judgement)?;
    let outcome: String = row.try_get_by_index(5)?;
    let reason: Option<String> = row.try_get_by_index(6)?;
    let judgement = judgement.map(|json| serde_json::from_str(&json)).transpose();
    let path: Option<String> = row.try_get_by_index(15)?;
    let path = path.map(|json| serde_json::from_str(&json)).transpose();
    let score = Score {
        outcome: Outcome::from_words(&outcome, reason.as_deref())
            .ok_or_else(|| StoreError::Damaged(format!("an unknown outcome `{outcome}`")))?,
        raw: row.try_get_by_index(7)?,
        value: row.try_get_by_index(8)?,
        reasoning: reasoning.filter(|reasoning| !(texts_deleted && reasoning.is_empty())),
        evidence: evidence.and_then(|json| serde_json::from_str(&json).ok()),
        confidence: row.try_get_by_index(9)?,
        cost: row.try_get_by_index::<Option<i64>>(10)?.map(NanoDollars),
        cached: row.try_get_by_index(11)?,
        judgement: judgement
            .map_err(|error| StoreError::Damaged(format!("a judgement: {error}")))?,
        path: path.map_err(|error| StoreError::Damaged(format!("the way to a score: {error}")))?,
    };
    Ok((key, ScoreEntry { scorer: scorer.into_bytes(), revision, score }, texts_deleted))
}
