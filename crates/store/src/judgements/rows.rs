//! Judgements read as a stream.

use fullbench_types::{JudgeReference, NanoDollars, Outcome, RunId, UnitKey};
use futures::TryStreamExt;
use sea_orm::{ConnectionTrait, DbBackend, QueryResult, StreamTrait, Value};
use serde::Deserialize;
use uuid::Uuid;

use super::{JudgeKey, JudgedBy, JudgementFilter};
use crate::sealed_text::catalogue::{GENERATION_TEXT, SCORE_JUDGEMENT, SCORE_REASONING};
use crate::sealed_text::{Opened, RowKey, TextOpener};
use crate::{ScopedStore, StoreError};

/// The criterion under which the scorer of judge checks keeps what is said of probes.
const PROBES: &str = "judge_check";

/// One judgement without its texts.
pub(super) struct JudgedRow {
    pub(super) run: RunId,
    pub(super) unit: UnitKey,
    pub(super) by: JudgedBy,
    pub(super) outcome: Outcome,
    pub(super) value: Option<f64>,
    /// What was said of a failure, where it is asked for.
    pub(super) reasoning: Option<String>,
    /// That is gone with the key that it was sealed with.
    pub(super) messages_deleted: bool,
    pub(super) cost: Option<NanoDollars>,
    pub(super) recorded_at: i64,
    /// The pass mark that held.
    pub(super) threshold: Option<f64>,
    pub(super) replies: Vec<Reply>,
    /// Case key and text of what was judged, where they are asked for.
    pub(super) judged: Option<(String, String)>,
}

/// What is read of a judge's reply.
#[derive(Deserialize)]
pub(super) struct Reply {
    pub(super) problem: Option<String>,
    pub(super) input_tokens: u64,
    pub(super) output_tokens: u64,
    pub(super) latency_us: u64,
    #[serde(default)]
    pub(super) cached: bool,
}

/// What is read of a judgement: prompt and replies are skipped.
#[derive(Deserialize)]
struct Telemetry {
    judge: Option<JudgeReference>,
    criterion: String,
    method: String,
    model: String,
    threshold: Option<f64>,
    replies: Vec<Reply>,
}

/// What of the judgements to read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Read {
    /// Those that count, without any text.
    Numbers,
    /// Those that count, with what was said of failures.
    WithMessages,
    /// Those that count, with what was judged.
    WithTexts,
    /// Every revision.
    EveryRevision,
}

impl JudgedRow {
    /// Tokens of all prompts and of all replies.
    pub(super) fn tokens(&self) -> (u64, u64) {
        let replies = self.replies.iter();
        replies.fold((0, 0), |(input, output), reply| {
            (input + reply.input_tokens, output + reply.output_tokens)
        })
    }
}

impl ScopedStore {
    /// Hands over one judgement after the other.
    pub(super) async fn each_judgement(
        &self,
        filter: &JudgementFilter,
        read: Read,
        mut visit: impl FnMut(JudgedRow),
    ) -> Result<(), StoreError> {
        let mut values: Vec<Value> = vec![self.organization.0.into()];
        let mut conditions = String::new();
        let mut condition = |sql: &str, value: Value| {
            values.push(value);
            conditions.push_str(&format!(" AND {sql} ${}", values.len()));
        };
        if let Some(run) = filter.run {
            condition("s.run_id =", run.0.into());
        }
        if let Some(from) = filter.from {
            condition("s.recorded_at >=", from.as_millisecond().into());
        }
        if let Some(until) = filter.until {
            condition("s.recorded_at <", until.as_millisecond().into());
        }
        if let Some(name) = &filter.judge
            && self.has_judge(name).await?
        {
            values.push(name.clone().into());
            conditions.push_str(&format!(
                " AND s.judge_id IN (SELECT id FROM judges WHERE organization_id = $1 AND name = ${})",
                values.len()
            ));
        }
        if read != Read::EveryRevision {
            conditions.push_str(
                " AND NOT EXISTS (SELECT 1 FROM scores n WHERE n.run_id = s.run_id \
                 AND n.case_index = s.case_index AND n.model_index = s.model_index \
                 AND n.repetition = s.repetition AND n.scorer = s.scorer \
                 AND n.revision > s.revision)",
            );
        }
        let (texts, join) = match read {
            Read::WithTexts => (
                ", g.case_key, g.text",
                " JOIN generations g ON g.run_id = s.run_id AND g.case_index = s.case_index \
                 AND g.model_index = s.model_index AND g.repetition = s.repetition",
            ),
            Read::Numbers | Read::WithMessages | Read::EveryRevision => ("", ""),
        };
        // SQLite reads in the order of an index. Sums of the same rows in another order differ in their last digits.
        let order = match ConnectionTrait::get_database_backend(&self.database) {
            DbBackend::Sqlite => "",
            _ => {
                " ORDER BY s.run_id, s.case_index, s.model_index, s.repetition, s.scorer, s.revision"
            }
        };
        let sql = format!(
            "SELECT s.run_id, s.case_index, s.model_index, s.repetition, s.scorer, s.outcome, \
             s.reason, s.value, s.cost_nanodollars, s.recorded_at, \
             CASE s.outcome WHEN 'unscored' THEN s.reasoning END, s.judgement, s.revision{texts} \
             FROM scores s{join} WHERE s.organization_id = $1 AND s.judgement IS NOT NULL{conditions}{order}"
        );
        let opener = match read {
            Read::EveryRevision | Read::Numbers => TextOpener::default(),
            Read::WithMessages | Read::WithTexts => self.opener_of_stream().await?,
        };
        let mut rows = self.database.stream_raw(self.statement(sql, values)).await?;
        while let Some(row) = rows.try_next().await? {
            let row = judged_row(&row, read, &opener)?;
            let criterion = match &filter.criterion {
                Some(name) => *name == row.by.criterion,
                // What a judge says of a probe is no judgement of a document; its price is one like any other.
                None => row.by.criterion != PROBES || read == Read::EveryRevision,
            };
            if criterion && filter.judge.as_ref().is_none_or(|name| *name == row.by.to_string()) {
                visit(row);
            }
        }
        Ok(())
    }

