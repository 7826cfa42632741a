//! What judges cost, day by day.

use std::collections::BTreeMap;

use fullbench_types::NanoDollars;
use jiff::{Timestamp, civil::Date, tz::TimeZone};

use super::rows::Read;
use super::{JudgeKey, JudgedBy, JudgementFilter};
use crate::{ScopedStore, StoreError};

/// What a judge cost on one day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DailyCost {
    /// The day, UTC.
    pub day: Date,
    /// The judge.
    pub judge: JudgedBy,
    /// Its judgements of that day, those that were scored again later included.
    pub judgements: u64,
    /// Those with a known cost.
    pub priced: u64,
    /// Their cost.
    pub cost: NanoDollars,
    /// Tokens of all prompts.
    pub input_tokens: u64,
    /// Tokens of all replies.
    pub output_tokens: u64,
}

impl ScopedStore {
    /// What judges cost, by day and judge.
    pub async fn judge_costs(
        &self,
        filter: &JudgementFilter,
    ) -> Result<Vec<DailyCost>, StoreError> {
        let mut costs: BTreeMap<(Date, JudgeKey), DailyCost> = BTreeMap::new();
        let mut wrong_time = None;
        self.each_judgement(filter, Read::EveryRevision, |row| {
            let Ok(time) = Timestamp::from_millisecond(row.recorded_at) else {
                wrong_time = Some(row.recorded_at);
                return;
            };
            let day = time.to_zoned(TimeZone::UTC).date();
            let (input, output) = row.tokens();
            let cost = costs.entry((day, row.by.key)).or_insert_with(|| DailyCost {
                day,
                judge: row.by,
                judgements: 0,
                priced: 0,
                cost: NanoDollars::ZERO,
                input_tokens: 0,
                output_tokens: 0,
            });
            cost.judgements += 1;
            cost.input_tokens += input;
            cost.output_tokens += output;
            if let Some(spent) = row.cost {
                cost.priced += 1;
                cost.cost += spent;
            }
        })
        .await?;
        if let Some(time) = wrong_time {
            return Err(StoreError::Damaged(format!("a judgement: a time out of range, {time}")));
        }
        let mut costs: Vec<DailyCost> = costs.into_values().collect();
        costs.sort_by_cached_key(|cost| (cost.day, cost.judge.position()));
        Ok(costs)
    }
}