    async fn has_judge(&self, name: &str) -> Result<bool, StoreError> {
        let sql = "SELECT 1 FROM judges WHERE organization_id = $1 AND name = $2 LIMIT 1";
        let values = vec![self.organization.0.into(), name.into()];
        Ok(self.database.query_one_raw(self.statement(sql, values)).await?.is_some())
    }
}

fn judged_row(row: &QueryResult, read: Read, opener: &TextOpener) -> Result<JudgedRow, StoreError> {
    let scorer: Uuid = row.try_get_by_index(4)?;
    let outcome: String = row.try_get_by_index(5)?;
    let reason: Option<String> = row.try_get_by_index(6)?;
    let mut judgement: String = row.try_get_by_index(11)?;
    let mut reasoning: Option<String> = None;
    let mut messages_deleted = false;
    let run = RunId(row.try_get_by_index(0)?);
    let unit = UnitKey {
        case_index: row.try_get_by_index::<i64>(1)? as u64,
        model_index: row.try_get_by_index::<i32>(2)? as u32,
        repetition: row.try_get_by_index::<i32>(3)? as u32,
    };
    let UnitKey { case_index, model_index, repetition } = &unit;
    if read == Read::WithMessages && outcome == "unscored" {
        let revision: i32 = row.try_get_by_index(12)?;
        let key: RowKey<'_> = &[&run.0, case_index, model_index, repetition, &scorer, &revision];
        let said = opener.open_some(&SCORE_REASONING, key, row.try_get_by_index(10)?)?;
        let judged = opener.open(&SCORE_JUDGEMENT, key, judgement)?;
        let is_said = |said: &Opened| !said.is_deleted;
        messages_deleted = judged.is_deleted || !said.as_ref().is_none_or(is_said);
        reasoning = said.filter(is_said).map(|said| said.text);
        judgement = judged.text;
    }
    let telemetry: Telemetry = serde_json::from_str(&judgement)
        .map_err(|error| StoreError::Damaged(format!("a judgement: {error}")))?;
    let key = match &telemetry.judge {
        Some(judge) => JudgeKey::Stored(judge.id),
        None => JudgeKey::Inline(scorer.into_bytes()),
    };
    let judged = match read {
        Read::WithTexts => {
            let key: RowKey<'_> = &[&run.0, case_index, model_index, repetition];
            let text = opener.open_some(&GENERATION_TEXT, key, row.try_get_by_index(14)?)?;
            let text = text.map(Opened::whole).transpose()?;
            Some((row.try_get_by_index(13)?, text.unwrap_or_default()))
        }
        _ => None,
    };
    Ok(JudgedRow {
        run,
        unit,
        by: JudgedBy {
            key,
            name: telemetry.judge.map(|judge| judge.name),
            criterion: telemetry.criterion,
            method: telemetry.method,
            model: telemetry.model,
        },
        outcome: Outcome::from_words(&outcome, reason.as_deref())
            .ok_or_else(|| StoreError::Damaged(format!("an unknown outcome `{outcome}`")))?,
        value: row.try_get_by_index(7)?,
        cost: row.try_get_by_index::<Option<i64>>(8)?.map(NanoDollars),
        recorded_at: row.try_get_by_index(9)?,
        reasoning,
        messages_deleted,
        threshold: telemetry.threshold,
        replies: telemetry.replies,
        judged,
    })
}
